"""Changes of the roster that were asked for without the remote: made at the next contact.

    <store>/changes.json   {"changes": [{"verb", "words", "at"}, ...]} in the order of asking

What waits is the wish and not an entry: who may change the roster, and the tips that a revocation
names, are known only when the remote answers. A wish that is then refused is told, and gone.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeVar

from handsoff.core.plain import plain
from handsoff.core.works.entry import time_of
from handsoff.core.works.landing import LIMIT
from handsoff.edge import files
from handsoff.edge.steps import step
from handsoff.errors import HandsoffError, UnreachableError
from handsoff.flows.desk import Desk
from handsoff.flows.roster import leaving, roster
from handsoff.flows.roster.roster import Ask

T = TypeVar("T")

_VERBS: Final = frozenset({"admit", "revoke", "rename"})


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was asked for: the verb, its words (of a card: the file), and when."""

    verb: str
    words: tuple[str, ...]
    at: int

    @property
    def said(self) -> str:
        """The change as people read it."""
        shown = "a card" if self.verb == "admit" else " ".join(self.words[:2])
        return plain(f"{self.verb} {shown}")


def waiting(desk: Desk) -> list[Change]:
    """Return the changes that wait in this clone, oldest first."""
    kept = files.read_json(_path(desk)) or {"changes": []}
    return [Change(c["verb"], tuple(c["words"]), c["at"]) for c in kept["changes"]]


def or_later(desk: Desk, verb: str, words: tuple[str, ...], run: Callable[[], T], *, ask: Ask) -> T:
    """Return what ``run`` makes of a change; without the remote, let the wish wait and say so."""
    assert verb in _VERBS
    try:
        return run()
    except UnreachableError as error:
        known = desk.local_roster()
        if known is None:
            raise
        desk.need_admitted(known)
        change = Change(verb, words, int(desk.now.timestamp()))
        ask(f"the remote does not answer; {change.said} at the next contact?")
        with desk.checkout.lock():
            _keep(desk, [*waiting(desk), change])
        raise UnreachableError(
            f"{error}; {change.said} waits here", hint="it is made at the next contact; see: "
            "handsoff pending",
        ) from error  # fmt: skip


def make(desk: Desk, *, asked: bool = False) -> list[str]:
    """Make the changes that wait, and return what became of each; the remote answers.

    What waits for longer than a day is made only if somebody ``asked``.
    """
    news = []
    for change in waiting(desk):
        if desk.now - time_of(change.at) > LIMIT and not asked:
            news.append(f"{change.said} waits for longer than a day: handsoff pending --send")
            continue
        try:
            _make(desk, change)
            news.append(f"made on the roster what waited: {change.said}")
        except UnreachableError:
            raise
        except HandsoffError as error:
            news.append(f"refused on the roster: {change.said}: {error}")
        step("changes.made.before")
        _keep(desk, [other for other in waiting(desk) if other != change])
    return news


def _make(desk: Desk, change: Change) -> None:
    def agreed(_: str) -> None:
        """Ask nobody again: the person agreed when the wish was typed."""

    if change.verb == "admit":
        roster.admit(desk, change.words[0].encode("ascii"), ask=agreed)
    elif change.verb == "revoke":
        leaving.revoke(desk, change.words[0], change.words[1], ask=agreed)
    else:
        leaving.rename(desk, *change.words)


def _keep(desk: Desk, changes: list[Change]) -> None:
    if changes:
        files.write_json(_path(desk), {"changes": [asdict(change) for change in changes]})
    else:
        _path(desk).unlink(missing_ok=True)


def _path(desk: Desk) -> Path:
    return desk.checkout.store_dir / "changes.json"
