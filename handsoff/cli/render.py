"""Results as lines for people. Pure: a result in, lines out; nothing here asks or decides.

Everything that another machine wrote (names of works and paths, reasons) passes ``clean``.
"""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from handsoff.cli import waits
from handsoff.cli.talk import progress_wanted
from handsoff.cli.transcripts import came, going
from handsoff.core.phrases import Said
from handsoff.core.plain import plain
from handsoff.core.sizes import spell_size
from handsoff.edge import tongue
from handsoff.flows.phases import Tell, nobody

if TYPE_CHECKING:  # a command pays for its own flow only
    from handsoff.flows.catching.catching import CatchResult
    from handsoff.flows.catching.undo import Undone
    from handsoff.flows.doctor.doctor import Health
    from handsoff.flows.receiving.happening import Happening, Moving
    from handsoff.flows.sending.plan import Sent
    from handsoff.flows.shown.status import Arrived, Status, WorkStatus

_LEFT: Final = 12
_DONE: Final = {
    ("send", False): "handed {work} to {to}",
    ("send", True): "would hand {work} to {to}",
    ("offer", False): "offered {work} to {to}",
    ("offer", True): "would offer {work} to {to}",
    ("save", False): "saved {work}",
    ("save", True): "would save {work}",
}
_COUNTED: Final = {
    "commits": ("{n} unpushed commit", "{n} unpushed commits"),
    "staged": ("{n} staged", "{n} staged"),
    "unstaged": ("{n} unstaged", "{n} unstaged"),
    "untracked": ("{n} untracked", "{n} untracked"),
    "carried": ("{n} carried", "{n} carried"),
    "stash": ("{n} stash entry", "{n} stash entries"),
}
"""What is counted, one of it and several."""


def clean(text: str) -> str:
    """Return text of another machine as one safe line."""
    return plain(text)


def catch_command(work: str) -> str:
    """Return the command that catches ``work``, ready to be typed."""
    return f"handsoff catch {shlex.quote(work)}" if clean(work) == work else "handsoff inbox"


def sent(result: "Sent") -> Iterator[str]:
    """Yield what to say of a hand-over, an offer or a save."""
    work = clean(result.work)
    yield from (f"warning: {warning}" for warning in result.warnings)
    if result.already:
        yield from waits.before(result, work)
        yield from [waits.RECORD] * result.pending
        return
    done = _DONE[result.verb, result.dry_run].format(work=work, to=clean(result.to))
    until = f", until {result.until}" if result.until else ""
    yield tongue.told(
        "{done}: r{revision}, leg {leg}{until}",
        done=done, until=until, revision=str(result.revision), leg=str(result.leg),
    )  # fmt: skip
    size = tongue.told("{size} by {route}", size=spell_size(result.size), route=result.route.name)
    counts = tongue.told("{counts}; {size}", counts=_counts(result.counts), size=size)
    yield f"  {counts}"
    yield f"  route: {result.route.name} ({clean(result.route.why)})"
    if result.resumed or result.lost:
        there = f"{spell_size(result.resumed)} of it were there from an earlier run"
        lost = f"the connection was lost and made again {result.lost} times"
        yield f"  {'; '.join([there] * bool(result.resumed) + [lost] * bool(result.lost))}"
    if result.operation:
        yield f"  in progress, and travels as it is: {result.operation}"
    yield from left_behind(result.left_behind)
    yield from going(result.transcripts, result.redacted)
    if result.waived:
        yield f"  waived findings: {', '.join(result.waived)}"
    if result.dry_run:
        yield "nothing was sent or changed"
        return
    yield from [waits.RECORD] * result.pending
    if result.verb == "save":
        yield f"next: go on; handsoff send MACHINE hands {work} over"
    elif result.verb == "offer":
        yield f"next: stop working on {work} here; elsewhere: {catch_command(result.work)}"
    else:
        yield f"next: stop working on {work} here; on {result.to}: {catch_command(result.work)}"


