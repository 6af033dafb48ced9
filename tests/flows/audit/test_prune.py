"""Tidying a real remote: what goes, what stays, and who takes a deletion for an attack."""

from datetime import timedelta

import pytest

from handsoff.core.chain import Word
from handsoff.core.machines.admission import read_roster
from handsoff.core.machines.roster import Roster
from handsoff.core.works.lease import State
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.edge import clock
from handsoff.edge.git.moves import Move, Outcome
from handsoff.errors import TrustError
from handsoff.flows.archive import read_archive
from handsoff.flows.audit.prune import Pruned, prune_remote
from handsoff.flows.desk import Desk
from tests.kit.machines import Machine, World, git, store
from tests.kit.running import inside, refused

WORK, RECORD = "feat/x", "refs/wip/lease/feat%2Fx"
PARCEL, ORPHAN = "a" * 32, "b" * 32
BEFORE = timedelta(hours=3)


def parcel(world: World, ident: str, work: str = "feat%2Fx") -> str:
    """Leave something where parcels wait."""
    ref = f"refs/wip/snap/{work}/{ident}"
    git(world.remote.path, "update-ref", ref, "refs/heads/main")
    return ref


def left(machine: Machine, work: str = WORK) -> None:
    """Let a machine put a work down, some hours ago, with a parcel to go on from."""

    def entries(pen: Pen) -> Pen:
        return pen.caught().saved(envelope="c" * 40, parcel=PARCEL).dropped("done")

    machine.writes(work, entries, clock.now() - BEFORE)


def pushed(machine: Machine, branch: str = WORK) -> str:
    machine.git("switch", "-q", "-c", branch, "origin/main")
    tip = machine.commit(f"on {branch}")
    machine.git("push", "-q", "--no-verify", "origin", branch)
    return tip


def merged(machine: Machine, branch: str = WORK) -> None:
    """Push a branch, and merge it as a host does."""
    pushed(machine, branch)
    machine.git("switch", "-q", "main")
    machine.git("merge", "-q", "--no-ff", "-m", f"merge {branch}", branch)
    machine.git("push", "-q", "--no-verify", "origin", "main")


def closed(machine: Machine, work: str = WORK) -> None:
    machine.writes(work, lambda pen: pen.caught().closed("merged"))


def deleted(world: World, ref: str) -> None:
    git(world.remote.path, "update-ref", "-d", ref)


