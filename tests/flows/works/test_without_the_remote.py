"""Without the remote: every verb works and waits; what waits lands whole, or says who won."""

import sys
import time
from datetime import timedelta

import pytest

from handsoff.core.works.lease import Recipient
from handsoff.edge import clock
from handsoff.errors import RefusedError
from handsoff.flows.waiting import Pending
from handsoff.flows.works import landing, letting, pending
from tests.kit.compare import look
from tests.kit.machines import Machine, Ran, git
from tests.kit.monday import WORK, Monday
from tests.kit.running import at_home, away, background, inside, refused, wait_for

REF = "refs/wip/lease/feat%2Fcny"
DAY = timedelta(hours=24)


def queued(ran: Ran) -> Ran:
    """Return how a command ended whose entries wait: it says so, and is not done."""
    assert ran.code == 6, ran.out + ran.err
    return ran


def tip(monday: Monday) -> str:
    return monday.remote.refs("refs/wip/lease").get(REF, "")


def kinds(machine: Machine) -> list[str]:
    told = inside(machine, "history", WORK, "--json").ok().json
    return [line["what"] for line in told["lines"] if not line["void"]]


def waits(machine: Machine) -> list[str]:
    told = inside(machine, "pending", "--json").ok().json
    return [verb["verb"] for verb in told["verbs"]]


def test_a_save_waits_with_its_parcel_and_lands_at_the_next_contact(monday: Monday) -> None:
    travels = monday.travels
    with away(monday.m1):
        told = queued(inside(monday.m1, "save", "--json")).json
        assert told["pending"]
        queued(inside(monday.m1, "note", "written on a train"))
        (verb,) = inside(monday.m1, "pending", "--json").ok().json["verbs"]
        assert (verb["verb"], verb["leg"], verb["revision"]) == ("save", 0, 0)
        assert "save, " in inside(monday.m1, "pending").ok().out
    assert tip(monday) == ""
    told = inside(monday.m1, "status", "--json").ok().json
    assert told["news"] == ["sent to origin what waited of feat/cny: save"]
    assert kinds(monday.m1) == ["Caught", "Saved", "Noted"]
    assert "nothing waits" in inside(monday.m1, "pending").ok().out
    inside(monday.m1, "drop", "--reason", "x").ok()
    inside(monday.m3, "catch", WORK).ok()
    assert look(monday.m3.top) == travels


def test_several_verbs_wait_and_land_in_their_order(monday: Monday) -> None:
    with away(monday.m1):
        queued(inside(monday.m1, "save"))
        monday.m1.write("src/money.py", "MONEY = 7\n")
        queued(inside(monday.m1, "save"))
        queued(inside(monday.m1, "offer", "--to", "m2"))
        assert waits(monday.m1) == ["save", "save", "offer"]
        assert monday.m1.push("origin", WORK).code != 0
    refused_push = monday.m1.push("origin", WORK)
    assert "offered the work to m2" in refused_push.err
    inside(monday.m1, "history", WORK).ok()
    # the offer has a parcel of its own, in which the record tells of it
    assert kinds(monday.m3) == ["Caught", "Saved", "Saved", "Saved", "Offered"]
    inside(monday.m2, "catch", WORK).ok()
    assert (monday.m2.top / "src/money.py").read_text() == "MONEY = 7\n"


def test_two_machines_hand_over_without_the_remote_and_it_confirms_them_later(
    monday: Monday,
) -> None:
    travels = monday.travels
    with away(monday.m1, monday.m2):
        with at_home(monday.m2) as there:
            sent = queued(inside(monday.m1, "send", "m2", "--at", there.address, "--json")).json
        assert sent["pending"]
        refused(inside(monday.m1, "withdraw"), 3, "has the parcel, and the remote cannot say")
        caught = queued(inside(monday.m2, "catch", WORK, "--json")).json
        assert caught["provisional"]
        assert look(monday.m2.top) == travels
        assert waits(monday.m2) == ["catch"]
        (work,) = inside(monday.m2, "status", "--json").ok().json["works"]
        assert (work["carrier"], work["state"], work["provisional"]) == ("m2", "held", True)
        assert "provisional: the remote has not confirmed it" in inside(monday.m2, "status").out
        monday.m2.write("src/money.py", "MONEY = 9\n")
        queued(inside(monday.m2, "save"))
        assert tip(monday) == ""
    assert kinds(monday.m2) == ["Caught", "Saved", "Offered", "Caught", "Saved"]
    assert monday.carrier == ("held", "m2", 2)
    assert kinds(monday.m1)[-1] == "Saved"
    assert waits(monday.m1) == waits(monday.m2) == []


