"""The tour: all that it says is so, and nothing of it stays, however it ends.

The whole story is played once here; `.ci/run` plays it again, from the wheel.
"""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from handsoff.cli.tour import Teller
from handsoff.core.tour.story import STORY
from handsoff.core.tour.tour import Act, Compares, Ends, Fact, Starts, Step, Types, Writes
from handsoff.errors import HandsoffError, UnfitError, UsageError
from handsoff.flows.tour import play
from tests.kit import schemas
from tests.kit.compare import untouched
from tests.kit.machines import Ran, run
from tests.kit.running import wait_for

TOUR = (sys.executable, "-m", "handsoff", "tour")
SILENT = Teller(quiet=True, waits=False)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files, of a name that has to be quoted."""
    folder = tmp_path / "temporary files, é $x"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.usefixtures("rules")
def test_every_step_does_what_it_says_and_nothing_stays(place: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "config").write_text("this is no configuration\n")
    before = untouched(home)
    ran = run(*TOUR, "--json", cwd=place, env={
        "HOME": str(home), "XDG_CONFIG_HOME": "", "GIT_CONFIG_GLOBAL": "", "LC_ALL": "tr_TR.UTF-8",
        "GIT_DIR": "/nowhere", "HANDSOFF_HOME": "/nowhere", "SSH_AUTH_SOCK": "/nowhere",
    })  # fmt: skip
    told = ran.ok().json
    schemas.check(["tour", "--json"], ran.out, ran.code)
    assert told["ok"], told["error"]
    assert [step["title"] for step in told["steps"]] == [step.title for step in STORY]
    assert sum(len(step["commands"]) for step in told["steps"]) > 30
    assert untouched(home) == before
    assert list(place.iterdir()) == []


def of_those_in(folder: Path) -> Iterator[int]:
    """Yield the processes that stand in a folder."""
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and (process / "cwd").readlink().is_relative_to(folder):
                yield int(process.name)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_a_tour_its_folder_and_its_children_go(place: Path, how: int) -> None:
    with subprocess.Popen(
        [*TOUR, "--no-wait"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=place.parent
    ) as process:
        wait_for(lambda: any(place.glob("handsoff-tour.*/m2/handsoff/*.key")))
        assert [*of_those_in(place)] != []
        process.send_signal(how)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -how), out
    wait_for(lambda: not any(place.iterdir()))
    wait_for(lambda: not any(of_those_in(place)))


def test_at_a_terminal_it_waits_and_q_stops_it(place: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        TOUR, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=place.parent
    ) as process:
        os.write(ours, b"q\n")
        said = process.communicate(timeout=60)[0].decode()
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 0
    assert "q and Enter" in said
    assert STORY[0].title not in said
    assert list(place.iterdir()) == []


def test_the_steps_are_listed_and_nothing_is_played(place: Path) -> None:
    listed = run(*TOUR, "--list", cwd=place).ok().out
    assert [line[4:] for line in listed.splitlines()] == [step.title for step in STORY]
    assert list(place.iterdir()) == []


@contextmanager
def kept(folder: Path, *acts: Act, fact: str = "true") -> Iterator[HandsoffError | None]:
    """Play a story of one step in ``folder``; give its error."""
    step = Step("a step", ("why",), acts, (Fact("a fact", "m1", fact),))
    yield play([step], SILENT, folder).error


WRONG: list[tuple[tuple[Act, ...], str, str]] = [
    ((Types("m1", "false"),), "true", "on m1, 'false' ended with 1, not with 0"),
    ((Types("m1", "true", 3),), "true", "on m1, 'true' ended with 0, not with 3"),
    ((Types("m1", "true"),), "false", "this is not so: a fact"),
    ((Writes("m2", "a", "b"), Compares("m1", "m2", {})), "true", "m1 and m2 do not hold the same"),
    ((Starts("m2", "echo no", "yes"),), "true", "on m2, 'echo no' did not start: no\n"),
    ((Starts("m2", "sh -c 'echo yes; exit 4'", "yes"), Ends("m2")), "true", "ended with 4, not"),
]


@pytest.mark.parametrize(("acts", "fact", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_what_does_not_come_out_as_told_ends_the_tour(
    place: Path, acts: tuple[Act, ...], fact: str, said: str
) -> None:
    with kept(place / "kept", *acts, fact=fact) as error:
        assert error is not None
        assert "the tour failed in step 1, a step: " in str(error)
        assert said in str(error)
        assert error.exit_code == 1


def as_machine(folder: Path, name: str, *words: str) -> Ran:
    return run(folder / "bin" / name, *words, cwd=folder.parent, env={"HOME": "/nowhere"})


def test_a_folder_that_is_kept_is_there_to_play_on_with(place: Path) -> None:
    folder = place / "kept"
    with kept(folder) as error:
        assert error is None
    assert as_machine(folder, "m2", "git", "config", "user.email").ok().out == "lin@m2.example\n"
    assert as_machine(folder, "m2", "pwd").ok().out == f"{folder}/m2/toy\n"
    assert as_machine(folder, "m1", "handsoff", "--version").ok().out.startswith("handsoff ")
    with pytest.raises(UsageError, match="not an empty folder"):
        play([], SILENT, folder)


def test_without_git_it_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place))
    with pytest.raises(UnfitError, match="git is not installed"):
        play(STORY, SILENT, None)
    assert list(place.iterdir()) == []
