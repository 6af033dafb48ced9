"""Revocations, new names and new keys, on a real remote, and what stock git makes of them."""

from datetime import timedelta
from pathlib import Path

import pytest

from handsoff.core.chain import Draft, Word
from handsoff.core.works.lease import Recipient
from handsoff.core.works.pen import Pen
from handsoff.edge import clock, keys
from handsoff.edge.git.moves import Move, Outcome
from handsoff.flows.roster.leaving import revoke
from handsoff.flows.roster.roster import admit
from tests.kit.machines import Machine, World, git, run, store
from tests.kit.monday import Monday
from tests.kit.running import inside, refused

WORK = "feat/x"
PARCEL = "0123456789abcdef" * 2


def names(machine: Machine) -> list[str]:
    return [m.name for m in machine.desk().live_roster().trusted().members()]


def out(machine: Machine, name: str, *words: str) -> None:
    inside(machine, "roster", "revoke", name, "--reason", "lost", "--yes", *words).ok()


def late(machine: Machine, work: str = WORK) -> Draft:
    """Return an entry that the machine signs now, to be pushed when it is not trusted any more."""
    desk = machine.desk()
    record = desk.view(work).record
    pen = Pen(record=record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now)
    return pen.dropped("late").drafts[-1]


def forced(world: World, machine: Machine, draft: Draft, work: str = WORK) -> None:
    desk = machine.desk()
    store(desk).write_drafts([draft])
    ref = desk.shared.record_ref(work)
    moved = desk.shared.push(Move(ref, draft.oid, world.remote.refs()[ref]))
    assert moved is Outcome.MOVED


def parcel(world: World, work: str = "feat%2Fx") -> str:
    """Leave something where parcels wait."""
    ref = f"refs/wip/snap/{work}/{PARCEL}"
    git(world.remote.path, "update-ref", ref, "refs/heads/main")
    return ref


def test_what_a_revoked_machine_signed_before_stays_good_and_a_backdated_entry_is_not(
    world: World,
) -> None:
    m1, m2, m3 = world.members("m1", "m2", "m3")
    m2.writes(WORK, lambda pen: pen.caught())
    draft = late(m2)
    out(m1, "m2")
    forced(world, m2, draft)
    desk = m3.desk()
    entries = desk.history(desk.view(WORK).record).entries
    assert [(e.word, e.good) for e in entries] == [(Word.SIGNED, True), (Word.REVOKED, False)]
    assert names(m3) == ["m1", "m3"]
    assert m2.desk().view(WORK).record.lease.carrier == m2.member().id


def test_a_revocation_names_what_the_machine_still_carries_and_what_its_key_may_open(
    world: World,
) -> None:
    m1, m2 = world.members("m1", "m2")
    m2.writes(WORK, lambda pen: pen.caught())
    m2.writes("old", lambda pen: pen.caught(), clock.now() - timedelta(days=1))
    parcel(world)
    said = inside(m1, "roster", "revoke", "m2", "--reason", "lost", "--yes").ok()
    assert "feat/x: held until " in said.err
    assert "then, on another machine: handsoff catch feat/x" in said.err
    assert "old: dropped, and nobody caught it since" in said.err
    assert "its key may open what waits on the remote: feat/x (1)" in said.err
    refused(inside(m1, "catch", WORK), 4, "m2 was revoked and can hand nothing over", "--wait")
    again = inside(m1, "roster", "revoke", "m2", "--reason", "lost", "--json").ok().json
    assert (again["already"], again["reason"]) == (True, "lost")
    assert [w["work"] for w in again["works"]] == [WORK, "old"]
    (gone,) = [m for m in inside(m1, "roster", "--json").ok().json["members"] if m["revoked"]]
    refs = world.remote.refs("refs/wip/lease")
    tips = {WORK: refs["refs/wip/lease/feat%2Fx"], "old": refs["refs/wip/lease/old"]}
    assert (gone["name"], gone["revocation"]["tips"]) == ("m2", tips)


