"""From a checkout to its state: leaves, two trees, and the lists that trees cannot hold.

The sender's worktree, index, refs and stash are only read. Objects that the state adds go to a
*sink*: ``Hashing`` keeps nothing (the receiver compares ids), ``Packing`` puts them in a pack.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from handsoff.core import envelope
from handsoff.core.envelope import Sealed
from handsoff.core.index import Entry, Flag
from handsoff.core.objects import EMPTY_TREE, EXECUTABLE, FILE, oid_of
from handsoff.core.operation import Operation
from handsoff.core.state import NO_TIME, BranchConfig, LeftBehind, State
from handsoff.core.trees import Leaf, Read, graft
from handsoff.edge.git import disk
from handsoff.edge.git.disk import ChangedError, Content, Signature, Worktree
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.pack import PackWriter, Piece
from handsoff.edge.git.repo import Checkout


class Sink(Protocol):
    """Where new objects go."""

    def files(self, worktree: Worktree, wanted: Iterable[bytes]) -> dict[bytes, "Taken"]:
        """Read and hash the files ``wanted``; those that are not there are left out."""
        ...

    def put(self, kind: str, data: bytes, path: bytes, where: str) -> str:
        """Take one object that was made in memory, and return its id."""
        ...


class Taken:
    """A file that was read: its leaf, and the signature that tells whether it changed since."""

    __slots__ = ("leaf", "links", "signature")

    def __init__(self, content: Content) -> None:
        self.leaf = disk.leaf_of(content)
        self.signature: Signature = content.signature
        self.links = content.links


class Hashing:
    """A sink that only names what it is given."""

    def files(self, worktree: Worktree, wanted: Iterable[bytes]) -> dict[bytes, Taken]:
        """Read and hash files in two threads."""

        def take(batch: list[bytes]) -> list[tuple[bytes, Taken]]:
            contents = (worktree.read(path) for path in batch)
            return [(content.path, Taken(content)) for content in contents if content]

        with ThreadPoolExecutor(2) as pool:
            found = pool.map(take, disk.batches(worktree, wanted))
            return {path: taken for batch in found for path, taken in batch}

    def put(self, kind: str, data: bytes, path: bytes, where: str) -> str:  # noqa: ARG002
        """Return the id of an object."""
        return oid_of(kind, data)


class Storing:
    """A sink that keeps what it is given in the clone's private folder, one file an object."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def files(self, worktree: Worktree, wanted: Iterable[bytes]) -> dict[bytes, Taken]:
        """Read, hash and store files."""
        found = {}
        for path in wanted:
            content = worktree.read(path)
            if content is not None:
                found[path] = Taken(content)
                self.put("blob", content.data, path, "")
        return found

    def put(self, kind: str, data: bytes, path: bytes, where: str) -> str:  # noqa: ARG002
        """Store an object that was made in memory."""
        return self._objects.write(kind, data)


class Packing:
    """A sink that writes a pack, so that what is hashed, inspected and sent is one thing."""

    def __init__(
        self, pack: PackWriter, *, limit: int, oversize: Callable[[bytes, int], bool]
    ) -> None:
        self._pack = pack
        self._limit = limit
        self._oversize = oversize

    def files(self, worktree: Worktree, wanted: Iterable[bytes]) -> dict[bytes, Taken]:
        """Read, hash and pack files.

        One over the limit is read only if ``oversize`` lets it pass; else it is left out, and
        whoever was told must see to it that this state is never sent.
        """
        found: dict[bytes, Taken] = {}

        def take(batch: list[bytes]) -> list[Piece]:
            pieces = []
            for path in batch:
                content = worktree.read(path, self._limit)
                if content is None:
                    continue
                if content.signature.size > self._limit:
                    whole = self._oversize(path, content.signature.size)
                    content = worktree.read(path) if whole else None
                    if content is None:
                        continue
                found[path] = Taken(content)
                pieces.append(Piece("blob", content.data, path, ""))
            return pieces

        for batch in disk.batches(worktree, wanted):
            self._pack.submit(lambda batch=batch: take(batch))  # type: ignore[misc]
        self._pack.drain()
        return found

    def put(self, kind: str, data: bytes, path: bytes, where: str) -> str:
        """Pack an object that was made in memory."""
        self._pack.add([Piece(kind, data, path, where)])
        return oid_of(kind, data)


