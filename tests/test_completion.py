"""Completion at TAB, in real shells, with names of people who mean harm; and the man page."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Final

import pytest
import typer

from handsoff import complete
from handsoff.cli import manpage
from handsoff.cli.app import app
from handsoff.cli.completion import rows, script
from handsoff.cli.shape import FILES, FOLDERS, SHELLS, shape
from handsoff.edge.git.place import place_of
from tests.kit.machines import ROOT as CODE
from tests.kit.machines import World, run
from tests.kit.running import inside
from tests.kit.terminals import arrived, need

ROOT: Final = shape(typer.main.get_command(app))
HOSTILE: Final = (
    "a$(touch${IFS}harm)`touch harm`", "b'; touch harm", 'c"$(touch harm)"', "d&touch>harm|x",
    "i\\$HOME!!", "l=x@{u}:y", "o*?[a]{b,c}~#^", "p(touch harm)", "t 名 %s%d",
)  # fmt: skip
"""Names that start with a letter of their own."""
NEVER: Final = ("ha\nrm", "hb\x1b[31m", "hc\u202ex", "-harm", "--help", "hd\t", "", "h" * 300)
GIT: Final = Path("/usr/share/bash-completion/completions/git")
SETUP: Final = {
    "bash": f". /dev/stdin <<'END'\n{script('bash', ROOT)}END\n",
    "zsh": f"autoload -Uz compinit; compinit -u -D\n{script('zsh', ROOT)}",
    "fish": script("fish", ROOT),
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder like a clone, whose cache knows hostile works and two machines."""
    store = tmp_path / "clone" / ".git" / "handsoff"
    store.mkdir(parents=True)
    works = {name: dict[str, str]() for name in (*HOSTILE, *NEVER)}
    state = {"works": works, "waits": [{"work": "w"}], "machine": {"id": "me"}, "home": str(store)}
    people = {"me": ("m1", "lin"), "other": ("m2", "ann"), "third": ("x\nharm", "ann")}
    members = {id_: {"name": name, "person": person} for id_, (name, person) in people.items()}
    (store / "state.json").write_text(json.dumps(state))
    (store / "roster.json").write_text(json.dumps({"founding": "", "members": members}))
    (store / "ssh.json").write_text(json.dumps({"other": {"to": "ann@far"}, "x": 7}))
    return store.parents[1]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_name_arrives_as_it_is_and_nothing_of_it_is_run(shell: str, clone: Path) -> None:
    need(shell)
    lines = [f"handsoff catch {name[0]}\t" for name in HOSTILE]
    told = [["catch", name] for name in HOSTILE]
    more = {
        "handsoff catch --wa\tw\t": ["catch", "--wait", "w"],
        "handsoff roster revo\tm2\t": ["roster", "revoke", "m2"],
        "handsoff send --via=di\t m\t": ["send", "--via=direct", "m2"],
        "handsoff offer --to an\t": ["offer", "--to", "ann"],
    }
    if shell == "bash":
        more |= {
            "handsoff catch 'a\t": ["catch", HOSTILE[0]],
            'handsoff catch "b\t': ["catch", HOSTILE[1]],
            "handsoff catch i\\\\\\$\t": ["catch", HOSTILE[4]],
        }
    said = arrived(shell, clone, SETUP[shell], [*lines, *more])
    assert said == [*told, *more.values()]
    assert [*clone.iterdir()] == [clone / ".git"]


@pytest.mark.parametrize("shell", SHELLS)
def test_behind_git_it_is_the_same(shell: str, clone: Path) -> None:
    need(shell)
    if shell == "bash" and not GIT.exists():
        pytest.skip("git's own completion is not installed")
    run("git", "init", "-q", cwd=clone)
    setup = SETUP[shell] + (f". {GIT}\n" if shell == "bash" else "")
    lines = ["git handsoff cat\ta\t", "git handsoff --ver\t"]
    assert arrived(shell, clone, setup, lines) == [["catch", HOSTILE[0]], ["--version"]]


def test_only_names_that_are_one_plain_word_are_offered(clone: Path) -> None:
    place = place_of(str(clone))
    assert place is not None
    found = {kind: complete.offered(complete.names(kind, place)) for kind in complete.KINDS}
    assert found == {
        "works": sorted([*HOSTILE, "w"]),
        "machines": ["m1", "m2"],
        "targets": ["ann@far", "m2"],
        "people": ["ann", "lin", "m2"],
    }


