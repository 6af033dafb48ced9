"""Status and inbox: what is so, said on each machine, and never changed by asking."""

from pathlib import Path

from tests.kit.monday import WORK, Monday
from tests.kit.running import background, inside, refused, steps, wait_for


def status_of(monday: Monday, name: str) -> dict[str, object]:
    """Return what the status of a machine says of Monday's work."""
    machine = {"m1": monday.m1, "m2": monday.m2, "m3": monday.m3}[name]
    told = inside(machine, "status", "--json").ok().json
    (found,) = [w for w in told["works"] if w["work"] == WORK]
    return dict(found)


def test_a_work_that_nobody_handed_over_is_free(monday: Monday) -> None:
    before = monday.untouched()
    said = inside(monday.m1, "status").ok()
    assert f"* {WORK}: nobody has handed it over yet" in said.out
    told = inside(monday.m1, "status", "--json").ok().json
    assert (told["machine"], told["branch"]) == ("m1", WORK)
    assert told["founding"] == monday.m1.desk().pin
    assert (told["remote"], told["unfinished"]) == ("", "")
    assert status_of(monday, "m1")["state"] == "free"
    assert monday.untouched() == before


def test_a_work_in_the_middle_of_a_rebase_is_that_of_the_checkout(monday: Monday) -> None:
    monday.m1.git("reset", "-q", "--hard")
    monday.m1.run("git", "-c", "sequence.editor=sed -i 1ibreak", "rebase", "-i", "HEAD~1").ok()
    assert monday.m1.git("branch", "--show-current") == ""
    assert f"* {WORK}: nobody has handed it over yet" in inside(monday.m1, "status").ok().out


def test_an_offered_work_is_seen_alike_by_both_ends(sent: Monday) -> None:
    before = sent.untouched()
    giver, taker = status_of(sent, "m1"), status_of(sent, "m2")
    assert (giver["mine"], giver["for_me"]) == (True, False)
    assert (taker["mine"], taker["for_me"]) == (False, True)
    for found in (giver, taker):
        assert (found["state"], found["carrier"], found["to"]) == ("offered", "m1", "m2")
        assert (found["leg"], found["revision"]) == (1, 1)
        assert found["until"]
    said = inside(sent.m2, "status").ok().out
    assert f"{WORK}: offered by m1 to m2 since" in said
    assert f"next: handsoff catch {WORK}" in said
    assert sent.untouched() == before


def test_a_caught_work_is_held_by_the_catcher(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    for name in ("m1", "m2"):
        found = status_of(sent, name)
        assert (found["state"], found["carrier"], found["leg"]) == ("held", "m2", 2)
        assert found["mine"] == (name == "m2")
    assert f"* {WORK}: held by this machine since" in inside(sent.m2, "status").ok().out


def test_without_the_remote_it_tells_what_was_last_seen(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    sent.remote.path.rename(sent.world.folder / "away.git")
    said = inside(sent.m2, "status").ok()
    assert "the remote origin cannot be reached" in said.out
    assert "as last seen" in said.out
    assert f"{WORK}: held by this machine" in said.out
    told = inside(sent.m2, "status", "--json").ok().json
    assert "the remote origin cannot be reached" in told["remote"]


def test_a_catch_that_was_cut_off_is_named_with_the_command_that_finishes_it(
    sent: Monday, tmp_path: Path
) -> None:
    log = tmp_path / "steps"
    env = {"HANDSOFF_PAUSE_AT": "catch.caught.after:60", "HANDSOFF_STEPS_LOG": str(log)}
    with background(sent.m2, "catch", WORK, **env) as running:
        wait_for(lambda: "catch.caught.after" in steps(log))
        running.interrupt()
    said = inside(sent.m2, "status").ok()
    assert f"interrupted here; to finish it: handsoff catch {WORK}" in said.out


def test_the_inbox_lists_what_arrived_and_is_not_caught_yet(sent: Monday, tmp_path: Path) -> None:
    before = sent.untouched()
    (found,) = inside(sent.m2, "inbox", "--json", cwd=tmp_path).ok().json["parcels"]
    assert (found["work"], found["sender"], found["revision"]) == (WORK, "m1", 1)
    assert found["counts"]["commits"] == 2
    said = inside(sent.m2, "inbox", cwd=tmp_path).ok().out
    assert f"{WORK}  r1 from m1" in said
    assert f"next: handsoff catch {WORK}" in said
    assert sent.untouched() == before
    # sent once more: both lie there, and there is one thing to do
    inside(sent.m1, "withdraw").ok()
    sent.m1.write("src/money.py", "MONEY = 7\n")
    inside(sent.m1, "send", "m2", "--to-file", tmp_path / "x.handsoff").ok()
    inside(sent.m2, "receive", tmp_path / "x.handsoff").ok()
    said = inside(sent.m2, "inbox").ok().out
    assert (said.count("  r"), said.count("next: ")) == (2, 1)
    inside(sent.m2, "catch", WORK).ok()
    assert inside(sent.m2, "inbox", "--json").ok().json == {"parcels": []}
    empty = inside(sent.m2, "inbox").ok()
    assert (empty.out, empty.err) == ("", "nothing waits here to be caught\n")


def test_a_rewritten_record_is_not_believed(sent: Monday) -> None:
    ref = "refs/wip/lease/feat%2Fcny"
    inside(sent.m2, "catch", WORK).ok()
    path = sent.remote.path
    sent.m2.run("git", "update-ref", ref, f"{ref}~1", cwd=path).ok()
    said = inside(sent.m2, "status").ok().out
    assert "held by this machine" in said
    assert "the record of feat/cny was rewound on the remote" in said
    assert "next: handsoff doctor" in said
    before = sent.untouched()
    refused(inside(sent.m2, "send", "m3"), 7, "was rewound on the remote", "ask who")
    sent.m2.run("git", "update-ref", "-d", ref, cwd=path).ok()
    refused(inside(sent.m2, "send", "m3"), 7, "on the remote")
    assert {k: v for k, v in sent.untouched().items() if k != "refs"} == {
        k: v for k, v in before.items() if k != "refs"
    }
