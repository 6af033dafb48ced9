"""``handsoff doctor``: is this machine, this clone and its remote fit, and if not, what to do.

It asks nobody but the shared remote, this machine's own listener, and mDNS. Without ``repair`` it
changes nothing: the refs with which it tries the remote are gone when it ends. What waits for
others runs side by side. Outside a clone the machine alone is looked at, and that is said.

    flows/doctor/checkup_machine.py    programs, keys, disk
    flows/doctor/checkup_network.py    listener, mDNS, firewall
    flows/doctor/checkup_clone.py      hook, page, memory, locks
    flows/doctor/checkup_remote.py     what the remote can do, and what it has of us
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from handsoff.core.checkup import checkups, health
from handsoff.core.checkup.health import Finding, note, problem
from handsoff.edge import clock
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.errors import HandsoffError, UsageError
from handsoff.flows.doctor import checkup_clone, checkup_machine, checkup_network
from handsoff.flows.doctor.checkup_remote import RemoteCheckup


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What was found, and what was mended."""

    findings: tuple[Finding, ...]
    mended: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing needs anybody."""
        return health.healthy(self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return the document of ``--json``."""
        findings = [
            {"topic": f.topic, "level": f.level.value, "said": f.said, "do": f.do}
            for f in self.findings
        ]
        return {"healthy": self.healthy, "findings": findings, "mended": list(self.mended)}


def check_up(*, probe: bool, repair: bool, dry_run: bool) -> Health:
    """Look at this machine, this clone and the remote, and with ``repair`` mend the records."""
    begin, mono = clock.now(), clock.monotonic()
    checkout, shared, findings = _clone(needed=repair)
    machine, mended = checkup_machine.member(), []
    with ThreadPoolExecutor(3, thread_name_prefix="look") as aside:
        others = checkup_network.others_of(checkout, machine)
        asked: list[Future[list[Finding]]] = []
        if machine is not None:
            asked = [
                aside.submit(checkup_network.look_at_listener, machine),
                aside.submit(checkup_network.look_at_mdns, others),
            ]
        if checkout is not None and shared is not None:
            remote = RemoteCheckup(checkout, shared, probe=probe, repair=repair, dry_run=dry_run)
            mended = remote.mended
            asked.append(aside.submit(remote.run))
        findings[:0] = checkup_machine.look(checkout)
        if checkout is not None:
            findings += checkup_clone.look(checkout, shared)
        findings += [item for answer in asked for item in answer.result()]
    passed = timedelta(seconds=clock.monotonic() - mono)
    findings.append(checkups.of_time(begin, clock.now() - begin, passed))
    return Health(findings=tuple(findings), mended=tuple(mended))


def _clone(*, needed: bool) -> tuple[Checkout | None, Shared | None, list[Finding]]:
    """Return the clone around here and its remote, and what is to be said if one is missing."""
    try:
        checkout = open_checkout()
    except UsageError as error:
        if needed:
            raise
        said = f"{error}, so this machine alone was looked at"
        return None, None, [note("clone", said, "cd into a clone, and: handsoff doctor")]
    except HandsoffError as error:
        if needed:
            raise
        return None, None, [problem("clone", str(error), error.hint or "")]
    try:
        return checkout, open_shared(checkout), []
    except HandsoffError as error:
        return checkout, None, [problem("remote", str(error), error.hint or "")]
