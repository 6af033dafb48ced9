"""From a checkout to a pack: look, refuse what cannot travel, capture, guard, and look again."""

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import IO

from handsoff.core.checkout.envelope import Sealed
from handsoff.core.checkout.index import Entry, Flag
from handsoff.core.checkout.state import State
from handsoff.core.checkout.trees import Leaf, leaf_at
from handsoff.core.guard import guard
from handsoff.core.objects import GITLINK
from handsoff.core.parcels import bounds
from handsoff.core.parcels.incoming import problem_of
from handsoff.core.works import luggage
from handsoff.edge import files
from handsoff.edge.git import clone, lfs, news, shape, snapshot
from handsoff.edge.git.disk import ChangedError, Worktree
from handsoff.edge.git.filtered import Spared, refuse_plaintext
from handsoff.edge.git.look import Look, glance, look
from handsoff.edge.git.news import News
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.pack import Digest, PackWriter, Piece
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import Checkout, encode
from handsoff.edge.git.restore import branch_config
from handsoff.edge.git.sinks import Packing
from handsoff.edge.git.snapshot import Snapshot
from handsoff.errors import UnfitError, UnreachableError
from handsoff.flows.capture.carrying import along, carry_patterns, left_behind
from handsoff.flows.capture.guarding import Guarding
from handsoff.flows.phases import Phases


@dataclass(frozen=True)
class Packed:
    """A captured state in a pack file, guarded and complete."""

    snapshot: Snapshot
    sealed: Sealed
    digest: Digest
    bases: tuple[str, ...]
    waived: tuple[str, ...]
    objects: int
    chain: str
    """The blob with the record as it travels along."""
    transcript: str = ""
    """The tree of the transcripts that travel beside the state, "" if none do."""

    @property
    def state(self) -> State:
        """The state that was captured."""
        return self.snapshot.state


def look_at(checkout: Checkout, *, walk: bool = True, programs: bool = True) -> Look:
    """Return what is in ``checkout``. The carry list is obeyed, but ``.env*`` never travels."""
    found = look(checkout, carry_patterns(checkout), walk=walk, programs=programs)
    return replace(found, carried=frozenset(p for p in found.carried if not guard.never(p)))


def refuse_unfit(checkout: Checkout, found: Look, work: str) -> None:
    """Raise UnfitError if there is something here that is not carried yet, naming it."""
    shape.refuse(shape.clone_shape(checkout))
    if not found.head:
        raise UnfitError(
            "this branch has no commit yet", hint="make a first commit, then hand the work over"
        )
    shape.refuse(shape.lost_stash(checkout, found))
    shape.refuse(shape.moved_along(found))
    problem = problem_of(found.operation, work)
    if problem:
        raise UnfitError(f"this checkout {problem}", hint="end that first; see: git status")
    shape.refuse(shape.nested(checkout, found))
    shape.refuse(shape.unreadable(found))
    shape.refuse(shape.unreadable_files(found))
    shape.refuse(shape.unwritable(found))


