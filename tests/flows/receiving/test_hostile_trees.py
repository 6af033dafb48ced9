"""Hostile works in real signed parcels, by a member of another person: what stays, what arrives.

A canary stands outside the checkout and one in its git folder; every program that could be run by
what arrives would leave a file.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from handsoff.core.checkout.state import State
from handsoff.core.objects import TREE, TreeEntry, encode_tree, parse_tree
from tests.kit.forger import Forger
from tests.kit.monday import WORK, Monday
from tests.kit.poison import ARRIVES, LINK, MODULE, REFUSED, Poison, write
from tests.kit.running import inside, refused

CANARY = "theirs\n"


def poisoned(forger: Forger, kinds: dict[bytes, Poison]) -> State:
    """Return the honest state with a staged folder for each kind."""
    put = forger.store.write
    entries = [*parse_tree(forger.store.tree(forger.honest.work_tree))]
    entries += [TreeEntry(name, TREE, write(kind, put)) for name, kind in kinds.items()]
    tree = put("tree", encode_tree(entries))
    return replace(forger.honest, work_tree=tree, index_tree=tree, special=(), stale=())


def canaries(monday: Monday) -> dict[Path, bytes]:
    """Put canaries where nothing may be written, and return all that stands there."""
    top = monday.m2.top
    for path in (top.parent / "canary", top / ".git" / "canary", top / ".git/hooks/post-checkout"):
        path.write_text(CANARY)
    return guarded(monday)


def guarded(monday: Monday) -> dict[Path, bytes]:
    git = monday.m2.top / ".git"
    kept = [monday.m2.top.parent / "canary", git / "canary", *git.glob("hooks/*")]
    return {path: path.read_bytes() for path in kept}


def traps(monday: Monday) -> Path:
    """Let every program that received attributes could name leave a trace on m2."""
    trace = monday.m2.top.parent / "trace"
    for name in ("filter.evil.smudge", "filter.evil.process", "diff.evil.textconv",
                 "diff.evil.command", "merge.evil.driver"):  # fmt: skip
        monday.m2.git("config", name, f"echo {name} >>{trace}")
    return trace


def test_a_hostile_tree_in_a_signed_parcel_is_refused_and_nothing_is_written(
    monday: Monday, tmp_path: Path
) -> None:
    forger = Forger.at(monday, tmp_path)
    kept, before = canaries(monday), monday.untouched()
    for kind in REFUSED[::9]:
        parcel = forger.parcel(poisoned(forger, {b"k": kind}))
        said = inside(monday.m2, "receive", parcel)
        assert said.code in (3, 9), (kind.name, said.err)
        refused(said, said.code, "nothing of it was kept" if said.code == 3 else "sent again")
    assert (guarded(monday), monday.untouched()) == (kept, before)


def test_an_odd_tree_arrives_exactly_and_nothing_of_it_runs(monday: Monday, tmp_path: Path) -> None:
    forger = Forger.at(monday, tmp_path)
    m2 = monday.m2
    trace = traps(monday)
    kept = canaries(monday)
    kinds = {b"k%02d" % number: kind for number, kind in enumerate(ARRIVES)}
    parcel = forger.offer(poisoned(forger, armed(kinds, trace)))
    inside(m2, "receive", parcel).ok()
    caught = inside(m2, "catch", WORK).ok()
    assert "\x1b" not in caught.err + caught.out
    for name, kind in armed(kinds, trace).items():
        for path, mode, content in kind.named(name + b"/"):
            place = m2.top / os.fsdecode(path)
            if mode == MODULE:
                assert [*place.iterdir()] == []
            elif mode == LINK:
                assert os.fsencode(place.readlink()) == content, kind.name
            else:
                assert place.read_bytes() == content, kind.name
    for words in (["status"], ["inbox"], ["doctor"], ["audit"], ["history", WORK]):
        inside(m2, *words)
        assert not trace.exists(), (words, trace.read_text())
    m2.git("config", "--unset", "filter.evil.process")  # theirs: run over what they edit, as ever
    inside(m2, "undo").ok()
    assert not trace.exists(), trace.read_text()
    assert guarded(monday) == kept


def armed(kinds: dict[bytes, Poison], trace: Path) -> dict[bytes, Poison]:
    """Return the kinds with commands that leave a trace."""

    def arm(entries: object) -> object:
        if isinstance(entries, bytes):
            return entries.replace(b"CANARY", b"echo planted >>" + os.fsencode(trace))
        assert isinstance(entries, list | tuple)
        return [(mode, name, arm(inside)) for mode, name, inside in entries]

    return {n: replace(kind, entries=arm(kind.entries)) for n, kind in kinds.items()}  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [["status"], ["history", WORK]])
def test_a_folder_that_looks_like_a_repository_is_none(
    monday: Monday, tmp_path: Path, words: list[str]
) -> None:
    trace = tmp_path / "trace"
    kind = next(k for k in ARRIVES if k.name == "a repository of its own")
    for path, _, content in armed({b"k": kind}, trace)[b"k"].named(b"docs/"):
        place = monday.m2.top / os.fsdecode(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    refused(inside(monday.m2, *words, cwd=monday.m2.top / "docs"), 2, "not in a git checkout")
    assert not trace.exists()


def test_files_that_run_by_themselves_are_told_when_they_come_from_another_person(
    monday: Monday, tmp_path: Path
) -> None:
    # all machines of Monday are of one person, so nothing is told; m4's is somebody else
    m4 = monday.world.machine("m4")
    trust = ("--trust", str(monday.m1.desk().pin))
    inside(m4, "init", "--name", "m4", "--person", "mal", *trust).ok()
    card = tmp_path / "card"
    card.write_bytes(m4.card("mal"))
    inside(monday.m1, "admit", card, "--yes").ok()
    m4.git("switch", "-q", "-c", "theirs")
    m4.write(".claude/settings.json", "{}\n")
    m4.write("web/package.json", "{}\n")
    m4.write("harmless.py", "x = 1\n")
    (m4.top / ".wip").mkdir(exist_ok=True)
    m4.write(
        ".wip/HANDOFF.md", (monday.m1.top / ".wip/HANDOFF.md").read_text().replace(WORK, "theirs")
    )
    file = tmp_path / "theirs.handsoff"
    inside(m4, "send", "m2", "--to-file", file).ok()
    inside(monday.m2, "receive", file).ok()
    would = inside(monday.m2, "catch", "theirs", "--dry-run").ok()
    done = inside(monday.m2, "catch", "theirs", "--json").ok()
    assert ".claude/settings.json: an agent" in would.err
    assert done.json["autorun"] == [
        {"path": ".claude/settings.json", "by": "an agent"},
        {"path": "web/package.json", "by": "an install or a build"},
    ]
    # back with the same person's machine: what is known there is no news, and theirs is theirs
    inside(monday.m2, "send", "m3", "--to-file", tmp_path / "on").ok()
    inside(monday.m3, "receive", tmp_path / "on").ok()
    assert inside(monday.m3, "catch", "theirs", "--json").ok().json["autorun"] == []
