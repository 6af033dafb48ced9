"""Stock git reads our chains: it verifies each signature with the roster's allowed signers."""

import subprocess
from pathlib import Path

import pytest

from handsoff.core.machines.admission import RosterRead, admit, found, read_roster
from handsoff.core.objects import EMPTY_TREE, oid_of
from handsoff.core.works.lease import Recipient
from handsoff.core.works.pen import Pen
from tests.kit.signing import M1, M2, OUTSIDER, empty, forged, pairs, roster


def git(repo: Path, *args: str, data: bytes = b"", check: bool = True) -> str:
    """Run git without any configuration but the repository's own."""
    env = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(repo.parent),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
    }
    run = subprocess.run(
        ["git", "-C", str(repo), *args], input=data, env=env, capture_output=True, check=False
    )
    assert not check or run.returncode == 0, run.stderr
    return run.stdout.decode().strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a bare repository that trusts the roster."""
    where = tmp_path / "repo.git"
    where.mkdir()
    git(where, "init", "-q", "--bare")
    (tmp_path / "signers").write_text(roster().allowed_signers())
    git(where, "config", "gpg.format", "ssh")
    git(where, "config", "gpg.ssh.allowedSignersFile", str(tmp_path / "signers"))
    assert git(where, "hash-object", "-w", "-t", "tree", "--stdin") == EMPTY_TREE
    return where


def store(repo: Path, commits: list[tuple[str, bytes]]) -> None:
    """Write raw commits, which git must name as we do."""
    for oid, data in commits:
        assert git(repo, "hash-object", "-w", "-t", "commit", "--stdin", data=data) == oid


def test_git_verifies_a_record_and_names_the_machine(repo: Path) -> None:
    page = git(repo, "hash-object", "-w", "--stdin", data=b"# Next\n")
    pen: Pen = M1.pen(empty()).caught().saved(page=page).offered(Recipient(machine=M2.id))
    other = M2.pen(pen.record).caught()
    drafts = [*pen.drafts, *other.drafts]
    git(repo, "hash-object", "-w", "-t", "tree", "--stdin", data=drafts[1].tree)
    store(repo, pairs(*drafts))
    git(repo, "update-ref", "refs/wip/lease/feat%2Fx", drafts[-1].oid)
    shown = git(repo, "log", "--format=%G? %GS %ae", drafts[-1].oid).splitlines()
    mail = "@handsoff.invalid"
    m1, m2 = f"G {M1.id} {M1.id}{mail}", f"G {M2.id} {M2.id}{mail}"
    assert shown == [m2, m1, m1, m1]
    for draft in drafts:
        git(repo, "verify-commit", draft.oid)
    git(repo, "fsck", "--strict")
    assert git(repo, "show", f"{drafts[1].oid}:page.md") == "# Next"


def test_git_verifies_the_roster_itself(repo: Path) -> None:
    first = found(RosterRead(), M1.card(), at=1, sign=M1.sign)
    read = read_roster(pairs(first), first.oid)
    second = admit(read, M2.card(), by=M1.id, at=1, sign=M1.sign)
    store(repo, pairs(first, second))
    shown = git(repo, "log", "--format=%G? %GS", second.oid).splitlines()
    assert shown == [f"G {M1.id}"] * 2


def test_git_refuses_what_we_refuse(repo: Path) -> None:
    held = M1.pen(empty()).caught()
    store(repo, pairs(*held.drafts))
    saved = held.saved().drafts[-1]
    bent = saved.data.replace(b"m1 saved", b"m1 stole")
    event = held.saved().record.good[-1].event
    stranger = forged(held.record, event, OUTSIDER)
    store(repo, [(oid_of("commit", bent), bent), stranger])
    assert git(repo, "log", "-1", "--format=%G?", oid_of("commit", bent)) == "B"
    assert git(repo, "log", "-1", "--format=%G?", stranger[0]) == "U"
