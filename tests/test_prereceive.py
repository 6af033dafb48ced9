"""The hook of a server of one's own: what it lets in over real SSH, and what not."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from handsoff.core.chain import compose
from handsoff.core.objects import EMPTY_TREE
from handsoff.core.works.entry import encode_event
from handsoff.core.works.lease import Recipient, Saved
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import read_record
from handsoff.edge import clock
from handsoff.edge.git.moves import Move
from handsoff.errors import RefusedError
from tests.kit.machines import ROOT, Machine, Ran, World, git, store
from tests.kit.running import inside
from tests.kit.served import GitServer, started

HOOK = ROOT / "contrib" / "server-hook" / "pre-receive"
WORK = "feat/x"
RECORD = "refs/wip/lease/feat%2Fx"

pytestmark = pytest.mark.skipif(not shutil.which("ssh"), reason="there is no ssh here")


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    with started(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@dataclass(frozen=True)
class Served:
    """A remote of one's own with our hook, and how to reach it."""

    world: World
    sshd: GitServer

    def set(self, key: str, value: str) -> None:
        """Set a key of the server's repository."""
        git(self.world.remote.path, "config", key, value)

    def reach(self, *machines: Machine) -> None:
        self.sshd.reach(self.world, *machines)


@pytest.fixture
def served(world: World, sshd: GitServer) -> Served:
    hook = world.remote.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(HOOK)
    served = Served(world, sshd)
    served.set("receive.certNonceSeed", "seed of the test")
    served.set("handsoff.python", sys.executable)
    return served


@pytest.fixture
def pair(world: World, served: Served) -> tuple[Machine, Machine]:
    """Return m1, which carries feat/x and has a commit to push, and m2; both reach it by SSH."""
    m1, m2 = world.members("m1", "m2")
    for machine in (m1, m2):
        machine.git("switch", "-qc", WORK)
    m1.push("-q", "-u", "origin", WORK).ok()
    m1.writes(WORK, caught)
    m1.commit()
    served.reach(m1, m2)
    return m1, m2


def nearby(world: World, *machines: Machine) -> tuple[Machine, ...]:
    """Let machines reach the same remote by its path: the hook is the same, and SSH takes time."""
    for machine in machines:
        machine.git("remote", "set-url", "origin", str(world.remote.path))
    return machines


def caught(pen: Pen) -> Pen:
    return pen.caught()


def raw(machine: Machine, *words: str) -> Ran:
    """Push as somebody who goes around every hook and check of ours on this machine."""
    objects = machine.top / ".git" / "handsoff" / "objects"
    machine.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(objects)
    return machine.run("git", "push", "-q", "--no-verify", *words)


def signed(machine: Machine, *words: str) -> Ran:
    key = machine.home / "signing.key"
    settings = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}")
    return machine.run("git", *settings, "push", "--signed", "--no-verify", *words)


def declined(ran: Ran, *parts: str) -> None:
    assert ran.code != 0, ran.err
    for part in (*parts, "pre-receive hook declined"):
        assert part in ran.err, ran.err


def put(machine: Machine, message: str, parent: str, tree: str = EMPTY_TREE) -> str:
    """Return a commit of anybody's in the private folder, which nobody of ours signed."""
    who = "author x <x@x.invalid> 1893456000 +0000\ncommitter x <x@x.invalid> 1893456000 +0000"
    data = f"tree {tree}\nparent {parent}\n{who}\n\n{message}\n".encode()
    return store(machine.desk()).write("commit", data)