def test_a_merged_work_is_closed_and_its_parcels_go(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    left(m1)
    waits, orphan = parcel(world, PARCEL), parcel(world, ORPHAN)
    merged(m1)
    before = world.remote.refs()
    look = inside(m2, "prune", "--dry-run").ok()
    work, why = look.out.splitlines()
    assert work == "feat/x  close as merged, delete 1 parcel"
    assert why.strip().startswith("merged into main at ")
    assert inside(m2, "prune").code == 2, "nobody is here to say yes"
    assert world.remote.refs() == before
    done = inside(m2, "prune", "--yes", "--json").ok().json
    (item,) = done["works"]
    assert (item["action"], item["outcome"], item["done"]) == ("close", "merged", True)
    after = world.remote.refs()
    assert before.keys() - after.keys() == {waits}
    assert orphan in after, "no entry names it, so it may be on its way"
    lease = m1.record(WORK).lease
    assert (lease.state, lease.reason, lease.carrier) == (
        State.CLOSED,
        "merged",
        m2.member().id,
    )
    again = inside(m2, "prune", "--yes").ok()
    assert "its record goes after" in again.out
    assert "every work stays" in again.err
    assert world.remote.refs() == after


def test_a_work_in_a_lapsed_hold_is_closed_and_one_that_is_held_or_unmerged_stays(
    world: World,
) -> None:
    m1, m2 = world.members("m1", "m2")
    past = clock.now() - BEFORE
    for name in ("lapsed", "held", "open", "fresh"):
        m1.writes(name, lambda pen: pen.caught(), None if name == "held" else past)
    for name in ("lapsed", "held"):
        merged(m1, name)
    pushed(m1, "open")
    m1.git("push", "-q", "--no-verify", "origin", "main~1:refs/heads/fresh")
    said = inside(m2, "prune", "--yes", "--json").ok().json["works"]
    told = {item["work"]: (item["action"], item["reason"]) for item in said}
    assert told["lapsed"][0] == "close"
    assert [told[name][0] for name in ("held", "open")] == ["keep", "keep"]
    assert "m1 carries it until" in told["held"][1]
    assert told["open"][1] == "its branch is not merged into main"
    assert m1.record("held").lease.carrier == m1.member().id


def test_a_fresh_branch_is_contained_in_the_main_one_and_is_not_merged(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m1.commit("the main branch goes on, in our time")
    m1.git("push", "-q", "--no-verify", "origin", "HEAD:main", "HEAD:refs/heads/feat/x")
    m1.writes(WORK, lambda pen: pen.caught().saved(envelope="c" * 40, parcel=PARCEL).dropped("x"),
              clock.now() + timedelta(seconds=2))  # fmt: skip
    parcel(world, PARCEL)
    before = world.remote.refs()
    (item,) = inside(m2, "prune", "--yes", "--json").ok().json["works"]
    assert "is older than that" in item["reason"]
    assert world.remote.refs() == before


def test_a_branch_that_was_pushed_and_is_gone_closes_its_work(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    tip = pushed(m1)
    push = {"old": "0" * 40, "new": tip}
    m1.writes(WORK, lambda pen: pen.caught().pushed(WORK, **push).dropped("squashed"))
    left(m1, "never")
    deleted(world, "refs/heads/feat/x")
    said = inside(m2, "prune", "--yes", "--json").ok().json["works"]
    assert [(i["work"], i["action"], i["outcome"]) for i in said] == [
        (WORK, "close", "abandoned"),
        ("never", "keep", ""),
    ]


def test_an_old_record_goes_and_nobody_takes_it_for_an_attack(world: World) -> None:
    m1, m2, m3 = world.members("m1", "m2", "m3")
    left(m1)
    closed(m1)
    seen = m2.record(WORK).git_tip
    notes = f"refs/wip/notes/feat%2Fx/{m1.member().id}"
    git(world.remote.path, "update-ref", notes, RECORD)
    parcel(world, ORPHAN)
    said = inside(m3, "prune", "--keep-records", "0", "--yes").ok()
    assert "delete the record and 1 parcel" in said.out
    assert world.remote.refs("refs/wip").keys() == {"refs/wip/roster", "refs/wip/archive"}
    roster = m2.desk().fresh_roster()
    shared = m2.desk().shared
    assert seen is not None
    read = read_archive(shared, roster)
    assert read.names("lease/feat%2Fx", seen)
    assert read.names(notes.removeprefix("refs/wip/"), seen)
    assert not read.names("lease/feat%2Fx", "a" * 40)
    for machine in (m1, m2, m3):
        assert machine.record(WORK).lease.state is State.FREE
        assert machine.desk().works_seen() == []
        assert inside(machine, "status").code == 0
    m1.writes(WORK, lambda pen: pen.caught())
    assert m2.record(WORK).lease.leg == 1, "the name can be used again"


def test_a_new_record_in_the_place_of_an_archived_one_is_no_fork(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    closed(m1)
    m2.record(WORK)
    inside(m1, "prune", "--keep-records", "0", "--yes").ok()
    m1.writes(WORK, lambda pen: pen.caught(), clock.now() + timedelta(minutes=1))
    assert m2.record(WORK).lease.carrier == m1.member().id


def test_a_name_is_used_again_after_a_revocation_that_names_the_old_record(world: World) -> None:
    m1, m2, m3 = world.members("m1", "m2", "m3")
    closed(m2)
    inside(m1, "roster", "revoke", "m2", "--reason", "lost", "--yes").ok()
    inside(m1, "prune", "--keep-records", "0", "--yes").ok()
    assert m3.record(WORK).behind == ""
    old = m2.desk()
    pen = Pen(
        record=Record(roster=founding(old), work=WORK),
        by=old.machine.id,
        sign=old.machine.sign,
        now=clock.now() + timedelta(minutes=1),
    ).caught()
    store(old).write_drafts(pen.drafts)
    old.shared.push(Move(RECORD, pen.record.git_tip or "", ""))
    record = m3.record(WORK)
    assert (record.behind, record.lease.state) == ("", State.FREE), "it has no word in a new one"
    assert [e.word for e in m3.desk().history(record).entries] == [Word.REVOKED], "nor is it told"
    assert inside(m3, "audit").code == 9
    m3.writes(WORK, lambda pen: pen.caught())
    assert m1.record(WORK).lease.carrier == m3.member().id
    found = inside(m3, "audit", "--known", pen.record.git_tip or "")
    assert found.code == 0, found.out
    m3.git("remote", "set-url", "origin", "nowhere")
    assert [e.good for e in m3.desk().history(m1.record(WORK)).entries] == [False, True]


def founding(desk: Desk) -> Roster:
    """Return the roster as it was before the last entry."""
    commits = desk.shared.chains.line(desk.live_roster().git_tip or "") or []
    return read_roster(commits[:-1], desk.need_pin()).trusted()


def test_the_past_of_an_archived_record_put_back_is_found(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m1.writes(WORK, lambda pen: pen.caught())
    held = world.remote.refs()[RECORD]
    m1.writes(WORK, lambda pen: pen.closed("merged"))
    m2.record(WORK)
    inside(m1, "prune", "--keep-records", "0", "--yes").ok()
    git(world.remote.path, "update-ref", RECORD, held)
    with pytest.raises(TrustError, match="rewound"):
        m2.record(WORK)


def test_a_deletion_that_nobody_named_is_found_as_ever(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    for name in (WORK, "other"):
        closed(m1, name)
        m2.record(name)
    inside(m1, "prune", "--keep-records", "0", "--yes").ok()
    m1.writes("third", lambda pen: pen.caught().closed("merged"))
    m2.record("third")
    deleted(world, "refs/wip/lease/third")
    with pytest.raises(TrustError, match="deleted"):
        m2.record("third")


def test_a_member_that_archives_what_somebody_carries_gains_nothing(world: World) -> None:
    from handsoff.core.remote import archive

    m1, m2 = world.members("m1", "m2")
    m1.writes(WORK, lambda pen: pen.caught())
    tip = m1.record(WORK).git_tip or ""
    desk = m2.desk()
    read = read_archive(desk.shared, desk.fresh_roster())
    sign = desk.machine.sign
    refs = {"lease/feat%2Fx": [tip]}
    draft = archive.archived(read, refs, by=desk.machine.id, at=1, sign=sign)
    store(desk).write_drafts([draft])
    moves = [Move("refs/wip/archive", draft.oid, ""), Move(RECORD, "", tip)]
    assert desk.shared.push(*moves) is Outcome.MOVED
    with pytest.raises(TrustError, match="deleted"):
        m1.record(WORK)


def test_an_archive_that_was_rewritten_is_not_believed(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    for name in (WORK, "other"):
        closed(m1, name)
    inside(m1, "prune", "--keep-records", "0", "--yes").ok()
    read_archive(m2.desk().shared, m2.desk().fresh_roster())
    deleted(world, "refs/wip/archive")
    with pytest.raises(TrustError, match="the archive was deleted"):
        read_archive(m2.desk().shared, m2.desk().fresh_roster())


def test_a_work_that_moves_while_somebody_is_asked_stays(world: World) -> None:
    m1, m2, m3 = world.members("m1", "m2", "m3")
    left(m1)
    closed(m1, "old")
    merged(m1)
    waits = parcel(world, PARCEL)
    shown: list[Pruned] = []

    def meanwhile(_: str) -> None:
        for name in (WORK, "old"):
            m3.writes(name, lambda pen: pen.caught())

    done = prune_remote(
        m2.desk(),
        branch=None,
        keep=timedelta(0),
        dry_run=False,
        ask=meanwhile,
        show=shown.append,
    )
    assert [item.action for item in shown[0].works] == ["close", "forget"]
    assert [(item.action, item.raced) for item in done.works] == [("keep", True)] * 2
    assert waits in world.remote.refs()
    for name in (WORK, "old"):
        assert m2.record(name).lease.carrier == m3.member().id


def test_a_run_that_was_killed_is_finished_by_the_next(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    closed(m1)
    killed = Machine(m2.name, m2.home, m2.top, {"HANDSOFF_KILL_AT": "prune.forget.before"})
    assert killed.handsoff("prune", "--keep-records", "0", "--yes").code == -9
    named = world.remote.refs()["refs/wip/archive"]
    assert RECORD in world.remote.refs()
    assert m1.record(WORK).lease.state is State.CLOSED
    inside(m2, "prune", "--keep-records", "0", "--yes").ok()
    assert world.remote.refs("refs/wip").keys() == {"refs/wip/roster", "refs/wip/archive"}
    assert world.remote.refs()["refs/wip/archive"] == named, "it was named once"


def test_what_waits_here_or_cannot_be_verified_stays(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    for name in (WORK, "spoiled"):
        closed(m1, name)
    m2.record("spoiled")
    git(world.remote.path, "update-ref", "refs/wip/lease/spoiled", RECORD)
    git(world.remote.path, "update-ref", "refs/wip/lease/rubbish", "refs/heads/main")
    waits = m2.desk().checkout.store_dir / "pending" / "feat%2Fx.json"
    waits.parent.mkdir(parents=True)
    waits.write_text("{}")
    before = world.remote.refs()
    said = inside(m2, "prune", "--keep-records", "0", "--yes").ok()
    assert "entries about it wait on this machine" in said.out
    assert "the record of spoiled was forked" in said.out
    assert "no entry of its record counts" in said.out
    assert world.remote.refs() == before


def test_which_branch_is_the_main_one_can_be_said(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    left(m1)
    merged(m1)
    m1.git("push", "-q", "--no-verify", "origin", "main:refs/heads/next")
    git(world.remote.path, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    refused(inside(m2, "prune", "-n"), 2, "names no main branch", "--branch NAME")
    refused(inside(m2, "prune", "-n", "--branch", "nowhere"), 2, "has no branch nowhere")
    assert "merged into next" in inside(m2, "prune", "-n", "--branch", "next").ok().out
    outsider = world.machine("m9")
    outsider.card()
    outsider.desk().set_pin(m1.desk().need_pin())
    refused(inside(outsider, "prune", "-n", "--branch", "next"), 7, "not in the roster")


def test_a_remote_that_deletes_nothing_is_said_to(world: World) -> None:
    m1, m2 = world.machine("m1"), world.machine("m2")
    for machine in (m1, m2):
        machine.git("config", "handsoff.refs", "refs/heads/handsoff")
    world.enrol(m1, m2)
    closed(m1)
    git(world.remote.path, "config", "receive.denyDeletes", "true")
    said = inside(m2, "prune", "--keep-records", "0", "--yes")
    assert said.code == 3
    assert "lets nobody delete a ref" in said.err
    assert m1.record(WORK).lease.state is State.CLOSED


def test_without_works_there_is_nothing_to_do(world: World) -> None:
    (m1,) = world.members("m1")
    said = inside(m1, "prune").ok()
    assert (said.out, said.err) == ("", "nothing to do: no works\n")
