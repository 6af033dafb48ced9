"""Which objects of a clone are news to the other end, and under which names they stand.

Git says which (``rev-list --objects``); the names come from comparing trees (``compared.py``),
since rev-list prints them in a form that a newline in a name breaks.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final, NamedTuple, TypeAlias

from handsoff.core.objects import EMPTY_TREE
from handsoff.core.remote.places import PREFIX, is_copy
from handsoff.edge.git import clone, compared
from handsoff.edge.git.compared import Added
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.pack import Piece
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import Checkout, lines
from handsoff.errors import UnfitError


def known_tips(checkout: Checkout, remote: str) -> list[str]:
    """Return the commits that the shared remote is known to have: its tracking branches."""
    listed = checkout.git("for-each-ref", "--format=%(objectname)", f"refs/remotes/{remote}/")
    return sorted({line.decode() for line in listed.splitlines()})


def fork_point(checkout: Checkout, remote: str) -> list[str]:
    """Return where HEAD left the remote's default branch, as far as this clone knows it."""
    for name in ("HEAD", "main", "master"):
        ref = f"refs/remotes/{remote}/{name}"
        if checkout.commit(ref) is not None:
            base = checkout.line("merge-base", "HEAD", ref)
            return [base] if base else []
    return []


def tips_there(shared: Shared) -> list[str]:
    """Return the commits that a receiver can get from the shared remote, which is asked.

    A tracking branch outlives the branch that it tracked: what hangs on it is nowhere to be had.
    One may also be behind, or not be here, where what the branch has came with a work.
    """
    there, prefix = clone.branches(shared), f"refs/remotes/{shared.name}/"
    listed = shared.checkout.git("for-each-ref", "--format=%(objectname) %(refname)", prefix)
    tracked = (line.split(" ", 1) for line in lines(listed))
    tips = set(there.values())
    found = {oid for oid, ref in tracked if ref.removeprefix(prefix) in there or oid in tips}
    objects = Objects(shared.checkout.objects_dir)
    came = [oid for oid in tips - found if objects.has(oid) and clone.whole(shared.checkout, oid)]
    return sorted(found.union(came))


def own_tips(checkout: Checkout, limit: int) -> list[str]:
    """Return the commits that this clone has under any ref, for the other end to build on.

    A shallow clone names them as well: what it lacks of their history is on the remote, which it
    asks for it once it sees what a pack builds on (``ToSend.bases``).
    """
    listed = checkout.git("for-each-ref", "--format=%(objectname) %(*objectname) %(refname)")
    prefix = checkout.setting("handsoff.refs") or PREFIX
    told = (line.rsplit(" ", 1) for line in lines(listed))
    tips = {oid for oids, ref in told if not is_copy(prefix, ref) for oid in oids.split()}
    return sorted(tips)[:limit]


_COMMIT: Final = "commit "
_TOGETHER: Final = 256

Named: TypeAlias = tuple[str, bytes, str]
"""An object by its id, with its path, and where a person would find it."""


class ToSend(NamedTuple):
    """What a pack is to hold, and the commits it builds on."""

    objects: list[str]
    bases: list[str]
    """The other end must have each of these, or get it from the remote, with its history."""
    commits: list[str]
    """Which of the objects are commits."""


def to_send(
    checkout: Checkout, tips: Sequence[str], have: Sequence[str], trees: Sequence[str] = ()
) -> ToSend:
    """Return what the commits ``tips`` (and ``trees``) reach and ``have`` does not.

    The bases are the few commits at which the two meet, not all of ``have``: whoever has one of
    those may have it without its history. Where history was cut off here, the cut is a base too:
    its parents cannot be sent. So is what a remote has promised: it is for that one to give.
    """
    found = _walk(checkout, [*tips, *trees], have)
    cut = checkout.shallow.intersection(found.commits)
    if cut:
        found = _walk(checkout, [*tips, *trees], [*have, *sorted(cut)])
    sent = frozenset(found.objects)
    return found._replace(bases=sorted({*found.bases, *(oid for oid in tips if oid not in sent)}))


def _walk(checkout: Checkout, tips: Iterable[str], have: Iterable[str]) -> ToSend:
    """Return what git finds on the way; with a format of commits it says which these are."""
    words = ("--boundary", "--format=", *clone.local_only(checkout))
    found = missing(checkout, tips, have, *words)
    named = [line.removeprefix(_COMMIT) for line in found if line.startswith(_COMMIT)]
    commits = [oid for oid in named if not oid.startswith("-")]
    others = (line for line in found if line and not line.startswith(_COMMIT))
    return ToSend([*commits, *others], [oid[1:] for oid in named if oid.startswith("-")], commits)


