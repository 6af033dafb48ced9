"""Hostile entries on a real remote: shown, skipped, stood upon, and told by the audit.

Each kind was pushed by somebody who may push there. What it says is in core/test_hostile_chains;
here the refs are real, and the next honest verb has to land on top.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from handsoff.core.objects import parse_commit
from handsoff.core.works.lease import Caught, Found, How, Pushed, Saved
from handsoff.edge.git import limits
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.remote import Shared
from handsoff.errors import DamagedError
from tests.kit.hostile import (
    OTHER,
    Cast,
    Kind,
    bent,
    borrowed,
    by_other,
    dated,
    fields,
    line,
    rewritten,
    signed,
    signed_twice,
    swap,
    swapped,
    touched,
    unsigned,
)
from tests.kit.machines import Machine, World, copied, git
from tests.kit.running import inside, refused
from tests.kit.signing import OUTSIDER

WORK = "feat/x"
LEASE = "refs/wip/lease/feat%2Fx"
KINDS: dict[str, tuple[Kind, str]] = {
    "unsigned": (unsigned, "not signed"),
    "by a stranger": (lambda c: c.entry(c.event(by=c.stranger), c.stranger), "unknown signer"),
    "in the carrier's name": (lambda c: c.entry(by=c.other), "in the name of"),
    "another namespace": (lambda c: signed(c.sound(), c.carrier, "handsoff-card"), "bad: the sig"),
    "a borrowed signature": (borrowed, "bad: the signature does not hold"),
    "two signatures": (signed_twice, "2 signatures"),
    "bad UTF-8": (touched(swap(b"forged\n", b"forg\xff\n")), "not UTF-8"),
    "another encoding": (bent(others=(("encoding", "latin1"),)), "a header too many: encoding"),
    "two lines": (rewritten(lambda text: text + "{}\n"), "not a subject and one line"),
    "NaN": (line(swapped('"seq":3', '"seq":NaN')), "not canonical JSON"),
    "1 MB": (fields(parcel="x" * 1_000_000), "over the limit of"),
    "backdated": (dated(-1), "dated before"),
    "another work": (fields(work="feat/y"), "an entry of another work"),
    "another repository": (fields(repo=OTHER), "an entry of another repository"),
    "a merge": (
        lambda c: signed(
            replace(c.sound(), parents=(c.record.git_tip or "", c.record.good[0].oid)), c.carrier
        ),
        "a merge of 2 parents",
    ),
    "saved by another": (by_other(Saved), "m1 carries this work, not m2"),
    "pushed by another": (
        by_other(Pushed, branch=WORK, old=OTHER, new=OTHER), "m1 carries this work, not m2"),
    "caught by another": (by_other(Caught, found=Found(how=How.FREE)), "m1 carries this work"),
}  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two machines, of which m1 carries a work that it saved once."""
    folder = tmp_path_factory.mktemp("held") / "world"
    folder.mkdir()
    m1, _ = World.make(folder).members("m1", "m2")
    # a save without page: its tree is there
    m1.writes(WORK, lambda pen: pen.caught().saved())
    for sample in folder.glob("**/hooks/*.sample"):
        sample.unlink()
    return folder


@pytest.fixture
def held(template: Path, tmp_path: Path) -> tuple[World, Machine, Machine]:
    world, (m1, m2) = copied(template, tmp_path / "world", "m1", "m2")
    return world, m1, m2


def plant(world: World, m1: Machine, m2: Machine, kind: Kind) -> str:
    """Push an entry of ``kind`` onto the record, as any program could, and return its id."""
    view, remote = m1.desk().view(WORK), world.remote.path
    page = git(remote, "hash-object", "-w", "--stdin", given="# Next")
    cast = Cast(view.record, m1.member(), m2.member(), OUTSIDER, page)
    oid, data = kind(cast)
    known = {git(remote, "mktree"), git(remote, "mktree", given=f"100644 blob {page}\tpage.md")}
    assert parse_commit(data).tree in known
    raw = world.folder / "raw"
    raw.write_bytes(data)
    words = ("hash-object", "-w", "--literally", "-t", "commit", str(raw))
    assert git(remote, *words) == oid
    git(remote, "update-ref", LEASE, oid, view.tip)
    return oid


