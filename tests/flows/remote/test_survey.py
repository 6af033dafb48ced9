"""All works at once: how often the remote is asked, and what one bad record does to the rest."""

import shutil
from pathlib import Path

import pytest

from handsoff.core.ids import work_component
from handsoff.flows.remote import survey
from tests.kit.machines import Machine, World
from tests.kit.running import inside

LONG = "a/" + "long/" * 45 + "name"


@pytest.fixture
def pair(world: World) -> tuple[Machine, Machine]:
    m1, m2 = world.prepared("m1", "m2", by=_saved)
    return m1, m2


def _saved(world: World, m1: Machine, m2: Machine) -> None:
    for work in ("one", "two", LONG):
        m1.writes(work, lambda pen: pen.caught().saved())


def counting(folder: Path) -> tuple[str, Path]:
    """Return a PATH on which git writes down what it is asked for, and where."""
    log = folder / "asked"
    git = folder / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    return f"{git.parent}:/usr/bin:/bin", log


def asked(log: Path) -> list[str]:
    """Return which commands that use the network were run since the last time."""
    words = [word for line in log.read_text().splitlines() for word in line.split()]
    log.write_text("")
    return [word for word in words if word in ("ls-remote", "fetch", "push")]


def standing(machine: Machine) -> dict[str, tuple[str, int, str]]:
    told = inside(machine, "status", "--json").ok().json
    return {w["work"]: (w["state"], w["revision"], w["trouble"]) for w in told["works"]}


def test_status_finds_works_it_never_saw_with_one_question_and_one_fetch(
    pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    m1, m2 = pair
    path, log = counting(tmp_path)
    inside(m2, "status", PATH=path).ok()
    assert asked(log) == ["ls-remote", "fetch"]
    inside(m2, "status", PATH=path).ok()
    assert asked(log) == ["ls-remote"]
    for work in ("one", LONG):
        m1.writes(work, lambda pen: pen.saved())
    inside(m2, "status", PATH=path).ok()
    assert asked(log) == ["ls-remote", "fetch"]
    assert standing(m2) == {
        "main": ("free", 0, ""), "one": ("held", 2, ""), "two": ("held", 1, ""),
        LONG: ("held", 2, ""),
    }  # fmt: skip


@pytest.mark.parametrize("how", ["rewound", "forked", "deleted", "merged", "blob"])
def test_a_record_that_was_tampered_with_is_named_and_the_others_are_told(
    pair: tuple[Machine, Machine], world: World, how: str
) -> None:
    _, m2 = pair
    before = standing(m2)
    ref, remote = "refs/wip/lease/one", world.remote.path

    def git(*words: str) -> str:
        return m2.run("git", *words, cwd=remote).ok().out.strip()

    tree = git("rev-parse", f"{ref}^{{tree}}")
    below = {
        "forked": ("-p", f"{ref}~1"),
        # the seen tip lies below it, by its second parent
        "merged": ("-p", f"{ref}~1", "-p", ref),
    }.get(how)
    if how == "deleted":
        git("update-ref", "-d", ref)
    elif below is not None:
        git("update-ref", ref, git("commit-tree", tree, *below, "-m", "another"))
    else:
        other = ("hash-object", "-w", "HEAD") if how == "blob" else ("rev-parse", f"{ref}~1")
        git("update-ref", ref, git(*other))
    found = standing(m2)
    said = {"merged": "forked", "blob": "is no commit"}.get(how, how)
    assert said in found.pop("one")[2]
    assert "one" in before
    assert found == {work: told for work, told in before.items() if work != "one"}


def test_a_rewound_roster_is_named_and_the_works_are_told_as_last_seen(
    pair: tuple[Machine, Machine], world: World
) -> None:
    _, m2 = pair
    before = standing(m2)
    del before["main"]
    m2.run("git", "update-ref", "refs/wip/roster", "refs/wip/roster~1", cwd=world.remote.path).ok()
    told = inside(m2, "status", "--json").ok().json
    assert "the roster was rewound on the remote" in told["remote"]
    assert standing(m2) == before


def test_refs_that_are_no_works_are_passed_over(
    pair: tuple[Machine, Machine], world: World
) -> None:
    _, m2 = pair
    before = standing(m2)
    tip = world.remote.refs()["refs/wip/lease/one"]
    for name in ("x/y", "%2", work_component(LONG)[:-1] + "0"):
        m2.run("git", "update-ref", f"refs/wip/lease/{name}", tip, cwd=world.remote.path).ok()
    assert standing(m2) == before


def test_more_works_than_are_looked_at_are_counted(
    pair: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, m2 = pair
    monkeypatch.setattr(survey, "MOST", 1)
    told = inside(m2, "status", "--json").ok().json
    assert (len(told["works"]), told["unread"]) == (2, 2)
    assert "1 more works on the remote were not looked at" in inside(m2, "status").ok().out