def missing(checkout: Checkout, tips: Iterable[str], have: Iterable[str], *words: str) -> list[str]:
    """Return the ids of all objects reachable from ``tips`` and from none of ``have``.

    ``words`` are further arguments of ``git rev-list``.
    """
    given = "".join([*(f"{oid}\n" for oid in tips), *(f"^{oid}\n" for oid in have)])
    listed = checkout.run(
        "rev-list", "--objects", "--no-object-names", *words, "--stdin", given=given.encode(),
        GIT_NO_LAZY_FETCH="1",
    )  # fmt: skip
    if listed.returncode:
        raise UnfitError(
            "this clone lacks objects that the work is made of", hint="run git fsck, then git fetch"
        )
    return listed.stdout.decode().splitlines()


def all_of(checkout: Checkout, tips: Iterable[str]) -> set[str]:
    """Return every object reachable from ``tips``; only asked for when a finding is in doubt."""
    lazy = ("--missing=print",) if checkout.promisor else ()
    return {oid.removeprefix("?") for oid in missing(checkout, tips, (), *lazy)}


class NewName(NamedTuple):
    """A path that appears in a commit, though its content is named elsewhere or is old."""

    path: bytes
    where: str
    news: bool
    """Whether the content is news to the other end."""


@dataclass
class News:
    """The objects to send, named; ``pieces`` yields them in batches, once.

    ``new_names`` collects the further names of their content, and of what is only renamed. What the
    first commits add is found when this is made, so who makes it beside other work saves the time.
    """

    checkout: Checkout
    objects: Objects
    sending: ToSend
    merged: tuple[str, str] | None = None
    """The tree that git has made of a merge with conflicts, after the tree of HEAD."""
    new_names: list[NewName] = field(default_factory=list)
    _added: Iterator[Added] = field(init=False)
    _all: frozenset[str] = field(init=False)
    _left: dict[str, None] = field(init=False)

    def __post_init__(self) -> None:
        pairs = [self._trees(oid) for oid in self.sending.commits]
        added = compared.added(self.checkout, pairs)
        self._added = chain(list(islice(added, 1)), added)  # the first run of git is done here
        self._all = frozenset(self.sending.objects)
        self._left = {}

    def pieces(self, packed: Collection[str] = ()) -> Iterator[list[Named]]:
        """Yield in batches: commits, then what their trees add to what is ``packed``."""
        commits = self.sending.commits
        yield [(oid, b"", f"message of commit {oid[:10]}") for oid in commits]
        done = {*packed, *commits}
        self._left = dict.fromkeys(oid for oid in self.sending.objects if oid not in done)
        batch: list[Named] = []
        for oid, found in zip(commits, self._added, strict=True):
            batch += self._added_by(oid, found)
            if len(batch) >= _TOGETHER:
                yield batch
                batch = []
        yield batch
        yield [*self._added_by_git()]
        # what no comparison named: subtrees, and blobs that only a merge's other side has
        yield [(oid, b"", "an object of the history") for oid in self._left]

    def _trees(self, oid: str) -> tuple[str, str]:
        """Return the trees of a commit's first parent and of itself."""
        commit = self.objects.commit(oid)
        parent = commit.parents[0] if commit.parents else None
        return self.objects.commit(parent).tree if parent else EMPTY_TREE, commit.tree

    def _added_by(self, oid: str, found: Added) -> Iterator[Named]:
        where = f"commit {oid[:10]}"
        for path, leaf in found:
            if leaf.oid in self._left:
                del self._left[leaf.oid]
                yield leaf.oid, path, where
            else:
                self.new_names.append(NewName(path, where, leaf.oid in self._all))

    def _added_by_git(self) -> Iterator[Named]:
        for found in compared.added(self.checkout, [self.merged] if self.merged else []):
            for path, leaf in found:
                if leaf.oid in self._left:
                    del self._left[leaf.oid]
                    yield leaf.oid, path, "the merge as git began it"


def read_piece(objects: Objects, named: Named) -> Piece:
    """Return an object, read from the clone."""
    oid, path, where = named
    kind, data = objects.read(oid)
    return Piece(kind, data, path, where)