def happened(what: "Happening") -> Iterator[str]:
    """Yield what a listener says of one thing that happened."""
    work, who, text = clean(what.work), clean(what.machine), clean(what.text)
    match what.event:
        case "listening":
            yield f"{who} listens at {what.address} (stop with Ctrl-C)"
            yield f"next: on another machine: handsoff send {who} --at {what.address}"
        case "arriving":
            here = f", {spell_size(what.offset)} of it are here" if what.offset else ""
            yield f"{who} ({clean(what.person)}) sends {work}: {spell_size(what.size)}{here}"
        case "arrived":
            yield f"received {work} r{what.revision} from {who}"
            then = catch_command(what.work)
            yield f"next: in a clone of it, once the sender has finished: {then}"
        case "giving":
            yield f"{who} ({clean(what.person)}) fetches {work}: {spell_size(what.size)}"
        case "gave":
            yield f"{who} has {work}"
        case "refused" | "failed":
            yield f"handsoff: {who or clean(what.peer)}: {text}"
        case "doubt":
            yield f"warning: {text}"
        case "news":
            yield text
        case "stopping":
            yield "stopping; what is under way may end"
        case _:
            pass


def moving(what: "Moving") -> str:
    """Return how far a parcel has come, short enough to stand beside others."""
    share = 100 * what.done // what.size if what.size else 100
    return f"{clean(what.work)} {clean(what.machine)} {share} % of {spell_size(what.size)}"


def left_behind(paths: Sequence[dict[str, str]]) -> Iterator[str]:
    """Yield the list of what did not travel."""
    if paths:
        yield f"  left behind ({len(paths)}):"
    yield from _first_of(paths, "reason")


def caught(result: "CatchResult") -> Iterator[str]:
    """Yield what to say of a catch; the page itself is data."""
    work = clean(result.work)
    yield from (f"warning: {clean(warning)}" for warning in result.warnings)
    if result.already:
        yield f"this machine carries {work} already (leg {result.leg}); nothing to do"
        yield from [waits.UNCONFIRMED] * result.provisional
        return
    if result.dry_run:
        yield f"would catch {work} (r{result.revision}) from {result.sender} into {result.top}"
        yield f"  {result.writes} files to write, {result.removals} to remove"
        yield from left_behind(result.left_behind)
        yield from came(result.transcripts)
        yield from runs_by_itself(result)
        yield "nothing was changed"
        return
    took_up = " (an interrupted catch was finished)" if result.finished else ""
    yield f"caught {work} r{result.revision} from {result.sender}: leg {result.leg}{took_up}"
    yield f"  in {result.top}; every file, index entry and stash was compared"
    if result.route not in ("", "inbox"):
        yield f"  route: {result.route} ({clean(result.route_why)})"
    yield from left_behind(result.left_behind)
    yield from came(result.transcripts)
    if result.operation:
        yield f"  in progress: {result.operation}; to go on: {result.go_on}"
    yield from runs_by_itself(result)
    for command in result.runs:
        yield f"  going on will run: {clean(command)}"
    yield from [waits.UNCONFIRMED] * result.provisional
    if result.saved_page:
        alone = f"r{result.revision} is a page alone, which is below"
        yield f"  the bytes are those of r{result.bytes_of}; {alone}"
    if result.blocked:
        yield tongue.told("BLOCKED: {quoted}", quoted=clean(result.blocked))
    if result.check_first:
        yield "check before you repeat:"
        yield from (f"  {clean(line)}" for line in result.check_first)
    yield "next: read the page below before you edit; handsoff undo goes back"


def runs_by_itself(result: "CatchResult") -> Iterator[str]:
    """Yield the files of another person that are read by tools before anybody was asked."""
    files = result.autorun
    if files:
        yield f"  look before you go on; tools run or obey these by themselves ({len(files)}):"
    yield from _first_of(files, "by")


def _first_of(items: Sequence[dict[str, str]], said: str) -> Iterator[str]:
    for item in items[:_LEFT]:
        yield f"    {clean(item['path'])}: {clean(item[said])}"
    if len(items) > _LEFT:
        yield f"    and {len(items) - _LEFT} more; --json has them all"


