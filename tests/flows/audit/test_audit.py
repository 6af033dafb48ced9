"""handsoff audit, against a real remote: from any clone, with one fetch, and a memory."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handsoff.core.works import notes
from handsoff.core.works.lease import Recipient
from handsoff.core.works.notes import Notes
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.remote import open_shared
from tests.kit.machines import Machine, World, git, store
from tests.kit.running import inside, refused

WORK = "feat/x"
LEASE = "refs/wip/lease/feat%2Fx"


class Ops(Machine):
    """Somebody with a clone: no keys, no home, no set-up."""

    def audit(self, *words: str, code: int = 0) -> str:
        ran = inside(self, "audit", *words)
        assert ran.code == code, ran.out + ran.err
        assert max(map(len, ran.out.splitlines())) <= 80 or "--json" in words
        return ran.out

    def found(self, *words: str, code: int) -> set[tuple[str, str]]:
        """Return what was found, and where; notes aside."""
        told = json.loads(self.audit(*words, "--json", code=code))
        assert (told["exit"], told["clean"]) == (code, code == 0)
        weighs = [f for f in told["findings"] if f["grade"] != "note"]
        return {(f["what"], f["work"] or f["ref"]) for f in weighs}


@pytest.fixture
def members(world: World) -> list[Machine]:
    """Return two machines that handed a work over, and both said something about it."""
    return world.prepared("m1", "m2", by=_handed_over)


def _handed_over(world: World, m1: Machine, m2: Machine) -> None:
    to = Recipient(machine=m2.member().id)
    m1.writes(WORK, lambda pen: pen.caught().saved().offered(to))
    m2.writes(WORK, lambda pen: pen.caught().saved())
    say(m1, "look at the rounding")


@pytest.fixture
def ops(world: World, members: list[Machine]) -> Iterator[Ops]:
    """Return somebody with a shallow clone, as a CI has it."""
    yield clone(world, "--depth", "1")


def clone(world: World, *how: str) -> Ops:
    top = world.folder / "ops"
    git(world.folder, "clone", "-q", *how, f"file://{world.remote.path}", str(top))
    return Ops("ops", world.folder / "nowhere", top)


def say(machine: Machine, text: str) -> None:
    """Note something about the work on the remote."""
    desk = machine.desk()
    own = machine.member()
    read = Notes(roster=desk.fresh_roster(), work=WORK, machine=own.id)
    draft = notes.noted(read, text, saw="", at=int(desk.now.timestamp()), sign=own.sign)
    store(desk).write_drafts([draft])
    ref = f"refs/wip/notes/feat%2Fx/{own.id}"
    assert desk.shared.push(Move(ref, draft.oid, "")) is Outcome.MOVED


def founding(machine: Machine) -> str:
    pin = machine.desk().pin
    assert pin is not None
    return pin


def test_a_clone_that_was_never_set_up_audits_by_the_founding_id(
    world: World, members: list[Machine], ops: Ops
) -> None:
    before = git(ops.top, "for-each-ref")
    out = ops.audit("--trust", founding(members[0]))
    assert "2 machines, 2 entries: all good" in out
    assert [line.split()[:3] for line in out.splitlines() if WORK in line] == [
        [WORK, "held", "m2"], ["notes", "of", "m1"],
    ]  # fmt: skip
    assert out.endswith("clean\n")
    again = ops.audit("--trust", members[0].member().fingerprint)
    assert again == out
    assert git(ops.top, "for-each-ref") == before
    assert not ops.home.exists()
    told = json.loads(ops.audit("--trust", founding(members[0]), "--json"))
    (work,) = told["works"]
    assert (work["carrier"], work["state"], work["leg"], work["revision"]) == ("m2", "held", 2, 2)
    assert [(e["kind"], e["by"], e["word"]) for e in work["entries"]] == [
        ("Caught", "m1", "signed"), ("Saved", "m1", "signed"), ("Offered", "m1", "signed"),
        ("Caught", "m2", "signed"), ("Saved", "m2", "signed"),
    ]  # fmt: skip
    assert [entry["kind"] for entry in told["notes"][0]["entries"]] == ["Noted"]


def test_it_asks_once_and_fetches_once(
    world: World, members: list[Machine], ops: Ops, tmp_path: Path
) -> None:
    log, program = tmp_path / "asked", tmp_path / "upload-pack"
    program.write_text(f'#!/bin/sh\necho asked >>"{log}"\nexec git-upload-pack "$@"\n')
    program.chmod(0o755)
    git(ops.top, "config", "remote.origin.uploadpack", str(program))
    for number in range(6):
        members[0].writes(f"w{number}", lambda pen: pen.caught())
    ops.audit("--trust", founding(members[0]))
    assert log.read_text().count("asked") == 2
    ops.audit("--trust", founding(members[0]))
    assert log.read_text().count("asked") == 3


def test_without_a_roster_to_trust_it_says_how_to_get_one(
    world: World, members: list[Machine], ops: Ops
) -> None:
    refused(inside(ops, "audit"), 2, "which roster is to be trusted?", "--trust FOUNDING")
    refused(inside(ops, "audit", "--trust", "x"), 2, "neither a founding id nor the fingerprint")
    refused(inside(ops, "audit", "--trust", "0" * 40), 7, "was not founded by 000000000000")
    told = inside(ops, "audit", "--trust", "0" * 40, "--json")
    assert (told.code, told.json["error"]["code"]) == (7, "trust")
    git(ops.top, "config", "handsoff.refs", "refs/elsewhere")
    pin = founding(members[0])
    refused(inside(ops, "audit", "--trust", pin), 7, "no roster at refs/elsewhere/roster")
    git(ops.top, "remote", "set-url", "origin", str(world.folder / "gone.git"))
    refused(inside(ops, "audit", "--trust", pin), 6, "cannot be reached")


def test_a_clone_that_was_set_up_trusts_what_it_trusts(members: list[Machine]) -> None:
    m1 = Ops(members[0].name, members[0].home, members[0].top)
    assert m1.audit().endswith("clean\n")
    refused(inside(m1, "audit", "--trust", "0" * 40), 7, "this clone trusts the roster")


@pytest.mark.parametrize("how", [["--filter=blob:none"], ["--filter=tree:0"], ["--bare"]])
def test_any_kind_of_clone_will_do(world: World, members: list[Machine], how: list[str]) -> None:
    git(world.remote.path, "config", "uploadpack.allowFilter", "true")
    git(world.remote.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    if how == ["--bare"]:
        bare = clone(world, *how)
        refused(inside(bare, "audit", "--trust", "0" * 40), 2, "not in a git checkout")
        return
    assert clone(world, *how).audit("--trust", founding(members[0])).endswith("clean\n")


def test_where_our_refs_are_branches_a_prune_takes_no_memory_away(world: World) -> None:
    machines = [world.machine("m1"), world.machine("m2")]
    for machine in machines:
        machine.git("config", "handsoff.refs", "refs/heads/handsoff")
    world.enrol(*machines)
    machines[0].writes(WORK, lambda pen: pen.caught().saved().saved())
    ops, pin = clone(world), founding(machines[0])
    refused(inside(ops, "audit", "--trust", pin), 7, "git config handsoff.refs")
    git(ops.top, "config", "handsoff.refs", "refs/heads/handsoff")
    ops.audit("--trust", pin)
    lease = "refs/heads/handsoff/lease/feat%2Fx"
    git(world.remote.path, "update-ref", lease, f"{lease}~1")
    git(ops.top, "fetch", "-q", "--force", "origin")
    git(ops.top, "reflog", "expire", "--expire=all", "--all")
    git(ops.top, "gc", "-q", "--prune=now")
    assert ops.found("--trust", pin, code=7) == {("rewound", WORK)}


def rewind(world: World, to: str) -> None:
    git(world.remote.path, "update-ref", LEASE, to)


@pytest.mark.parametrize("what", ["rewound", "forked", "deleted"])
def test_what_the_remote_takes_back_is_found_and_stays_found(
    world: World, members: list[Machine], ops: Ops, what: str
) -> None:
    pin = founding(members[0])
    ops.audit("--trust", pin)
    tip = world.remote.refs()[LEASE]
    if what == "deleted":
        git(world.remote.path, "update-ref", "-d", LEASE)
    else:
        rewind(world, git(world.remote.path, "rev-parse", f"{tip}~1"))
    if what == "forked":
        away = members[1].desk().checkout.store_dir / "seen" / "feat%2Fx.json"
        away.unlink()
        members[1].writes(WORK, lambda pen: pen.dropped("train"))
    for _ in "ab":
        assert ops.found("--trust", pin, code=7) == {(what, WORK)}
    assert f"trust: {WORK}: {what} on the remote: {tip[:12]} was seen" in " ".join(
        ops.audit("--trust", pin, code=7).split()
    )
    rewind(world, tip)
    ops.audit("--trust", pin)


def test_what_was_tidied_away_is_no_attack_and_the_archive_is_shown(
    world: World, members: list[Machine], ops: Ops
) -> None:
    pin = founding(members[0])
    members[1].writes(WORK, lambda pen: pen.closed("merged"))
    ops.audit("--trust", pin)
    inside(members[1], "prune", "--keep-records", "0", "--yes").ok()
    assert LEASE not in world.remote.refs()
    assert "archive: 1 entry: all good" in ops.audit("--trust", pin)
    git(world.remote.path, "update-ref", "-d", "refs/wip/archive")
    assert ("deleted", WORK) in ops.found("--trust", pin, code=7)


def test_what_the_verbs_of_a_clone_saw_counts_too(world: World, members: list[Machine]) -> None:
    m1 = Ops(members[0].name, members[0].home, members[0].top)
    m1.desk().view(WORK)
    rewind(world, git(world.remote.path, "rev-parse", f"{world.remote.refs()[LEASE]}~2"))
    assert m1.found(code=7) == {("rewound", WORK)}
    git(world.remote.path, "update-ref", "-d", "refs/wip/roster")
    refused(inside(m1, "audit"), 7, "there is no roster at refs/wip/roster", "this clone saw")


def test_rubbish_is_found_and_told_apart(world: World, members: list[Machine], ops: Ops) -> None:
    remote, pin = world.remote.path, founding(members[0])
    blob = git(remote, "hash-object", "-w", "--stdin", given="rubbish")
    main = world.remote.refs()["refs/heads/main"]
    for ref, oid in {
        "lease/blob": blob,
        "lease/main": main,
        "other": main,
        f"snap/none/{'7' * 32}": main,
        "lease/a/b": main,
    }.items():
        git(remote, "update-ref", f"refs/wip/{ref}", oid)
    git(remote, "-c", "user.name=x", "-c", "user.email=x", "tag", "-a", "-m", "x", "t", main)
    git(remote, "update-ref", "refs/wip/lease/tag", "refs/tags/t")
    assert ops.found("--trust", pin, code=9) == {
        ("no-chain", "blob"), ("no-chain", "tag"), ("void", "main"), ("stray", "refs/wip/other"),
        ("stray", "none"), ("stray", "refs/wip/lease/a/b"),
    }  # fmt: skip
    void = ops.audit("--trust", pin, "--known", main, code=9)
    assert "void and known before: 1" in void
    refused(inside(ops, "audit", "--known", main[:12]), 2, "is no id of an entry")


def test_a_chain_that_this_clone_has_cut_off_spoils_no_other(
    world: World, members: list[Machine]
) -> None:
    members[0].commit()
    members[0].push("-q", "origin", "HEAD:main").ok()
    git(world.remote.path, "update-ref", "refs/wip/lease/main", "refs/heads/main")
    ops = clone(world, "--depth", "1")
    assert ops.found("--trust", founding(members[0]), code=9) == {("no-chain", "main")}
    shared = open_shared(ops.checkout())
    tip = world.remote.refs()[LEASE]
    shared.chains.prepare([(tip, ""), ("f" * 40, "")])
    assert len(shared.chains.line(tip) or []) == 5


def test_one_document_comes_out_for_findings_too(members: list[Machine], ops: Ops) -> None:
    members[1].writes(WORK, lambda pen: pen.dropped("\x1b[31mred", blocked=True))
    told: Any = json.loads(ops.audit("--trust", founding(members[0]), "--json", code=3))
    (finding,) = told["findings"]
    assert (finding["what"], finding["grade"], finding["work"]) == ("blocked", "work", WORK)
    out = ops.audit("--trust", founding(members[0]), code=3)
    assert "\x1b" not in out
    assert "not clean: 1 to look at" in out