def test_the_carrier_s_push_and_nobody_else_s_moves_the_branch(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    before = world.remote.refs()
    m2.commit()
    for words in (["+HEAD:refs/heads/feat/x"], [":refs/heads/feat/x"]):
        declined(raw(m2, "origin", *words), "feat/x: m1 carries this work since",
                 "nothing in this push shows who makes it", "on m1: handsoff push")  # fmt: skip
    declined(raw(m1, "origin", WORK), "nothing in this push shows who makes it")
    assert world.remote.refs() == before
    inside(m1, "push").ok()
    assert world.remote.refs()["refs/heads/feat/x"] == m1.git("rev-parse", "HEAD")
    # what has no record, or a closed one, is anyone's
    raw(m2, "origin", "HEAD:refs/heads/other", "HEAD:refs/tags/t").ok()
    m1.writes(WORK, lambda pen: pen.closed("merged"))
    raw(m2, "origin", ":refs/heads/feat/x").ok()


def test_an_entry_counts_for_the_move_that_it_names_and_no_other(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    desk = m1.desk()
    view, old = desk.view(WORK), world.remote.refs()["refs/heads/feat/x"]
    new = m1.git("rev-parse", "HEAD")
    pen = Pen(record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=clock.now())
    pen = pen.pushed(WORK, old=old, new=new)
    store(desk).write_drafts(pen.drafts)
    tip = pen.record.git_tip or ""
    further = m1.commit()
    before = world.remote.refs()
    entry = f"{tip}:{RECORD}"
    declined(raw(m1, "origin", entry), "would say that feat/x is at")
    declined(raw(m1, "--atomic", "origin", entry, f"{further}:refs/heads/feat/x"), "m1 carries")
    declined(raw(m1, "--atomic", "origin", entry, f"{new}:refs/heads/y"), "would say that feat/x")
    assert world.remote.refs() == before
    # a push that was cut off: the entry is there, and the branch goes on to where it says
    hook = world.remote.path / "hooks" / "pre-receive"
    hook.rename(hook.with_name("away"))
    raw(m1, "origin", entry).ok()
    hook.with_name("away").rename(hook)
    m2.commit()
    declined(raw(m2, "origin", "+HEAD:refs/heads/feat/x"), "m1 carries")
    m1.git("reset", "-q", "--hard", new)
    assert inside(m1, "push", "--json").ok().json["moved"] == "branch"
    assert world.remote.refs()["refs/heads/feat/x"] == new


def test_a_signed_push_of_the_carrier_passes_and_of_another_does_not(
    world: World, served: Served, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    m2.commit()
    declined(signed(m2, "origin", "+HEAD:refs/heads/feat/x"), "this push is m2's")
    stranger = world.machine("m9")
    stranger.card()
    stranger.commit()
    served.reach(stranger)
    declined(signed(stranger, "origin", "+HEAD:refs/heads/feat/x"), "nothing in this push shows")
    signed(m1, "origin", WORK).ok()
    assert world.remote.refs()["refs/heads/feat/x"] == m1.git("rev-parse", "HEAD")


def test_a_signed_push_that_is_replayed_does_not_count(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    ref, remote = "refs/heads/feat/x", world.remote.path
    old, kept = world.remote.refs()[ref], world.folder / "kept"
    tee = world.folder / "tee"
    tee.write_text(f'#!/bin/sh\ntee {kept} | git receive-pack "$@"\n')
    tee.chmod(0o755)
    m1.git("remote", "set-url", "origin", str(remote))
    signed(m1, f"--receive-pack={tee}", "origin", WORK).ok()
    git(remote, "update-ref", ref, old)
    time.sleep(1.1)  # a nonce is of one second
    with kept.open("rb") as again:
        done = subprocess.run(
            ["git", "receive-pack", str(remote)], stdin=again, capture_output=True, check=False
        )
    assert b"its nonce is BAD: it was not made for this push" in done.stdout, done
    assert world.remote.refs()[ref] == old


def test_a_record_is_neither_rewound_nor_forked_nor_deleted(
    world: World, served: Served, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    first = world.remote.refs()[RECORD]
    m1.writes(WORK, lambda pen: pen.saved(envelope="a" * 40))
    before = world.remote.refs()
    declined(raw(m1, "origin", f"+{first}:{RECORD}"), "would be rewound")
    fork = m1.desk()
    chain = fork.shared.chains.line(first)
    assert chain is not None
    pen = Pen(record=fork.history(fork.view(WORK).record), by=fork.machine.id,
              sign=fork.machine.sign, now=clock.now())  # fmt: skip
    pen = Pen(record=read_record(chain, pen.record.roster, WORK), by=pen.by, sign=pen.sign,
              now=pen.now).dropped("fork")  # fmt: skip
    store(fork).write_drafts(pen.drafts)
    declined(raw(m1, "origin", f"+{pen.record.git_tip}:{RECORD}"), "would be forked")
    for ref in (RECORD, "refs/wip/roster"):
        declined(raw(m1, "origin", f":{ref}"), "may not be deleted")
    assert world.remote.refs() == before
    served.set("handsoff.allowDeletion", "true")
    declined(raw(m1, "origin", ":refs/wip/roster"), "may not be deleted")
    raw(m1, "origin", f":{RECORD}").ok()


def test_what_was_closed_and_archived_is_pruned_and_not_put_back(
    world: World, served: Served, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = nearby(world, *pair)
    m1.writes(WORK, lambda pen: pen.closed("merged"))
    old = world.remote.refs()[RECORD]
    m2.desk().view(WORK)
    raw(m1, "origin", ":refs/heads/feat/x").ok()
    inside(m1, "prune", "--yes", "--keep-records", "0").ok()
    assert RECORD not in world.remote.refs()
    declined(raw(m2, "origin", f"{old}:{RECORD}"), "would be the record that was archived")
    m2.writes(WORK, caught)
    assert RECORD in world.remote.refs()


def test_what_does_not_verify_is_refused_at_the_door(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    _, m2 = nearby(world, *pair)
    tip, roster = world.remote.refs()[RECORD], world.remote.refs()["refs/wip/roster"]
    before = world.remote.refs()
    desk = m2.desk()
    desk.view(WORK)
    record = desk.history(desk.view(WORK).record)
    stolen = Saved(by=desk.machine.id, at=clock.now(), leg=1, revision=0)
    body = {**encode_event(stolen), "repo": record.repo, "roster": record.roster.tip, "work": WORK,
            "seq": 2, "prev": record.tip}  # fmt: skip
    oid, data = compose("m2 saved", body, parent=tip, tree=EMPTY_TREE, name="m2",
                        machine=desk.machine.id, at=int(stolen.at.timestamp()),
                        sign=desk.machine.sign)  # fmt: skip
    store(desk).write("commit", data)
    told = {
        f"{oid}:{RECORD}": "m1 carries this work, not m2",
        f"{put(m2, 'junk', tip)}:{RECORD}": "is void",
        f"{put(m2, 'x' * 9_000_000, tip)}:{RECORD}": "too large",
        f"{put(m2, 'junk', roster)}:refs/wip/roster": "is void",
        f"{tip}:refs/wip/lease/feat%2Fy": "an entry of another work",
        f"{tip}:refs/wip/lease/feat!%2fy": "is no ref that handsoff knows",
        "HEAD:refs/wip/lease/other": "is void",
        "HEAD:refs/wip/probe/x": "is no try of this remote",
        "HEAD:refs/wip/whatever/x": "is no ref that handsoff knows",
        f"HEAD:refs/wip/notes/feat%2Fx/{'a' * 26}": "is void",
        "HEAD:refs/wip/archive": "is void",
        f"HEAD^{{tree}}:refs/wip/snap/feat%2Fx/{'1' * 32}": "is no parcel",
    }
    m2.commit()
    for spec, said in told.items():
        declined(raw(m2, "origin", spec), said)
    assert world.remote.refs() == before


def test_verbs_notes_and_a_try_of_the_remote_go_through(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = nearby(world, *pair)
    assert inside(m2, "push").code == 4  # which is noted
    inside(m2, "note", "the second one fails", "--work", WORK).ok()
    refs = world.remote.refs("refs/wip/notes")
    assert list(refs) == [f"refs/wip/notes/feat%2Fx/{m2.member().id}"]
    said = inside(m1, "doctor").ok()
    assert "declined" not in said.out + said.err
    inside(m1, "drop", "--reason", "train").ok()
    inside(m1, "push").ok()


def test_an_honest_hand_over_goes_through(world: World, pair: tuple[Machine, Machine]) -> None:
    m1, m2 = pair
    inside(m1, "push").ok()
    m1.git("config", "user.name", "Lin")
    (m1.top / ".wip").mkdir(exist_ok=True)
    m1.write(".wip/HANDOFF.md", PAGE)
    m1.write("new.txt", "not committed\n")
    inside(m1, "send", "m2", "--via", "remote").ok()
    m2.git("fetch", "-q")
    m2.git("reset", "-q", "--hard", "origin/feat/x")
    inside(m2, "catch", WORK).ok()
    m2.git("add", "new.txt")
    m2.commit()
    inside(m2, "push").ok()
    assert world.remote.refs()["refs/heads/feat/x"] == m2.git("rev-parse", "HEAD")
    declined(raw(m1, "origin", "+HEAD:refs/heads/feat/x"), "m2 carries this work")


PAGE = """# Handoff

## Next
Round half even in round_total(), then run tests/test_rounding.py.

## Tried and failed
Floats: the sum of invoice 2019-0042 is a cent off.

## Do not touch
src/places.py: finance signed it off.
"""


def test_a_roster_is_founded_by_the_one_that_is_pinned_or_by_the_first(
    world: World, served: Served
) -> None:
    m1, m2 = world.machine("m1"), world.machine("m2")
    served.reach(m1, m2)
    raw(m1, "origin", "HEAD:refs/heads/free").ok()
    served.set("handsoff.founding", "1" * 40)
    with pytest.raises(RefusedError, match="hook"):
        world.enrol(m1)
    assert "refs/wip/roster" not in world.remote.refs()
    git(world.remote.path, "config", "--unset", "handsoff.founding")
    world.enrol(m2)
    served.set("handsoff.founding", m2.desk().need_pin())
    m2.writes(WORK, caught)
    raw(m1, "origin", "HEAD:refs/heads/free2").ok()


def test_a_check_that_cannot_run_lets_nothing_in(
    served: Served, pair: tuple[Machine, Machine]
) -> None:
    m1, m2 = pair
    m1.writes(WORK, lambda pen: pen.saved(envelope="a" * 40).offered(Recipient()))
    m2.writes(WORK, caught)
    served.set("handsoff.python", "/nowhere/python")
    declined(raw(m1, "origin", WORK), "the server's check cannot run", "git config handsoff.python")
    with pytest.raises(RefusedError):
        m2.desk().shared.push(Move("refs/wip/lease/z", m2.git("rev-parse", "HEAD"), ""))


def test_the_hook_that_was_there_before_is_asked_too(
    world: World, pair: tuple[Machine, Machine]
) -> None:
    m1, _ = pair
    kept = world.remote.path / "hooks" / "pre-receive.before-handsoff"
    kept.write_text("#!/bin/sh\ncat >seen\nexit 7\n")
    kept.chmod(0o755)
    said = inside(m1, "push")
    assert said.code == 3
    assert "a hook of the remote origin refuses it" in said.err
    assert len((world.remote.path / "seen").read_text().splitlines()) == 2
