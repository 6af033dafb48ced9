"""The commits of chains that are here, fetched or made: each is read once.

Nothing that they say is believed here: ``core`` verifies it. A chain is one line of first parents,
and no larger than it may be.
"""

import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.chain import Draft, line_of, parents_of
from handsoff.edge.git import limits
from handsoff.edge.git.reader import MISSING, Reader
from handsoff.edge.git.repo import lines
from handsoff.errors import DamagedError

_NEAR: Final = 32
"""Links that are read one by one; of a longer chain git lists the rest."""


@dataclass(frozen=True)
class Chains:
    """Reads chains of one clone by ``reader``; ``run`` is git with the private object folder."""

    reader: Reader
    run: Callable[..., subprocess.CompletedProcess[bytes]]
    _read: dict[str, bytes] = field(default_factory=dict, init=False, compare=False, repr=False)
    """The commits that were read or made, by id: what an id names never changes."""

    def made(self, drafts: Iterable[Draft]) -> None:
        """Remember commits that were written here, so that ``line`` need not read them."""
        self._read.update((draft.oid, draft.data) for draft in drafts)

    def line(self, tip: str, known: str = "") -> list[tuple[str, bytes]] | None:
        """Return the commits from after ``known`` up to ``tip``, oldest first.

        None if ``known`` is not on the first-parent line of ``tip``; nothing of "", which is no
        tip. DamagedError if that line has a gap, or is over the limit.
        """
        found: list[tuple[str, bytes]] = []
        total, at = 0, tip
        with self.reader.open():
            while at and at != known:
                if len(found) == _NEAR and at not in self._read:
                    self.prepare([(at, known)])
                data = self._read.get(at) or self._link(at, tip, total)
                total += len(data)
                found.append((at, data))
                at = next(iter(parents_of(data)), "")
        if tip and at != known:
            return None
        self._read.update(found)
        return found[::-1]

    def prepare(self, wanted: Sequence[tuple[str, str]]) -> None:
        """Read many chains at once, so that ``line`` asks git no more for these (tip, known).

        What does not come out as one line from ``known`` to ``tip`` is left to ``line``, which
        says what is wrong with it.
        """
        given = "".join(f"{tip}\n" + (f"^{known}\n" if known else "") for tip, known in wanted)
        words = ("rev-list", "--first-parent", "--parents", "--stdin")
        listed = self.run(*words, given=given.encode()) if wanted else None
        if listed is None or listed.returncode:
            return
        below = dict([*line.split(" "), ""][:2] for line in lines(listed.stdout))
        oids = dict.fromkeys(oid for item in wanted for oid in line_of(below, *item))
        with suppress(DamagedError):
            self.commits(list(oids))

    def commits(self, oids: Sequence[str]) -> list[tuple[str, bytes]]:
        """Return raw commits that are here by id, in the order asked for."""
        absent = [oid for oid in oids if oid not in self._read]
        with self.reader.open():
            infos = self.reader.infos(absent)
            if any(info.kind != "commit" for info in infos.values()):
                raise DamagedError("a chain of the remote is incomplete", hint="run git fsck there")
            limits.check_total(sum(info.size for info in infos.values()))
            self._read.update(zip(absent, self.reader.contents(absent), strict=True))
        return [(oid, self._read[oid]) for oid in oids]

    def _link(self, oid: str, tip: str, total: int) -> bytes:
        info = self.reader.infos([oid])[oid]
        if oid == tip and info.kind not in ("commit", MISSING):
            raise DamagedError(
                f"what lies on the remote is no commit: {tip}",
                hint="somebody who may push put it there; the way out: handsoff doctor",
            )
        if info.kind != "commit":
            raise DamagedError("a chain of the remote is incomplete", hint="run git fsck there")
        limits.check_total(total + info.size)
        return self.reader.contents([oid])[0]
