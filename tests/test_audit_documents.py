"""The commands that the documents give for an audit: those very lines, run on a real remote."""

import re
import sys
from pathlib import Path

import pytest

from handsoff.core.works.lease import Recipient
from tests.kit.machines import ROOT, Machine, Ran, World, git, run
from tests.test_documents import README, section

CI = ROOT / "contrib" / "ci"
WORK = "feat/cny-rounding"
LEASE = "refs/wip/lease/feat%2Fcny-rounding"


@pytest.fixture
def member(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return m1, which handed a work over to m2; this tree's handsoff is on PATH."""
    m1, m2 = world.members("m1", "m2")
    m1.writes(WORK, lambda pen: pen.caught().saved().offered(Recipient(machine=m2.member().id)))
    m2.writes(WORK, lambda pen: pen.caught())
    program = tmp_path / "bin" / "handsoff"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m handsoff "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/local/bin:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "ops"))
    (tmp_path / "ops").mkdir()
    return m1


def shell(line: str, cwd: Path, **env: str) -> Ran:
    """Run a line as the job of a CI runs it."""
    return run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line, cwd=cwd, env=env)


def clone(world: World, tmp_path: Path) -> Path:
    top = tmp_path / "ops" / "audit"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{world.remote.path}", str(top))
    return top


def founding(member: Machine) -> str:
    pin = member.desk().pin
    assert pin is not None
    return pin


def steps(text: str) -> dict[str, str]:
    """Return the shell commands of a workflow by the names of their steps."""
    found = {}
    for name, rest in re.findall(r"- name: (.+)\n((?: {8}.*\n|\n)*)", text):
        told = re.search(r"^ {8}run: (?:\|\n((?: {10}.*\n?)+)|(.*))", rest, re.MULTILINE)
        assert told, name
        found[name] = told[2] or re.sub(r"^ {10}", "", told[1], flags=re.MULTILINE)
    return found


def test_the_workflow_runs_and_fails_when_somebody_should_look(
    world: World, member: Machine, tmp_path: Path
) -> None:
    todo = steps((CI / "handsoff-audit.yml").read_text())
    assert list(todo) == ["install", "audit"]
    top, pin = clone(world, tmp_path), founding(member)
    shell(todo["install"], top, HANDSOFF_SOURCE="").ok()
    ran = shell(todo["audit"], top, HANDSOFF_FOUNDING=pin).ok()
    assert ran.out.endswith("clean\n")
    assert shell(todo["audit"], top, HANDSOFF_FOUNDING="").code == 2
    git(world.remote.path, "update-ref", LEASE, git(world.remote.path, "rev-parse", f"{LEASE}~1"))
    assert shell(todo["audit"], top, HANDSOFF_FOUNDING=pin).code == 7


def test_the_workflow_is_pinned_and_may_only_read() -> None:
    text = (CI / "handsoff-audit.yml").read_text()
    uses = re.findall(r"uses: (\S+)", text)
    assert uses
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in uses)
    assert re.findall(r"^permissions:\n((?: .*\n)+)", text, re.MULTILINE) == ["  contents: read\n"]
    assert "${{" not in "".join(steps(text).values()), "a value goes through the environment"


def test_the_line_for_cron_is_silent_until_somebody_should_look(
    world: World, member: Machine, tmp_path: Path
) -> None:
    (line,) = re.findall(r"^17 5 \* \* \*  (.*)$", (CI / "README.md").read_text(), re.MULTILINE)
    top, line = clone(world, tmp_path), line.replace("FOUNDING", founding(member))
    assert shell(line, tmp_path) == Ran(0, "", "")
    blob = git(world.remote.path, "hash-object", "-w", "--stdin", given="rubbish")
    git(world.remote.path, "update-ref", "refs/wip/lease/x", blob)
    assert "not clean: 1 to look at" in shell(line, tmp_path).out
    known = shell(
        f"handsoff audit --trust {founding(member)}", top, HANDSOFF_AUDIT_KNOWN=f"{blob} {blob}"
    )
    assert known.code == 9, "only entries can be known"


def test_stock_git_and_ssh_keygen_show_the_same(
    world: World, member: Machine, tmp_path: Path
) -> None:
    (block,) = re.findall(
        r"```\n(.*?)```", section(README, "Verify a record without handsoff"), re.DOTALL
    )
    signers, fetch, founder, table, one = block.splitlines()
    shell(signers, member.top, HANDSOFF_HOME=str(member.home)).ok()
    top = clone(world, tmp_path)
    shell(fetch, top).ok()
    assert shell(founder, top).ok().out.strip() == founding(member)
    told = [row.split(" ")[0] for row in shell(table, top).ok().out.splitlines()]
    assert told == ["G"] * 6
    assert shell(one, top).ok().out.count('Good "git" signature for') == 4
    remote = world.remote.path
    tip = world.remote.refs()[LEASE]
    void = git(remote, "-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-p", tip, "-m",
               "x", f"{tip}^{{tree}}")  # fmt: skip
    git(remote, "update-ref", LEASE, void)
    shell(fetch, top).ok()
    assert [r.split(" ")[0] for r in shell(table, top).ok().out.splitlines()].count("N") == 1
    git(remote, "update-ref", LEASE, f"{tip}~1")
    again = shell(fetch, top)
    assert again.code == 1
    assert "non-fast-forward" in again.err