@pytest.mark.parametrize("name", KINDS)
def test_an_entry_that_nobody_honest_wrote_is_told_skipped_and_stood_upon(
    held: tuple[World, Machine, Machine], name: str
) -> None:
    world, m1, m2 = held
    kind, reason = KINDS[name]
    oid = plant(world, m1, m2, kind)
    record = m1.writes(WORK, lambda pen: pen.saved())
    assert (record.lease.revision, record.lease.carrier) == (2, m1.member().id)
    assert git(world.remote.path, "rev-parse", f"{LEASE}~1") == oid
    told = inside(m2, "audit", "--json")
    assert told.code == 9
    (finding,) = (f for f in told.json["findings"] if f["grade"] != "note")
    assert (finding["what"], finding["oid"], finding["work"]) == ("void", oid, WORK)
    assert reason in finding["said"]
    (work,) = told.json["works"]
    assert [entry["good"] for entry in work["entries"]] == [True, True, False, True]
    assert inside(m2, "audit", "--known", oid).code == 0


@pytest.mark.parametrize("kind", ["blob", "tree", "tag"])
def test_what_is_no_commit_in_the_place_of_a_record_is_put_right_by_its_tip(
    held: tuple[World, Machine, Machine], kind: str
) -> None:
    world, m1, m2 = held
    remote = world.remote.path
    tip = world.remote.refs()[LEASE]
    m1.desk().view(WORK)
    planted = {
        "blob": lambda: git(remote, "hash-object", "-w", "--stdin", given="rubbish"),
        "tree": lambda: git(remote, "mktree"),
        "tag": lambda: git(
            remote, "mktag", given=f"object {tip}\ntype commit\ntag x\ntagger x <x> 1 +0000\n\nx\n"
        ),
    }[kind]()
    git(remote, "update-ref", LEASE, planted)
    told = inside(m2, "audit", "--json")
    assert told.code == 9
    assert [f["what"] for f in told.json["findings"] if f["grade"] != "note"] == ["no-chain"]
    assert f"but a {kind}" in told.json["findings"][0]["said"]
    desk = m1.desk()
    assert desk.shared.push(Move(LEASE, tip, planted)) is Outcome.MOVED
    assert inside(m2, "audit").code == 0
    assert m1.writes(WORK, lambda pen: pen.saved()).lease.revision == 2


@pytest.mark.parametrize("kind", ["blob", "merge"])
def test_what_is_no_chain_in_the_place_of_notes_does_not_hide_the_history(
    held: tuple[World, Machine, Machine], kind: str
) -> None:
    world, m1, m2 = held
    inside(m1, "note", "--work", WORK, "look at the places table").ok()
    remote = world.remote.path
    blob = git(remote, "hash-object", "-w", "--stdin", given="rubbish")
    words = ("-c", "user.name=x", "-c", "user.email=x", "commit-tree", "main^{tree}", "-m", "x")
    planted = {"blob": blob, "merge": git(remote, *words, "-p", "main", "-p", LEASE)}[kind]
    git(remote, "update-ref", f"refs/wip/notes/feat%2Fx/{m2.member().id}", planted)
    told = inside(m1, "history", WORK).ok().out
    assert "look at the places table" in told
    assert "VOID" in told
    assert "Saved" in told


def test_a_huge_record_is_not_taken_and_keeps_no_other_work_away(
    held: tuple[World, Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, m1, m2 = held
    remote = world.remote.path
    inside(m2, "status").ok()
    m1.writes("other", lambda pen: pen.caught().saved())
    raw = world.folder / "raw"
    noise = os.urandom(3 << 19).hex()
    raw.write_text(f"tree {git(remote, 'mktree')}\nparent {world.remote.refs()[LEASE]}\n"
                   f"author x <x> 1 +0000\ncommitter x <x> 1 +0000\n\n{noise}\n" * 3)  # fmt: skip
    git(remote, "update-ref", LEASE, git(remote, "hash-object", "-w", "-t", "commit", str(raw)))
    # 300 MB take their time: a limit of 2 MB says the same
    monkeypatch.setattr("handsoff.edge.git.remote.limits.RECORDS", 2 << 20)
    monkeypatch.setattr(Shared.fetch, "__kwdefaults__", {"most": 2 << 20})
    packs = m2.top / ".git" / "handsoff" / "objects" / "pack"
    told = inside(m2, "status", "--json").ok().json
    works = {item["work"]: item for item in told["works"]}
    assert (works["other"]["revision"], works["other"]["trouble"]) == (1, "")
    assert works[WORK]["trouble"] != ""
    refused(inside(m2, "catch", WORK), 9, "in place of a record is over 2 MB", "handsoff doctor")
    assert not [path for path in packs.iterdir() if path.stat().st_size > 1 << 20]


def test_entries_that_fill_the_memory_are_not_read() -> None:
    limits.check_total(1200)
    with pytest.raises(DamagedError, match="512 MB of entries"):
        limits.check_total(512 << 20)
