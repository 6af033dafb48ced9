"""What two machines did without the remote, once it answers and things are not as they were."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from handsoff.edge import clock
from handsoff.errors import RefusedError
from handsoff.flows.sending.push import push
from handsoff.flows.waiting import Pending
from tests.flows.works.test_without_the_remote import REF, kinds, queued, rubbish, waits
from tests.kit.compare import look
from tests.kit.machines import Machine, git
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import at_home, away, inside, refused

HALF = "catch.apply.index.before"


def cut(machine: Machine, *words: str, step: str = HALF) -> None:
    """Let a command be killed: by default when the files are there, and the index is not."""
    kill = f"HANDSOFF_KILL_AT={step}"
    machine.run("env", kill, sys.executable, "-m", "handsoff", *words)
    assert machine.git("status", "--short")


def handed_over(monday: Monday) -> None:
    """Let m1 hand the work to m2 directly; neither reaches the remote."""
    with at_home(monday.m2) as there:
        queued(inside(monday.m1, "send", "m2", "--at", there.address))


def test_a_catch_that_was_cut_off_is_finished_though_its_entry_was_signed_anew(
    monday: Monday,
) -> None:
    travels = monday.travels
    with away(monday.m1, monday.m2):
        handed_over(monday)
        cut(monday.m2, "catch", WORK)
    rubbish(monday)
    inside(monday.m1, "status").ok()
    told = inside(monday.m2, "status", "--json").ok().json
    assert "sent to origin what waited" in told["news"][0]
    assert "an interrupted catch was finished" in inside(monday.m2, "catch", WORK).ok().err
    assert look(monday.m2.top) == travels
    assert monday.carrier == ("held", "m2", 2)


def test_a_catch_that_was_cut_off_and_lost_leads_back_to_what_was_here(monday: Monday) -> None:
    before = look(monday.m2.top)
    with away(monday.m1, monday.m2):
        handed_over(monday)
        cut(monday.m2, "catch", WORK)
    monday.m3.writes(WORK, lambda pen: pen.caught())
    inside(monday.m2, "status").ok()
    refused(inside(monday.m2, "catch", WORK), 4, "moved on", "handsoff undo")
    inside(monday.m2, "undo").ok()
    assert look(monday.m2.top) == before


@pytest.mark.parametrize("what", ["signed anew", "lost"])
def test_a_remote_is_not_called_a_liar_for_what_never_got_there(monday: Monday, what: str) -> None:
    with away(monday.m1, monday.m2):
        handed_over(monday)
    if what == "lost":
        monday.m3.writes(WORK, lambda pen: pen.caught())
    else:
        rubbish(monday)
    inside(monday.m1, "status").ok()
    said = inside(monday.m2, "status").ok()
    assert "frozen" not in said.out + said.err


def test_what_waited_when_a_machine_was_revoked_is_refused_and_kept(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    with away(monday.m1):
        monday.m1.write("src/money.py", "MONEY = 5\n")
        queued(inside(monday.m1, "save"))
        inside(monday.m2, "roster", "revoke", "m1", "--reason", "stolen", "--yes").ok()
    told = inside(monday.m1, "pending", "--send", "--json").ok().json
    assert told["verbs"] == []
    assert "refused (save)" in told["news"][0]
    assert "it counts no more: m1: revoked" in told["lost"][0]
    (kept,) = Pending(monday.m1.checkout()).parcels()
    assert Path(kept).exists()


def test_a_catch_from_a_machine_that_was_revoked_meanwhile_is_told_so(monday: Monday) -> None:
    with away(monday.m1, monday.m2):
        with at_home(monday.m2) as there:
            queued(inside(monday.m1, "send", "m2", "--at", there.address))
        queued(inside(monday.m2, "catch", WORK))
        inside(monday.m3, "roster", "revoke", "m1", "--reason", "stolen", "--yes").ok()
    told = inside(monday.m2, "status", "--json").ok().json
    assert "refused (catch): nobody has it" in told["news"][0]
    assert kinds(monday.m3) == ["Refused"]
    assert "m1: revoked" in inside(monday.m2, "pending", "--json").ok().json["lost"][0]


def test_what_was_given_away_and_waits_for_too_long_is_not_pushed(monday: Monday) -> None:
    with away(monday.m1, monday.m2):
        handed_over(monday)
        queued(inside(monday.m2, "catch", WORK))
    before = monday.remote.refs()
    late = clock.now() + timedelta(hours=25)
    with pytest.raises(RefusedError, match="wait here, and go first"):
        push(monday.m1.desk(late))
    assert monday.remote.refs() == before


def test_what_was_given_away_is_not_pushed_where_the_remote_went_on(monday: Monday) -> None:
    with away(monday.m1):
        handed_over(monday)
    rubbish(monday)
    said = monday.m1.push("origin", WORK)
    assert said.code == 1
    assert "this machine offered the work to m2" in said.err


def test_notes_wait_no_longer_than_entries_and_one_bad_record_holds_up_no_other(
    monday: Monday,
) -> None:
    inside(monday.m1, "save").ok()
    with away(monday.m1):
        inside(monday.m1, "drop", "--reason", "train")
        queued(inside(monday.m1, "note", "on the train"))
        queued(inside(monday.m1, "note", "of another work", "--work", "feat/zz"))
    blob = git(monday.remote.path, "hash-object", "-w", "HEAD")
    git(monday.remote.path, "update-ref", REF, blob)
    inside(monday.m1, "status").ok()
    assert inside(monday.m1, "pending", "--json").ok().json["notes"] == [WORK]


def test_a_dry_run_that_is_refused_is_not_on_the_record(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    before = monday.remote.refs()
    refused(inside(monday.m2, "catch", WORK, "--dry-run"), 4, "m1 carries this work")
    assert monday.remote.refs() == before


@pytest.mark.parametrize("step", ["pending.write.after", "send.record.push.after"])
def test_a_carrier_whose_save_was_cut_off_after_the_record_moved_may_go_on_at_once(
    monday: Monday, step: str
) -> None:
    m1 = monday.m1
    if step.startswith("pending"):
        with away(m1):
            cut(m1, "save", step=step)
    else:
        cut(m1, "save", step=step)
    m1.write("src/money.py", "MONEY = 7\n")
    inside(m1, "save").ok()
    assert kinds(m1) == ["Caught", "Saved", "Saved"]


def test_what_an_undo_left_is_not_what_a_save_that_was_cut_off_had(sent: Monday) -> None:
    m2 = sent.m2
    inside(m2, "catch", WORK).ok()
    m2.write("src/money.py", "MONEY = 7\n")
    cut(m2, "save", step="send.record.push.after")
    inside(m2, "undo").ok()
    m2.git("switch", "-q", "-c", WORK)
    m2.write(".wip/HANDOFF.md", PAGE)
    refused(inside(m2, "save"), 3, "what stands here is not the feat/cny")


def test_rubbish_in_the_place_of_notes_hides_nothing_and_is_replaced(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    inside(monday.m1, "note", "one").ok()
    (ref,) = monday.remote.refs("refs/wip/notes")
    git(monday.remote.path, "update-ref", ref, git(monday.remote.path, "hash-object", "-w", "HEAD"))
    said = inside(monday.m3, "history", WORK).ok().out
    assert "its notes" in said
    assert "Saved" in said
    inside(monday.m1, "note", "two").ok()
    assert kinds(monday.m3) == ["Caught", "Saved", "Noted", "Noted"]


def test_a_work_that_was_dropped_before_its_bytes_reached_the_remote_says_who_has_them(
    sent: Monday,
) -> None:
    inside(sent.m2, "catch", WORK).ok()
    assert "nobody can catch the work" in inside(sent.m2, "drop", "--reason", "x").ok().err
    refused(inside(sent.m2, "catch", WORK), 8, "nowhere but here", "handsoff save")
    refused(inside(sent.m3, "catch", WORK), 6, "on m2: handsoff save")
    inside(sent.m2, "save").ok()
    inside(sent.m2, "drop", "--reason", "y").ok()
    inside(sent.m3, "catch", WORK).ok()


def test_a_second_clone_that_catches_finished_nothing_that_was_interrupted(monday: Monday) -> None:
    m1 = monday.m1
    inside(m1, "save").ok()
    top = monday.world.folder / "m1" / "second"
    git(monday.world.folder, "clone", "-q", str(monday.remote.path), str(top))
    second = Machine("m1", m1.home, top)
    inside(second, "init", "--trust", m1.desk().need_pin()).ok()
    said = inside(second, "catch", WORK).ok().err
    assert "interrupted" not in said
    assert "another checkout of it" in said


def test_a_catch_that_was_cut_off_is_not_finished_where_another_machine_carries_by_now(
    sent: Monday,
) -> None:
    before = look(sent.m2.top)
    cut(sent.m2, "catch", WORK)
    inside(sent.m2, "drop", WORK, "--reason", "no power").ok()
    sent.m3.writes(WORK, lambda pen: pen.caught())
    refused(inside(sent.m2, "catch", WORK), 4, "moved on", "handsoff undo")
    inside(sent.m2, "undo").ok()
    assert look(sent.m2.top) == before


def test_a_catch_that_was_cut_off_and_dropped_is_finished_and_said_to_be_dropped(
    sent: Monday,
) -> None:
    cut(sent.m2, "catch", WORK)
    inside(sent.m2, "drop", WORK, "--reason", "no power").ok()
    said = inside(sent.m2, "catch", WORK).ok().err
    assert "nobody carries it, it is dropped: handsoff save does" in said
    inside(sent.m2, "save").ok()
    assert sent.carrier == ("held", "m2", 3)


def test_a_push_that_may_not_land_any_more_takes_no_save_along(monday: Monday) -> None:
    m1, m3 = monday.m1, monday.m3
    with away(m1):
        queued(inside(m1, "save"))
        queued(inside(m1, "push"))
        queued(inside(m1, "offer", "--to", "m2"))
    m3.git("fetch", "-q")
    m3.git("switch", "-q", WORK)
    m3.commit("first")
    m3.push("-q", "origin", WORK).ok()
    news = inside(m1, "status", "--json").ok().json["news"]
    assert "the push that waited was refused" in news[0]
    assert "sent to origin what waited of feat/cny: save, offer" in news[1]
    assert kinds(m3) == ["Refused", "Caught", "Saved", "Saved", "Offered"]
    assert monday.remote.refs()[f"refs/heads/{WORK}"] == m3.git("rev-parse", "HEAD")
    inside(monday.m2, "catch", WORK).ok()
    assert waits(m1) == []


def test_a_record_from_the_future_is_named_by_status(monday: Monday) -> None:
    monday.m1.writes(WORK, lambda pen: pen.caught(), clock.now() + timedelta(days=3650))
    ran = inside(monday.m2, "status").ok()
    said = ran.out + ran.err
    assert "entries are dated 36" in said
    assert "ahead of this clock" in said


def test_an_offer_of_ones_own_is_taken_back_without_the_remote_by_withdrawing_it(
    monday: Monday,
) -> None:
    with away(monday.m1):
        assert inside(monday.m1, "offer", "--anyone").code == 6
        refused(inside(monday.m1, "catch", WORK), 8, "nowhere but here", "handsoff withdraw")
        assert inside(monday.m1, "withdraw").code == 6


def test_who_undid_another_work_is_not_told_that_this_one_was_undone(sent: Monday) -> None:
    m2 = sent.m2
    inside(m2, "catch", WORK).ok()
    inside(m2, "undo").ok()
    sent.m3.git("switch", "-q", "-c", "fix/two")
    sent.m3.write(".wip/HANDOFF.md", PAGE.replace(f"work: {WORK}\n", ""))
    inside(sent.m3, "send", "m2", "--via", "remote").ok()
    with away(m2):
        said = inside(m2, "catch", "fix/two")
    assert "was undone here" not in said.err


def two_revisions_in_a_file(monday: Monday) -> Machine:
    """Return m2, which has received a work of two pages as a file."""
    m1, m2, parcel = monday.m1, monday.m2, str(monday.world.folder / "parcel")
    inside(m1, "save").ok()
    m1.write(".wip/HANDOFF.md", PAGE + "\nMore.\n")
    inside(m1, "send", "m2", "--to-file", parcel).ok()
    inside(m2, "receive", parcel).ok()
    return m2


def test_a_parcel_brings_every_page_of_the_record(monday: Monday) -> None:
    m2 = two_revisions_in_a_file(monday)
    with away(m2):
        queued(inside(m2, "catch", WORK))
        assert "More." not in inside(m2, "history", WORK, "r1").out
        assert "More." in inside(m2, "history", WORK, "r2").out
        queued(inside(m2, "save"))
    inside(m2, "status").ok()
    assert kinds(m2) == ["Caught", "Saved", "Saved", "Offered", "Caught", "Saved"]


def test_a_page_that_never_came_here_is_fetched_once_the_remote_answers(monday: Monday) -> None:
    m2 = two_revisions_in_a_file(monday)
    with away(m2):
        queued(inside(m2, "catch", WORK))
        first = inside(m2, "history", WORK, "r1", "--json").ok().json["oid"]
        place = m2.desk().shared.objects / first[:2] / first[2:]
        place.unlink()  # as it was with parcels that had no such page
        refused(inside(m2, "history", WORK, "r1"), 6, "never came here", "hint")
    assert "More." not in inside(m2, "history", WORK, "r1").ok().out
