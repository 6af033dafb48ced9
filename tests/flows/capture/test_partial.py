"""Partial clones: what was only promised stays so, but for the very files that a restore writes."""

from pathlib import Path

import pytest

from handsoff.flows.memory import Memory
from tests.kit.clones import TABLE, Pair, blobs, goes_on, lose, pair, watch
from tests.kit.compare import look, untouched
from tests.kit.machines import git
from tests.kit.monday import WORK
from tests.kit.running import at_home, inside, refused

FILTERS = ("blob:none", "tree:0")


def partial(name: str, *words: str) -> tuple[str, ...]:
    return (f"--filter={name}", *words)


def send(both: Pair, route: str = "direct") -> None:
    """Send the work; the sender's checkout stays as it is."""
    before = untouched(both.m1.top)
    if route == "direct":
        with at_home(both.m2) as there:
            inside(both.m1, "send", "m2", "--at", there.address).ok()
    else:
        inside(both.m1, "send", "m2", "--via", route).ok()
    now = untouched(both.m1.top)
    assert {name: now[name] for name in before} == before


@pytest.mark.parametrize("route", ["direct", "remote"])
@pytest.mark.parametrize("kind", FILTERS)
def test_a_partial_clone_sends_only_what_is_its_own(tmp_path: Path, kind: str, route: str) -> None:
    both = pair(tmp_path, sender=partial(kind), receiver=("--single-branch", "-b", "main"))
    asked, before = watch(both.m1), blobs(both.m1)
    send(both, route)
    assert blobs(both.m1) == before
    assert not [oid for wants in asked.wants for oid in wants if oid in history(both)]
    if route == "direct":
        (index,) = both.m2.home.glob("inbox/*/objects/pack/*.idx")
        packed = git(index.parent, "verify-pack", "-v", str(index))
        assert [oid for oid in history(both) if oid in packed] == [on_disk(both)]
    inside(both.m2, "catch", WORK).ok()
    both.arrived()


def history(both: Pair) -> set[str]:
    """Return all that the remote's branches have."""
    remote = both.world.remote.path
    listed = git(remote, "rev-list", "--objects", "--no-object-names", "--branches")
    return set(listed.splitlines())


def on_disk(both: Pair) -> str:
    """Return the one file of the history that travels: its mode was changed, so it was read."""
    return both.m1.git("rev-parse", "HEAD:tools/run")


def test_a_staged_file_that_was_only_promised_is_not_fetched_to_be_sent(tmp_path: Path) -> None:
    both = pair(tmp_path, sender=partial("blob:none"))
    old = git(both.world.remote.path, "rev-parse", f"main~4:{TABLE}")
    both.m1.git("update-index", "--cacheinfo", f"100644,{old},{TABLE}")
    before = blobs(both.m1)
    assert old not in before
    send(both)
    assert blobs(both.m1) == before
    inside(both.m2, "catch", WORK).ok()
    both.arrived()
    assert both.m2.git("rev-parse", f":{TABLE}") == old


def test_a_tree_that_was_only_promised_is_fetched_to_be_built_upon(tmp_path: Path) -> None:
    both = pair(tmp_path, sender=partial("tree:0"))
    # HEAD is now where nobody ever looked into
    old = git(both.world.remote.path, "rev-parse", "main~4")
    both.m1.git("reset", "-q", "--soft", old)
    before = blobs(both.m1)
    send(both)
    assert blobs(both.m1) == before
    inside(both.m2, "catch", WORK).ok()
    both.arrived()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", FILTERS)
def test_a_partial_clone_fetches_what_the_restore_writes_and_no_more(
    tmp_path: Path, kind: str, known: bool
) -> None:
    narrow = () if known else ("--single-branch",)
    both = pair(tmp_path, receiver=partial(kind, *narrow, "-b", "main"))
    before = blobs(both.m2)
    asked = watch(both.m2)
    send(both, "direct" if known else "remote")
    inside(both.m2, "catch", WORK).ok()
    both.arrived()
    # main has another table, and nothing else that m2 lacks of what the remote has
    table = both.m1.git("rev-parse", f"origin/{WORK}:{TABLE}")
    assert (blobs(both.m2) - before) & history(both) == {table}
    assert [wants for wants in asked.wants if table in wants] == [[table]]


