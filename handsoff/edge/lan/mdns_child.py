"""The process that speaks multicast DNS, with mdns_sockets.py the one door to zeroconf.

Only edge/lan/mdns.py starts it. It reads what anybody on the network sends, so it is a process of
its own with little memory, a low priority and nothing to lose: no keys, no files, no connection.
One job comes in as a line of JSON; lines of JSON go out; when standard input ends, it says goodbye
and ends.

    {"do": "announce", "kind", "instance", "port", "bind"}   {"on": [interface name, ...]}
    {"do": "browse", "kind", "wanted", "known"}              {"found": {instance, port, addresses}}
    {"do": "check", "instance"}                              {"heard": [name, ...], "own": name}
    any of them                                              {"here": [...]}, {"trouble": said}

Names are defended by nobody here: an instance is made from a key, so whoever else announces it
lies, and is neither given way to nor fought (RFC 6762 sections 8 and 9 are for names that people
give).
"""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any, Final

from zeroconf import (  # type: ignore[attr-defined]
    DNSAddress,
    DNSOutgoing,
    DNSPointer,
    DNSQuestion,
    DNSService,
    RecordUpdate,
    RecordUpdateListener,
    ServiceInfo,
    Zeroconf,
)

from handsoff.core.reach import discovery, interfaces
from handsoff.core.reach.discovery import Sightings
from handsoff.edge.lan.mdns_sockets import Sockets, tell

# typing.override needs Python 3.12
# mypy: disable-error-code="explicit-override"

MEMORY: Final = 256 << 20
_NICE: Final = 5
_FILES: Final = 256
_LOOK_AGAIN: Final = 4.0
"""Seconds between two looks at the network interfaces."""
_ASK_AT: Final = (0.02, 0.1, 0.9, 2.0, 4.0, 8.0, 16.0, 32.0)
"""When to ask, in seconds; the first time with a plea for answers that come to us alone."""
_LISTEN: Final = 0.4

# RFC 1035 sections 3.2.2 and 3.2.4, RFC 3596, RFC 2782
_A, _PTR, _AAAA, _SRV, _IN = 1, 12, 28, 33, 1
_QUERY: Final = 0
_EVERY_KIND: Final = "_services._dns-sd._udp.local."


class Ears(RecordUpdateListener):
    """Hears every record of every answer; keeps what is ours, in bounds."""

    def __init__(self, sightings: Sightings, changed: Callable[[], None]) -> None:
        self._sightings = sightings
        self._changed = changed
        self.heard: set[str] = set()
        """A few of the names that were heard, whatever they are."""

    def async_update_records(self, zc: Zeroconf, now: float, records: list[RecordUpdate]) -> None:
        del zc, now
        for update in records:
            match update.new:
                case DNSService() as record:
                    self._service(record)
                case DNSAddress() as record:
                    self._address(record)
                case DNSPointer() as record if len(self.heard) < discovery.RESULTS:
                    self.heard.add(record.alias[:256])

    def async_update_records_complete(self) -> None:
        self._changed()

    def _service(self, record: DNSService) -> None:
        instance, _, kind = record.name.partition(".")
        if kind.lower() == self._sightings.kind:
            self._sightings.service(instance, record.server, record.port)

    def _address(self, record: DNSAddress) -> None:
        with suppress(ValueError):
            address = str(ip_address(bytes(record.address)))
            if address.startswith("fe80:"):
                if not record.scope_id:
                    return  # it came by IPv4, which does not say on which link; it comes again
                address += f"%{record.scope_id}"
            self._sightings.address(record.name, address)


async def announce(job: dict[str, Any], over: asyncio.Event) -> None:
    """Announce one instance until it is over, wherever the network goes meanwhile."""
    sockets, registered, sending = Sockets(), False, []
    while not over.is_set():
        if await sockets.follow():
            here = sockets.interfaces or []
            addresses = interfaces.announced(here, job["bind"])
            if (zeroconf := sockets.zeroconf) is not None:
                info = _info(job["kind"], job["instance"], job["port"], addresses)
                if registered:
                    sending = [await zeroconf.async_update_service(info)]
                else:  # without probing: see above
                    sending = [
                        await zeroconf.async_register_service(info, cooperating_responders=True)
                    ]
                registered = True
            tell(on=[i.name for i in interfaces.fit(here)] if addresses else [])
        await _pause(over, _LOOK_AGAIN)
    await asyncio.gather(*sending, return_exceptions=True)
    await sockets.close()


