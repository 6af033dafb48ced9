"""Trying a remote out: refs below ``probe/`` are made, raced for, moved together and deleted.

Trap: git itself compares before it pushes, so a wrong old value alone shows nothing of the remote.
``race`` lets the ref move after git has looked and before it pushes: from git's own pre-push hook.
"""

import secrets
import shlex
from dataclasses import dataclass, field, replace
from typing import Final

from handsoff.core.checkup.health import Probed, is_left_over
from handsoff.core.objects import EMPTY_TREE, Commit, encode_commit
from handsoff.edge import files
from handsoff.edge.git.moves import Move, Outcome, push_command
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import Shared
from handsoff.edge.steps import step
from handsoff.errors import RefusedError, UnreachableError

_WHO: Final = "handsoff <probe@handsoff.invalid> 0 +0000"


@dataclass
class Probe:
    """One try of the remote by ``machine``, at ``now`` (in seconds)."""

    shared: Shared
    machine: str
    now: int
    left: list[str] = field(default_factory=list)
    """Refs that could not be deleted again."""

    @property
    def _place(self) -> str:
        return f"{self.shared.prefix}/probe/"

    def run(self) -> Probed:
        """Try it all; what was made is deleted whatever happens, and what was left before."""
        name = f"{self.machine}-{self.now}-{secrets.token_hex(6)}"
        refs = [f"{self._place}{name}{end}" for end in ("0", "1")]
        try:
            found = self._try(*refs)
        finally:
            deletes = self._clean(refs)
        return replace(found, deletes=deletes)

    def _try(self, ref: str, other: str) -> Probed:
        shared = self.shared
        first, second, late, fourth = self._commits()
        try:
            shared.push(Move(ref, first, ""))
        except RefusedError as error:
            return Probed(refused=str(error), hint=error.hint or "")
        step("doctor.probe.after")
        if shared.tips(ref).get(ref) != first:
            return Probed(shown=False)
        found = Probed(shown=True, swaps=self._race(Move(ref, second, first), late))
        try:
            outcome = shared.push(Move(ref, fourth, second), Move(other, first, ""))
        except RefusedError as error:
            atomic = False if "atomic" in str(error) else None
        else:
            atomic = True if outcome is Outcome.MOVED else None
        return replace(found, atomic=atomic)

    def _commits(self) -> list[str]:
        objects = Objects(self.shared.objects)
        objects.write("tree", b"")
        made: list[str] = []
        for number, below in enumerate((0, 0, 0, 1)):
            parents = tuple(made[below : below + 1])
            said = f"handsoff doctor tries this remote: {number}\n"
            commit = Commit(EMPTY_TREE, parents, _WHO, _WHO, said)
            made.append(objects.write("commit", encode_commit(commit)))
        return made

    def _race(self, move: Move, late: str) -> bool | None:
        """Let ``move`` happen while a push of ``late`` over the same old value is under way.

        Returns whether ``move`` stood; None if it was not made.
        """
        shared = self.shared
        quick = ["git", "-c", "core.hooksPath=/dev/null", *push_command(shared.url, [move])]
        slow = [word for word in push_command(shared.url, [move._replace(new=late)])
                if word != "--no-verify"]  # fmt: skip
        with shared.checkout.scratch() as folder:
            done = folder / "done"
            quickly = f"{shlex.join(quick)} >&2 && : > {shlex.quote(str(done))}"
            text = f"#!/bin/sh\ncat > /dev/null\n{quickly}\nexit 0\n"
            files.write(folder / "pre-push", text.encode("utf-8", "surrogateescape"), mode=0o700)
            shared.run("-c", f"core.hooksPath={folder}", *slow)
            if not done.exists():
                return None
        return shared.tips(move.ref).get(move.ref) == move.new

    def _clean(self, made: list[str]) -> bool | None:
        """Delete what this run made, and what an older one of this machine left."""
        there = self.shared.tips(f"{self._place}{self.machine}-*")
        ours = [
            ref for ref in there
            if ref in made or is_left_over(ref.removeprefix(self._place), self.machine, self.now)
        ]  # fmt: skip
        for ref in ours:
            try:
                self.shared.push(Move(ref, "", there[ref]))
            except (RefusedError, UnreachableError):
                self.left.append(ref)
        return not self.left if ours else None
