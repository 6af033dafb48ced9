"""The verbs of the record: save, offer, withdraw, drop, close, note; and what history tells."""

from datetime import timedelta
from pathlib import Path

import pytest

from handsoff.edge import clock
from tests.kit.compare import look, untouched
from tests.kit.machines import Machine, git
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import away, inside, refused

HOUR = timedelta(hours=1)


def parcels(monday: Monday) -> list[str]:
    return [ref.rpartition("/")[2] for ref in monday.remote.refs("refs/wip/snap")]


def kinds(machine: Machine) -> list[str]:
    told = inside(machine, "history", WORK, "--json").ok().json
    return [line["what"] for line in told["lines"]]


def standing(monday: Monday) -> str:
    record = monday.m3.desk().view(WORK).record
    name = record.roster.name_of(record.lease.carrier)
    return f"{record.lease.state.value} {name} leg {record.lease.leg} r{record.lease.revision}"


def test_a_save_leaves_what_any_machine_can_catch_after_a_drop(monday: Monday) -> None:
    travels, before = monday.travels, untouched(monday.m1.top)
    told = inside(monday.m1, "save", "--json").ok().json
    assert (told["verb"], told["revision"], told["leg"], told["pending"]) == ("save", 1, 1, False)
    assert untouched(monday.m1.top) == before
    assert parcels(monday) == [told["parcel"]]
    assert inside(monday.m3, "catch", WORK).code == 4
    inside(monday.m1, "drop", "--reason", "off to a meeting").ok()
    caught = inside(monday.m3, "catch", WORK, "--json").ok().json
    assert look(monday.m3.top) == travels
    assert caught["check_first"][0].startswith("contact with m1 was lost: it dropped the work")
    assert "off to a meeting" in caught["check_first"][0]
    assert "the last accepted save is r1" in caught["check_first"][1]
    assert "may be done already: Make the rounding test pass." in caught["check_first"]
    assert "--blocked" in caught["check_first"][-1]
    assert standing(monday) == "held m3 leg 2 r1"


