"""What one checkout remembers of its own hand-overs, between one command and the next.

sending.json  a parcel that was sealed here and is not on the record yet: a retry goes on with it
known.json    the state that this checkout last sent or caught: bytes that are safe elsewhere; of
              other works, where their branches stood then
journal.json  a restore that has begun and is not finished: the next run finishes it
left.json     the parcel that was last left on the remote, and the machines that can open it
here.json     which works stand here, each on its branch, by the parcel that the record names
restore.json  where ``undo`` goes back to
along.json    the transcripts that were last sent along, and in which parcel
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from handsoff.core.checkout.state import USUAL_MODES, State
from handsoff.core.checkout.trees import Leaf
from handsoff.edge import files
from handsoff.edge.git.repo import Checkout, decode, encode
from handsoff.edge.steps import step

_SHOWN: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """A sealed parcel on its way to the record."""

    parcel: str
    work: str
    to: str
    route: str
    envelope: str
    receivers: tuple[str, ...]
    record: str
    path: str
    size: int
    sha256: str
    manifest_sha256: str
    entries: str = ""
    """The tip of the record as this hand-over makes it: it travels in the parcel as well."""
    until: int = 0
    """When what it offers runs out, or 0."""
    transcript: str = ""
    """The tree of the transcripts in it."""


@dataclass(frozen=True, slots=True)
class Known:
    """A state that is safe elsewhere, as ids and as the leaves that HEAD's tree does not have."""

    work: str
    head: str
    tip: str
    index_tree: str
    special: str
    work_tree: str
    rest: str
    """A digest of what else the state is: operation, permissions, sparse patterns."""
    stash: tuple[str, ...]
    private: tuple[str, ...]
    """Stash entries of this checkout from before the work came: the other side cannot drop them."""
    leaves: dict[bytes, Leaf]
    spared: tuple[bytes, ...]
    """Files of a filter that did not travel, as the other end gets them by itself."""
    page: str
    envelope: str = ""
    """The envelope that left with it, "" if it came here."""
    left: tuple[tuple[str, str], ...] = ()
    """What did not travel, and why: as much as people would read."""

    def is_state(self, state: State) -> bool:
        """Say whether all of ``state`` but its stash is this to the last byte."""
        return all(getattr(self, name) == value for name, value in _key(state).items())


def _key(state: State) -> dict[str, str]:
    # a mode that is odd on one machine may be what every new file gets on another
    odd = [item for item in state.modes if item[1] not in USUAL_MODES]
    rest = (state.detached, state.operation, state.raw, odd, state.sparse, state.resolved)
    return {
        "head": state.head,
        "tip": state.tip,
        "index_tree": state.index_tree,
        "special": repr([e[:5] for e in state.special]),
        "work_tree": state.work_tree,
        "rest": hashlib.sha256(repr(rest).encode("utf-8", "surrogateescape")).hexdigest(),
    }


