"""Operations in progress: read as git keeps them, put elsewhere as they were, and taken away."""

import os
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from handsoff.core.checkout.operation import FOLDERS, NOTHING, TAGS, Operation, kind_of
from handsoff.core.objects import oid_of
from handsoff.edge.git import operation
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import decode
from tests.kit import operations
from tests.kit.checkout import Here
from tests.kit.copying import copy_tree
from tests.kit.operations import DOING


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("operation") / "co"


@pytest.fixture
def here(template: Path, tmp_path: Path) -> Here:
    """Return a checkout with a history in which operations stop."""
    if not template.exists():
        operations.make(Here.make(template).top)
    copy_tree(template, tmp_path / "co")
    return Here(tmp_path / "co")


@pytest.fixture
def there(here: Here, tmp_path: Path) -> Here:
    """Return another clone, which can read the objects of the first."""
    top = tmp_path / "there"
    here.git("clone", "-q", "--shared", str(here.top), str(top))
    return Here(top)


def move(wanted: Operation, there: Here, current: Operation = NOTHING) -> Operation:
    """Put an operation into another clone, and return what stands there then."""
    arriving = operation.as_here(there.checkout, wanted)
    write = Objects(there.checkout.common_dir / "objects").write
    operation.put(there.checkout, arriving, current, write)
    return operation.read(there.checkout)


def own(here: Here) -> dict[str, bytes]:
    """Return what git keeps in this clone beside objects, logs and its usual files."""
    usual = {"objects", "logs", "refs", "hooks", "info", "handsoff"}
    usual |= {"index", "config", "HEAD", "packed-refs", "description", "COMMIT_EDITMSG"}
    root = here.top / ".git"
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.relative_to(root).parts[0] not in usual
    }


@pytest.mark.parametrize("name", DOING)
def test_an_operation_arrives_byte_for_byte_and_can_be_taken_away(
    here: Here, there: Here, name: str
) -> None:
    before = own(there)
    operations.begin(here.top, name)
    found = operation.read(here.checkout)
    kind = kind_of(found)
    assert kind is not None
    assert kind.what == DOING[name].what
    assert move(found, there) == found
    refs = ("for-each-ref", "--format=%(refname) %(objectname)", "refs/bisect", "refs/rewritten")
    assert there.git(*refs) == here.git(*refs)
    assert own(there) == own(here)
    assert move(found, there, found) == found
    assert move(NOTHING, there, found) == NOTHING
    assert there.git(*refs) == ""
    left = {n for n in own(there) if n != "ORIG_HEAD" and not n.startswith("rr-cache/")}
    assert left == before.keys()
    assert not [folder for folder in FOLDERS if (there.top / ".git" / decode(folder)).exists()]


