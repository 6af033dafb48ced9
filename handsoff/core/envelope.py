"""The envelope: one commit whose closure is a checkout's whole state.

    envelope ── parents ── snapshot ── parents ── HEAD, index commit ── HEAD
            │           └─ every stash entry
            └── tree: index  stash  branch  empty-folders  left-behind  pins/  auto-merge/

The snapshot is shaped as git shapes a stash (its tree is the worktree with untracked and
carried files), so that plain git can rescue it: ``git stash apply --index <snapshot>``.
The index commit's tree holds every entry that a tree can hold; ``index`` lists the others
(conflict stages, intent-to-add and other flags), and ``pins/`` keeps their blobs.

Ids follow from the content alone: the identity is fixed and the time is that of HEAD, so
that capturing the same state twice gives the same envelope and a retry can be recognised.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from handsoff.core import canon, index
from handsoff.core.ids import check_oid
from handsoff.core.index import Entry
from handsoff.core.objects import FILE, TREE, Commit, TreeEntry, encode_commit, encode_tree
from handsoff.errors import DamagedError

NO_TIME: Final = "0 +0000"
"""The time of a state that has no commit yet."""

_WHO: Final = "handsoff <snapshot@handsoff.invalid>"


@dataclass(frozen=True, slots=True)
class StashEntry:
    """One line of the stash list: the commit, its list message, and the reflog's identity."""

    oid: str
    message: str
    who: str
    """``name <mail> seconds zone``, as git writes it in a reflog."""


@dataclass(frozen=True, slots=True)
class BranchConfig:
    """What the checkout's configuration says of the branch."""

    remote: str = ""
    """Upstream remote: "=" for the remote that the record is on, or a name, or "." or ""."""
    merge: str = ""
    others: tuple[tuple[str, str], ...] = ()
    """Further keys of ``branch.<name>``, such as rebase and description."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A path that does not travel, and why; a folder stands for all that is in it."""

    path: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class State:
    """A checkout as ids and small lists. Two equal states are the same to the last byte."""

    work: str
    head: str
    """The commit of HEAD, "" where there is none yet."""
    head_time: str
    """Committer date of HEAD: ``seconds zone``."""
    index_tree: str
    special: tuple[Entry, ...]
    work_tree: str
    stash: tuple[StashEntry, ...]
    branch: BranchConfig
    empty_folders: tuple[bytes, ...]
    left_behind: tuple[LeftBehind, ...] = ()
    auto_merge: str = ""
    """The tree that a merge or a stash pop left in AUTO_MERGE, or ""."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """The objects that an envelope adds to those of the state: (kind, bytes), and the ids."""

    envelope: str
    snapshot: str
    objects: tuple[tuple[str, bytes], ...]


KEPT_KEYS: Final = frozenset({"rebase", "pushremote", "description"})
_KEY: Final = re.compile(r"[a-z][a-z0-9-]{0,40}")
_IDENT: Final = re.compile(r"[^\n\0]{0,1000} \d{1,14} [+-]\d{4}")


def encode_index_commit(state: State) -> bytes:
    """Return the commit that stands for the index, as in a stash."""
    return _commit(state, state.index_tree, _head(state), f"index on {state.work}")


def encode_snapshot(state: State, index_commit: str) -> bytes:
    """Return the stash-shaped commit of the whole worktree."""
    parents = (*_head(state), index_commit)
    return _commit(state, state.work_tree, parents, f"work in progress on {state.work}")


def encode_envelope(state: State, snapshot: str, tree: str) -> bytes:
    """Return the commit that binds the snapshot, the stash entries and the lists."""
    parents = (snapshot, *dict.fromkeys(e.oid for e in state.stash))
    return _commit(state, tree, parents, f"handsoff envelope of {state.work}")


def _head(state: State) -> tuple[str, ...]:
    return (state.head,) if state.head else ()


def _commit(state: State, tree: str, parents: tuple[str, ...], message: str) -> bytes:
    who = f"{_WHO} {state.head_time}"
    return encode_commit(Commit(tree, parents, who, who, message + "\n"))


def lists_of(state: State) -> dict[bytes, bytes]:
    """Return the blobs of the envelope's tree by name."""
    stash = [{"oid": e.oid, "message": e.message, "who": e.who} for e in state.stash]
    branch = {
        "work": state.work,
        "remote": state.branch.remote,
        "merge": state.branch.merge,
        "others": [list(pair) for pair in state.branch.others],
        "auto-merge": state.auto_merge,
    }
    left = [{"path": _text(e.path), "reason": e.reason} for e in state.left_behind]
    return {
        b"branch": canon.encode(branch),
        b"empty-folders": b"".join(p + b"\0" for p in sorted(state.empty_folders)),
        b"index": index.encode_special(state.special),
        b"left-behind": canon.encode({"paths": left}),
        b"stash": canon.encode({"entries": stash}),
    }