@pytest.mark.parametrize("spoilt", ["{", "7", '{"works": 7, "waits": 7, "members": [1]}'])
def test_a_cache_that_is_spoilt_or_missing_offers_nothing(clone: Path, spoilt: str) -> None:
    for name in ("state.json", "roster.json", "ssh.json"):
        (clone / ".git" / "handsoff" / name).write_text(spoilt)
    place = place_of(str(clone))
    assert place is not None
    assert [complete.offered(complete.names(kind, place)) for kind in complete.KINDS] == [[]] * len(
        complete.KINDS
    )


@pytest.mark.parametrize(
    "name", [".git/handsoff/state.json", ".git/handsoff/ssh.json", ".git/commondir"]
)
def test_a_pipe_in_a_strangers_folder_keeps_no_shell_waiting(clone: Path, name: str) -> None:
    (clone / name).unlink(missing_ok=True)
    os.mkfifo(clone / name)
    ran = run(sys.executable, "-m", "handsoff.complete", "targets", cwd=clone)
    assert (ran.code, ran.err) == (0, "")


def test_what_the_verbs_put_down_is_what_is_offered(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m1.writes("feat/x", lambda pen: pen.caught())
    inside(m2, "status").ok()
    for kind, names in {"works": "feat/x\n", "machines": "m1\nm2\n", "targets": "m1\n"}.items():
        ran = m2.run(sys.executable, "-m", "handsoff.complete", kind).ok()
        assert (ran.out, ran.err) == (names, "")
    inside(m1, "roster", "rename", "m2", "desk").ok()
    inside(m2, "roster").ok()
    assert m2.run(sys.executable, "-m", "handsoff.complete", "machines").out == "desk\nm1\n"


def test_the_program_loads_nothing_heavy_and_fails_without_a_word(clone: Path) -> None:
    asked = "import sys; from handsoff.complete import main; main(['works']); print(*sys.modules)"
    loaded = run(sys.executable, "-S", "-c", asked, cwd=clone).ok().out.splitlines()[-1].split()
    heavy = ("asyncio", "cryptography", "dataclasses", "json", "pathlib", "subprocess", "typer")
    assert not {*heavy} & {*loaded}
    for words in ([], ["kings"], ["works", "works"]):
        ran = run(sys.executable, "-m", "handsoff.complete", *words, cwd=clone)
        assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_a_value_is_of_a_kind_that_somebody_answers() -> None:
    kinds = {name for _, words in rows(ROOT) for name, _ in words if name.startswith("@")}
    assert kinds == {f"@{kind}" for kind in (*complete.KINDS, FILES, FOLDERS, "any")}


def test_every_verb_and_option_is_in_the_scripts_and_on_the_page(tmp_path: Path) -> None:
    page = manpage.page(ROOT, "Exit codes: 0 done, 2 usage.")
    (tmp_path / "handsoff.1").write_text(page)
    if shutil.which("mandoc"):
        said = run("mandoc", "-T", "lint", "-W", "warning", "handsoff.1", cwd=tmp_path).out
        assert [line for line in said.splitlines() if "missing date" not in line] == []
    plain = re.sub(r"\\f[BIR]", "", page).replace("\\-", "-")
    scripts = [script(shell, ROOT) for shell in SHELLS]
    for verb in ROOT.all():
        for word in (*verb.options, *verb.arguments):
            for name in word.names:
                assert name in plain
                assert all(name in text for text in scripts)
        if verb.path and not verb.hidden:
            assert f".SS handsoff {verb.path}" in plain
            assert verb.title.replace("-", "\\-") in page


def test_the_page_names_each_variable_of_ours_that_the_program_asks_for() -> None:
    texts = [path.read_text() for path in (CODE / "handsoff").rglob("*.py")]
    asked = {v for t in texts for v in re.findall(r'"(HANDSOFF_[A-Z_]+)"', t)}
    inner = {
        "HANDSOFF_BACKGROUND",
        "HANDSOFF_EMPTY",
        "HANDSOFF_KILL_AT",
        "HANDSOFF_PAUSE_AT",
        "HANDSOFF_STEPS_LOG",
    }
    assert asked - inner <= {*manpage.ENVIRONMENT}