class Memory:
    """The memory of one checkout."""

    def __init__(self, checkout: Checkout) -> None:
        self._folder = checkout.own_dir

    def sending(self) -> Sending | None:
        """Return the parcel under way, if there is one."""
        kept = files.read_json(self._path("sending"))
        return Sending(**{**kept, "receivers": tuple(kept["receivers"])}) if kept else None

    def set_sending(self, sending: Sending | None) -> None:
        """Note the parcel under way, or that there is none."""
        self._set("sending", asdict(sending) if sending else None)

    def known(self, work: str) -> Known | None:
        """Return the state of ``work`` that was last sent or caught here."""
        kept = files.read_json(self._path("known"))
        if not kept or kept["work"] != work or "spared" not in kept:
            return None
        leaves = {encode(path): Leaf(mode, oid) for path, mode, oid in kept["leaves"]}
        return Known(
            **{
                **{name: value for name, value in kept.items() if name != "tips"},
                "leaves": leaves,
                "stash": tuple(kept["stash"]),
                "private": tuple(kept["private"]),
                "spared": tuple(map(encode, kept["spared"])),
                "left": tuple((path, why) for path, why in kept.get("left", ())),
            }
        )

    def set_known(
        self,
        state: State,
        leaves: Mapping[bytes, Leaf],
        page: str,
        private: Sequence[str] = (),
        spared: Iterable[bytes] = (),
        *,
        envelope: str = "",
        left: Sequence[Mapping[str, str]] = (),
    ) -> None:
        """Note ``state`` as safe elsewhere; ``leaves`` are those that HEAD's tree does not have."""
        before = self.known(state.work)
        private = [*private, *(before.private if before is not None else ())]
        kept: dict[str, Any] = {
            "work": state.work,
            **_key(state),
            "stash": [e.oid for e in state.stash if e.oid not in private],
            "private": private,
            "leaves": [[decode(path), *leaf] for path, leaf in leaves.items()],
            "spared": sorted(map(decode, spared)),
            "page": page,
            "envelope": envelope,
            "left": [[item["path"], item["reason"]] for item in left[:_SHOWN]],
            "tips": {**self._tips(), state.work: state.tip},
        }
        self._set("known", kept)

    def known_tip(self, work: str) -> str:
        """Return the tip of the branch of ``work`` that was last sent or caught here, or ""."""
        return self._tips().get(work, "")

    def _tips(self) -> dict[str, str]:
        kept = files.read_json(self._path("known"))
        before = {str(kept["work"]): str(kept.get("tip", ""))} if kept else {}
        return {**before, **(kept.get("tips", {}) if kept else {})}

    def last_page(self) -> str:
        """Return the blob id of the page that was last sent or caught here, or ""."""
        kept = files.read_json(self._path("known"))
        return str(kept.get("page", "")) if kept else ""

    def here(self, work: str) -> str:
        """Return the id of the parcel of ``work`` that stands in this checkout, or ""."""
        return self.all_here().get(work, "")

    def all_here(self) -> dict[str, str]:
        """Return the parcel of each work that stands here, on its branch, the latest one last."""
        kept = files.read_json(self._path("here"))
        last = {str(kept["work"]): str(kept["parcel"])} if kept else {}
        return {**(kept.get("others", {}) if kept else {}), **last}

    def going(self, branch: str | None, *, bare: bool) -> str:
        """Return the work that goes when another comes over ``branch``, or "".

        If nothing stood here but what that branch has (``bare``), it can be switched back to.
        """
        last = [*self.all_here()][-1:]
        return "" if bare and branch else branch or "".join(last)

    def set_here(self, parcel: str, work: str, *, gone: str = "") -> None:
        """Note the parcel whose work stands here, or ("") that none does; ``gone`` does no more."""
        others = {k: v for k, v in self.all_here().items() if k not in (work, gone)}
        self.set_all_here({**others, work: parcel} if parcel else others)

    def set_all_here(self, works: Mapping[str, str]) -> None:
        """Note which works stand here, the latest one last."""
        *others, last = works.items() or [("", "")]
        kept = {"parcel": last[1], "work": last[0], "others": dict(others)}
        self._set("here", kept if works else None)

    def left(self) -> dict[str, Any]:
        """Return the parcel last left on the remote from here, and whom it is sealed to."""
        return files.read_json(self._path("left")) or {"parcel": "", "receivers": []}

    def set_left(self, parcel: str, receivers: Sequence[str]) -> None:
        """Note a parcel that was left on the remote."""
        self._set("left", {"parcel": parcel, "receivers": list(receivers)})

    def along(self) -> dict[str, Any]:
        """Return what was sent along with which parcel: see ``transcripts.Chosen.mark``."""
        return files.read_json(self._path("along")) or {"parcel": "", "mark": ""}

    def set_along(self, parcel: str, mark: str) -> None:
        """Note the transcripts that go along with a parcel, or ("") that none do."""
        self._set("along", {"parcel": parcel, "mark": mark} if mark else None)

    def journal(self) -> dict[str, Any] | None:
        """Return the restore that is not finished, if there is one."""
        kept = files.read_json(self._path("journal"))
        return kept if isinstance(kept, dict) else None

    def set_journal(self, entry: dict[str, Any] | None) -> None:
        """Note a restore that begins or goes on, or that none is under way."""
        self._set("journal", entry)

    def restore_point(self) -> dict[str, Any] | None:
        """Return where ``undo`` goes back to, if it can."""
        kept = files.read_json(self._path("restore"))
        return kept if isinstance(kept, dict) else None

    def set_restore_point(self, entry: dict[str, Any] | None) -> None:
        """Note where ``undo`` goes back to."""
        self._set("restore", entry)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _set(self, name: str, value: dict[str, Any] | None) -> None:
        step(f"memory.{name}.before")
        if value is None:
            self._path(name).unlink(missing_ok=True)
        else:
            files.write_json(self._path(name), value)


def finishing(journal: Mapping[str, Any]) -> str:
    """Return the verb, with its argument, that finishes what a journal began."""
    return f"catch {journal['work']}" if journal["verb"] == "catch" else "undo"
