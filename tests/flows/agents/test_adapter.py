"""The adapters: hooks into the settings of agents and out again, and whether they are called."""

import json
from pathlib import Path
from typing import Any

import pytest

from handsoff.core.settings import adapters
from handsoff.core.settings.settings_text import Found
from tests.kit.machines import Machine, Ran, World
from tests.kit.running import inside, refused

MINE = '{\r\n\t"model": "x",\r\n\t"hooks": {"Stop": [{"hooks": [ {"type":"prompt"} ]}]}\r\n}'


class Desk:
    """A machine, the home of its person, and a PATH that leads to our program."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.home = folder / "person"
        self.bin = folder / "my bin"
        for path in (self.home, self.bin):
            path.mkdir()
        self.program = self.bin / "handsoff-hook"
        self.program.write_text("#!/bin/sh\n")
        self.program.chmod(0o755)
        self.claude = self.home / ".claude" / "settings.json"
        self.codex = self.home / ".codex" / "hooks.json"

    def run(self, *words: str, **env: str) -> Ran:
        given = {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin", **env}
        return inside(self.machine, "adapter", *words, cwd=None, given="", **given)

    def put(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def state(self, agent: str, *words: str) -> dict[str, Any]:
        (told,) = self.run("status", agent, "--json", *words).json["adapters"]
        assert isinstance(told, dict)
        return told

    def backups(self) -> list[Path]:
        return sorted((self.machine.home / "settings").glob("*"))


@pytest.fixture
def desk(world: World, tmp_path: Path) -> Desk:
    return Desk(world.machine("m1"), tmp_path)


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_hooks_go_in_once_and_come_out_to_the_byte(desk: Desk, agent: str) -> None:
    file = desk.put(getattr(desk, agent), MINE)
    file.chmod(0o640)
    shown = desk.run("install", agent, "--dry-run").ok()
    assert f"+++ {file}" in shown.out
    assert file.read_bytes() == MINE.encode()
    assert desk.backups() == []
    assert f"would change {file}\n" in shown.err
    said = desk.run("install", agent).ok().err
    assert f"changed {file}\n" in said
    assert ("/hooks" in said) == (agent == "codex")
    after = file.read_bytes()
    hooks = json.loads(after)["hooks"]
    command = "handsoff-hook codex" if agent == "codex" else f"'{desk.program}' claude"
    assert hooks["Stop"][-1]["hooks"][0]["command"] == command
    assert hooks["Stop"][0] == {"hooks": [{"type": "prompt"}]}
    assert "nothing changed" in desk.run("install", agent).ok().err
    assert file.read_bytes() == after
    (backup,) = desk.backups()
    assert backup.read_bytes() == MINE.encode()
    assert backup.stat().st_mode & 0o777 == 0o600
    assert desk.run("uninstall", agent, "--json").json["changed"] is True
    assert file.read_bytes() == MINE.encode()
    assert file.stat().st_mode & 0o777 == 0o640
    assert desk.run("uninstall", agent, "--json").json["changed"] is False


def test_a_file_that_was_not_there_is_private_and_goes_again(desk: Desk) -> None:
    assert desk.state("claude")["agent_is_here"] is False
    assert f"would create {desk.claude}\n" in desk.run("install", "claude", "--dry-run").ok().err
    assert f"created {desk.claude}\n" in desk.run("install", "claude").ok().err
    assert desk.claude.stat().st_mode & 0o777 == 0o600
    assert desk.state("claude")["works"] is True
    assert "removed" in desk.run("uninstall", "claude").ok().err
    assert not desk.claude.exists()
    assert desk.run("uninstall", "claude", "--json").json["changed"] is False


def test_a_link_stays_one_and_what_it_leads_to_is_written(desk: Desk, tmp_path: Path) -> None:
    real = desk.put(tmp_path / "dotfiles" / "claude.json", "{}\n")
    desk.claude.parent.mkdir()
    desk.claude.symlink_to("../../dotfiles/claude.json")
    desk.run("install", "claude").ok()
    assert desk.claude.is_symlink()
    assert "handsoff-hook" in real.read_text()
    desk.run("uninstall", "claude").ok()
    assert real.read_text() == "{}\n"
    real.unlink()
    refused(desk.run("install", "claude"), 8, "a link to nowhere")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  // mine\n  "a": 1\n}', "line 2: a comment, which JSON does not have"),
        ('{"a": 1,\n"hooks": []}', 'line 2: "hooks" is not an object'),
        ("", "is empty"),
        ('{"a": "\udcff"}', "is no UTF-8: line 1"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused_and_kept(
    desk: Desk, text: str, said: str
) -> None:
    desk.claude.parent.mkdir()
    desk.claude.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = desk.claude.read_bytes()
    for verb in ("install", "uninstall"):
        refused(desk.run(verb, "claude"), 8, said)
    assert desk.claude.read_bytes() == before
    assert [p.name for p in desk.claude.parent.iterdir()] == ["settings.json"]


def test_settings_that_cannot_be_read_do_not_hide_the_other_agent(desk: Desk) -> None:
    desk.put(desk.claude, "[")
    desk.run("install", "codex").ok()
    told = desk.run("status")
    assert (told.code, told.err.count("handsoff:")) == (8, 1)
    assert "settings.json" in told.err
    assert f"  {desk.codex}\n" in told.out


def test_a_file_that_is_read_only_stays_as_it_is(desk: Desk) -> None:
    desk.claude.parent.mkdir()
    desk.claude.write_text("{}\n")
    desk.claude.chmod(0o444)
    refused(desk.run("install", "claude"), 8, "is read-only", "chmod u+w")
    assert desk.claude.read_text() == "{}\n"


def test_an_older_form_is_stale_until_it_is_replaced(desk: Desk) -> None:
    old = (
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/gone/handsoff-hook"}]}]}}'
    )
    desk.put(desk.claude, old)
    told = desk.state("claude")
    assert told["state"] == "stale, program not found"
    assert told["missing"] == ["/gone/handsoff-hook"]
    desk.run("install", "claude").ok()
    assert desk.state("claude")["state"] == "installed"
    assert "/gone" not in desk.claude.read_text()


def trusted(desk: Desk, home: Path) -> str:
    """Return what Codex puts into its configuration once its user has trusted our hooks."""
    lines = []
    for event, group in adapters.groups("codex").items():
        found = Found(event, 0, 0, group)
        lines.append(f'[hooks.state."{adapters.trust_key(str(home / "hooks.json"), found)}"]')
        lines.append(f'trusted_hash = "{adapters.trust_hash(found)}"')
    return "\n".join(lines) + "\n"


def test_the_trust_of_codex_is_read_and_never_written(desk: Desk) -> None:
    desk.run("install", "codex").ok()
    assert desk.state("codex")["state"] == "installed, not trusted"
    config = desk.put(desk.codex.parent / "config.toml", trusted(desk, desk.codex.parent))
    assert desk.state("codex")["state"] == "installed"
    link = desk.home / "link"
    link.symlink_to(desk.codex.parent)  # Codex resolves the way to its home
    linked = desk.run("status", "codex", "--json", CODEX_HOME=str(link)).json
    assert linked["adapters"][0]["state"] == "installed"
    before = config.read_text()
    desk.run("install", "codex").ok()
    desk.run("uninstall", "codex").ok()
    assert config.read_text() == before
    config.write_text("[features]\nhooks = false\n")
    assert "hooks = false" in desk.run("install", "codex").ok().err
    assert "hooks are off" in desk.state("codex")["state"]
    config.write_text("[")
    assert "config.toml cannot be read" in desk.run("status", "codex").ok().out


def test_a_program_that_is_not_on_path_is_said(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [str(desk.bin / "handsoff")])
    monkeypatch.setattr("sys.executable", str(desk.bin / "python"))  # beside which ours may lie
    for agent, said in (("claude", "the whole place"), ("codex", "Codex will not find")):
        ran = desk.run("install", agent, PATH="/usr/bin:/bin").ok()
        assert "is not on PATH" in ran.err
        assert said in ran.err
    assert f"'{desk.program}' claude" in desk.claude.read_text()
    monkeypatch.setattr("sys.argv", ["/usr/bin/nothing"])
    monkeypatch.setattr("sys.executable", "/usr/bin/nothing")
    refused(desk.run("install", "claude", PATH="/usr/bin:/bin"), 8, "no handsoff-hook")


def test_hooks_of_a_project_are_for_all_who_work_in_it(desk: Desk, tmp_path: Path) -> None:
    ran = desk.run("install", "claude", "--project").ok()
    assert "once it is committed" in ran.err
    file = desk.machine.top / ".claude" / "settings.json"
    assert '"command": "handsoff-hook claude"' in file.read_text()
    assert str(desk.bin) not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o644
    assert desk.state("claude", "--project")["works"] is True
    assert not desk.claude.exists()
    desk.run("install", "codex", "--project").ok()
    assert "does not trust" in desk.run("status", "codex", "--project").out
    outside = desk.put(tmp_path / "outside.json", "{}")
    file.unlink()
    file.symlink_to(outside)
    refused(desk.run("install", "claude", "--project"), 3, "leads out of")
    assert outside.read_text() == "{}"


def test_the_rules_are_a_block_in_the_teams_file(desk: Desk) -> None:
    file = desk.put(desk.machine.top / "AGENTS.md", "# Ours\r\n\r\n- test first\r\n")
    before = file.read_bytes()
    assert "+<!-- handsoff:begin -->" in desk.run("rules", "--dry-run").ok().out
    assert file.read_bytes() == before
    desk.run("rules").ok()
    assert file.read_bytes().startswith(before)
    assert b"\n" not in file.read_bytes().replace(b"\r\n", b"")
    assert "nothing changed" in desk.run("rules").ok().err
    desk.run("rules", "--remove").ok()
    assert file.read_bytes() == before
    desk.run("rules", "--file", "CLAUDE.md").ok()
    assert (desk.machine.top / "CLAUDE.md").stat().st_mode & 0o777 == 0o644
    refused(desk.run("rules", "--file", "../AGENTS.md"), 3, "leads out of")
    kept = (desk.machine.top / ".git" / "config").read_bytes()
    refused(desk.run("rules", "--file", ".git/config"), 3, "is git's own", "--file AGENTS.md")
    assert (desk.machine.top / ".git" / "config").read_bytes() == kept
    file.write_text("<!-- handsoff:begin -->\n")
    refused(desk.run("rules"), 8, "begin in line 1")


def test_few_older_texts_are_kept(desk: Desk) -> None:
    desk.put(desk.claude, "{}")
    for _ in range(4):
        desk.run("install", "claude").ok()
        desk.run("uninstall", "claude").ok()
    assert len(desk.backups()) == 5


def test_words_that_mean_nothing_are_refused(desk: Desk) -> None:
    refused(desk.run("install", "cursor"), 2, "no adapter for 'cursor'")
    refused(desk.run("--project", "status"), 2, "options stand behind status")
    assert desk.run().ok().out == desk.run("status").ok().out


def test_doctor_says_how_the_adapters_stand(desk: Desk) -> None:
    def said() -> list[str]:
        ran = inside(desk.machine, "doctor", "--json", "--no-probe", HOME=str(desk.home),
                     PATH=f"{desk.bin}:/usr/bin:/bin")  # fmt: skip
        findings = json.loads(ran.out)["findings"]
        return [f"{f['level']}: {f['do']}" for f in findings if f["topic"].startswith("adapter")]

    assert said() == []
    desk.codex.parent.mkdir()
    assert said() == ["note: handsoff adapter install codex"]
    desk.run("install", "codex").ok()
    assert said() == [f"problem: {adapters.TRUST_IT}"]
    desk.put(desk.codex.parent / "config.toml", trusted(desk, desk.codex.parent))
    assert said() == ["ok: "]
    desk.put(desk.claude, "{]")
    assert said()[0].startswith("problem: nothing was changed")