@dataclass(frozen=True)
class Packer:
    """Makes the pack of one checkout for another end."""

    checkout: Checkout
    shared: Shared
    work: str
    guarding: Guarding
    phases: Phases
    along: Callable[[str], bytes]
    """Returns the record that travels along with the state of this envelope (see ``luggage``)."""
    arrived: Collection[bytes] = ()
    """Paths that came here with the work: they travel on, though they may be ignored here."""
    stuff: Callable[[PackWriter], str] | None = None
    """Writes the transcripts that travel beside the state, and returns their tree."""

    def objects(self) -> Objects:
        """Return the objects of the clone."""
        return Objects(self.checkout.objects_dir)

    def pack(self, file: IO[bytes], found: Look, have: Sequence[str]) -> Packed:
        """Write the pack of the state that ``found`` saw, less what ``have`` reaches.

        RefusedError if the guard objects, ChangedError if the checkout does not hold still.
        """
        objects = self.objects()
        known = self._known(objects)
        common = [oid for oid in sorted(set(have)) if objects.has(oid)]
        had = cache(lambda: news.all_of(self.checkout, {*common, *known, *self._there()}))
        clone.fetch_trees(self.checkout, [found.head])
        writer = PackWriter(file, self.guarding.inspect)
        with ThreadPoolExecutor(1) as aside:
            merged = found.operation.merged
            trees = [merged] if merged else []
            listing = aside.submit(self._news, objects, self._tips(found), common, trees)
            try:
                with self.phases.phase("capture"):
                    captured, sink = self._capture(writer, found, objects, known, had)
                transcript = ""
                if self.stuff is not None:
                    with self.phases.phase("transcript"):
                        transcript = self.stuff(writer)
                with self.phases.phase("history"):
                    listed = listing.result()
                    large = self._large(found, objects, listed.sending.objects, known, sink)
                    captured = replace(captured, state=replace(captured.state, lfs=large))
                    sealed = snapshot.seal_envelope(captured.state, sink, transcript)
                    chain = sink.put(
                        "blob", self.along(sealed.envelope), luggage.NAME, "the record"
                    )
                    self._history(writer, found, objects, listed)
                    self._name()
                    writer.drain()
                with self.phases.phase("guard"):
                    waived = self.guarding.judge(had)
            except BaseException:
                writer.abandon()
                raise
        with self.phases.phase("pack"):
            digest = writer.finish()
        bounds.most(digest.size, {bounds.UNPACKED: digest.unpacked})
        return Packed(
            captured, sealed, digest, tuple(listed.sending.bases),
            tuple(f.fingerprint for f in waived), len(writer.written), chain, transcript,
        )  # fmt: skip

    def _news(
        self, objects: Objects, tips: Sequence[str], have: Sequence[str], trees: Sequence[str]
    ) -> News:
        """Return what is news of the history; git looks for it while the capture goes on."""
        sending = news.to_send(self.checkout, tips, have, trees)
        clone.fetch_trees(self.checkout, sending.bases)
        merged = (objects.commit(tips[0]).tree, trees[0]) if trees else None
        return News(self.checkout, objects, sending, merged)

    def _tips(self, found: Look) -> list[str]:
        """Return the commits that the state is made of and that the clone has already."""
        branch = self.checkout.commit(f"refs/heads/{self.work}") if found.branch is None else None
        stash = [entry.oid for entry in found.stash]
        tips = [found.head, branch, *stash, *found.operation.anchors]
        return [oid for oid in tips if oid]

    def _capture(
        self,
        writer: PackWriter,
        found: Look,
        objects: Objects,
        known: Sequence[str],
        had: Callable[[], set[str]],
    ) -> tuple[Snapshot, Packing]:
        worktree = Worktree(self.checkout.top)
        came = {p for p in self.arrived if p not in found.entries.paths and worktree.stat(p)}
        extra = {*along(self.checkout), *came}

        def oversize(path: bytes, size: int, oid: str) -> bool:
            # one that lies in no clone is asked of nobody: to list what the remote has takes long
            is_there = objects.has(oid) and oid in had()
            return is_there or self.guarding.oversize(path, size)

        sink = Packing(writer, limit=self.guarding.limit, oversize=oversize)
        captured = snapshot.capture(
            self.checkout,
            found,
            objects,
            sink,
            work=self.work,
            extra=extra,
            branch=branch_config(self.checkout, self.work, self.shared.name),
            left_behind=left_behind(found, extra),
            spared=self._spared(objects, known),
        )
        refuse_plaintext(captured.filtered.exposed)
        return captured, sink

    def _large(
        self,
        found: Look,
        objects: Objects,
        sent: Sequence[str],
        known: Sequence[str],
        sink: Packing,
    ) -> tuple[tuple[str, str], ...]:
        """Pack the contents that new pointers of git-lfs stand for: no server has them yet."""
        pointers = [*sent, *(oid for oid, _, _ in staged_blobs(found))]
        if not any(lfs.contents(self.checkout, objects, pointers)):
            return ()
        there = news.all_of(self.checkout, known)
        new = (oid for oid in pointers if oid not in there)
        packed = []
        for digest, place in lfs.contents(self.checkout, objects, new):
            name, size = f".git/lfs/{digest}".encode(), place.stat().st_size
            if size <= self.guarding.limit or self.guarding.oversize(name, size):
                oid = sink.put("blob", place.read_bytes(), name, "a large file of git-lfs")
                packed.append((digest, oid))
        return tuple(sorted(packed))

    def _known(self, objects: Objects) -> list[str]:
        """Return the tips of the remote's branches that are here."""
        tips = news.known_tips(self.checkout, self.shared.name)
        return [oid for oid in tips if objects.has(oid)]

    def _there(self) -> list[str]:
        """Return what the remote has by its own word: what came with a work nobody fetched here."""
        try:
            return news.tips_there(self.shared)
        except UnreachableError:
            return []

    def _spared(self, objects: Objects, known: Sequence[str]) -> Spared:
        """Return what says whether a file is over the limit, and the remote has it as it is."""

        def is_there(path: bytes, leaf: Leaf, size: int) -> bool:
            if size <= self.guarding.limit:
                return False
            trees = (objects.commit(tip).tree for tip in known)
            return any(leaf_at(objects.tree, tree, path) == leaf for tree in trees)

        return is_there

    def _history(self, writer: PackWriter, found: Look, objects: Objects, listed: News) -> None:
        read = partial(news.read_piece, objects)
        for batch in listed.pieces(frozenset(writer.written)):
            writer.each(batch, read)
        # a staged blob that is not here was promised by the remote, where the receiver gets it
        staged = [piece for piece in staged_blobs(found) if self._is_here(objects, piece[0])]
        writer.each(staged, read)
        self.guarding.inspect_names(listed.new_names)

    def _name(self) -> None:
        """Guard the work's name: the record stands under it on the remote."""
        if self.checkout.commit(f"refs/remotes/{self.shared.name}/{self.work}") is None:
            self.guarding.inspect([Piece("blob", encode(self.work), b"", "the branch's name")])

    def _is_here(self, objects: Objects, oid: str) -> bool:
        return self.checkout.promisor is None or objects.has(oid)