def encode_pins(state: State) -> bytes:
    """Return a tree that names every blob of the special entries, so that it travels too."""
    pins = {e.oid: TreeEntry(e.oid.encode(), FILE, e.oid) for e in state.special}
    return encode_tree(list(pins.values()))


def encode_root(blobs: dict[bytes, str], pins: str | None, auto_merge: str) -> bytes:
    """Return the envelope's tree: the lists by name, and the trees they name if there are any."""
    entries = [TreeEntry(name, FILE, oid) for name, oid in blobs.items()]
    if auto_merge:
        entries.append(TreeEntry(b"auto-merge", TREE, auto_merge))
    if pins is not None:
        entries.append(TreeEntry(b"pins", TREE, pins))
    return encode_tree(entries)


def decode_lists(
    lists: dict[bytes, bytes], *, head: str, head_time: str, index_tree: str, work_tree: str
) -> State:
    """Return the state that the envelope's lists and commits spell; DamagedError if malformed."""
    try:
        branch = canon.decode(lists[b"branch"])
        stash = canon.decode(lists[b"stash"], limit=1 << 26)
        left = canon.decode(lists[b"left-behind"], limit=1 << 26)
        *folders, rest = lists[b"empty-folders"].split(b"\0")
        if rest:
            raise DamagedError("the snapshot's list of empty folders is cut short")
        return State(
            work=_str(branch["work"]),
            head=head,
            head_time=head_time,
            index_tree=index_tree,
            special=tuple(index.decode_special(lists[b"index"])),
            work_tree=work_tree,
            stash=tuple(_stash_entry(e) for e in stash["entries"]),
            branch=_branch(branch),
            empty_folders=tuple(folders),
            auto_merge=_tree(branch["auto-merge"]),
            left_behind=tuple(
                LeftBehind(_bytes(e["path"]), _str(e["reason"])) for e in left["paths"]
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError("the snapshot's lists are malformed") from error


def _stash_entry(fields: dict[str, Any]) -> StashEntry:
    message, who = _str(fields["message"]), _str(fields["who"])
    if "\n" in message or "\0" in message or not _IDENT.fullmatch(who):
        raise DamagedError("a stash entry of the snapshot is malformed")
    return StashEntry(check_oid(fields["oid"], "a stash entry"), message, who)


def _branch(fields: dict[str, Any]) -> BranchConfig:
    others = tuple((_str(key), _str(value)) for key, value in fields["others"])
    if any(key not in KEPT_KEYS or not _KEY.fullmatch(key) for key, _ in others):
        raise DamagedError("the snapshot sets a branch key that handsoff does not carry")
    return BranchConfig(_str(fields["remote"]), _str(fields["merge"]), others)


def _tree(value: object) -> str:
    return check_oid(value, "AUTO_MERGE") if value else ""


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _bytes(text: object) -> bytes:
    return _str(text).encode("utf-8", "surrogateescape")


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise DamagedError("the snapshot's lists are malformed")
    value.encode("utf-8", "surrogateescape")  # a text that nothing could be told is malformed too
    return value