def test_a_dry_run_and_a_no_leave_the_roster_as_it_was(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m2.writes(WORK, lambda pen: pen.caught())
    before = world.remote.refs()
    told = inside(m1, "roster", "revoke", "m2", "--reason", "lost", "-n", "--json").ok().json
    assert (told["dry_run"], told["member"]["revoked"]) == (True, False)
    assert (
        "nothing was changed"
        in inside(m1, "roster", "revoke", "m2", "--reason", "x", "-n").ok().err
    )
    said = inside(m1, "roster", "revoke", "m2", "--reason", "lost")
    refused(said, 2, "m2 of lin, SHA256:", "--yes")
    refused(inside(m1, "roster", "revoke", "m2", "--reason", " ", "--yes"), 2, "says why")
    refused(inside(m1, "roster", "revoke", "m7", "--reason", "x", "--yes"), 2, "there are m1, m2")
    assert world.remote.refs() == before


def test_the_last_machine_stays_and_any_other_may_go_by_itself(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    said = inside(m1, "roster", "revoke", "m1", "--reason", "sold", "--yes").ok()
    assert "this machine is out" in said.err
    refused(inside(m2, "roster", "revoke", "m2", "--reason", "sold", "--yes"), 3, "last machine")
    refused(inside(m1, "roster", "revoke", "m2", "--reason", "x", "--yes"), 7, "it was revoked")
    assert names(m2) == ["m2"]


def test_a_revocation_that_loses_a_race_is_judged_again(world: World) -> None:
    m1, m2, m3 = world.members("m1", "m2", "m3")
    card = world.machine("m4").card()

    def meanwhile(_: str) -> None:
        admit(m3.desk(), card, ask=lambda _: None)
        m2.writes(WORK, lambda pen: pen.caught())

    done = revoke(m1.desk(), "m2", "lost", ask=meanwhile)
    assert names(m1) == ["m1", "m3", "m4"]
    assert done.member.revoked is not None
    assert done.member.revoked.tips == {WORK: world.remote.refs()["refs/wip/lease/feat%2Fx"]}


def test_two_that_revoke_each_other_at_once_leave_one(world: World) -> None:
    m1, m2, _ = world.members("m1", "m2", "m3")

    def meanwhile(_: str) -> None:
        out(m2, "m1")

    with pytest.raises(Exception, match="is not in the roster"):
        revoke(m1.desk(), "m2", "lost", ask=meanwhile)
    assert names(m2) == ["m2", "m3"]


def test_a_spoiled_record_does_not_keep_a_stolen_key_in(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m2.writes(WORK, lambda pen: pen.caught())
    seen = m1.desk().view(WORK).tip
    git(world.remote.path, "update-ref", "-d", "refs/wip/lease/feat%2Fx")
    git(world.remote.path, "update-ref", "refs/wip/lease/rubbish", "refs/heads/main")
    tag = git(world.remote.path, "hash-object", "-w", "--stdin", given="x")
    git(world.remote.path, "update-ref", "refs/wip/lease/blob", tag)
    said = inside(m1, "roster", "revoke", "m2", "--reason", "stolen", "--yes").ok()
    assert "the record of feat/x cannot be verified" in said.err
    gone = m1.desk().live_roster().trusted().everyone[m2.member().id].revoked
    assert gone is not None
    assert gone.tips[WORK] == seen, "what this clone verified counts until it is put back"


def test_a_work_whose_name_was_cut_for_its_ref_is_named_whole(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    work = "feat/" + "é" * 60
    m2.writes(work, lambda pen: pen.caught())
    out(m1, "m2")
    gone = m1.desk().live_roster().trusted().everyone[m2.member().id].revoked
    assert gone is not None
    assert list(gone.tips) == [work]


def test_a_machine_has_another_name_and_is_the_same(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m2.writes(WORK, lambda pen: pen.caught())
    before = world.remote.refs()
    dry = inside(m2, "roster", "rename", "m2", "desk", "--dry-run").ok()
    assert "would be called desk" in dry.err
    assert (world.remote.refs(), m2.member().name) == (before, "m2")
    ident = m2.member().id
    done = inside(m2, "roster", "rename", "m2", "desk", "--json").ok().json
    assert (done["member"]["name"], done["member"]["id"]) == ("desk", ident)
    assert (names(m1), m2.member().name, m2.member().id) == (["m1", "desk"], "desk", ident)
    after = world.remote.refs()
    inside(m2, "roster", "rename", "m2", "desk").ok()
    assert world.remote.refs() == after, "typed again, it changes nothing"
    refused(inside(m1, "roster", "rename", "m7", "desk"), 2, "no machine called m7")
    refused(inside(m1, "roster", "rename", "desk", "M1"), 3, "a machine named M1 already")
    refused(inside(m1, "roster", "rename", "desk", "a b"), 2, "cannot name a machine")
    view = m1.desk().view(WORK)
    assert view.roster.name_of(view.record.lease.carrier) == "desk"


def test_a_machine_that_another_renamed_is_set_up_as_before(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    inside(m1, "roster", "rename", "m2", "desk").ok()
    new = world.machine("m3")
    card = inside(new, "card", "--name", "m2", "--person", "lin").ok().out
    inside(m1, "admit", "-", "--yes", given=card).ok()
    inside(m2, "init").ok()
    assert names(m2) == ["m1", "desk", "m2"]


def test_only_a_machine_of_the_person_renames_and_admitting_is_in_the_group_too(
    world: World,
) -> None:
    (m1,) = world.members("m1")
    m2 = world.machine("m2")
    inside(m1, "roster", "admit", "-", "--yes", given=m2.card("kim").decode()).ok()
    refused(inside(m1, "roster", "rename", "m2", "desk"), 3, "machine of the same person")
    refused(inside(m1, "roster", "--allowed-signers", "revoke", "m2", "--reason", "x"), 2, "behind")
    refused(inside(m1, "roster", "--revoked"), 2, "--allowed-signers")
    refused(inside(m1, "roster", "wipe"), 2, "handsoff roster --help")
    assert "revoke" in inside(m1, "roster", "--help").ok().out


def test_stock_git_checks_a_revoked_key_in_two_ranges(world: World, tmp_path: Path) -> None:
    m1, m2 = world.members("m1", "m2")
    m2.writes(WORK, lambda pen: pen.caught())
    draft = late(m2)
    out(m1, "m2")
    forced(world, m2, draft)
    ref = "refs/wip/lease/feat%2Fx"
    (gone,) = [m for m in inside(m1, "roster", "--json").ok().json["members"] if m["revoked"]]
    tip = gone["revocation"]["tips"][WORK]

    def good(span: str, *words: str) -> int:
        signers = tmp_path / "signers"
        signers.write_text(inside(m1, "roster", "--allowed-signers", *words).ok().out)
        setting = f"gpg.ssh.allowedSignersFile={signers}"
        shown = run("git", "-c", setting, "log", "--show-signature", span, cwd=world.remote.path)
        return shown.ok().out.count('Good "git" signature for')

    assert good(tip, "--revoked") == 1
    assert good(f"{tip}..{ref}") == 0


def test_a_machine_gets_new_keys_and_goes_on_under_its_name(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    m2.writes(WORK, lambda pen: pen.caught().dropped("done for today"))
    parcel(world)
    before, old = world.remote.refs(), m2.member()
    dry = inside(m2, "roster", "rotate", "--dry-run", "--json").ok().json
    assert (dry["old"], dry["new"], dry["dry_run"]) == (old.id, "", True)
    refused(inside(m2, "roster", "rotate"), 2, "new keys", "--yes")
    assert (world.remote.refs(), m2.member().id) == (before, old.id)
    said = inside(m2, "roster", "rotate", "--yes").ok()
    assert "the new keys open nothing that was sealed before: feat/x (1)" in said.err
    new = m2.member()
    assert (new.name, new.person) == ("m2", "lin")
    assert {new.id, new.age_key}.isdisjoint({old.id, old.age_key})
    assert names(m1) == ["m1", "m2"]
    roster = m1.desk().live_roster().trusted()
    assert roster.name_of(old.id) == "m2.old"
    m2.writes(WORK, lambda pen: pen.caught())
    assert [e.word for e in m1.desk().history(m1.record(WORK)).entries] == [Word.SIGNED] * 3
    inside(m2, "init").ok()
    for path in m2.home.rglob("*.key"):
        assert path.stat().st_mode & 0o077 == 0


KILLS = ("rotate.keys.after", "rotate.roster.after", "file.replace.before#4")


@pytest.mark.parametrize("where", KILLS)
def test_a_rotation_that_was_killed_is_finished_by_typing_it_again(
    world: World, where: str
) -> None:
    m1, m2 = world.members("m1", "m2")
    killed = Machine(m2.name, m2.home, m2.top, {"HANDSOFF_KILL_AT": where})
    assert killed.handsoff("roster", "rotate", "--yes").code == -9
    old, coming = m2.member().id, keys.upcoming(m2.home)
    if where == "rotate.roster.after":
        refused(inside(m2, "roster", "rename", "m2", "x"), 7, "handsoff roster rotate")
    done = inside(m2, "roster", "rotate", "--yes", "--json").ok().json
    assert done["old"] == old
    assert done["new"] == m2.member().id != old
    assert coming is None or coming.id == m2.member().id
    everyone = m1.desk().live_roster().trusted().everyone.values()
    assert [(m.name, m.revoked is None) for m in everyone] == [
        ("m1", True),
        ("m2.old", False),
        ("m2", True),
    ]
    assert keys.upcoming(m2.home) is None


def test_a_rotation_that_was_killed_at_its_very_end_is_not_begun_anew(world: World) -> None:
    _, m2 = world.members("m1", "m2")
    inside(m2, "roster", "rotate", "--yes").ok()
    now = m2.member().id
    (m2.home / "next.json").write_text((m2.home / "machine.json").read_text())
    assert inside(m2, "roster", "rotate").ok().err
    assert (m2.member().id, keys.upcoming(m2.home)) == (now, None)


def test_a_machine_with_a_hand_on_a_work_keeps_its_keys(world: World) -> None:
    _, m2 = world.members("m1", "m2")
    before = clock.now() - timedelta(days=3)
    m2.writes(WORK, lambda pen: pen.caught(), before)
    refused(inside(m2, "roster", "rotate", "--yes"), 3, "carries feat/x (dropped)", "handsoff drop")
    m2.writes(WORK, lambda pen: pen.caught())
    refused(inside(m2, "roster", "rotate", "--yes"), 3, "carries feat/x (held)", "send")
    m2.writes(WORK, lambda pen: pen.saved(envelope="a" * 40).offered(Recipient()))
    refused(inside(m2, "roster", "rotate", "--yes"), 3, "carries feat/x (offered)")
    assert keys.upcoming(m2.home) is None


def test_a_machine_that_something_is_offered_to_or_waits_in_keeps_its_keys(world: World) -> None:
    m1, m2 = world.members("m1", "m2")
    waits = m2.desk().checkout.store_dir / "pending" / "feat%2Fx.json"
    waits.parent.mkdir(parents=True)
    waits.write_text("{}")
    refused(inside(m2, "roster", "rotate", "--yes"), 3, "feat%2Fx wait", "handsoff pending --send")
    waits.unlink()
    to = Recipient(machine=m2.member().id)
    m1.writes(WORK, lambda pen: pen.caught().saved(envelope="a" * 40).offered(to))
    refused(
        inside(m2, "roster", "rotate", "--yes"), 3, "feat/x is offered", "handsoff catch feat/x"
    )


def test_new_keys_are_put_into_every_roster_of_the_machine(world: World, tmp_path: Path) -> None:
    m1, m2 = world.members("m1", "m2")
    (tmp_path / "two").mkdir()
    other = World.make(tmp_path / "two")
    there = Machine("m2", m2.home, other.machine("x").top)
    inside(there, "init").ok()
    inside(there, "roster", "rename", "m2", "desk").ok()
    m2.desk().home.remember_clone("f" * 40, tmp_path / "gone")
    done = inside(m2, "roster", "rotate", "--yes", "--json").ok().json
    assert (len(done["rosters"]), done["elsewhere"]) == (2, ["f" * 40])
    assert (names(m1), names(there)) == (["m1", "m2"], ["desk"])


def test_what_the_old_keys_saved_can_be_caught_and_the_new_ones_note_in_their_own_name(
    monday: Monday,
) -> None:
    m1, m2 = monday.m1, monday.m2
    inside(m1, "note", "the old key's").ok()
    inside(m1, "save").ok()
    inside(m1, "drop", "--reason", "train").ok()
    inside(m1, "roster", "rotate", "--yes").ok()
    inside(m1, "note", "the new key's").ok()
    notes = monday.remote.refs("refs/wip/notes")
    assert len(notes) == 2
    chain = [git(monday.remote.path, "rev-list", tip) for tip in notes.values()]
    assert all("\n" not in entries for entries in chain), "each key has its own"
    inside(m2, "catch", "feat/cny").ok()
    assert monday.carrier == ("held", "m2", 2)
