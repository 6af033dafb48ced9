"""The envelope: one commit whose closure is a checkout's whole state.

    envelope ── parents ── snapshot ── parents ── HEAD, index commit ── HEAD
            │           ├─ every stash entry
            │           └─ the branch's tip and the commits of an operation, where HEAD is detached
            └── tree: index  resolved  stale  stash  branch  head  empty-folders  modes  raw
                      sparse  left-behind  pins/  lfs/  operation/  auto-merge/

The snapshot is shaped as git shapes a stash (its tree is the worktree with untracked and
carried files), so that plain git can rescue it: ``git stash apply --index <snapshot>``.
The index commit's tree holds every entry that a tree can hold; ``index`` lists the others
(conflict stages, intent-to-add and other flags), and ``pins/`` keeps their blobs.

Ids follow from the content alone: the identity is fixed and the time is that of HEAD, so
that capturing the same state twice gives the same envelope and a retry can be recognised.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from handsoff.core import canon
from handsoff.core.checkout import index, lfs, operation, paths
from handsoff.core.checkout.index import Entry
from handsoff.core.checkout.operation import Operation
from handsoff.core.checkout.state import (
    KEPT_KEYS,
    SPARSE_KEYS,
    BranchConfig,
    LeftBehind,
    Sparse,
    StashEntry,
    State,
)
from handsoff.core.ids import check_oid
from handsoff.core.objects import FILE, GITLINK, TREE, Commit, TreeEntry, encode_commit, encode_tree
from handsoff.errors import DamagedError

_WHO: Final = "handsoff <snapshot@handsoff.invalid>"


@dataclass(frozen=True, slots=True)
class Sealed:
    """The objects that an envelope adds to those of the state: (kind, bytes), and the ids."""

    envelope: str
    snapshot: str
    objects: tuple[tuple[str, bytes], ...]


_BOOLEAN: Final = re.compile(r"|true|false|yes|no|on|off|-?\d{1,10}[kmg]?", re.IGNORECASE)
_LONG: Final = 16 << 20
_MODE: Final = re.compile(rb"([0-7]{3})\t(.+)", re.DOTALL)
_ABBREVIATED: Final = re.compile(r"[0-9a-f]{4,39}")
_IDENT: Final = re.compile(r"[^\n\0]{0,1000} \d{1,14} [+-]\d{4}")


def encode_index_commit(state: State) -> bytes:
    """Return the commit that stands for the index, as in a stash."""
    return _commit(state, state.index_tree, _head(state), f"index on {state.work}")


def encode_snapshot(state: State, index_commit: str) -> bytes:
    """Return the stash-shaped commit of the whole worktree."""
    parents = (*_head(state), index_commit)
    return _commit(state, state.work_tree, parents, f"work in progress on {state.work}")


def encode_envelope(state: State, snapshot: str, tree: str) -> bytes:
    """Return the commit that binds the snapshot, all other commits of the state and the lists."""
    return _commit(state, tree, (snapshot, *anchors(state)), f"handsoff envelope of {state.work}")


def anchors(state: State) -> list[str]:
    """Return the commits that travel besides HEAD: stash entries, the branch's tip, operation."""
    tip = [state.tip] if state.detached and state.tip else []
    return list(dict.fromkeys([*(e.oid for e in state.stash), *tip, *state.operation.anchors]))


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
    }
    head = {
        "auto-merge": state.operation.merged,
        "commits": list(state.operation.commits),
        "detached": state.detached,
        "refs": [list(pair) for pair in state.operation.refs],
        "short": [list(pair) for pair in state.operation.short],
        "tip": state.tip,
    }
    left = [{"path": _text(e.path), "reason": e.reason} for e in state.left_behind]
    lists = {
        b"branch": canon.encode(branch),
        b"empty-folders": _encode_paths(state.empty_folders),
        b"head": canon.encode(head),
        b"index": index.encode_special(state.special),
        b"left-behind": canon.encode({"paths": left}),
        b"modes": _encode_paths(b"%03o\t%s" % (mode, path) for path, mode in state.modes),
        b"raw": _encode_paths(state.raw),
        b"resolved": index.encode_special(state.resolved),
        b"stale": _encode_paths(state.stale),
        b"stash": canon.encode({"entries": stash}),
    }
    if state.sparse is not None:
        settings = [list(pair) for pair in state.sparse.settings]
        fields = {"patterns": _text(state.sparse.patterns), "settings": settings}
        lists[b"sparse"] = canon.encode(fields)
    return lists


def _encode_paths(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in sorted(paths))


def encode_pins(state: State) -> bytes:
    """Return a tree that names every blob of the special entries, so that it travels too."""
    blobs = (e.oid for e in (*state.special, *state.resolved) if e.mode != GITLINK)
    pins = {oid: TreeEntry(oid.encode(), FILE, oid) for oid in blobs}
    return encode_tree(list(pins.values()))


def encode_root(blobs: Mapping[bytes, str], trees: Mapping[bytes, str]) -> bytes:
    """Return the envelope's tree: the lists by name, and the trees that there are."""
    entries = [TreeEntry(name, FILE, oid) for name, oid in blobs.items()]
    return encode_tree(entries + [TreeEntry(name, TREE, oid) for name, oid in trees.items() if oid])


class Bound(NamedTuple):
    """What the commits of an envelope say of a state, beside its lists."""

    head: str
    head_time: str
    index_tree: str
    work_tree: str
    lfs: tuple[TreeEntry, ...] = ()
    """What its tree ``lfs`` holds."""


def encode_lfs(state: State) -> bytes:
    """Return a tree that names the contents of large files by their SHA-256."""
    return encode_tree([TreeEntry(digest.encode(), FILE, oid) for digest, oid in state.lfs])


