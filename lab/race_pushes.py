"""Let many prepared pushes of one record go at once, and count the winners.

    race_pushes.py ROUNDS PUSHES KINDS ROOT CLONE...

Runs under the interpreter of the product, whose code writes the entries and builds the pushes.
CLONE is the name of a checkout in ROOT, as m2, or m1-other for a second one of machine m1. Each
round has one of KINDS, in turn, parted by commas:

    send-send    each clone of the first machine offers the same free work, to another machine
    catch-catch  each other machine catches a work that is offered to anyone
    save-catch   the carrier saves in time, while the others catch what ran out by their clocks

All of a round expect the same old tip, and no two write the same entry. The pushes wait on one
pipe; closing it lets them all go.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from handsoff.core.works.lease import HOLD, Recipient
from handsoff.core.works.pen import Pen
from handsoff.edge.git.moves import Move, Outcome, push_command
from handsoff.edge.git.objects import store_of
from handsoff.flows.desk import Desk, View, open_desk

GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
WAIT = ("sh", "-c", 'read -r _; exec "$@"', "sh")


def pen_of(desk: Desk, view: View, later: timedelta = timedelta(0)) -> Pen:
    """Return a pen of this machine, whose clock is ``later``."""
    now = desk.now + later
    return Pen(record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=now)


class Prepared:
    """A few entries that lack only their push."""

    def __init__(self, desk: Desk, view: View, work: str, pen: Pen) -> None:
        shared = desk.shared
        objects = store_of(shared)
        objects.write_drafts(pen.drafts)
        self.lease = pen.record.lease
        self.tip = pen.record.git_tip or ""
        move = Move(shared.record_ref(work), self.tip, view.tip)
        self.command = [*GIT, *push_command(shared.url, [move])]
        self.where = desk.checkout.top
        self.env = shared.environment()

    def start(self, gate: int) -> "subprocess.Popen[bytes]":
        """Start the push; it waits until the other end of ``gate`` is closed."""
        return subprocess.Popen(
            [*WAIT, *self.command],
            cwd=self.where,
            env=self.env,
            stdin=gate,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )


def send(desk: Desk, view: View, number: int) -> Pen:
    """Offer the free work to one of the others; the parcel's id makes each an entry of its own."""
    others = [m for m in view.roster.members() if m.id != desk.machine.id]
    to = Recipient(machine=others[number % len(others)].id)
    return pen_of(desk, view).caught().saved(parcel=f"{number + 1:032x}").offered(to)


def catch(desk: Desk, view: View, number: int) -> Pen:
    """Catch what was offered, or what has run out by this clock."""
    late = timedelta(0) if view.record.lease.to else HOLD * 2
    return pen_of(desk, view, late).caught(hold=HOLD + timedelta(seconds=number))


def save(desk: Desk, view: View, number: int) -> Pen:
    """Save as the carrier, who is in time."""
    return pen_of(desk, view).saved(hold=HOLD + timedelta(seconds=number))


def prepare(desks: Sequence[Desk], kind: str, work: str, pushes: int) -> list[Prepared]:
    """Bring the work to where ``kind`` begins; return the pushes that contend for it."""
    first = desks[0]
    mine = [desk for desk in desks if desk.machine.id == first.machine.id]
    others = [desk for desk in desks if desk.machine.id != first.machine.id]
    begin = pen_of(first, first.view(work))
    if kind == "catch-catch":
        begin = begin.caught().saved().offered(Recipient())
    elif kind == "save-catch":
        begin = begin.caught().saved()
    if begin.drafts:
        objects = store_of(first.shared)
        objects.write_drafts(begin.drafts)
        move = Move(first.shared.record_ref(work), begin.record.git_tip or "", "")
        if first.shared.push(move) is not Outcome.MOVED:
            raise RuntimeError(f"{work}: could not begin")
    acts: dict[str, list[tuple[Sequence[Desk], Callable[[Desk, View, int], Pen]]]] = {
        "send-send": [(mine, send)],
        "catch-catch": [(others, catch)],
        "save-catch": [(mine, save), (others, catch)],
    }
    views = {desk.checkout.top: desk.view(work) for desk in desks}
    ready = []
    for number in range(pushes):
        who, act = acts[kind][number % len(acts[kind])]
        desk = who[number // len(acts[kind]) % len(who)]
        view = views[desk.checkout.top]
        ready.append(Prepared(desk, view, work, act(desk, view, number)))
    if len({prepared.tip for prepared in ready}) != pushes:
        raise RuntimeError(f"{work}: two pushes are the same")
    return ready


def race(desks: Sequence[Desk], kind: str, work: str, pushes: int) -> str:
    """Run one race for ``work``; return what went wrong, or nothing."""
    ready = prepare(desks, kind, work, pushes)
    gate, opener = os.pipe()
    running = [prepared.start(gate) for prepared in ready]
    os.close(gate)
    os.close(opener)
    for push in running:
        push.communicate()
    won = [prepared for prepared, push in zip(ready, running, strict=True) if push.returncode == 0]
    record = desks[-1].view(work).record
    if len(won) != 1:
        return f"{len(won)} of {pushes} succeeded"
    if won[0].tip != record.git_tip or won[0].lease != record.lease:
        return f"the winner wrote {won[0].tip}, the record is at {record.git_tip}"
    if not all(entry.good for entry in desks[-1].history(record).entries):
        return "an entry of the record is void"
    return ""


def desk_of(root: Path, clone: str) -> Desk:
    """Return the desk of a checkout, with the keys of its machine."""
    home = root / "home" / clone.split("-", maxsplit=1)[0] / "handsoff"
    os.environ["HANDSOFF_HOME"] = str(home)
    desk = open_desk(root / clone)
    return replace(desk, now=desk.now.replace(microsecond=0))


def main() -> None:
    """Print how many races had one winner; fail unless all had."""
    rounds, pushes = int(sys.argv[1]), int(sys.argv[2])
    kinds, root = sys.argv[3].split(","), Path(sys.argv[4])
    desks = [desk_of(root, clone) for clone in sys.argv[5:]]
    sound = dict.fromkeys(kinds, 0)
    done = dict.fromkeys(kinds, 0)
    for number in range(rounds):
        kind = kinds[number % len(kinds)]
        said = race(desks, kind, f"prepared-{number + 1}", pushes)
        done[kind] += 1
        sound[kind] += not said
        if said:
            print(f"BAD  round {number + 1}, {kind}: {said}", flush=True)
    for kind in kinds:
        print(f"{sound[kind]} of {done[kind]} rounds of {pushes} prepared pushes at once "
              f"had exactly one winner: {kind}", flush=True)  # fmt: skip
    sys.exit(sound != done)


if __name__ == "__main__":
    main()
