"""Reading what was fetched: into the private folder, by no ref, and only what is one chain."""

import pytest

from handsoff.core.objects import EMPTY_TREE, Commit, encode_commit
from handsoff.edge.git import clone
from handsoff.edge.git.moves import Move
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.errors import DamagedError
from tests.kit.checkout import traces
from tests.kit.machines import World, git

WHO = "Lin <lin@example.invalid> 1700000000 +0000"
REFNAME = "refs/wip/lease/w"


@pytest.fixture
def shared(world: World) -> Shared:
    return open_shared(world.machine("m1").checkout())


def made(shared: Shared, message: str, *parents: str) -> str:
    """Return a new commit, which only the private folder has."""
    objects = Objects(shared.objects)
    objects.write("tree", b"")
    return objects.write("commit", encode_commit(Commit(EMPTY_TREE, parents, WHO, WHO, message)))


def test_what_is_fetched_stays_in_the_private_folder(shared: Shared, world: World) -> None:
    other = open_shared(world.machine("m2").checkout())
    first = made(other, "1")
    second = made(other, "2", first)
    other.push(Move(REFNAME, second, ""))
    top = shared.checkout.top
    assert shared.objects.is_dir()
    before = {k: v for k, v in traces(top).items() if not k.startswith(".git/handsoff")}
    shared.fetch([REFNAME])
    shared.fetch([REFNAME], known=[git(top, "rev-parse", "HEAD")])
    after = {k: v for k, v in traces(top).items() if not k.startswith(".git/handsoff")}
    assert after == before
    assert not Objects(shared.checkout.common_dir / "objects").has(second)
    chain = shared.chains.line(second)
    assert chain is not None
    assert [oid for oid, _ in chain] == [first, second]
    assert shared.chains.line(second, first) == chain[1:]
    assert shared.chains.line(second, second) == []
    assert shared.chains.commits([second, first]) == chain[::-1]
    assert shared.chains.commits([]) == []


def test_a_tip_that_does_not_descend_from_the_known_one_has_no_chain(shared: Shared) -> None:
    first, stranger = made(shared, "1"), made(shared, "stranger")
    assert shared.chains.line(made(shared, "2", first), stranger) is None
    assert shared.chains.line(first, made(shared, "2", first)) is None


def tag_of(shared: Shared) -> str:
    """Return a tag of a commit, as an object of its own."""
    tag = f"object {made(shared, 'x')}\ntype commit\ntag t\ntagger {WHO}\n\nm\n"
    return Objects(shared.objects).write("tag", tag.encode())


@pytest.mark.parametrize("kind", ["blob", "tree", "tag", "missing", "incomplete"])
def test_a_tip_that_is_no_chain_of_commits_is_damaged(shared: Shared, kind: str) -> None:
    tip = {"blob": lambda: Objects(shared.objects).write("blob", b"x"),
           "tree": lambda: Objects(shared.objects).write("tree", b""),
           "tag": lambda: tag_of(shared),
           "missing": lambda: "1" * 40,
           "incomplete": lambda: made(shared, "x", "1" * 40)}[kind]()  # fmt: skip
    with pytest.raises(DamagedError, match=r"(chain of the remote is incomplete|is no commit)"):
        shared.chains.line(tip)


def test_a_merge_is_followed_by_its_first_parent_only(shared: Shared) -> None:
    first = made(shared, "1")
    side = made(shared, "side")
    merge = made(shared, "merge", first, side)
    chain = shared.chains.line(merge)
    assert chain is not None
    assert [oid for oid, _ in chain] == [first, merge]
    assert shared.chains.line(merge, side) is None, (
        "a merge on top of what was seen is another history"
    )


def test_commits_of_branches_come_into_the_clone_and_no_ref_moves(
    shared: Shared, world: World
) -> None:
    other = world.machine("m2")
    tip = other.commit()
    other.push("origin", "HEAD:main").ok()
    git(world.remote.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    before = git(shared.checkout.top, "for-each-ref")
    clone.fetch_commits(shared, [tip])
    assert Objects(shared.checkout.common_dir / "objects").has(tip)
    assert git(shared.checkout.top, "for-each-ref") == before