def _lfs(entries: tuple[TreeEntry, ...]) -> tuple[tuple[str, str], ...]:
    found = tuple((entry.name.decode("ascii", "replace"), entry.oid) for entry in entries)
    if not all(lfs.is_digest(name) for name, _ in found) or {e.mode for e in entries} - {FILE}:
        raise DamagedError("the snapshot's large files are malformed")
    return found


def decode_left(data: bytes) -> tuple[LeftBehind, ...]:
    """Return what stayed behind; KeyError, TypeError or ValueError if the list is malformed."""
    left = canon.decode(data, limit=_LONG)["paths"]
    return tuple(LeftBehind(_bytes(e["path"]), _str(e["reason"])) for e in left)


def decode_lists(lists: Mapping[bytes, bytes], files: Mapping[bytes, bytes], bound: Bound) -> State:
    """Return the state that an envelope spells; DamagedError if malformed.

    ``files`` are those of the operation, by name.
    """
    try:
        branch = canon.decode(lists[b"branch"])
        stash = canon.decode(lists[b"stash"], limit=_LONG)
        head = canon.decode(lists[b"head"], limit=_LONG)
        return State(
            work=_str(branch["work"]),
            head=bound.head,
            head_time=bound.head_time,
            index_tree=bound.index_tree,
            special=tuple(index.decode_special(lists[b"index"])),
            work_tree=bound.work_tree,
            stash=tuple(_stash_entry(e) for e in stash["entries"]),
            branch=_branch(branch),
            empty_folders=_decode_paths(lists[b"empty-folders"]),
            left_behind=decode_left(lists[b"left-behind"]),
            tip=_oid_or_none(head["tip"]),
            detached=_flag(head["detached"]),
            operation=_operation(head, files),
            raw=_decode_paths(lists[b"raw"]),
            modes=tuple(sorted(_decode_modes(lists[b"modes"]))),
            sparse=_sparse(lists.get(b"sparse")),
            resolved=tuple(_resolved(lists[b"resolved"])),
            stale=_decode_paths(lists[b"stale"]),
            lfs=_lfs(bound.lfs),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError("the snapshot's lists are malformed") from error


def _decode_paths(data: bytes) -> tuple[bytes, ...]:
    *found, rest = data.split(b"\0")
    if rest or found != sorted(set(found)):
        raise DamagedError("a list of paths in the snapshot is malformed")
    return tuple(found)


def _decode_modes(data: bytes) -> Iterator[tuple[bytes, int]]:
    known = set()
    for record in _decode_paths(data):
        match = _MODE.fullmatch(record)
        if match is None or match[2] in known:
            raise DamagedError(f"not a mode: {record[:60]!r}")
        known.add(match[2])
        yield match[2], int(match[1], 8)


def _short(name: object, oid: object) -> tuple[str, str]:
    if not _ABBREVIATED.fullmatch(_str(name)) or not _oid(oid).startswith(_str(name)):
        raise DamagedError("an abbreviation of the snapshot is malformed")
    return _str(name), _oid(oid)


def _resolved(data: bytes) -> Iterator[Entry]:
    for entry in index.decode_special(data):
        if entry.stage == 0 or entry.flags:
            raise DamagedError("a resolved conflict of the snapshot is malformed")
        yield entry


def _sparse(data: bytes | None) -> Sparse | None:
    if data is None:
        return None
    fields = canon.decode(data, limit=_LONG)
    settings = tuple((_str(key), _str(value)) for key, value in fields["settings"])
    if any(key not in SPARSE_KEYS or not _BOOLEAN.fullmatch(value) for key, value in settings):
        raise DamagedError("the snapshot sets what belongs to no sparse checkout")
    return Sparse(_bytes(fields["patterns"]), settings)


def _operation(head: dict[str, Any], files: Mapping[bytes, bytes]) -> Operation:
    refs = tuple((_str(name), _oid(oid)) for name, oid in head["refs"])
    if not all(map(operation.may_be_written, files)) or not all(
        operation.may_be_ref(name) for name, _ in refs
    ):
        raise DamagedError("the snapshot writes what belongs to no operation")
    return Operation(
        files=tuple(sorted(files.items())),
        refs=refs,
        commits=tuple(_oid(oid) for oid in head["commits"]),
        short=tuple(_short(*pair) for pair in head["short"]),
        merged=_oid_or_none(head["auto-merge"]),
    )


def _stash_entry(fields: dict[str, Any]) -> StashEntry:
    message, who = _str(fields["message"]), _str(fields["who"])
    if "\n" in message or "\0" in message or not _IDENT.fullmatch(who):
        raise DamagedError("a stash entry of the snapshot is malformed")
    return StashEntry(_oid(fields["oid"]), message, who)


def _branch(fields: dict[str, Any]) -> BranchConfig:
    others = tuple((_str(key), _str(value)) for key, value in fields["others"])
    if any(key not in KEPT_KEYS for key, _ in others):
        raise DamagedError("the snapshot sets a branch key that handsoff does not carry")
    return BranchConfig(_str(fields["remote"]), _str(fields["merge"]), others)


def _oid(value: object) -> str:
    return check_oid(value, "an object of the snapshot")


def _oid_or_none(value: object) -> str:
    return "" if value == "" else _oid(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise DamagedError("the snapshot's lists are malformed")
    return value


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _bytes(text: object) -> bytes:
    return _str(text).encode("utf-8", "surrogateescape")


def _str(value: object) -> str:
    if not isinstance(value, str) or not paths.is_spelled(value):
        raise DamagedError("the snapshot's lists are malformed")
    return value
