"""Conflicts arrive as they are: every stage of every kind, and what stands on disk."""

import pytest

from tests.kit.compare import look
from tests.kit.machines import git
from tests.kit.monday import WORK, Monday
from tests.kit.operations import shell
from tests.kit.running import at_home, inside, refused

_KINDS = """
git switch -q -c sides
for f in both-modified deleted-by-us deleted-by-them old-name; do
    seq 20 >"$f"; echo "$f" >>"$f"; done
git add -A; git commit -qm base
git switch -q -c other
echo other >>both-modified; echo other >>deleted-by-us; git rm -q deleted-by-them
echo other >both-added; git mv old-name other-name; git add -A; git commit -qm other
git switch -q sides
echo ours >>both-modified; git rm -q deleted-by-us; echo ours >>deleted-by-them
echo ours >both-added; git mv old-name our-name; git add -A; git commit -qm ours
git branch -f $1; git switch -q $1
git merge other
"""
KINDS = {
    "UU": "both-modified", "AA": "both-added", "DD": "old-name", "DU": "deleted-by-us",
    "UD": "deleted-by-them", "AU": "our-name", "UA": "other-name",
}  # fmt: skip


@pytest.fixture
def torn(forked: Monday) -> Monday:
    """Return Monday, but m1 has every kind of conflict at once."""
    shell(forked.m1.top, "git switch -q --detach; git switch -q --detach main")
    shell(forked.m1.top, _KINDS, WORK)
    return forked


def test_all_kinds_of_unmerged_entries_arrive(torn: Monday) -> None:
    m1, m2 = torn.m1, torn.m2
    status = m1.git("status", "--porcelain", "--untracked-files=no")
    assert dict(line.split(" ", 1) for line in status.splitlines()) == KINDS
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
    inside(m2, "catch", WORK).ok()
    assert m2.git("ls-files", "-u") == m1.git("ls-files", "-u")
    assert m2.git("status", "--porcelain") == m1.git("status", "--porcelain")
    assert look(m2.top) == torn.travels
    assert "<<<<<<< " in (m2.top / "both-modified").read_text()
    assert m2.git("diff") == m1.git("diff")
    for machine in (m1, m2):
        shell(machine.top, "git add -A; git commit -q --no-edit").ok()
    assert m2.git("rev-parse", "HEAD^{tree}") == m1.git("rev-parse", "HEAD^{tree}")
    assert m2.git("rev-parse", "HEAD^2") == m1.git("rev-parse", "other")


def test_a_secret_in_what_git_began_to_merge_is_told_with_its_path(torn: Monday) -> None:
    top = torn.m1.top
    blob = git(top, "hash-object", "-w", "--stdin", given="key = " + "AKIA" + "TESTONLYQWERTY12\n")
    listed = git(top, "ls-tree", (top / ".git/AUTO_MERGE").read_text().strip())
    made = git(top, "mktree", given=f"{listed}\n100644 blob {blob}\tsettings.ini\n")
    (top / ".git/AUTO_MERGE").write_text(made + "\n")
    said = inside(torn.m1, "send", "m2", "--via", "remote")
    refused(said, 3, "settings.ini: AWS key id", "in the merge as git began it")


def test_a_conflict_that_was_edited_and_half_resolved_arrives_and_can_be_taken_up_again(
    torn: Monday,
) -> None:
    m1, m2 = torn.m1, torn.m2
    m1.write("both-modified", "half\n")
    m1.git("add", "both-added")
    m1.git("rm", "-q", "deleted-by-us")
    (m1.top / "our-name").unlink()
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
    inside(m2, "catch", WORK).ok()
    assert m2.git("ls-files", "-u") == m1.git("ls-files", "-u")
    assert look(m2.top) == torn.travels
    for machine in (m1, m2):  # the stages that were resolved are gone, the others are there
        shell(machine.top, "git checkout -q -m -- both-modified").ok()
    assert (m2.top / "both-modified").read_text() == (m1.top / "both-modified").read_text()


def test_a_conflict_that_was_resolved_can_still_be_gone_back_to(torn: Monday) -> None:
    m1, m2 = torn.m1, torn.m2
    m1.write("both-modified", "resolved too soon\n")
    m1.git("add", "both-modified")
    remembered = m1.git("ls-files", "--resolve-undo")
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
    inside(m2, "catch", WORK).ok()
    assert remembered
    assert m2.git("ls-files", "--resolve-undo") == remembered
    m2.git("checkout", "-q", "-m", "--", "both-modified")
    assert len(m2.git("ls-files", "-u", "both-modified").splitlines()) == 3
