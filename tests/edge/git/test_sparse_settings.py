"""Which part of the repository a worktree shows: read, put into another one, and taken back."""

from pathlib import Path

import pytest

from handsoff.core.checkout.state import Sparse
from handsoff.edge.git import sparse
from handsoff.edge.git.repo import open_checkout
from handsoff.errors import UnfitError
from tests.kit.checkout import Here
from tests.kit.compare import untouched
from tests.kit.machines import git, run

CONE = Sparse(b"/*\n!/*/\n/dir/\n", (("core.sparsecheckoutcone", "true"),))
ODD = Sparse(b"/f\n/\xff\n", (("core.sparsecheckoutcone", "false"), ("index.sparse", "false")))
KEYS = ("core.sparseCheckout", "core.sparseCheckoutCone", "index.sparse")


def config(top: Path) -> list[str]:
    return [run("git", "config", key, cwd=top).out.strip() for key in KEYS]


def test_a_whole_checkout_shows_no_part(here: Here) -> None:
    assert sparse.read(here.checkout) is None
    here.write(".git/info/sparse-checkout", "/dir/\n")  # patterns alone mean nothing
    assert sparse.read(here.checkout) is None
    before = untouched(here.top)
    sparse.put(here.checkout, None)
    assert untouched(here.top) == before


@pytest.mark.parametrize("words", [("--cone", "dir"), ("--no-cone", "/*", "!/dir")])
def test_what_git_has_set_is_read_and_is_the_same_elsewhere(
    here: Here, tmp_path: Path, words: tuple[str, ...]
) -> None:
    here.git("sparse-checkout", "set", *words)
    found = sparse.read(here.checkout)
    assert found is not None
    other = Here.make(tmp_path / "other")
    sparse.put(other.checkout, found)
    assert sparse.same(sparse.read(other.checkout), found)
    assert config(other.top)[:2] == config(here.top)[:2]
    listed = "sparse-checkout", "list"
    assert other.git(*listed) == here.git(*listed)
    before = untouched(other.top)
    sparse.put(other.checkout, found)
    assert untouched(other.top) == before


@pytest.mark.parametrize("wanted", [CONE, ODD])
def test_what_is_put_is_read_and_can_be_taken_back(here: Here, wanted: Sparse) -> None:
    checkout = here.checkout
    sparse.put(checkout, wanted)
    assert sparse.read(checkout) == wanted == sparse.read(here.checkout)
    sparse.put(checkout, None)
    assert sparse.read(here.checkout) is None
    assert config(here.top) == ["", "", ""]
    sparse.put(checkout, CONE)
    sparse.put(checkout, ODD)
    assert sparse.read(here.checkout) == ODD


def test_what_git_takes_for_the_same_is_the_same() -> None:
    plain = Sparse(CONE.patterns, ())
    assert sparse.same(CONE, plain)
    assert sparse.same(plain, Sparse(CONE.patterns, (("core.sparsecheckoutcone", "YES"),)))
    assert not sparse.same(plain, Sparse(CONE.patterns, (("index.sparse", "1"),)))
    assert not sparse.same(plain, Sparse(b"", ()))
    assert not sparse.same(plain, None)
    assert not sparse.same(None, plain)
    assert sparse.same(None, None)


def test_settings_of_all_clones_are_answered_here(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text(
        "[core]\n\tsparseCheckout\n\tsparseCheckoutCone = no\n[index]\n\tsparse = true\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert sparse.read(here.checkout) is not None
    sparse.put(here.checkout, None)
    assert sparse.read(here.checkout) is None
    wanted = Sparse(b"/dir/\n", ())
    sparse.put(here.checkout, wanted)
    assert sparse.same(sparse.read(here.checkout), wanted)


def test_a_linked_worktree_shows_its_own_part_and_the_others_stay(
    here: Here, tmp_path: Path
) -> None:
    here.git("worktree", "add", "-q", "--detach", str(tmp_path / "beside"))
    beside = open_checkout(tmp_path / "beside")
    sparse.put(beside, CONE)
    assert sparse.read(open_checkout(tmp_path / "beside")) == CONE
    assert sparse.read(here.checkout) is None
    assert here.git("status", "--porcelain") == ""
    sparse.put(here.checkout, ODD)
    assert sparse.read(here.checkout) == ODD
    assert sparse.read(open_checkout(tmp_path / "beside")) == CONE
    sparse.put(beside, None)
    assert sparse.read(open_checkout(tmp_path / "beside")) is None
    assert sparse.read(here.checkout) == ODD


def test_worktrees_of_a_bare_clone_are_not_broken_by_a_configuration_of_their_own(
    here: Here, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(here.top), "bare")
    git(tmp_path / "bare", "worktree", "add", "-q", "--detach", str(tmp_path / "wt"))
    before = untouched(tmp_path / "wt", tmp_path / "bare")
    sparse.check(open_checkout(tmp_path / "wt"), None)
    for tried in (sparse.check, sparse.put):
        with pytest.raises(UnfitError, match="cannot keep the sparse patterns") as caught:
            tried(open_checkout(tmp_path / "wt"), CONE)
        assert caught.value.hint
    assert untouched(tmp_path / "wt", tmp_path / "bare") == before
