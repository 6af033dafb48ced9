"""What it means that a machine is heard near by, or is not, and what to do about it.

Rule of the room: nobody heard is no fault. Everything that goes by mDNS goes with --at as well, so
only what keeps mDNS from working on this machine itself needs somebody.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from handsoff.core.checkup.health import Finding, note, ok, problem
from handsoff.core.reach.discovery import Look
from handsoff.core.reach.interfaces import Interface, Why, fit, unfit

_TOPIC: Final = "mdns"
_SHOWN: Final = 3
_AT: Final = "handsoff send NAME --at HOST:PORT, with what handsoff listen prints there"

NOBODY: Final = (
    "nobody listens, an access point keeps its clients apart, a firewall stops UDP port 5353, or a "
    "VPN is in between"
)
"""Why a person who looked for machines may have found none."""


def of_look(look: Look, others: Mapping[str, str]) -> list[Finding]:
    """Return what a check-up of mDNS found; ``others`` has the names of other members by id."""
    if look.off:
        return [note(_TOPIC, f"mDNS is {look.off}", _AT)]
    if look.trouble:
        do = "let other programs share the port (avahi: disallow-other-stacks=no); until then: --at"
        return [problem(_TOPIC, f"mDNS does not work here: {look.trouble}", do)]
    if not fit(look.interfaces):
        return [note(_TOPIC, *_nowhere(look.interfaces))]
    names = ", ".join(interface.name for interface in fit(look.interfaces))
    if not look.own:
        said = f"what this machine announces on {names} is not heard here itself"
        return [problem(_TOPIC, said, "let UDP port 5353 in and out of this machine's firewall")]
    found = [ok(_TOPIC, f"mDNS works on {names}")]
    heard = sorted(others[machine] for machine in look.machines if machine in others)
    if heard:
        found.append(ok(_TOPIC, f"heard here: {_shown(heard)}"))
    elif others:
        found.append(note(_TOPIC, *_silence(look, sorted(others.values()))))
    return found


def not_found(
    name: str, *, others: Sequence[str], silent: Sequence[str], looked: bool, trouble: str
) -> tuple[str, str]:
    """Return what is so where a machine was not found, and what to do.

    ``others`` are addresses at which another machine answered, ``silent`` those where nobody did;
    ``looked``, whether mDNS was asked, and ``trouble``, why in vain.
    """
    do = f"is handsoff listen running there? handsoff send {name} --at HOST:PORT; handsoff doctor"
    if others:
        said = f"{name} was not found; another machine answers in its place at {_shown(others)}"
    elif silent:
        said = f"{name} did not answer at {_shown(silent)}"
        said += ", and mDNS knows no other place" if looked and not trouble else ""
    else:
        nowhere = trouble or not looked
        said = f"no address of {name} is known" if nowhere else f"mDNS finds no {name} here"
    return (f"{said}; {trouble}" if trouble else said), do


def _nowhere(interfaces: Sequence[Interface]) -> tuple[str, str]:
    tunnels = _named(interfaces, Why.TUNNEL)
    mute = _named(interfaces, Why.NO_MULTICAST)
    if tunnels:
        said = f"only a tunnel or VPN leads out of here ({tunnels}), and nobody is looked for on it"
    elif mute:
        said = f"{mute} has no multicast, so mDNS cannot work there"
    else:
        said = "no network interface is up, so nobody is near by"
    return said, _AT


def _silence(look: Look, names: Sequence[str]) -> tuple[str, str]:
    said = f"of {_shown(names)} nobody was heard"
    if look.others:
        said += ", but other devices were"
        do = f"handsoff listen, there; or a firewall there stops UDP port 5353: {_AT}"
    else:
        said += (
            ", and nothing of anybody: no handsoff listen runs there, or an access point keeps its "
            "clients apart, or a firewall is in between"
        )
        do = f"handsoff listen, there; or {_AT}"
    if tunnels := _named(look.interfaces, Why.TUNNEL):
        said += f"; or the VPN that is up ({tunnels})"
    return said, do


def _named(interfaces: Sequence[Interface], why: Why) -> str:
    return ", ".join(i.name for i in interfaces if unfit(i) is why)


def _shown(names: Collection[str]) -> str:
    shown = ", ".join([*names][:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