@pytest.mark.parametrize("name", ["rebase -r", "bisect", "merge"])
def test_an_operation_that_was_put_or_taken_away_half_can_be_taken_away(
    here: Here, there: Here, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = own(there)
    operations.begin(here.top, name)
    found = operation.read(here.checkout)
    write = Objects(there.checkout.common_dir / "objects").write

    def cut(wanted: Operation, number: int) -> bool:
        """Put it, but end at the step of this number; say whether there is one."""
        numbers = count(1)

        def step(_: str) -> None:
            if next(numbers) == number:
                raise InterruptedError

        with monkeypatch.context() as patch, suppress(InterruptedError):
            patch.setattr(operation, "step", step)
            operation.put(there.checkout, wanted, operation.read(there.checkout), write)
            return False
        return True

    for wanted, first in ((found, NOTHING), (NOTHING, found)):
        for number in count(1):
            move(first, there, operation.read(there.checkout))
            going = cut(wanted, number)
            assert move(NOTHING, there, operation.read(there.checkout)) == NOTHING
            assert {k: v for k, v in own(there).items() if k != "ORIG_HEAD"} == before
            assert there.git("for-each-ref", "refs/bisect", "refs/rewritten") == ""
            if not going:
                break
        assert number > 2


def test_what_a_killed_run_left_half_written_does_not_keep_an_operation_alive(
    here: Here, there: Here
) -> None:
    operations.begin(here.top, "rebase")
    before = own(there)
    wanted = operation.read(here.checkout)
    move(wanted, there)
    for name in (".MERGE_MSG.x1y2z3.handsoff-new", "rebase-merge/.done.x1y2z3.handsoff-new"):
        (there.top / ".git" / name).write_bytes(b"half")
    move(NOTHING, there, wanted)
    assert {k: v for k, v in own(there).items() if k != "ORIG_HEAD"} == before
    assert not (there.top / ".git" / "rebase-merge").exists()


@pytest.mark.parametrize("name", DOING)
def test_the_commits_that_an_operation_needs_are_all_named(here: Here, name: str) -> None:
    operations.begin(here.top, name)
    found = operation.read(here.checkout)
    head = here.git("rev-parse", "HEAD", "refs/heads/main").split()
    reached = {*here.git("rev-list", "--objects", *head, *found.anchors).split()}
    texts = [
        data.decode("latin-1") for path, data in own(here).items()
        if not path.endswith(("patch", "info", "message", "MSG")) and "/0" not in path
    ]  # fmt: skip
    named = {word for text in texts for word in text.split() if len(word) == 40}
    commits = {oid for oid in map(here.checkout.commit, named) if oid}
    assert commits
    assert commits <= reached


def test_abbreviated_ids_are_read_with_what_they_mean(here: Here) -> None:
    operations.begin(here.top, "cherry-pick")
    found = operation.read(here.checkout)
    meant = {here.git("rev-parse", rev) for rev in ("theirs~2", "theirs~1", "theirs")}
    assert {oid for _, oid in found.short} == meant
    assert {name for name, oid in found.short} == {oid[:7] for oid in meant}
    assert meant <= {*found.commits}


def test_a_commit_from_outside_that_a_rebase_of_merges_goes_to_is_read(here: Here) -> None:
    operations.begin(here.top, "rebase -r")
    assert (
        f"reset {here.git('rev-parse', '--short', 'base~1')} #"
        in (here.top / ".git/rebase-merge/git-rebase-todo").read_text()
    )
    assert here.git("rev-parse", "base~1") in operation.read(here.checkout).commits


def test_a_label_that_looks_like_an_id_is_no_commit(here: Here) -> None:
    label = here.git("rev-parse", "--short=4", "theirs~1")
    steps = f"label {label}\nreset {label}\nmerge -C {here.git('rev-parse', 'theirs')} {label}\n"
    here.write(".git/rebase-merge/git-rebase-todo", steps)
    found = operation.read(here.checkout)
    assert found.short == ()
    assert found.commits == (here.git("rev-parse", "theirs"),)


def twin(here: Here, kind: str, prefix: str) -> None:
    """Write a commit or blob whose id begins with the few digits of ``prefix``."""
    who = "x <x@y> 1893456000 +0000"
    tree = here.git("rev-parse", "HEAD^{tree}")
    for number in range(2_000_000):
        data = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{number}\n".encode()
        if oid_of(kind, data).startswith(prefix):
            here.objects.write(kind, data)
            return
    raise AssertionError("no luck")


def test_an_abbreviation_that_a_file_has_as_well_means_the_commit_as_git_reads_it(
    here: Here,
) -> None:
    here.git("config", "core.abbrev", "4")
    operations.begin(here.top, "cherry-pick")
    found = operation.read(here.checkout)
    twin(here, "blob", found.short[0][0])
    assert operation.read(here.checkout) == found


def test_an_abbreviation_that_means_two_things_on_the_receiver_is_spelled_out_there(
    here: Here, there: Here
) -> None:
    here.git("config", "core.abbrev", "4")
    operations.begin(here.top, "cherry-pick")
    found = operation.read(here.checkout)
    first, second, third = (
        here.git("rev-parse", rev) for rev in ("theirs~2", "theirs~1", "theirs")
    )
    (short,) = (name for name, oid in found.short if oid == second)
    twin(there, "commit", short)
    there.git("branch", next(name for name, oid in found.short if oid == third), "HEAD")
    assert operation.unclear(there.checkout, found) >= {short}
    move(found, there)
    said = (there.top / ".git/sequencer/todo").read_text()
    theirs = (here.top / ".git/sequencer/todo").read_text()
    assert said == theirs.replace(f" {short} ", f" {second} ").replace(
        f" {third[: len(short)]} ", f" {third} "
    )
    assert first not in said
    there.git("config", "core.abbrev", "4")
    assert operation.stands(there.checkout, found, operation.read(there.checkout))


def test_a_tag_that_is_merged_is_an_object_there_too(here: Here, tmp_path: Path) -> None:
    operations.begin(here.top, "merge of a tag")
    found = operation.read(here.checkout)
    tag = here.git("rev-parse", "refs/tags/v1")
    there = Here.make(tmp_path / "bare")
    there.git("fetch", "-q", "--no-tags", str(here.top), "theirs", "main")
    assert there.checkout.run("cat-file", "-e", tag).returncode
    seen = move(found, there)
    assert (seen.files, seen.commits) == (found.files, found.commits)
    assert there.git("cat-file", "-t", (there.top / ".git/MERGE_HEAD").read_text().strip()) == "tag"
    assert not (there.top / ".git/tags").exists()


def test_a_tag_of_a_tag_that_is_merged_brings_both(here: Here, tmp_path: Path) -> None:
    operations.begin(here.top, "merge of a tag")
    inner = here.git("rev-parse", "refs/tags/v1")
    here.git("tag", "-m", "signed off", "v1-final", "v1")
    outer = here.git("rev-parse", "refs/tags/v1-final")
    here.write(".git/MERGE_HEAD", outer + "\n")
    found = operation.read(here.checkout)
    assert {name for name, _ in found.files if name.startswith(TAGS)} == {
        TAGS + inner.encode(), TAGS + outer.encode(),
    }  # fmt: skip
    assert here.git("rev-parse", "v1^{commit}") in found.commits


def test_a_tag_of_what_is_no_commit_needs_nothing(here: Here) -> None:
    here.git("tag", "-m", "odd", "odd", "HEAD:f")
    here.write(".git/MERGE_HEAD", here.git("rev-parse", "refs/tags/odd") + "\n")
    found = operation.read(here.checkout)
    assert (found.commits, [name for name, _ in found.files]) == ((), [b"MERGE_HEAD"])


# what is not believed, and what is not an operation


def test_what_is_no_file_of_an_operation_is_not_read(here: Here) -> None:
    operations.begin(here.top, "rebase")
    before = operation.read(here.checkout)
    here.write(".git/rebase-merge/.git-rebase-todo.swp")
    here.write(".git/rebase-merge/a/b/c")
    here.write(".git/NOTE", "1" * 40)
    os.mkfifo(here.top / ".git/rebase-merge/pipe")
    assert operation.read(here.checkout) == before


def test_a_link_in_place_of_a_state_file_is_not_followed(here: Here, there: Here) -> None:
    operations.begin(here.top, "merge")
    found = operation.read(here.checkout)
    kept = dict(found.files)[b"MERGE_MSG"]
    outside = there.write("outside", kept)
    for name in ("MERGE_MSG", "MERGE_MODE"):
        (there.top / ".git" / name).symlink_to(outside)
    assert operation.read(there.checkout) == NOTHING
    assert move(found, there) == found
    assert outside.read_bytes() == kept
    assert not (there.top / ".git/MERGE_MSG").is_symlink()
    (here.top / ".git/MERGE_MSG").unlink()
    (here.top / ".git/MERGE_MSG").symlink_to(outside)
    assert b"MERGE_MSG" not in dict(operation.read(here.checkout).files)


def test_what_git_leaves_behind_alone_is_no_operation(here: Here) -> None:
    assert operation.read(here.checkout) == NOTHING
    here.write(".git/ORIG_HEAD", here.git("rev-parse", "HEAD") + "\n")
    assert operation.read(here.checkout) == NOTHING
    here.write(".git/MERGE_MSG", "x\n")
    assert operation.read(here.checkout).files == ((b"MERGE_MSG", b"x\n"),)


def test_an_operation_is_that_of_its_worktree_alone(here: Here, tmp_path: Path) -> None:
    here.git("worktree", "add", "-q", str(tmp_path / "wt"), "clean")
    beside = Here(tmp_path / "wt")
    operations.begin(here.top, "bisect")
    found = operation.read(here.checkout)
    assert found.refs
    assert operation.read(beside.checkout) == NOTHING
    assert operation.stands(beside.checkout, found, move(found, beside))
    assert move(NOTHING, beside, found) == NOTHING
    assert operation.read(here.checkout) == found


@pytest.mark.parametrize(
    ("name", "branch"), [("rebase", "main"), ("rebase --apply", "main"), ("bisect", "main"),
                         ("merge", None), ("am", None)]
)  # fmt: skip
def test_the_branch_that_was_left_is_known(here: Here, name: str, branch: str | None) -> None:
    assert operation.branch(here.checkout) is None
    operations.begin(here.top, name)
    assert operation.branch(here.checkout) == branch
    assert operation.branch_of_worktree(here.top / ".git") == branch


# what the receiver has of its own


def test_what_stands_is_what_was_wanted_or_is_told_apart(here: Here, there: Here) -> None:
    operations.begin(here.top, "cherry-pick")
    found = operation.read(here.checkout)
    there.write(".git/ORIG_HEAD", there.git("rev-parse", "HEAD") + "\n")
    seen = move(found, there)
    assert operation.stands(there.checkout, found, seen)
    assert b"ORIG_HEAD" in dict(seen.files)
    for name in (b"MERGE_MSG", b"sequencer/todo"):
        for files in (
            [(n, d) for n, d in seen.files if n != name],
            [(n, d + b"x" if n == name else d) for n, d in seen.files],
        ):
            assert not operation.stands(there.checkout, found, Operation(tuple(files)))
    more = Operation((*seen.files, (b"MERGE_HEAD", b"x")), seen.refs)
    assert not operation.stands(there.checkout, found, more)
    other = Operation(seen.files, (("refs/bisect/bad", found.commits[0]),))
    assert not operation.stands(there.checkout, found, other)


def test_what_rerere_remembers_on_the_receiver_is_kept(here: Here, there: Here) -> None:
    operations.begin(here.top, "merge with rerere")
    found = operation.read(here.checkout)
    (name,) = (name for name, _ in found.files if name.startswith(b"rr-cache/"))
    image = there.write(b".git/" + name, "mine\n")
    post = image.with_name("postimage")
    post.write_text("mine too\n")
    seen = move(found, there)
    assert (image.read_text(), post.read_text()) == ("mine\n", "mine too\n")
    assert operation.stands(there.checkout, found, seen)
    assert not operation.stands(there.checkout, found, Operation(tuple(
        (n, d) for n, d in seen.files if n != name)))  # fmt: skip
    assert move(NOTHING, there, seen) == NOTHING
    assert image.exists()