def check_still(checkout: Checkout, found: Look, captured: Snapshot) -> None:
    """Raise ChangedError if the checkout is not what it was when it was captured."""
    changed = set(captured.changed_since(Worktree(checkout.top)))
    changed |= glance(checkout, carry_patterns(checkout), found)
    if changed:
        raise ChangedError(*sorted(changed))


def staged_blobs(found: Look) -> Iterator[tuple[str, bytes, str]]:
    """Yield the blobs that only the index names: staged ones, and every stage of a conflict."""
    for path in sorted({*found.staged, *found.entries.odd}):
        for entry in found.entries.of(path):
            # a flag says nothing of the content: with no change staged, HEAD has that
            alone = path in found.staged or entry.stage or entry.flags & Flag.INTENT_TO_ADD
            if entry.mode != GITLINK and alone:
                yield entry.oid, path, _stage(entry)
    for entry in found.resolved:
        if entry.mode != GITLINK:
            yield entry.oid, entry.path, "a conflict that is resolved"


def _stage(entry: Entry) -> str:
    return "the index" if entry.stage == 0 else f"stage {entry.stage} of a conflict"


@contextmanager
def scratch(folder: Path) -> Iterator[IO[bytes]]:
    """Give a private file without a name, for a pack that must not be found by anybody."""
    with files.saying(f"cannot write in {folder}"), tempfile.TemporaryFile(dir=folder) as file:
        yield file