def test_the_sender_may_be_back_first(monday: Monday) -> None:
    with away(monday.m1, monday.m2):
        with at_home(monday.m2) as there:
            queued(inside(monday.m1, "send", "m2", "--at", there.address))
        queued(inside(monday.m2, "catch", WORK))
    inside(monday.m1, "history", WORK).ok()
    assert monday.carrier == ("offered", "m1", 1)
    inside(monday.m2, "history", WORK).ok()
    assert monday.carrier == ("held", "m2", 2)


def test_a_file_hands_over_without_the_remote_as_well(monday: Monday) -> None:
    file = monday.world.folder / "x.handsoff"
    travels = monday.travels
    with away(monday.m1, monday.m2):
        queued(inside(monday.m1, "send", "m2", "--to-file", file))
        inside(monday.m2, "receive", file).ok()
        queued(inside(monday.m2, "catch", WORK))
        assert look(monday.m2.top) == travels
        refused(inside(monday.m1, "save"), 3, "is offered to m2 already")
    inside(monday.m2, "history", WORK).ok()
    assert monday.carrier == ("held", "m2", 2)


def caught_meanwhile(monday: Monday) -> None:
    """Let m1 save without the remote what m3 caught meanwhile, after a lapse."""
    inside(monday.m1, "save", "--hold", "1s").ok()
    time.sleep(1.1)  # the lease has run out: what comes next catches again
    monday.m1.write("src/money.py", "MONEY = 5\n")
    with away(monday.m1):
        queued(inside(monday.m1, "save"))
    later = clock.now() + timedelta(seconds=30)
    monday.m3.writes(WORK, lambda pen: pen.caught(), later)


def test_what_was_made_on_a_leg_that_ended_becomes_a_refusal_that_says_who_won(
    monday: Monday,
) -> None:
    caught_meanwhile(monday)
    before = tip(monday)
    told = inside(monday.m1, "history", WORK, "--json").ok().json
    refusals = [line for line in told["lines"] if line["what"] == "Refused"]
    assert refusals
    assert all("m3 has it (leg 2, r1)" in line["detail"] for line in refusals)
    assert tip(monday) == before
    kept = inside(monday.m1, "pending", "--json").ok().json
    assert kept["verbs"] == []
    assert "m3 has it" in kept["lost"][0]
    assert len(list((monday.m1.top / ".git/handsoff/parcels").glob("*.handsoff"))) >= 1


def test_after_a_day_it_waits_until_it_is_asked_for_and_is_signed_anew(monday: Monday) -> None:
    with away(monday.m1):
        queued(inside(monday.m1, "save"))
    desk = monday.m1.desk(clock.now() + DAY + timedelta(minutes=1))
    view = landing.flush(desk, desk.view(WORK))
    assert view.provisional
    assert "wait here" in view.news[0]
    assert tip(monday) == ""
    found = pending.pending(desk, send=True)
    assert found.verbs == ()
    assert kinds(monday.m3) == ["Caught", "Saved"]
    saved = monday.m3.desk(desk.now).view(WORK).record.saved
    assert saved is not None
    assert saved.at >= desk.now - timedelta(seconds=1)


def rubbish(monday: Monday) -> None:
    """Let somebody who may push put a commit of theirs on top of the record."""
    path = monday.remote.path
    words = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "commit-tree"]
    tree = git(path, "mktree")
    made = git(path, *words, "-m", "rubbish", *(["-p", tip(monday)] if tip(monday) else []), tree)
    git(path, "update-ref", REF, made)


