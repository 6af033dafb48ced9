"""Let many prepared pushes of one record go at once, and count the winners.

    race_pushes.py ROUNDS PUSHES CLONE...

Runs as one machine under the interpreter of the product, whose code writes the entries and
builds the pushes: each offers the same free work to another machine, and expects the same old
tip. The pushes wait on one pipe; closing it lets them all go.
"""

import os
import subprocess
import sys
from pathlib import Path

from handsoff.core.lease import Recipient
from handsoff.core.pen import Pen
from handsoff.edge.git.remote import Move, push_command
from handsoff.flows.desk import Desk, View, open_desk

GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
WAIT = ("sh", "-c", 'read -r _; exec "$@"', "sh")


class Prepared:
    """One hand-over that lacks only its push."""

    def __init__(self, desk: Desk, view: View, work: str, number: int) -> None:
        others = [m for m in view.roster.members() if m.id != desk.machine.id]
        self.to = others[number % len(others)]
        pen = Pen(record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now)
        # The parcel's id makes each of them an entry of its own.
        parcel = f"{number + 1:032x}"
        pen = pen.caught().saved(parcel=parcel).offered(Recipient(machine=self.to.id))
        shared = desk.shared
        for draft in pen.drafts:
            if draft.tree:
                shared.run("hash-object", "-t", "tree", "-w", "--stdin", given=draft.tree)
            shared.run("hash-object", "-t", "commit", "-w", "--stdin", given=draft.data)
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


def race(work: str, clones: list[Path], pushes: int) -> str:
    """Run one race for ``work``; return what went wrong, or nothing."""
    desks = [open_desk(clone) for clone in clones]
    views = [desk.view(work) for desk in desks]
    ready = [Prepared(desks[n % len(desks)], views[n % len(desks)], work, n) for n in range(pushes)]
    gate, opener = os.pipe()
    running = [prepared.start(gate) for prepared in ready]
    os.close(gate)
    os.close(opener)
    for push in running:
        push.communicate()
    won = [prepared for prepared, push in zip(ready, running, strict=True) if push.returncode == 0]
    record = desks[0].view(work).record
    told = record.lease.to.machine if record.lease.to else "nobody"
    if len(won) != 1:
        return f"{len(won)} of {pushes} succeeded"
    if won[0].tip != record.git_tip or won[0].to.id != told:
        return f"the winner offers to {won[0].to.name}, the record says {told}"
    return ""


def main() -> None:
    """Print how many races had one winner; fail unless all had."""
    rounds, pushes = int(sys.argv[1]), int(sys.argv[2])
    clones = [Path(word) for word in sys.argv[3:]]
    wrong = [race(f"prepared-{number}", clones, pushes) for number in range(1, rounds + 1)]
    for number, said in enumerate(wrong, 1):
        if said:
            print(f"BAD  round {number}: {said}")
    sound = wrong.count("")
    print(f"{sound} of {rounds} rounds of {pushes} prepared pushes at once had exactly one winner")
    sys.exit(sound != rounds)


if __name__ == "__main__":
    main()