class Snapshot:
    """A state, with what is needed to see whether the checkout has changed since."""

    def __init__(
        self,
        state: State,
        taken: Mapping[bytes, Taken],
        new_trees: Mapping[str, bytes],
        leaves: Mapping[bytes, Leaf],
    ) -> None:
        self.state = state
        self.taken = taken
        self.new_trees = new_trees
        self.leaves = leaves
        """What differs from HEAD, in the worktree or else in the index."""

    def reader(self, objects: Objects) -> Read:
        """Return what reads the trees of this state, whether or not they are stored."""
        return lambda oid: self.new_trees[oid] if oid in self.new_trees else objects.tree(oid)

    def changed_paths(self, look: Look) -> set[bytes]:
        """Return the tracked paths whose bytes on disk are not what the index says."""
        return {
            path
            for path in look.suspects
            if (self.taken[path].leaf if path in self.taken else None)
            != index_leaf(look.entries.of(path))
        }

    def changed_since(self, worktree: Worktree) -> list[bytes]:
        """Return the files that were read and are not what they were."""
        changed = []
        for path, taken in self.taken.items():
            st = worktree.stat(path)
            if st is None or disk.signature_of(st) != taken.signature:
                changed.append(path)
        return changed


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
) -> Snapshot:
    """Return the state of ``checkout`` as ``look`` found it.

    ``extra`` are ignored files that travel anyway (the page, the carry list).
    ChangedError if a file changes or vanishes on the way.
    """
    taken = _take(Worktree(checkout.top), look, sink, extra)
    new_trees: dict[str, bytes] = {}

    def emit(data: bytes) -> str:
        oid = sink.put("tree", data, b"", "")
        new_trees[oid] = data
        return oid

    def read(oid: str) -> bytes:
        return new_trees[oid] if oid in new_trees else objects.tree(oid)

    head = objects.commit(look.head) if look.head else None
    head_tree = head.tree if head else EMPTY_TREE
    staged = index_changes(look)
    index_tree = graft(read, head_tree, staged, emit)
    changes = worktree_changes(look, taken, trust_mode=not _ignores_modes(checkout))
    state = State(
        work=work,
        head=look.head,
        head_time=" ".join(head.committer.rsplit(" ", 2)[1:]) if head else NO_TIME,
        index_tree=index_tree,
        special=tuple(specials(look)),
        work_tree=graft(read, index_tree, changes, emit),
        stash=look.stash,
        branch=branch,
        empty_folders=tuple(sorted(look.walked.empty)),
        left_behind=left_behind,
        tip=_tip(checkout, look, work),
        detached=look.branch is None,
        operation=look.operation,
    )
    leaves = {path: leaf for path, leaf in {**staged, **changes}.items() if leaf is not None}
    return Snapshot(state, taken, new_trees, leaves)


def _tip(checkout: Checkout, look: Look, work: str) -> str:
    if look.branch is not None:
        return look.head
    return (checkout.commit(f"refs/heads/{work}") or "") if work else ""


def _take(worktree: Worktree, look: Look, sink: Sink, extra: Iterable[bytes]) -> dict[bytes, Taken]:
    outside = look.untracked | look.carried | frozenset(extra)
    taken = sink.files(worktree, sorted(look.suspects | outside))
    gone = [path for path in outside if path not in taken and worktree.stat(path) is None]
    if gone:
        raise ChangedError(*gone)
    return taken


def _ignores_modes(checkout: Checkout) -> bool:
    return checkout.setting("core.filemode") is not None and not checkout.switch("core.filemode")


def specials(look: Look) -> list[Entry]:
    """Return the index entries that a tree cannot say, without their stat data."""
    return [
        Entry(e.path, e.mode, e.oid, e.stage, e.flags)
        for path in dict.fromkeys(look.entries.odd)
        for e in look.entries[path]
        if not e.plain
    ]


def index_changes(look: Look) -> dict[bytes, Leaf | None]:
    """Return what to change in HEAD's tree so that it says what the index says."""
    return {path: index_leaf(look.entries.of(path)) for path in look.staged}


def index_leaf(entries: list[Entry]) -> Leaf | None:
    """Return the leaf that stands for a path's entries: itself, or "ours" of a conflict."""
    present = {e.stage: e for e in entries if not e.flags & Flag.INTENT_TO_ADD}
    for stage in (0, 2, 3, 1):
        if stage in present:
            return Leaf(present[stage].mode, present[stage].oid)
    return None


def worktree_changes(
    look: Look, taken: Mapping[bytes, Taken], *, trust_mode: bool
) -> dict[bytes, Leaf | None]:
    """Return what to change in the index's tree so that it says what is on disk."""
    changes: dict[bytes, Leaf | None] = {}
    for path in look.suspects:
        here = taken.get(path)
        leaf = here.leaf if here else None
        indexed = index_leaf(look.entries.of(path))
        if leaf and indexed and not trust_mode and {leaf.mode, indexed.mode} == {FILE, EXECUTABLE}:
            leaf = leaf._replace(mode=indexed.mode)  # with core.fileMode=false the index decides
        if leaf != indexed:
            changes[path] = leaf
    for path in taken.keys() - look.suspects:
        changes[path] = taken[path].leaf
    return changes


def _operation_tree(found: Operation, add: Callable[[str, bytes, bytes], str]) -> str:
    if not found.files:
        return ""
    leaves = {name: Leaf(FILE, add("blob", data, name)) for name, data in found.files}
    return graft(lambda _: b"", EMPTY_TREE, leaves, lambda data: add("tree", data, b""))


def seal_envelope(state: State, sink: Sink) -> Sealed:
    """Put the commits and lists that bind ``state`` into the sink; return their ids."""
    put: list[tuple[str, bytes]] = []

    def add(kind: str, data: bytes, path: bytes = b"") -> str:
        put.append((kind, data))
        return sink.put(kind, data, path, "the snapshot's own lists")

    index_commit = add("commit", envelope.encode_index_commit(state))
    snapshot = add("commit", envelope.encode_snapshot(state, index_commit))
    blobs = {name: add("blob", data, name) for name, data in envelope.lists_of(state).items()}
    trees = {
        b"auto-merge": state.operation.merged,
        b"operation": _operation_tree(state.operation, add),
        b"pins": add("tree", envelope.encode_pins(state)) if state.special else "",
    }
    root = add("tree", envelope.encode_root(blobs, trees))
    return Sealed(
        add("commit", envelope.encode_envelope(state, snapshot, root)), snapshot, tuple(put)
    )