def test_rubbish_that_came_meanwhile_is_stood_upon(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    with away(monday.m1):
        queued(inside(monday.m1, "save", "--page-only"))
    rubbish(monday)
    inside(monday.m1, "history", WORK).ok()
    assert kinds(monday.m3) == ["Caught", "Saved", "Saved"]


def test_what_landed_before_it_was_forgotten_lands_once(monday: Monday) -> None:
    with away(monday.m1):
        queued(inside(monday.m1, "save"))
    pending = Pending(monday.m1.checkout())
    waiting = pending.of(WORK)
    assert waiting is not None
    inside(monday.m1, "history", WORK).ok()
    pending.put(waiting)  # as if the run had been killed between the push and its last word
    inside(monday.m1, "history", WORK).ok()
    assert kinds(monday.m3) == ["Caught", "Saved"]
    assert pending.of(WORK) is None


def test_what_was_signed_anew_and_landed_before_it_was_forgotten_lands_once(
    monday: Monday,
) -> None:
    inside(monday.m1, "save").ok()
    with away(monday.m1):
        queued(inside(monday.m1, "save", "--page-only"))
    rubbish(monday)
    ended = monday.m1.run(
        "env", "HANDSOFF_KILL_AT=pending.landed.before",
        sys.executable, "-m", "handsoff", "history", WORK,
    )  # fmt: skip
    assert ended.code == -9
    inside(monday.m1, "history", WORK).ok()
    assert kinds(monday.m3) == ["Caught", "Saved", "Saved"]


def test_a_stale_catch_of_a_parcel_is_told_the_winner(monday: Monday) -> None:
    with away(monday.m2):
        with at_home(monday.m2) as there:
            inside(monday.m1, "send", "m2", "--at", there.address).ok()
        caught = queued(inside(monday.m2, "catch", WORK, "--json")).json
        assert caught["provisional"]
    monday.m1.writes(WORK, lambda pen: pen.withdrawn().offered(Recipient()))
    monday.m3.writes(WORK, lambda pen: pen.caught())
    ran = inside(monday.m2, "history", WORK).ok()
    assert "Refused Caught: made without the remote" in ran.out
    assert monday.carrier == ("held", "m3", 2)
    assert "m3" in inside(monday.m2, "status").ok().out


def test_nothing_waits_for_a_work_that_was_seen_by_nobody_here(monday: Monday) -> None:
    with away(monday.m3):
        refused(inside(monday.m3, "catch", WORK), 3, "nobody has handed over a work called")
        refused(inside(monday.m3, "withdraw", WORK), 3, "cannot be withdrawn")


def test_a_listener_sends_what_waits(monday: Monday) -> None:
    with away(monday.m1):
        queued(inside(monday.m1, "save"))
    file = monday.world.folder / "address"
    with background(monday.m1, "listen", "--bind", "127.0.0.1", "--address-file", file) as there:
        wait_for(lambda: not (monday.m1.top / ".git/handsoff/pending/feat%2Fcny.json").exists())
        time.sleep(0.3)  # it says so once it is done
        told = there.interrupt().err
    assert "sent to origin what waited of feat/cny: save" in told


def test_a_push_waits_and_moves_branch_and_record_together(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    head = monday.m1.git("rev-parse", "HEAD")
    with away(monday.m1):
        assert queued(inside(monday.m1, "push", "--json")).json["pending"]
        assert waits(monday.m1) == ["push"]
    inside(monday.m1, "status").ok()
    assert monday.remote.refs("refs/heads")[f"refs/heads/{WORK}"] == head
    assert kinds(monday.m3) == ["Caught", "Saved", "Pushed"]


def test_a_push_that_waited_too_long_for_its_branch_is_refused_and_jams_nothing(
    monday: Monday,
) -> None:
    inside(monday.m1, "save").ok()
    with away(monday.m1):
        queued(inside(monday.m1, "push"))
    git(monday.remote.path, "update-ref", f"refs/heads/{WORK}", "main")
    out = inside(monday.m1, "history", WORK).ok().out
    assert "Refused Pushed" in out
    assert "has moved on" in " ".join(out.split())
    assert waits(monday.m1) == []
    assert inside(monday.m1, "save").code == 0


def test_what_waits_is_never_pushed_aside_by_a_verb_on_top_of_the_remote(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    with away(monday.m1):
        queued(inside(monday.m1, "save", "--page-only"))
    rubbish(monday)
    desk = monday.m1.desk(clock.now() + DAY + timedelta(minutes=1))
    with pytest.raises(RefusedError, match="1 of feat/cny wait here, and the remote has gone on"):
        letting.save_page(desk, None)
    pending.pending(desk, send=True)
    assert kinds(monday.m3) == ["Caught", "Saved", "Saved"]
    assert waits(monday.m1) == []


def test_a_work_that_went_there_and_back_lands_turn_by_turn_around_rubbish(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    with away(monday.m1, monday.m2):
        for here, there in ((monday.m1, monday.m2), (monday.m2, monday.m1)):
            file = monday.world.folder / f"{there.name}.handsoff"
            inside(here, "send", there.name, "--to-file", file)
            inside(there, "receive", file)
            inside(there, "catch", WORK)
    rubbish(monday)
    for machine in (monday.m1, monday.m2, monday.m1):
        inside(machine, "history", WORK).ok()
    turn = ["Saved", "Offered", "Caught"]
    assert kinds(monday.m3) == ["Caught", "Saved", *turn, *turn]
    assert monday.carrier == ("held", "m1", 3)
    assert waits(monday.m1) == waits(monday.m2) == []


def test_a_refusal_that_was_cut_short_is_on_the_record_once(monday: Monday) -> None:
    caught_meanwhile(monday)
    with away(monday.m1):
        queued(inside(monday.m1, "save", "--page-only"))
    dying = {"HANDSOFF_KILL_AT": "note.push.before#2"}
    killed = Machine(monday.m1.name, monday.m1.home, monday.m1.top, dying)
    assert killed.handsoff("history", WORK).code == -9
    told = inside(monday.m1, "history", WORK, "--json").ok().json
    refusals = [line["detail"] for line in told["lines"] if line["what"] == "Refused"]
    assert [said.split(":")[0] for said in refusals] == ["Caught", "Saved", "Saved"]
    assert len(inside(monday.m1, "pending", "--json").ok().json["lost"]) == 1
