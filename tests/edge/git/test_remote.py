"""The shared remote: refs move by compare-and-swap only, and each kind of no has its own word."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.objects import EMPTY_TREE, Commit, encode_commit
from handsoff.edge.git import clone
from handsoff.edge.git.answers import unreachable
from handsoff.edge.git.moves import Move, Outcome, push_command
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.edge.git.repo import open_checkout
from handsoff.errors import RefusedError, UnfitError, UnreachableError, UsageError
from tests.kit.checkout import Here
from tests.kit.machines import World, git

WHO = "Lin <lin@example.invalid> 1700000000 +0000"
OID = st.sampled_from(["", "1" * 40, "2" * 40])
REF = st.sampled_from(["refs/wip/lease/a", "refs/wip/lease/+b", "refs/wip/roster", "refs/heads/+"])
MOVES = st.lists(st.builds(Move, REF, OID, OID), min_size=1, max_size=3, unique_by=lambda m: m.ref)


@given(st.sampled_from(["origin", "-x", "+", "https://host/x.git"]), MOVES)
def test_no_push_has_a_plus_and_each_has_its_exact_lease(remote: str, moves: list[Move]) -> None:
    words = push_command(remote, moves)
    at = words.index("--")
    assert words[at + 1] == remote
    specs = words[at + 2 :]
    assert not [spec for spec in specs if spec.startswith("+")]
    assert specs == [f"{m.new}:{m.ref}" for m in moves]
    leases = [w for w in words[:at] if w.startswith("--force-with-lease")]
    assert leases == [f"--force-with-lease={m.ref}:{m.old}" for m in moves]
    assert ("--atomic" in words[:at]) is (len(moves) > 1)
    assert not {"-f", "--force", "--mirror", "--all", "--force-if-includes"} & set(words[:at])


@pytest.fixture
def shared(world: World) -> Shared:
    return open_shared(world.machine("m1").checkout())


def made(shared: Shared, message: str, *parents: str) -> str:
    """Return a new commit, which only the private folder has."""
    objects = Objects(shared.objects)
    objects.write("tree", b"")
    return objects.write("commit", encode_commit(Commit(EMPTY_TREE, parents, WHO, WHO, message)))


REFNAME = "refs/wip/lease/w"


def test_an_answer_that_was_asked_for_in_advance_is_taken_once(shared: Shared) -> None:
    first = made(shared, "1")
    second = made(shared, "2", first)
    shared.push(Move(REFNAME, first, ""))
    with shared.asking([(REFNAME,)], {}):
        assert shared.tips(REFNAME) == {REFNAME: first}
        shared.push(Move(REFNAME, second, first))
        assert shared.tips(REFNAME) == {REFNAME: second}


def test_what_was_fetched_in_advance_is_here_and_fails_as_ever(
    shared: Shared, world: World
) -> None:
    there = open_shared(world.machine("m2").checkout())
    first = made(shared, "1")
    shared.push(Move(REFNAME, first, ""))
    assert not there.has(first)
    with there.asking([(REFNAME,)], {REFNAME: ""}):
        there.fetch([REFNAME])
        assert there.has(first)
    with there.asking([(REFNAME,)], {"refs/wip/none": ""}), pytest.raises(UnreachableError):
        there.fetch(["refs/wip/none"])


def test_an_answer_that_nobody_wants_is_not_waited_for(shared: Shared) -> None:
    shared.checkout.set_config("core.sshCommand", "sleep 9 #")
    shared.checkout.set_config("remote.origin.url", "ssh://example.invalid/r.git")
    begin = time.monotonic()
    with shared.asking([(REFNAME,)], {}):
        pass
    assert time.monotonic() - begin < 5


def test_a_ref_is_made_moved_and_deleted(shared: Shared, world: World) -> None:
    first = made(shared, "1")
    second = made(shared, "2", first)
    assert shared.push(Move(REFNAME, first, "")) is Outcome.MOVED
    assert shared.push(Move(REFNAME, second, first)) is Outcome.MOVED
    assert world.remote.refs("refs/wip") == {REFNAME: second}
    assert shared.tips(REFNAME) == {REFNAME: second}
    assert shared.push(Move(REFNAME, "", second)) is Outcome.MOVED
    assert shared.tips("refs/wip/*") == {}


def test_a_stale_push_is_lost_even_if_it_would_fast_forward(shared: Shared, world: World) -> None:
    first = made(shared, "1")
    second = made(shared, "2", first)
    third = made(shared, "3", second)
    assert shared.push(Move(REFNAME, second, "")) is Outcome.MOVED
    other = made(shared, "other")
    claims = [(third, first), (third, ""), ("", first), (other, first)]
    for stale in (Move(REFNAME, new, old) for new, old in claims):
        assert shared.push(stale) is Outcome.LOST
        assert world.remote.refs("refs/wip") == {REFNAME: second}


def test_a_push_that_others_have_built_on_was_made(shared: Shared, world: World) -> None:
    first = made(shared, "1")
    second = made(shared, "2", first)
    shared.push(Move(REFNAME, second, ""))
    assert shared.push(Move(REFNAME, first, "")) is Outcome.MOVED
    assert world.remote.refs("refs/wip") == {REFNAME: second}


def test_a_push_that_may_rewind_does_so_only_from_the_exact_old(
    shared: Shared, world: World
) -> None:
    first = made(shared, "1")
    second = made(shared, "2", first)
    shared.push(Move(REFNAME, second, ""))
    assert shared.push(Move(REFNAME, first, second)) is Outcome.MOVED
    assert world.remote.refs("refs/wip") == {REFNAME: first}


def test_of_two_moves_both_are_made_or_none(shared: Shared, world: World) -> None:
    first = made(shared, "1")
    second = made(shared, "2", first)
    other = "refs/wip/snap/w/" + "0" * 32
    assert shared.push(Move(REFNAME, first, ""), Move(other, first, "")) is Outcome.MOVED
    assert shared.push(Move(REFNAME, second, first), Move(other, second, second)) is Outcome.LOST
    assert world.remote.refs("refs/wip") == {REFNAME: first, other: first}


def test_the_same_push_again_is_no_loss(shared: Shared) -> None:
    first = made(shared, "1")
    assert shared.push(Move(REFNAME, first, "")) is Outcome.MOVED
    assert shared.push(Move(REFNAME, first, "")) is Outcome.MOVED
    assert shared.push(Move("refs/wip/lease/none", "", "1" * 40)) is Outcome.MOVED


@pytest.mark.parametrize("setting", ["receive.hideRefs", "transfer.hideRefs"])
def test_a_remote_that_hides_our_refs_says_so(shared: Shared, world: World, setting: str) -> None:
    git(world.remote.path, "config", setting, "refs/wip")
    with pytest.raises(RefusedError, match="does not take refs under refs/wip") as caught:
        shared.push(Move(REFNAME, made(shared, "1"), ""))
    assert caught.value.hint is not None
    assert "hideRefs" in caught.value.hint


@pytest.mark.parametrize("hook", ["pre-receive", "update"])
def test_a_hook_that_declines_is_named_with_what_it_said(
    shared: Shared, world: World, hook: str
) -> None:
    script = world.remote.path / "hooks" / hook
    script.parent.mkdir(exist_ok=True)
    script.write_text("#!/bin/sh\necho 'no \x1b[31mwip here'\nexit 1\n")
    script.chmod(0o755)
    with pytest.raises(RefusedError, match="a hook of the remote origin refuses it") as caught:
        shared.push(Move(REFNAME, made(shared, "1"), ""))
    assert "wip here" in str(caught.value)
    assert str(caught.value).isprintable()
    assert world.remote.refs("refs/wip") == {}


def test_a_remote_that_takes_no_big_packs_says_so(shared: Shared, world: World) -> None:
    git(world.remote.path, "config", "receive.maxInputSize", "10")
    git(world.remote.path, "config", "receive.unpackLimit", "1")
    with pytest.raises(RefusedError, match="refuses the objects") as caught:
        shared.push(Move(REFNAME, made(shared, "x" * 1000), ""))
    assert "maxInputSize" in str(caught.value.hint)


def test_a_remote_that_cannot_move_two_refs_together_says_so(shared: Shared, world: World) -> None:
    git(world.remote.path, "config", "receive.advertiseAtomic", "false")
    first = made(shared, "1")
    with pytest.raises(RefusedError, match="cannot move two refs together"):
        shared.push(Move(REFNAME, first, ""), Move("refs/wip/roster", first, ""))
    assert world.remote.refs("refs/wip") == {}
    assert shared.push(Move(REFNAME, first, "")) is Outcome.MOVED


def test_a_remote_that_is_not_there_is_unreachable(shared: Shared, world: World) -> None:
    first = made(shared, "1")
    world.remote.path.rename(world.folder / "gone")
    for attempt in (
        lambda: shared.push(Move(REFNAME, first, "")),
        lambda: shared.tips(REFNAME),
        lambda: shared.fetch([REFNAME]),
        lambda: clone.fetch_commits(shared, [first]),
    ):
        with pytest.raises(UnreachableError, match="the remote origin cannot be reached") as caught:
            attempt()
        assert caught.value.hint == "check: git ls-remote origin"
    clone.fetch_commits(shared, [])


def test_a_ref_that_another_push_holds_is_lost_and_not_an_error(
    shared: Shared, world: World
) -> None:
    first = made(shared, "1")
    lock = world.remote.path / (REFNAME + ".lock")
    lock.parent.mkdir(parents=True)
    lock.touch()
    assert shared.push(Move(REFNAME, first, "")) is Outcome.LOST


def test_a_disk_that_is_full_here_is_not_taken_for_a_remote_that_is_away() -> None:
    full = b"unable to write loose object file: No space left on device\nfatal: unpack-objects"
    ours = unreachable("origin", b"error: " + full)
    assert isinstance(ours, UnfitError)
    assert "unable to write loose object file: No space left" in str(ours)
    assert isinstance(unreachable("origin", b"remote: fatal: " + full), UnreachableError)


def test_the_user_hook_does_not_judge_our_refs(shared: Shared) -> None:
    hook = shared.checkout.common_dir / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert shared.push(Move(REFNAME, made(shared, "1"), "")) is Outcome.MOVED


@pytest.mark.parametrize(
    "setting",
    [
        "push.followTags=true",
        "remote.origin.mirror=true",
        "push.gpgSign=if-asked",
        "remote.origin.push=+refs/*:refs/*",
        "push.default=matching",
        "push.recurseSubmodules=check",
        "push.useForceIfIncludes=true",
    ],
)
def test_no_setting_of_the_user_changes_what_is_pushed(
    shared: Shared, world: World, setting: str
) -> None:
    git(shared.checkout.top, "config", *setting.split("="))
    git(shared.checkout.top, "tag", "-a", "-m", "x", "v1")
    first = made(shared, "1")
    before = world.remote.refs()
    assert shared.push(Move(REFNAME, first, "")) is Outcome.MOVED
    assert shared.push(Move(REFNAME, made(shared, "2", first), "2" * 40)) is Outcome.LOST
    assert world.remote.refs() == {**before, REFNAME: first}


def test_a_push_goes_where_the_remote_is_pushed_to(world: World) -> None:
    machine = world.machine("m1")
    git(machine.top, "config", "remote.origin.url", "/nowhere")
    git(machine.top, "config", "remote.origin.pushurl", str(world.remote.path))
    shared = open_shared(open_checkout(machine.top))
    assert shared.push(Move(REFNAME, made(shared, "1"), "")) is Outcome.MOVED
    assert shared.tips(REFNAME)


def test_a_push_whose_end_nobody_saw_is_settled_by_looking(
    shared: Shared, world: World, tmp_path: Path
) -> None:
    first = made(shared, "1")
    assert shared._settle([Move(REFNAME, first, "")]) is Outcome.LOST
    shared.push(Move(REFNAME, first, ""))
    assert shared._settle([Move(REFNAME, first, "")]) is Outcome.MOVED
    assert shared._settle([Move(REFNAME, "", first)]) is Outcome.LOST
    assert shared._settle([Move("refs/wip/none", "", first)]) is Outcome.MOVED


def test_refs_are_spelled_as_one_component(shared: Shared) -> None:
    assert shared.roster_ref == "refs/wip/roster"
    assert shared.record_ref("feat/x") == "refs/wip/lease/feat%2Fx"
    assert shared.parcel_ref("feat/x", "0" * 32) == "refs/wip/snap/feat%2Fx/" + "0" * 32


def test_the_shared_remote_is_the_named_one_or_origin_or_the_only_one(here: Here) -> None:
    with pytest.raises(UsageError, match="has no remote"):
        open_shared(here.checkout)
    here.git("remote", "add", "hub", "/x")
    assert open_shared(here.checkout).name == "hub"
    here.git("remote", "add", "b", "/y")
    with pytest.raises(UsageError, match="there are b, hub"):
        open_shared(here.checkout)
    here.git("remote", "add", "origin", "/z")
    assert open_shared(here.checkout).name == "origin"
    assert open_shared(here.checkout, "b").name == "b"
    here.git("config", "handsoff.remote", "hub")
    here.git("config", "handsoff.refs", "refs/custom/")
    shared = open_shared(here.checkout)
    assert (shared.name, shared.prefix, shared.roster_ref) == (
        "hub",
        "refs/custom",
        "refs/custom/roster",
    )
    with pytest.raises(UsageError, match="this checkout has no remote called none"):
        open_shared(here.checkout, "none")
    here.git("config", "handsoff.remote", "none")
    with pytest.raises(UsageError, match="which remote is the shared one"):
        open_shared(here.checkout)