async def browse(job: dict[str, Any], over: asyncio.Event) -> None:
    """Look for instances of a kind until it is over."""
    sockets = Sockets()
    await sockets.follow()
    if sockets.zeroconf is None:
        return
    sightings = Sightings(job["kind"], job["wanted"], frozenset(job["known"]))

    def changed() -> None:
        for found in sightings.news():
            addresses = list(found.addresses)
            tell(found={"instance": found.instance, "port": found.port, "addresses": addresses})

    sockets.zeroconf.async_add_listener(Ears(sightings, changed), None)
    asking = asyncio.create_task(_ask(sockets.zeroconf, _questions(sightings), over))
    asked: set[str] = set()
    while not over.is_set():
        await _pause(over, _LISTEN)
        # what was heard of, and the answer with its address was lost
        lost = [i for i in sightings.without_address() if i not in asked][:10]
        asked.update(lost)
        await _ask(sockets.zeroconf, _whereabouts(sightings.kind, lost), over, at=(0.0,))
    await asking
    await sockets.close()


async def check(job: dict[str, Any], over: asyncio.Event) -> None:
    """Announce something to ourselves, and tell what is heard here at all."""
    sockets = Sockets()
    await sockets.follow()
    zeroconf = sockets.zeroconf
    if zeroconf is None:
        return
    ears = Ears(Sightings(discovery.MACHINES), lambda: None)
    zeroconf.async_add_listener(ears, None)
    addresses = interfaces.announced(sockets.interfaces or [])
    info = _info(discovery.CHECK, job["instance"], 1, addresses)
    sending = await zeroconf.async_register_service(info, cooperating_responders=True)
    kinds = (discovery.MACHINES, discovery.CHECK, _EVERY_KIND)
    await _ask(zeroconf, [DNSQuestion(kind, _PTR, _IN) for kind in kinds], over, at=_ASK_AT[:3])
    await _pause(over, _LISTEN)
    tell(heard=sorted(ears.heard), own=info.name)
    await sending
    await sockets.close()


def _questions(sightings: Sightings) -> list[DNSQuestion]:
    kind, wanted = sightings.kind, sightings.wanted
    if wanted is None:
        return [DNSQuestion(kind, _PTR, _IN)]
    return [DNSQuestion(f"{wanted}.{kind}", _SRV, _IN), *_whereabouts(kind, [wanted])]


def _whereabouts(kind: str, instances: Sequence[str]) -> list[DNSQuestion]:
    hosts = [discovery.host_of(kind, instance) for instance in instances]
    return [DNSQuestion(host, record, _IN) for host in hosts for record in (_A, _AAAA)]


async def _ask(
    zeroconf: Zeroconf,
    questions: Collection[DNSQuestion],
    over: asyncio.Event,
    at: Sequence[float] = _ASK_AT,
) -> None:
    """Ask several times: packets get lost, and responders are asked too soon after each other."""
    before = 0.0
    for number, moment in enumerate(at):
        await _pause(over, moment - before)
        before = moment
        if over.is_set() or not questions:
            return
        out = DNSOutgoing(_QUERY)
        for question in questions:
            # such a question is answered at once; the answer may go to another program's socket
            question.unicast = number == 0
            out.add_question(question)
        zeroconf.async_send(out)


async def _pause(over: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(over.wait(), seconds)


def _info(kind: str, instance: str, port: int, addresses: Sequence[str]) -> ServiceInfo:
    return ServiceInfo(
        kind,
        f"{instance}.{kind}",
        port,
        addresses=[ip_address(address).packed for address in addresses],
        properties={},
        server=discovery.host_of(kind, instance),
    )


def _limit() -> None:
    """Take from this process what it does not need."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when it is over
    logging.getLogger("zeroconf").setLevel(logging.CRITICAL + 1)
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - POSIX only

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, _FILES))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.nice(_NICE)


async def _work(job: dict[str, Any]) -> None:
    over = asyncio.Event()

    def ended() -> None:
        if not os.read(0, 4096):
            asyncio.get_running_loop().remove_reader(0)
            over.set()

    asyncio.get_running_loop().add_reader(0, ended)
    await {"announce": announce, "browse": browse, "check": check}[job["do"]](job, over)


def main() -> None:
    """Do the one job that standard input names."""
    _limit()
    line = bytearray()
    while not line.endswith(b"\n"):  # byte by byte: what follows is the event loop's to read
        if not (byte := os.read(0, 1)):
            return
        line += byte
    with suppress(BrokenPipeError):
        asyncio.run(_work(json.loads(line)))


if __name__ == "__main__":
    main()
