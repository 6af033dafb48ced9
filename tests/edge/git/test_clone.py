"""What a clone lacks is listed, and fetched from the remote by id: that, and not a thing more."""

from pathlib import Path

import pytest

from handsoff.edge.git import clone, news
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import open_shared
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.errors import DamagedError, UnreachableError
from tests.kit.clones import TABLE, blobs, commits, remote_with_history, sound, watch
from tests.kit.clones import clone as made
from tests.kit.machines import Machine, World, git
from tests.kit.monday import WORK


@pytest.fixture
def old(tmp_path: Path) -> World:
    """Return a remote with some history."""
    return remote_with_history(tmp_path)


def at(old: World, name: str) -> str:
    return git(old.remote.path, "rev-parse", name)


def shallow(machine: Machine) -> set[str]:
    return set(machine.checkout().shallow)


def test_a_clone_says_of_what_shape_it_is(old: World) -> None:
    whole, cut = made(old, "m1"), made(old, "m2", "--depth=2")
    part = made(old, "m3", "--filter=blob:none", "-o", "theirs")
    assert (whole.checkout().shallow, whole.checkout().promisor) == (frozenset(), None)
    assert cut.checkout().shallow == {at(old, "main~1")}
    assert part.checkout().promisor == "theirs"
    part.git("config", "--unset", "remote.theirs.promisor")
    assert part.checkout().promisor is None
    part.git("config", "extensions.partialClone", "theirs")
    assert part.checkout().promisor == "theirs"
    part.git("worktree", "add", "-q", "--detach", "../linked")
    assert open_checkout(part.top.with_name("linked")).promisor == "theirs"


def test_a_commit_is_lacking_if_it_is_not_here_or_not_with_its_history(old: World) -> None:
    machine = made(old, "m1", "--depth=2")
    here, cut, below = (at(old, f"main~{n}") for n in range(3))
    checkout = machine.checkout()
    assert clone.lacking(checkout, [here, cut, below]) == [below]
    # as a loose object that nobody led to, which git takes for whole until it walks there
    lender = made(old, "m2")
    for oid in (below, f"{below}^{{tree}}"):
        kind = lender.git("cat-file", "-t", oid)
        raw = lender.top / "raw"
        raw.write_bytes(_raw(lender, kind, oid))
        machine.git("hash-object", "-w", "-t", kind, str(raw))
    assert clone.lacking(checkout, [below]) == [below]
    clone.fetch_commits(open_shared(checkout), [below], alone=True)
    assert clone.lacking(checkout, [below]) == []
    sound(machine.top)


def _raw(machine: Machine, kind: str, oid: str) -> bytes:
    full = machine.git("rev-parse", oid)
    found, data = Objects(machine.top / ".git" / "objects").read(full)
    assert found == kind
    return data


def test_a_commit_that_is_fetched_alone_cuts_no_history_that_is_here(old: World) -> None:
    machine = made(old, "m1", "--depth=3", "--single-branch", "-b", "main")
    before = machine.git("rev-list", "main")
    shared = open_shared(machine.checkout())
    for name in (WORK, "main~4"):
        clone.fetch_commits(shared, [at(old, name)], alone=True)
        assert machine.git("rev-list", "main") == before
    assert shallow(machine) == {at(old, name) for name in ("main~2", WORK, "main~4")}
    clone.fetch_commits(shared, [at(old, "main~3")])
    assert clone.lacking(machine.checkout(), [at(old, "main~3")]) == []
    sound(machine.top)


def test_a_whole_clone_stays_whole(old: World) -> None:
    machine = made(old, "m1", "--single-branch", "-b", "main")
    clone.fetch_commits(open_shared(machine.checkout()), [at(old, WORK)], alone=True)
    assert shallow(machine) == set()
    assert machine.git("rev-list", "--count", at(old, WORK)) == "5"


def test_a_server_that_knows_tips_only_is_asked_for_its_branches(old: World) -> None:
    machine = made(old, "m1", "--single-branch", "-b", "main")
    git(old.remote.path, "branch", "long", WORK)
    other = made(old, "m2", "-b", "long")
    base = other.commit("inside")
    other.commit("on top")
    other.git("push", "-q", "origin", "long")
    machine.git("config", "protocol.version", "0")
    before = machine.git("for-each-ref")
    clone.fetch_commits(open_shared(machine.checkout()), [base])
    assert clone.lacking(machine.checkout(), [base]) == []
    assert machine.git("for-each-ref") == before


def test_a_commit_that_the_remote_does_not_have_is_still_lacking(old: World) -> None:
    checkout = made(old, "m1").checkout()
    shared = open_shared(checkout)
    for version in ("2", "0"):
        git(checkout.top, "config", "protocol.version", version)
        clone.fetch_commits(shared, ["1" * 40])
        assert clone.lacking(checkout, ["1" * 40]) == ["1" * 40]
    git(checkout.top, "remote", "set-url", "origin", "/nowhere")
    with pytest.raises(UnreachableError, match="origin cannot be reached"):
        clone.fetch_commits(shared, ["1" * 40])