def test_a_partial_clone_catches_into_a_worktree(tmp_path: Path) -> None:
    both = pair(tmp_path, receiver=partial("blob:none", "--single-branch", "-b", "main"))
    send(both)
    inside(both.m2, "catch", WORK, "--into", tmp_path / "beside").ok()
    both.arrived(tmp_path / "beside")


def test_many_promised_files_come_over_one_connection(tmp_path: Path) -> None:
    both = pair(tmp_path, receiver=partial("blob:none", "--no-checkout", "-b", "main"))
    # m2 stands on a branch without files, so that all are to be written
    tree = both.m2.git("hash-object", "-t", "tree", "-w", "/dev/null")
    empty = both.m2.git("commit-tree", "-m", "nothing", tree)
    both.m2.git("update-ref", "refs/heads/empty", empty)
    both.m2.git("symbolic-ref", "HEAD", "refs/heads/empty")
    assert blobs(both.m2) == set()
    asked = watch(both.m2)
    send(both)
    assert not blobs(both.m2) & history(both)
    inside(both.m2, "catch", WORK).ok()
    both.arrived()
    came = blobs(both.m2) & history(both) - {on_disk(both)}
    assert [set(wants) for wants in asked.wants if set(wants) & came] == [came]
    # all but what the work changed or removed, and but one of the tables
    names = ("data/a.csv", TABLE, ".gitignore")
    assert came == {both.m1.git("rev-parse", f"HEAD:{name}") for name in names}


def test_a_promise_that_is_not_kept_is_found_before_the_first_write(tmp_path: Path) -> None:
    both = pair(tmp_path, receiver=partial("blob:none", "-b", "main"))
    send(both)
    before = both.world.remote.refs(), look(both.m2.top)
    table = both.m1.git("rev-parse", f"HEAD:{TABLE}")
    lose(both.world.remote, table)
    refused(inside(both.m2, "catch", WORK), 9, f"the remote origin does not hand out {table[:10]}")
    assert (both.world.remote.refs(), look(both.m2.top)) == before
    assert Memory(both.m2.checkout()).journal() is None


def test_a_remote_that_is_away_when_files_are_needed_is_said_before_the_first_write(
    tmp_path: Path,
) -> None:
    both = pair(tmp_path, receiver=partial("blob:none", "-b", "main"))
    send(both)
    # the record is read from where it is pushed to; what was promised comes from elsewhere
    both.m2.git("remote", "rename", "origin", "other")
    both.m2.git("remote", "add", "origin", str(both.world.remote.path))
    both.m2.git("remote", "set-url", "other", str(tmp_path / "nowhere"))
    before = both.world.remote.refs(), look(both.m2.top)
    refused(inside(both.m2, "catch", WORK), 6, "the remote other cannot be reached")
    assert (both.world.remote.refs(), look(both.m2.top)) == before
    assert Memory(both.m2.checkout()).journal() is None


@pytest.mark.parametrize("kind", FILTERS)
def test_a_work_goes_back_and_forth_between_partial_and_shallow_clones(
    tmp_path: Path, kind: str
) -> None:
    both = pair(
        tmp_path,
        sender=partial(kind),
        receiver=partial(kind, "--depth=1", "--single-branch", "-b", "main"),
    )
    send(both)
    inside(both.m2, "catch", WORK).ok()
    both.arrived()
    back = goes_on(both)
    inside(back.m2, "undo").ok()
    assert back.m2.git("rev-parse", "HEAD") == back.m1.git("rev-parse", "HEAD~1")


def test_a_parcel_that_lacks_what_nobody_promised_is_refused(tmp_path: Path) -> None:
    both = pair(tmp_path, receiver=partial("blob:none", "--single-branch", "-b", "main"))
    # m1 takes a file for promised that only it ever had
    both.m1.git("config", "remote.origin.promisor", "true")
    both.m1.write("only", "here\n")
    both.m1.git("add", "only")
    oid = both.m1.git("rev-parse", ":only")
    (both.m1.top / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    (both.m1.top / "only").unlink()
    before = both.world.remote.refs()
    with at_home(both.m2) as there:
        ran = inside(both.m1, "send", "m2", "--at", there.address)
    refused(ran, 9, f"the remote origin does not hand out {oid[:10]}")
    assert both.world.remote.refs() == before
    assert list((both.m2.home / "inbox").iterdir()) == []