def test_only_the_carrier_saves_and_the_refusal_is_on_the_record(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    inside(monday.m1, "offer", "--to", "m2").ok()
    inside(monday.m2, "catch", WORK).ok()
    for verb in (["save"], ["save", "--page-only"], ["offer", "--anyone"], ["withdraw"]):
        refused(inside(monday.m1, *verb), 4, "m2 carries this work")
    refused(inside(monday.m1, "drop", "--reason", "no"), 4, "m2 carries this work")
    told = inside(monday.m2, "history", WORK, "--json").ok().json
    refusals = [line for line in told["lines"] if line["what"] == "Refused"]
    assert {line["by"] for line in refusals} == {"m1"}
    assert any("Saved: m2 carries this work" in line["detail"] for line in refusals)


def test_a_page_alone_is_a_revision_and_the_bytes_are_those_before(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    travels = monday.travels
    later = PAGE.replace("Make the rounding", "Make the other")
    monday.m1.write(".wip/HANDOFF.md", later)
    told = inside(monday.m1, "save", "--page-only", "--json").ok().json
    assert (told["revision"], len(parcels(monday))) == (2, 1)
    inside(monday.m1, "drop", "--reason", "x").ok()
    caught = inside(monday.m2, "catch", WORK, "--json").ok().json
    assert (caught["revision"], caught["bytes_of"]) == (2, 1)
    assert "Make the other" in caught["saved_page"]
    assert look(monday.m2.top) == travels
    for number, text in ((1, "Make the rounding"), (2, "Make the other")):
        assert text in inside(monday.m3, "history", WORK, f"r{number}").ok().out
    refused(inside(monday.m3, "history", WORK, "r3"), 3, "has no r3")


def test_saving_the_same_again_leaves_no_second_parcel_and_pushes_the_lease_on(
    monday: Monday,
) -> None:
    first = inside(monday.m1, "save", "--json").ok().json
    again = inside(monday.m1, "save", "--hold", "2h", "--json").ok().json
    assert (again["revision"], again["parcel"]) == (2, first["parcel"])
    assert parcels(monday) == [first["parcel"]]
    assert again["until"] > first["until"]


def test_an_offer_of_what_was_saved_adds_no_bytes(monday: Monday) -> None:
    saved = inside(monday.m1, "save", "--json").ok().json
    told = inside(monday.m1, "offer", "--anyone", "--deadline", "4h", "--json").ok().json
    assert (told["parcel"], told["revision"]) == (saved["parcel"], 1)
    assert kinds(monday.m1) == ["Caught", "Saved", "Offered"]
    travels = monday.travels
    inside(monday.m3, "catch", WORK).ok()
    assert look(monday.m3.top) == travels


def test_an_offer_saves_first_what_changed_since(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    monday.m1.write("src/money.py", "MONEY = 2\n")
    told = inside(monday.m1, "offer", "--to", "m2", "--json").ok().json
    assert told["revision"] == 2
    inside(monday.m2, "catch", WORK).ok()
    assert (monday.m2.top / "src/money.py").read_text() == "MONEY = 2\n"


def test_an_offer_to_a_person_is_for_any_machine_of_theirs(monday: Monday) -> None:
    inside(monday.m1, "offer", "--to", "lin").ok()
    inside(monday.m3, "catch", WORK).ok()
    refused(inside(monday.m1, "offer"), 2, "whom is it for?")
    assert inside(monday.m1, "offer", "--to", "nobody").code == 2


def test_an_offer_is_taken_back_and_the_work_goes_on(monday: Monday) -> None:
    inside(monday.m1, "offer", "--to", "m2").ok()
    refused(inside(monday.m2, "withdraw", WORK), 4, "m1 carries this work")
    told = inside(monday.m1, "withdraw", "--hold", "1h", "--json").ok().json
    assert (told["state"], told["pending"]) == ("held", False)
    assert inside(monday.m2, "catch", WORK).code == 4
    refused(inside(monday.m1, "withdraw"), 3, "a work that is held cannot be withdrawn")
    inside(monday.m1, "send", "m3", "--via", "remote").ok()
    inside(monday.m3, "catch", WORK).ok()


def test_a_blocked_work_says_so_where_it_is_seen(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    refused(inside(monday.m1, "drop"), 3, "why is it dropped?")
    inside(monday.m1, "drop", "--blocked", "--reason", "was the migration run?").ok()
    assert "BLOCKED: was the migration run?" in inside(monday.m2, "status").ok().out
    caught = inside(monday.m2, "catch", WORK).ok()
    assert "BLOCKED: was the migration run?" in caught.err
    assert "check before you repeat" in caught.err


def test_what_lapsed_is_caught_with_the_same_warning(monday: Monday) -> None:
    inside(monday.m1, "save", "--hold", "1s").ok()
    desk = monday.m2.desk(clock.now() + HOUR)
    from handsoff.flows.catching.catch import catch
    from handsoff.flows.phases import Phases

    caught = catch(desk, WORK, Phases("catch"))
    assert caught.check_first[0].startswith("contact with m1 was lost: its lease ran out at")


def test_a_closed_work_is_over_until_somebody_catches_it(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    told = inside(monday.m1, "close", "--outcome", "abandoned", "--json").ok().json
    assert told["state"] == "closed"
    refused(inside(monday.m1, "close", "--outcome", "lost"), 2, "no outcome called lost")
    refused(inside(monday.m1, "close"), 2, "nobody said how the work ended", "--outcome merged")
    monday.m1.git("push", "-q", "origin", WORK)


def test_what_was_let_go_is_not_taken_up_again_unseen(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    inside(monday.m1, "close", "--outcome", "merged").ok()
    refused(inside(monday.m1, "close", "--outcome", "abandoned"), 3, "closed already, as merged")
    assert "it was closed (merged)" in inside(monday.m1, "save").ok().err
    inside(monday.m1, "drop", "--reason", "x").ok()
    assert "caught again" in inside(monday.m1, "save", "--page-only").ok().err
    inside(monday.m1, "drop", "--blocked", "--reason", "was it run?").ok()
    before = standing(monday)
    ends = ["close", "--outcome", "merged"]
    for verb in (["save"], ["save", "--page-only"], ["send", "m2"], ["push"], ends):
        refused(inside(monday.m1, *verb), 3, "blocked: was it run?", "handsoff catch")
    assert standing(monday) == before
    inside(monday.m1, "catch", WORK).ok()
    inside(monday.m1, "save").ok()


def test_notes_come_from_anyone_and_move_nothing(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    before = standing(monday)
    inside(monday.m2, "note", "the fixture is wrong", "--work", WORK).ok()
    inside(monday.m2, "note", "no, it is right", "--work", WORK).ok()
    inside(monday.m1, "save").ok()
    assert standing(monday) == before.replace("r1", "r2")
    told = inside(monday.m3, "history", WORK, "--json").ok().json["lines"]
    assert [(n["what"], n["by"]) for n in told] == [
        ("Caught", "m1"), ("Saved", "m1"), ("Noted", "m2"), ("Noted", "m2"), ("Saved", "m1")
    ]  # fmt: skip
    refused(inside(monday.m1, "note", " "), 3, "an empty note says nothing")


def test_a_note_that_the_remote_refuses_does_not_wait_to_be_there_twice(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    hook = monday.remote.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    refused(inside(monday.m2, "note", "once", "--work", WORK), 3, "a hook of the remote")
    assert inside(monday.m2, "pending", "--json").ok().json["notes"] == []
    hook.unlink()
    inside(monday.m2, "note", "once", "--work", WORK).ok()
    assert kinds(monday.m3).count("Noted") == 1


def test_what_is_no_work_and_no_branch_gets_no_record_and_no_note(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    before = monday.remote.refs("refs/wip")
    said = "nobody has handed over a work called no/such"
    for words in (
        ["note", "x", "--work"], ["close", "--outcome", "merged"], ["withdraw"],
        ["drop", "--reason", "x"],
    ):  # fmt: skip
        refused(inside(monday.m2, *words, "no/such"), 3, said, "handsoff status")
    assert monday.remote.refs("refs/wip") == before
    inside(monday.m2, "note", "main is a branch here", "--work", "main").ok()
    with away(monday.m3):
        assert (
            inside(monday.m3, "note", "who knows without the remote", "--work", "no/such").code == 6
        )


def test_an_empty_name_of_a_work_is_never_the_work_of_the_checkout(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    before = monday.untouched()
    for words in (
        ["drop", "--reason", "x"], ["close", "--outcome", "merged"], ["withdraw"], ["catch"],
        ["history"], ["note", "x", "--work"],
    ):  # fmt: skip
        refused(inside(monday.m1, *words, ""), 2, "the name of the work is empty")
    assert monday.untouched() == before


def test_history_is_a_table_that_fits_80_columns(monday: Monday) -> None:
    inside(monday.m1, "offer", "--to", "m2").ok()
    inside(monday.m1, "note", "a long story that goes on and on " * 8).ok()
    out = inside(monday.m3, "history", WORK).ok().out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "Offered to m2 by remote, until" in out
    refused(inside(monday.m3, "history", "no/such"), 3, "nobody has written anything about no/such")
    refused(inside(monday.m1, "history", "r1"), 3, f"handsoff history {WORK} r1")


def test_the_last_three_parcels_are_kept(monday: Monday) -> None:
    made = []
    for number in range(5):
        monday.m1.write("src/money.py", f"MONEY = {number}\n")
        made.append(inside(monday.m1, "save", "--json").ok().json["parcel"])
    assert sorted(parcels(monday)) == sorted(made[-3:])


def test_a_dry_run_writes_nothing(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    before = monday.untouched()
    for words in (
        ["save"], ["save", "--page-only"], ["offer", "--anyone"],
        ["close", "--outcome", "merged"],
        ["drop", "--reason", "x"],
    ):  # fmt: skip
        inside(monday.m1, *words, "--dry-run").ok()
    assert monday.untouched() == before


@pytest.mark.parametrize("hold", ["0m", "soon", "5", "9999d"])
def test_lengths_of_time_are_checked(monday: Monday, hold: str) -> None:
    assert inside(monday.m1, "save", "--hold", hold).code == 2
    monday.m1.git("config", "handsoff.hold", hold)
    refused(inside(monday.m1, "save"), 2, "git config handsoff.hold")


def test_the_hold_of_this_clone_is_used(monday: Monday) -> None:
    monday.m1.git("config", "handsoff.hold", "3h")
    inside(monday.m1, "save").ok()
    lease = monday.m3.desk().view(WORK).record.lease
    assert lease.length == 3 * HOUR


def test_a_drop_warns_where_the_bytes_are_nowhere(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    told = inside(sent.m2, "drop", "--reason", "x")
    assert "are not on the remote" in told.ok().err


def test_a_saved_page_stays_as_it_was(monday: Monday, tmp_path: Path) -> None:
    inside(monday.m1, "save").ok()
    tip = monday.remote.refs("refs/wip/lease")[f"refs/wip/lease/{WORK.replace('/', '%2F')}"]
    first = git(monday.remote.path, "cat-file", "blob", f"{tip}:page.md")
    monday.m1.write(".wip/HANDOFF.md", PAGE + "\nmore\n")
    inside(monday.m1, "save").ok()
    page = inside(monday.m2, "history", WORK, "r1", "--json").ok().json
    assert page["page"].rstrip("\n") == first == PAGE.rstrip("\n")
    assert git(monday.remote.path, "cat-file", "blob", page["oid"]) == first


def killed(machine: Machine, step: str, *words: str) -> None:
    dying = Machine(machine.name, machine.home, machine.top, {"HANDSOFF_KILL_AT": step})
    assert dying.handsoff(*words).code == -9


@pytest.mark.parametrize(
    "step",
    [
        "send.record.push.after",
        "memory.here.before",
        "memory.left.before",
        "memory.sending.before#2",
    ],
)
def test_a_save_that_was_killed_after_the_record_had_moved_is_one_save(
    monday: Monday, step: str
) -> None:
    killed(monday.m1, step, "save")
    ran = inside(monday.m1, "save", "--json").ok().json
    assert (ran["already"], ran["revision"]) == (True, 1)
    assert kinds(monday.m1) == ["Caught", "Saved"]
    assert inside(monday.m1, "pending", "--json").ok().json["unfinished"] == []
    monday.m1.write("src/money.py", "MONEY = 7\n")
    killed(monday.m1, step, "save")
    monday.m1.write("src/money.py", "MONEY = 8\n")
    # what changed since the kill is another revision, or goes out with an offer
    inside(monday.m1, "offer", "--to", "m2").ok()
    assert kinds(monday.m1) == ["Caught", "Saved", "Saved", "Saved", "Offered"]
    inside(monday.m2, "catch", WORK).ok()
    assert (monday.m2.top / "src/money.py").read_text() == "MONEY = 8\n"


def test_a_work_without_bytes_is_carried_on_from_its_page(monday: Monday) -> None:
    inside(monday.m1, "save", "--page-only").ok()
    inside(monday.m1, "drop", "--reason", "nothing on disk").ok()
    refused(inside(monday.m2, "catch", WORK), 3, "no bytes to catch", "--page-only")
    before = monday.untouched()
    inside(monday.m2, "catch", WORK, "--page-only", "--dry-run").ok()
    assert monday.untouched() == before
    ran = inside(monday.m2, "catch", WORK, "--page-only").ok()
    assert "Make the rounding test pass." in ran.out
    assert "contact with m1 was lost" in ran.err
    assert untouched(monday.m2.top).items() <= before.items()
    monday.m2.git("fetch", "-q")
    monday.m2.git("switch", "-q", WORK)
    monday.m2.write(".wip/HANDOFF.md", PAGE)
    inside(monday.m2, "save").ok()
    assert standing(monday) == "held m2 leg 2 r2"


def test_bytes_that_are_nowhere_do_not_jam_a_work(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    inside(sent.m2, "drop", "--reason", "x").ok()
    assert inside(sent.m3, "catch", WORK).code != 0
    inside(sent.m3, "catch", WORK, "--page-only").ok()
    sent.m3.git("fetch", "-q")
    sent.m3.git("switch", "-q", WORK)
    sent.m3.write(".wip/HANDOFF.md", PAGE)
    inside(sent.m3, "save").ok()
    assert standing(sent) == "held m3 leg 3 r2"


def test_a_carrier_whose_clock_is_years_ahead_is_outwaited(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    ahead = clock.now() + 3653 * 24 * HOUR
    second = timedelta(seconds=1)
    monday.m1.writes(WORK, lambda pen: pen.caught(hold=second), ahead)
    refused(inside(monday.m2, "catch", WORK), 4, "carries this work")
    ran = inside(monday.m2, "catch", WORK, "--wait", "--page-only")
    assert "waiting for m1" in ran.ok().err
    assert "contact with m1 was lost: its lease ran out at" in ran.err
    assert standing(monday) == "held m2 leg 3 r1"
    refused(inside(monday.m1, "save"), 4, "m2 carries this work")