def arrived(parcels: "Sequence[Arrived]") -> Iterator[str]:
    """Yield a line for each parcel in the inbox, and what to do about each work."""
    for n, item in enumerate(parcels, 1):
        size = spell_size(item.size)
        yield f"{clean(item.work)}  r{item.revision} from {clean(item.sender)}, {size}"
        if all(later.work != item.work for later in parcels[n:]):
            yield f"  next: {catch_command(item.work)}"


def status(found: "Status") -> Iterator[str]:
    """Yield what is so."""
    yield f"machine {found.machine}, roster {found.founding[:12]}"
    if found.remote:
        yield f"{clean(found.remote)}; as last seen:"
    for work in found.works:
        mark = "*" if work.work == found.branch else " "
        line = Said(f"{mark} {clean(work.work)}")
        yield tongue.told("{line}: {standing}", line=line, standing=_standing(work))
        if work.trouble:
            yield f"    {clean(work.trouble)}; the line above is as last seen"
            yield "    next: handsoff doctor"
        elif work.for_me:
            yield f"    next: {catch_command(work.work)}"
        for branch in work.strayed:
            yield f"    {clean(branch.said)}"
            yield f"    next: {clean(branch.next)}"
        if work.provisional:
            yield "    provisional: the remote has not confirmed it; see: handsoff pending"
    yield from (clean(line) for line in found.news)
    for doubt in found.doubts:
        yield f"warning: {clean(doubt)}"
    if found.unread:
        yield f"{found.unread} more works on the remote were not looked at: handsoff doctor"
    if found.unfinished:
        yield f"interrupted here; to finish it: {clean(found.unfinished)}"


def health(found: "Health") -> Iterator[str]:
    """Yield each finding, what needs somebody last."""
    marks = {"ok": "ok  ", "note": "note", "problem": "!!  "}
    for level, mark in marks.items():
        for item in found.findings:
            if item.level.value == level:
                told = {"mark": Said(mark), "topic": clean(item.topic), "said": clean(item.said)}
                yield tongue.told("{mark} {topic}: {said}", **told)
                if item.do:
                    yield f"     next: {clean(item.do)}"
    yield from (f"mended: {clean(line)}" for line in found.mended)


def _standing(work: "WorkStatus") -> str:
    if work.state == "free":
        return "nobody has handed it over yet"
    who = "this machine" if work.mine else work.carrier
    who = f"{who} to {clean(work.to)}" if work.to else who
    time = f"since {work.since} until {work.until}" if work.until else f"since {work.since}"
    said = tongue.told(
        "{state} by {who} {time} (leg {leg}, r{revision})",
        state=tongue.word("state", work.state), who=who, time=time,
        leg=str(work.leg), revision=str(work.revision),
    )  # fmt: skip
    why = "{standing}; BLOCKED: {reason}" if work.blocked else "{standing}; because: {reason}"
    reason = Said(tongue.word("outcome", clean(work.reason)))  # else it is somebody's words
    return tongue.told(why, standing=said, reason=reason) if reason else said


def undone(result: "Undone") -> Iterator[str]:
    """Yield what to say of an undo."""
    where = result.branch or result.head[:12]
    if result.dry_run:
        writes, removals = result.writes, result.removals
        yield f"would go back to {clean(where)}: {writes} to write, {removals} to remove"
        return
    yield f"went back to {clean(where)}, as it was before the catch of {clean(result.work)}"
    if result.transcripts:
        yield f"the transcripts that came stay: {clean(', '.join(result.transcripts))}"
    yield "what was here is kept: handsoff undo once more brings it back"
    yield f"the record did not move: handsoff status says who carries {clean(result.work)}"


def _counts(counts: dict[str, int]) -> str:
    numbers = {key: counts[key] for key in _COUNTED if counts.get(key)}
    shown = [_COUNTED[key][n != 1].format(n=n) for key, n in numbers.items()]
    return ", ".join(shown) or "no changes besides commits"


@contextmanager
def progress(*, quiet: bool) -> Iterator[Tell]:
    """Give a function that shows where a verb is, on a terminal only, on one line."""
    if quiet or not progress_wanted():
        yield nobody
        return

    def tell(phase: str, done: int, total: int) -> None:
        share = f" {100 * done // total} %" if total else ""
        print(f"\r\033[K{tongue.word('phase', phase)}{share}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
