"""What a check-up finds: each thing that is so, whether it needs somebody, and what to type.

Rule of the room: facts come in, findings go out. What was probed, read or asked is in the facts.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Final

from handsoff.core.remote.places import BRANCHES, are_branches
from handsoff.core.times import spell_length
from handsoff.core.works.holding import SKEW
from handsoff.core.works.tips import Mend

OLDEST_GIT: Final = (2, 31)
TRIED_GIT: Final = (2, 39)

OLD_PROBE: Final = 600
"""Seconds after which a probe that is still on the remote is nobody's any more."""

_PROBE: Final = re.compile(r"([a-z0-9]+)-([0-9]{1,12})-[0-9a-f]+")


class Level(Enum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is so, and what to do about it."""

    topic: str
    level: Level
    said: str
    do: str = ""


def ok(topic: str, said: str) -> Finding:
    """Return a finding that needs nobody."""
    return Finding(topic, Level.OK, said)


def note(topic: str, said: str, do: str = "") -> Finding:
    """Return a finding that is worth a look."""
    return Finding(topic, Level.NOTE, said, do)


def problem(topic: str, said: str, do: str = "") -> Finding:
    """Return a finding that needs somebody."""
    return Finding(topic, Level.PROBLEM, said, do)


def healthy(findings: Iterable[Finding]) -> bool:
    """Say whether nothing needs anybody."""
    return all(finding.level is not Level.PROBLEM for finding in findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What the remote did with refs that were made to try it out; None: it did not come to that."""

    refused: str = ""
    """Why it takes no ref of ours at all."""
    hint: str = ""
    shown: bool | None = None
    """Whether it shows what it took."""
    swaps: bool | None = None
    """Whether it refuses a writer whose ref moved since that writer looked."""
    atomic: bool | None = None
    """Whether it moves two refs together or none."""
    deletes: bool | None = None


def of_probe(remote: str, prefix: str, probed: Probed) -> list[Finding]:
    """Return what the probe says about the remote, and what to set."""
    topic = "remote"
    if probed.refused:
        return [problem(topic, probed.refused, probed.hint)]
    if probed.shown is False:
        said = f"{remote} takes refs under {prefix} and does not show them"
        setting = f"git config handsoff.refs {BRANCHES}, on each machine"
        own = "there: uploadpack.hideRefs and transfer.hideRefs must not hide them"
        return [problem(topic, said, own if are_branches(prefix) else f"{own}; or {setting}")]
    found = [ok(topic, f"{remote} takes refs under {prefix}, and shows them")]
    if probed.swaps is False:
        said = f"{remote} lets a writer win whose ref had moved: two machines could carry one work"
        found.append(problem(topic, said, "use another remote: nothing on this side can help"))
    elif probed.swaps is None:
        said = f"{remote} did not let a ref be moved, so whether it compares was not seen"
        found.append(problem(topic, said, "look for a hook there that refuses updates"))
    else:
        found.append(ok(topic, f"{remote} swaps a ref only where it compares equal"))
    if probed.atomic is False:
        said = f"{remote} cannot move two refs together, which handsoff push needs"
        found.append(problem(topic, said, "there: git config receive.advertiseAtomic true"))
    elif probed.atomic:
        found.append(ok(topic, f"{remote} moves two refs together or none"))
    if probed.deletes is False:
        said = f"{remote} does not let refs be deleted, so parcels and probes stay there"
        found.append(problem(topic, said, "there: receive.denyDeletes must not be set"))
    return found


def is_left_over(name: str, machine: str, now: int) -> bool:
    """Say whether ``name`` is a probe of this machine that no run of it still needs."""
    read = _PROBE.fullmatch(name)
    return read is not None and read[1] == machine and int(read[2]) < now - OLD_PROBE


def of_git(version: str) -> Finding:
    """Return what is to be said of the release of git here."""
    read = re.search(r"(\d+)\.(\d+)", version)
    release = (int(read[1]), int(read[2])) if read else (0, 0)
    lowest = ".".join(map(str, OLDEST_GIT))
    if release < OLDEST_GIT:
        return problem("git", f"git {version} is too old", f"install git {lowest} or later")
    if release < TRIED_GIT:
        return note("git", f"git {version} is older than what handsoff is tried with")
    return ok("git", f"git {version}")


def of_clock(ahead: timedelta) -> Finding:
    """Return what the times that members signed say about this clock."""
    if ahead <= SKEW:
        return ok("clock", "no member signed a time that is ahead of this clock")
    return problem(
        "clock",
        f"entries are dated {spell_length(ahead)} ahead of this clock: it is slow, or theirs fast",
        "compare: date -u, on each machine; holds and offers are judged by signed times",
    )


def of_chain(what: str, ref: str, mended: Mend, said: str, sides: Sequence[str] = ()) -> Finding:
    """Return what is to be done about a chain that contradicts what this clone saw."""
    settle = f"handsoff doctor --of {shlex.quote(ref)} --keep"
    if mended is Mend.PUSH_BACK:
        do = f"handsoff doctor --repair; if it was agreed on: {settle} remote"
        return problem(what, f"{said}; no entry there is news", do)
    both = "; ".join((said, *sides))
    said = f"{both}: those who wrote these must agree which one counts"
    return problem(what, said, f"{settle} here (ours over theirs), or --keep remote")


def of_void(what: str, total: int, shown: Sequence[str]) -> Finding:
    """Return what is to be said of entries that count for nothing."""
    more = f", and {total - len(shown)} more" if total > len(shown) else ""
    noun = "entry that counts" if total == 1 else "entries that count"
    return note(what, f"{total} {noun} for nothing: {'; '.join(shown)}{more}")
