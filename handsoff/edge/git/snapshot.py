"""From a checkout to its state: leaves, two trees, and the lists that trees cannot hold.

The sender's worktree, index, refs and stash are only read. Objects that the state adds go to a
sink (``sinks.py``).
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from handsoff.core.checkout import envelope
from handsoff.core.checkout.envelope import Sealed
from handsoff.core.checkout.index import Flag
from handsoff.core.checkout.operation import Operation
from handsoff.core.checkout.paths import path_problem
from handsoff.core.checkout.state import NO_TIME, BranchConfig, LeftBehind, State
from handsoff.core.checkout.trees import Grafted, Leaf, Modes, Read, graft
from handsoff.core.objects import EMPTY_TREE, FILE, LINK, oid_of
from handsoff.core.transcripts import baggage
from handsoff.edge.git import disk
from handsoff.edge.git.disk import ChangedError, Worktree
from handsoff.edge.git.filtered import Filtered, Spared, read_filtered
from handsoff.edge.git.leaves import (
    index_changes,
    index_leaf,
    indexed_leaf,
    specials,
    worktree_changes,
)
from handsoff.edge.git.look import Look
from handsoff.edge.git.modes import permissions
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.edge.git.sinks import Sink, Taken


@dataclass(frozen=True)
class Snapshot:
    """A state, with what is needed to see whether the checkout has changed since."""

    state: State
    taken: Mapping[bytes, Taken]
    new_trees: Mapping[str, bytes]
    leaves: Mapping[bytes, Leaf]
    """What differs from HEAD, in the worktree or else in the index."""
    filtered: Filtered
    modes: Modes

    def reader(self, objects: Objects) -> Read:
        """Return what reads the trees of this state, whether or not they are stored."""
        return lambda oid: self.new_trees[oid] if oid in self.new_trees else objects.tree(oid)

    def changed_paths(self, look: Look) -> set[bytes]:
        """Return the tracked paths whose bytes on disk are not what the index says."""
        return {
            path for path in look.suspects if self._in_git(path, look) != indexed_leaf(look, path)
        }

    def _in_git(self, path: bytes, look: Look) -> Leaf | None:
        """Return what git would have of the file on disk."""
        if path in self.filtered.secret:
            return indexed_leaf(look, path)  # a change of it was refused
        if path in look.submodules:
            return indexed_leaf(look, path)  # what is in it is its own repository's
        taken = self.taken.get(path)
        if taken is None:
            entries = look.entries.of(path)
            hidden = any(entry.flags & Flag.SKIP_WORKTREE for entry in entries)
            return index_leaf(entries) if hidden and look.sparse is not None else None
        leaf = Leaf(taken.leaf.mode, self.filtered.cleaned.get(path, taken.leaf.oid))
        return self.modes.leaf(leaf, indexed_leaf(look, path))

    def on_disk(self, path: bytes, leaf: Leaf | None) -> Leaf | None:
        """Return what is on disk at ``path``, where the state has ``leaf``."""
        taken = self.taken.get(path)
        return self.filtered.behind.get(path, leaf) if taken is None else taken.leaf

    def sparing(self, spared: Iterable[bytes], objects: Objects, look: Look) -> State:
        """Return the state as it would be if the files ``spared`` did not travel."""
        state, read = self.state, self.reader(objects)
        unchanged = {*spared} & self.filtered.raw - look.suspects
        if not unchanged:
            return state
        leaves = {path: indexed_leaf(look, path) for path in unchanged}
        work_tree = graft(read, state.work_tree, leaves, lambda data: oid_of("tree", data))
        raw = tuple(path for path in state.raw if path not in unchanged)
        return replace(state, work_tree=work_tree, raw=raw)

    def changed_since(self, worktree: Worktree) -> list[bytes]:
        """Return the files that were read and are not what they were."""
        changed = []
        for path, taken in self.taken.items():
            st = worktree.stat(path)
            if st is None or disk.signature_of(st) != taken.signature:
                changed.append(path)
        return changed


class _Grown:
    """The trees that a capture makes: put into its sink, and kept to be read again."""

    def __init__(self, objects: Objects, sink: Sink, known: Grafted | None) -> None:
        self._objects = objects
        self._sink = sink
        self._known = known
        self.trees: dict[str, bytes] = {}

    def tree(self, base: str, changes: Mapping[bytes, Leaf | None]) -> str:
        """Return the tree ``base`` with ``changes``."""
        known = self._known
        if known is not None and (known.base, known.changes) == (base, changes):
            return known.tree
        return graft(self._read, base, changes, self._emit)

    def _read(self, oid: str) -> bytes:
        return self.trees[oid] if oid in self.trees else self._objects.tree(oid)

    def _emit(self, data: bytes) -> str:
        oid = self._sink.put("tree", data, b"", "")
        self.trees[oid] = data
        return oid


def capture(
    checkout: Checkout,
    look: Look,
    objects: Objects,
    sink: Sink,
    *,
    work: str,
    extra: Iterable[bytes] = (),
    branch: BranchConfig,
    left_behind: tuple[LeftBehind, ...] = (),
    programs: bool = True,
    spared: Spared | None = None,
    known: Grafted | None = None,
    walk: bool = True,
) -> Snapshot:
    """Return the state of ``checkout`` as ``look`` found it.

    ``extra`` are ignored files that travel anyway (the page, the carry list). Without ``programs``
    no filter of the user's runs; ``spared`` says which of its files need not be taken along. Trees
    that are ``known``, as ``objects`` has them, are not made again. Without ``walk`` no permissions
    are looked for, as ``look`` has not.
    ChangedError if a file changes or vanishes on the way.
    """
    extra = frozenset(extra)
    outside = look.untracked | look.carried | extra
    filtered = read_filtered(checkout, look, outside, programs=programs, spared=spared)
    taken = _take(Worktree(checkout.top), look, sink, outside, filtered)
    grown = _Grown(objects, sink, known)
    head = objects.commit(look.head) if look.head else None
    staged = index_changes(look)
    index_tree = grown.tree(head.tree if head else EMPTY_TREE, staged)
    changes = worktree_changes(checkout, look, taken, filtered)
    state = State(
        work=work,
        head=look.head,
        head_time=" ".join(head.committer.rsplit(" ", 2)[1:]) if head else NO_TIME,
        index_tree=index_tree,
        special=tuple(specials(look)),
        work_tree=grown.tree(index_tree, changes),
        stash=look.stash,
        branch=branch,
        empty_folders=tuple(sorted(p for p in look.walked.empty if not path_problem(p))),
        left_behind=(*left_behind, *_partly(look, taken, filtered)),
        tip=_tip(checkout, look, work),
        detached=look.branch is None,
        operation=look.operation,
        raw=tuple(sorted(_raw(look, taken, filtered))),
        stale=tuple(sorted(_stale(look, taken, filtered))),
        modes=tuple(sorted(_modes(checkout, look, taken, extra))) if walk else (),
        sparse=look.sparse,
        resolved=look.resolved,
    )
    leaves = {path: leaf for path, leaf in {**staged, **changes}.items() if leaf is not None}
    return Snapshot(state, taken, grown.trees, leaves, filtered, checkout.modes)


def _raw(look: Look, taken: Mapping[bytes, Taken], filtered: Filtered) -> Iterator[bytes]:
    """Yield the files that travel raw; not those of which a program has made nothing here."""
    for path in filtered.raw & taken.keys():
        is_bare = taken[path].leaf == indexed_leaf(look, path)
        is_link = taken[path].leaf.mode == LINK
        if not is_link and not (is_bare and path in filtered.programs):
            yield path


def _stale(look: Look, taken: Mapping[bytes, Taken], filtered: Filtered) -> Iterator[bytes]:
    """Yield the files of other bytes, of which git would make just the object that it has.

    It does not look: a size that is not the one in the index is enough for it.
    """
    for path in look.suspects & filtered.cleaned.keys() & taken.keys():
        entry = look.entries.of(path)[0]
        same = entry.plain and entry.oid == filtered.cleaned[path]
        if same and entry.stat.size not in (0, taken[path].signature.size):
            yield path


def _partly(look: Look, taken: Mapping[bytes, Taken], filtered: Filtered) -> list[LeftBehind]:
    """Return what travels, but not all of it."""
    linked = {path for path, file in taken.items() if file.links > 1}
    # of those that git has as they are, it is news only if both names are in this checkout
    linked |= {path for names in look.walked.linked.values() if len(names) > 1 for path in names}
    found = [LeftBehind(p, "a hard link: arrives as a file of its own") for p in linked]
    why = (
        "too large to take along, and the remote has it: its filter brings it, as git lfs pull does"
    )
    found += [LeftBehind(path, why) for path in filtered.spared]
    return sorted(found, key=lambda item: item.path)


def _tip(checkout: Checkout, look: Look, work: str) -> str:
    if look.branch is not None:
        return look.head
    return (checkout.commit(f"refs/heads/{work}") or "") if work else ""


def _take(
    worktree: Worktree, look: Look, sink: Sink, outside: frozenset[bytes], filtered: Filtered
) -> dict[bytes, Taken]:
    in_git = filtered.lossless.keys() | filtered.secret
    taken = sink.files(worktree, sorted((look.suspects | outside | filtered.raw) - in_git))
    for path, file in filtered.lossless.items():
        taken[path] = file.taken
        if file.data is not None:
            sink.put("blob", file.data, path, "")
    gone = [path for path in outside if path not in taken and worktree.stat(path) is None]
    if gone:
        raise ChangedError(*gone)
    return taken


def _modes(
    checkout: Checkout, look: Look, taken: Container[bytes], extra: Iterable[bytes]
) -> Iterator[tuple[bytes, int]]:
    """Yield the permission bits of those files that travel."""
    worktree = Worktree(checkout.top)
    for path, mode in {**look.modes, **dict(permissions(checkout, extra, {}))}.items():
        # not below a link: the file that is found there is somebody else's
        if (path in taken or path in look.entries.paths) and worktree.stat(path) is not None:
            yield path, mode & 0o777


def _operation_tree(found: Operation, add: Callable[[str, bytes, bytes], str]) -> str:
    if not found.files:
        return ""
    leaves = {name: Leaf(FILE, add("blob", data, name)) for name, data in found.files}
    return graft(lambda _: b"", EMPTY_TREE, leaves, lambda data: add("tree", data, b""))


def seal_envelope(state: State, sink: Sink, transcript: str = "") -> Sealed:
    """Put the commits and lists that bind ``state`` into the sink; return their ids.

    ``transcript`` is a tree that travels beside the state, and is in the sink already.
    """
    put: list[tuple[str, bytes]] = []

    def add(kind: str, data: bytes, path: bytes = b"") -> str:
        put.append((kind, data))
        return sink.put(kind, data, path, "the snapshot's own lists")

    index_commit = add("commit", envelope.encode_index_commit(state))
    snapshot = add("commit", envelope.encode_snapshot(state, index_commit))
    blobs = {name: add("blob", data, name) for name, data in envelope.lists_of(state).items()}
    large = add("tree", envelope.encode_lfs(state)) if state.lfs else ""
    pinned = state.special or state.resolved
    trees = {
        b"auto-merge": state.operation.merged,
        b"lfs": large,
        b"operation": _operation_tree(state.operation, add),
        b"pins": add("tree", envelope.encode_pins(state)) if pinned else "",
        baggage.TREE: transcript,
    }
    root = add("tree", envelope.encode_root(blobs, trees))
    return Sealed(
        add("commit", envelope.encode_envelope(state, snapshot, root)), snapshot, tuple(put)
    )
