"""What the command line says: help, errors as lines and as one document, and never a traceback."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from handsoff import __version__, errors
from tests.kit.machines import Machine, run
from tests.kit.monday import WORK, Monday
from tests.kit.running import inside

VERBS = {
    "init": [], "card": [], "admit": ["x.card"], "roster": [], "page": [], "send": ["m2"],
    "listen": [], "receive": ["x.handsoff"], "inbox": [], "catch": ["feat/x"], "status": [],
    "undo": [], "sessions": [],
}  # fmt: skip
WITH_JSON = [
    "init", "admit", "roster", "send", "listen", "receive", "inbox", "catch", "status", "undo",
    "sessions",
]  # fmt: skip


def program(*words: str | Path, cwd: Path, **env: str) -> "subprocess.CompletedProcess[bytes]":
    """Run the program as a shell would."""
    command = [sys.executable, "-m", "handsoff", *words]
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **env}, capture_output=True, check=False
    )


def test_help_names_every_verb_and_every_exit_code(monday: Monday) -> None:
    said = inside(monday.m1, "--help").ok().out
    for verb in VERBS:
        assert f"\n  {verb} " in said
    for kind in errors.HandsoffError.__subclasses__():
        assert f"{kind.exit_code} " in said.partition("Exit codes:")[2]
    assert inside(monday.m1, "-h").ok().out == said


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(monday: Monday, verb: str) -> None:
    said = inside(monday.m1, verb, "-h").ok().out
    assert said.startswith(f"Usage: handsoff {verb} [OPTIONS]")
    assert "." in said.partition("Options:")[0]
    assert ("--json" in said) == (verb in WITH_JSON)


def test_an_option_has_the_name_in_the_environment_that_it_has_in_the_line(monday: Monday) -> None:
    for words, option in (("send", "as"), ("sessions", "all"), ("tour", "list"), ("send", "at")):
        assert f"HANDSOFF_{words}_{option}".upper() in inside(monday.m1, words, "-h").ok().out
    assert "--all" in inside(monday.m1, "sessions", HANDSOFF_SESSIONS_ALL="maybe").err


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    ran = program("--version", cwd=tmp_path)
    assert (ran.returncode, ran.stdout.decode()) == (0, f"handsoff {__version__}\n")


def test_each_kind_of_failure_has_a_code_of_its_own() -> None:
    kinds = errors.HandsoffError.__subclasses__()
    assert sorted(kind.exit_code for kind in kinds) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert len({kind.code for kind in kinds}) == len(kinds)


@pytest.mark.parametrize(
    "words",
    [["fly"], ["send"], ["send", "m2", "m3"], ["catch"], ["status", "--loud"],
     ["listen", "--port", "x"], ["listen", "--accept", "some"], ["listen", "--port", "-1"],
     ["send", "m2", "--max-size", "-1"], ["receive"], ["catch", "x", "--into"]],
)  # fmt: skip
def test_what_was_typed_wrong_is_usage(monday: Monday, words: list[str]) -> None:
    before = monday.untouched()
    said = inside(monday.m1, *words)
    assert said.code == 2
    assert said.err.startswith("handsoff: ")
    assert "hint: handsoff " in said.err
    assert "Value error" not in said.err
    assert monday.untouched() == before


def test_what_was_typed_wrong_is_a_document_too(monday: Monday) -> None:
    said = inside(monday.m1, "send", "--json")
    assert (said.code, said.json["error"]["code"]) == (2, "usage")
    assert said.json["error"]["hint"] == "handsoff send --help"
    for words in (["adapter", "install"], ["roster", "rename", "m1"]):
        assert f"hint: handsoff {words[0]} {words[1]} --help" in inside(monday.m1, *words).err


def test_a_document_asked_for_in_the_environment_is_one_of_an_error_too(
    monday: Monday, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDSOFF_CATCH_JSON", "1")
    monkeypatch.setenv("HANDSOFF_ROSTER_RENAME_JSON", "true")
    assert inside(monday.m1, "catch", "no/such").json["error"]["code"] == "refused"
    assert inside(monday.m1, "roster", "rename", "x", "y").json["error"]["code"] == "usage"
    assert inside(monday.m1, "note", "--", "--json", "x").out == ""  # that is a word of a note


def test_a_version_that_somebody_pinned_in_the_environment_asks_for_nothing(
    monday: Monday, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("1", "0.1.0"):
        monkeypatch.setenv("HANDSOFF_VERSION", value)
        assert "roster" in inside(monday.m1, "status").ok().out
    assert "HANDSOFF_VERSION" not in inside(monday.m1, "--help").ok().out


def test_no_words_at_all_ask_for_help(tmp_path: Path) -> None:
    ran = program(cwd=tmp_path)
    assert (ran.returncode, ran.stdout[:15]) == (0, b"Usage: handsoff")


@pytest.mark.parametrize("verb", VERBS)
def test_outside_a_checkout_and_without_keys_no_verb_fails_without_words(
    tmp_path: Path, verb: str
) -> None:
    words = [verb, *VERBS[verb], *(["--json"] if verb in WITH_JSON else [])]
    ran = inside(Machine("m1", tmp_path / "home", tmp_path), *words)
    assert ran.code in (2, 8), ran
    first, second = ran.err.splitlines()
    assert first.startswith("handsoff: ")
    assert not first.endswith(".")
    assert second.startswith("hint: ")
    if verb in WITH_JSON:
        error = ran.json["error"]
        assert first == f"handsoff: {error['message']}"
        assert second == f"hint: {error['hint']}"
        assert error["code"] in ("usage", "unfit")
    else:
        assert ran.out == ""
    assert [*tmp_path.iterdir()] == []


def test_an_error_as_json_is_one_document_with_its_code(sent: Monday) -> None:
    said = inside(sent.m3, "catch", WORK, "--json")
    assert said.code == 4
    assert said.json["error"].keys() == {"code", "message", "hint"}
    assert said.json["error"]["code"] == "held"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("machine.json", "{"),
        ("machine.json", "[]"),
        ("signing.key", "no key"),
        ("sealing.key", "no key"),
        ("clones.json", "{"),
        ("clones.json", "[1]"),
        ("addresses.json", "nonsense"),
    ],
)
def test_a_spoilt_home_is_said_to_be_so(monday: Monday, name: str, body: str) -> None:
    home = monday.m1.home
    path = home / name
    assert path.exists() or name == "addresses.json"
    path.write_text(body)
    path.chmod(0o600)
    for words in (["status"], ["inbox"], ["send", "m2", "--dry-run"]):
        said = inside(monday.m1, *words)
        if said.code:
            assert said.code in (2, 7, 9), said
            assert str(home) in said.err, said


@pytest.mark.parametrize("name", ["roster.json", "seen/feat%2Fcny.json", "known.json"])
@pytest.mark.parametrize("body", ["{", "7"])
def test_a_spoilt_store_is_said_to_be_so(sent: Monday, name: str, body: str) -> None:
    path = sent.m1.top / ".git" / "handsoff" / name
    assert path.exists()
    path.write_text(body)
    for words in (["status"], ["send", "m2"]):
        said = inside(sent.m1, *words)
        assert said.code in (0, 2, 3, 7, 9), said
        if said.code:
            assert said.err.startswith("handsoff: "), said


def test_a_home_that_is_a_file_is_said_to_be_so(monday: Monday, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for words in (["status"], ["card", "--name", "m9"], ["init", "--name", "m9"], ["inbox"]):
        said = inside(monday.m1, *words, HANDSOFF_HOME=str(tmp_path / "file"))
        assert said.code in (2, 8), said
        assert said.err.startswith("handsoff: "), said
    assert (tmp_path / "file").read_text() == "mine"


def test_keys_that_others_can_read_are_not_used(monday: Monday) -> None:
    for path in monday.m1.home.glob("*key*"):
        path.chmod(0o644)
    said = inside(monday.m1, "status")
    assert said.code == 7
    assert "others can read" in said.err
    assert "chmod 600" in said.err


def test_a_locale_without_letters_beyond_ascii_changes_no_exit_code(monday: Monday) -> None:
    m1 = monday.m1
    m1.git("switch", "-q", "-c", "舍入")
    page = m1.top / ".wip" / "HANDOFF.md"
    page.write_text(page.read_text().replace(WORK, "舍入") + "\n更多\n")
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = program("send", "m2", "--via", "remote", cwd=m1.top, HANDSOFF_HOME=str(m1.home), **env)
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False), ran.stderr
    ran = program("catch", "舍入", cwd=monday.m2.top, HANDSOFF_HOME=str(monday.m2.home), **env)
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False), ran.stderr
    assert monday.m2.git("branch", "--show-current") == "舍入"


def test_whoever_stops_reading_gets_no_traceback(monday: Monday) -> None:
    m1 = monday.m1
    command = f"{sys.executable} -m handsoff roster --json | head -c 1"
    ran = run("sh", "-c", command, cwd=m1.top, env={"HANDSOFF_HOME": str(m1.home)})
    assert "Traceback" not in ran.err
    assert "BrokenPipe" not in ran.err
    read, write = os.pipe()
    os.close(read)
    env = {**os.environ, "HANDSOFF_HOME": str(m1.home)}
    argv = [sys.executable, "-m", "handsoff", "roster"]
    ended = subprocess.run(argv, cwd=m1.top, env=env, stdout=write, stderr=subprocess.PIPE)  # noqa: PLW1510
    assert (ended.returncode, ended.stderr) == (141, b"")
    argv[3:] = ["save"]
    ended = subprocess.run(argv, cwd=m1.top, env=env, stderr=write)  # noqa: PLW1510
    os.close(write)
    assert ended.returncode == 0  # talk that nobody hears ends no verb


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_stream_that_was_closed_changes_no_exit_code(monday: Monday, closed: str) -> None:
    m1 = monday.m1
    command = f"{sys.executable} -m handsoff "
    env = {"HANDSOFF_HOME": str(m1.home)}
    for words in ("save", "history", "status --json"):
        ran = run("sh", "-c", f"{command}{words} {closed}", cwd=m1.top, env=env)
        assert (ran.code, "Traceback" in ran.err) == (0, False), ran.err


def test_a_full_disk_under_the_output_is_said(monday: Monday) -> None:
    m1 = monday.m1
    command = f"{sys.executable} -m handsoff roster > /dev/full"
    ran = run("sh", "-c", command, cwd=m1.top, env={"HANDSOFF_HOME": str(m1.home)})
    assert (ran.code, "Traceback" in ran.err) == (8, False), ran.err
    assert ran.err.startswith("handsoff: what there is to print cannot be written: no space")


def test_ctrl_c_before_it_is_loaded_is_an_interruption_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    ran = program("status", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (130, b"handsoff: interrupted\n")


def test_git_that_is_not_installed_is_said_so(monday: Monday, tmp_path: Path) -> None:
    ran = program("status", cwd=monday.m1.top, HANDSOFF_HOME=str(monday.m1.home), PATH="")
    assert ran.returncode == 8
    assert ran.stderr.startswith(b"handsoff: git is not installed")


def test_a_folder_that_went_away_under_the_feet_is_said_so(monday: Monday, tmp_path: Path) -> None:
    place = tmp_path / "gone"
    place.mkdir()
    command = f"rmdir ../gone && exec {sys.executable} -m handsoff status"
    ran = run("sh", "-c", command, cwd=place, env={"HANDSOFF_HOME": str(monday.m1.home)})
    assert ran.code in (2, 8)
    assert "Traceback" not in ran.err


def test_a_quiet_send_and_catch_say_nothing_but_the_page(monday: Monday) -> None:
    said = inside(monday.m1, "send", "m2", "--via", "remote", "--quiet").ok()
    assert (said.out, said.err) == ("", "")
    said = inside(monday.m2, "catch", WORK, "--quiet").ok()
    assert said.err == ""
    assert said.out.startswith("# Handoff")


def test_no_verb_leaves_anything_in_the_worktree_but_the_page(monday: Monday) -> None:
    shutil.rmtree(monday.m2.top / ".wip", ignore_errors=True)
    for words in (["status"], ["roster"], ["inbox"], ["page"]):
        inside(monday.m2, *words).ok()
    assert [*(monday.m2.top / ".wip").iterdir()] == [monday.m2.top / ".wip" / "HANDOFF.md"]
    assert monday.m2.git("status", "--porcelain") == ""