def test_promised_files_come_by_id_over_one_connection(old: World) -> None:
    machine = made(old, "m1", "--filter=blob:none")
    asked, before = watch(machine), blobs(machine)
    wanted = {at(old, f"{name}:{TABLE}") for name in ("main~1", "main~3")}
    clone.fetch_promised(machine.checkout(), [*wanted, *wanted])
    assert blobs(machine) - before == wanted
    assert [set(wants) for wants in asked.wants] == [wanted]
    clone.fetch_promised(machine.checkout(), [])
    assert len(asked.wants) == 1


def test_trees_that_were_filtered_away_come_without_their_files(old: World) -> None:
    machine = made(old, "m1", "--filter=tree:0")
    asked, before = watch(machine), blobs(machine)
    clone.fetch_trees(machine.checkout(), [at(old, "main~1"), at(old, "main~3")])
    for name in ("main~1", "main~3"):
        for tree in (f"{name}^{{tree}}", f"{name}:src"):
            assert at(old, tree) in machine.git("cat-file", "--batch-all-objects", "--batch-check")
    assert blobs(machine) == before
    assert len(asked.wants) == 1
    clone.fetch_trees(machine.checkout(), [at(old, "main~1")])
    assert len(asked.wants) == 1


def test_in_a_whole_clone_nothing_was_promised(old: World) -> None:
    machine = made(old, "m1")
    asked = watch(machine)
    clone.fetch_promised(machine.checkout(), ["1" * 40])
    clone.fetch_trees(machine.checkout(), [at(old, "main")])
    assert asked.wants == []


def test_a_promise_that_is_not_kept_is_damage_and_no_answer_is_not(old: World) -> None:
    checkout = made(old, "m1", "--filter=blob:none").checkout()
    with pytest.raises(DamagedError, match="origin does not hand out 1111111111"):
        clone.fetch_promised(checkout, ["1" * 40])
    git(checkout.top, "remote", "set-url", "origin", "/nowhere")
    with pytest.raises(UnreachableError, match="origin cannot be reached"):
        clone.fetch_promised(checkout, ["1" * 40])


def sent(checkout: Checkout, have: list[str]) -> tuple[set[str], list[str]]:
    """Return the commits that would be sent from HEAD, and the bases."""
    found = news.to_send(checkout, [git(checkout.top, "rev-parse", "HEAD")], have)
    kinds = git(checkout.top, "cat-file", "--batch-check", given="\n".join(found.objects))
    return {line[:40] for line in kinds.splitlines() if " commit " in line}, found.bases


def test_the_bases_are_where_the_histories_meet(old: World) -> None:
    machine = made(old, "m1", "-b", WORK)
    own = machine.commit()
    fork, main = at(old, "main~2"), at(old, "main")
    assert sent(machine.checkout(), [main, at(old, "main~5")]) == ({own, at(old, WORK)}, [fork])
    assert sent(machine.checkout(), [at(old, WORK), main]) == ({own}, [at(old, WORK)])
    assert sent(machine.checkout(), [own]) == (set(), [own])
    assert len(sent(machine.checkout(), [])[0]) == 6
    machine.git("merge", "-q", "--no-edit", "-s", "ours", "origin/main")
    assert sent(machine.checkout(), [at(old, WORK), main])[1] == sorted([at(old, WORK), main])


@pytest.mark.parametrize("shape", ["--depth=1", "--filter=blob:none", "--filter=tree:0"])
def test_where_a_clone_ends_there_is_a_base(old: World, shape: str) -> None:
    machine = made(old, "m1", "-b", WORK, shape)
    base = at(old, WORK)
    assert sent(machine.checkout(), []) == (set(), [base])
    own = machine.commit()
    assert sent(machine.checkout(), []) == ({own}, [base])
    assert sent(machine.checkout(), [own]) == (set(), [own])
    before = blobs(machine)
    assert own in news.all_of(machine.checkout(), [own])
    assert (blobs(machine), commits(machine) >= {own}) == (before, True)


def test_a_branch_that_is_gone_from_the_remote_is_nothing_to_build_on(old: World) -> None:
    machine = made(old, "m1")
    shared = open_shared(machine.checkout())
    assert news.tips_there(shared) == sorted({at(old, "main"), at(old, WORK)})
    gone = at(old, WORK)
    git(old.remote.path, "update-ref", "-d", f"refs/heads/{WORK}")
    git(old.remote.path, "update-ref", f"refs/original/refs/heads/{WORK}", gone)
    assert news.tips_there(shared) == [at(old, "main")]
    git(old.remote.path, "branch", "renamed", gone)
    assert news.tips_there(shared) == sorted({at(old, "main"), gone})


def test_branches_are_asked_for_early_only_where_the_answer_is_of_use(old: World) -> None:
    machine = made(old, "m1")
    shared = open_shared(machine.checkout())
    [question] = clone.questions(shared)
    with shared.asking([question], {}):
        assert clone.branches(shared)["main"] == at(old, "main")
    machine.git("config", "remote.origin.pushurl", str(old.remote.path))
    assert clone.questions(open_shared(machine.checkout())) == []
