"""Sending: what the guard stops, sending again, and against other hand-overs of the same work."""

import random
import re
import shutil
import string
from pathlib import Path

import pytest

from tests.kit.compare import look, untouched
from tests.kit.machines import Machine
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import at_home, away, background, inside, refused, steps, wait_for


def _token() -> str:
    letters = string.ascii_letters + string.digits
    return "ghp" + "_" + "".join(random.Random(4).choices(letters, k=36))


@pytest.mark.parametrize(
    "place", ["untracked", "staged", "commit", "stash", "message", "page", "branch"]
)
def test_a_token_does_not_leave_wherever_it_stands(monday: Monday, place: str) -> None:
    m1, token = monday.m1, f"token = {_token()}\n"
    if place == "page":
        m1.write(".wip/HANDOFF.md", PAGE + token)
    elif place == "branch":
        m1.git("branch", "-m", f"try-{_token()}")
        m1.write(".wip/HANDOFF.md", PAGE.replace(f"work: {WORK}\n", ""))
    elif place == "message":
        m1.git("commit", "-q", "--allow-empty", "-m", token)
    else:
        m1.write("fixture.txt", token)
    if place in ("staged", "commit", "stash"):
        m1.git("add", "fixture.txt")
    if place == "commit":
        m1.git("commit", "-q", "-m", "x", "fixture.txt")
        m1.git("rm", "-q", "fixture.txt")
        m1.git("commit", "-q", "-m", "y", "fixture.txt")
    if place == "stash":
        m1.git("rm", "-q", "--cached", "src/soon.py")  # git cannot stash beside an intent to add
        m1.git("stash", "push", "-q", "-m", "with token", "fixture.txt")
    before = monday.untouched()
    with at_home(monday.m2) as there:
        said = inside(m1, "send", "m2", "--at", there.address)
    refused(said, 3, "must not leave this machine", "--allow FINGERPRINT")
    assert _token() not in said.err
    assert there.arrived == []
    assert monday.untouched() == before


def test_a_finding_that_was_looked_at_may_pass(monday: Monday) -> None:
    monday.m1.write("fixture.txt", f"token = {_token()}\n")
    said = inside(monday.m1, "send", "m2", "--via", "remote")
    (fingerprint,) = re.findall(r"\[--allow (\w+)\]", said.err)
    told = inside(monday.m1, "send", "m2", "--via", "remote", "--allow", fingerprint, "--json")
    assert told.ok().json["waived"] == [fingerprint]


def test_sending_again_with_nothing_changed_is_done_already(sent: Monday) -> None:
    before = sent.untouched()
    told = inside(sent.m1, "send", "m2", "--json").ok().json
    assert (told["already"], told["revision"]) == (True, 1)
    assert "is offered to m2 already" in inside(sent.m1, "send", "m2").ok().err
    assert sent.untouched() == before


def test_sending_again_after_a_change_is_refused(sent: Monday) -> None:
    sent.m1.write("src/money.py", "MONEY = 2\n")
    before = sent.untouched()
    said = inside(sent.m1, "send", "m2")
    refused(said, 3, f"{WORK} was handed to m2", "what changed here since is not in it")
    assert sent.untouched() == before


def test_a_work_that_was_handed_over_is_not_handed_to_a_third(sent: Monday) -> None:
    before = sent.untouched()
    refused(inside(sent.m1, "send", "m3"), 3, f"{WORK} is offered to m2 already")
    inside(sent.m2, "catch", WORK).ok()
    said = inside(sent.m1, "send", "m3")
    refused(said, 4, "m2 carries this work since")
    assert sent.carrier == ("held", "m2", 2)
    assert untouched(sent.m1.top).items() <= before.items()


def test_who_does_not_carry_a_work_cannot_send_it(sent: Monday) -> None:
    sent.m3.git("fetch", "-q")
    sent.m3.git("switch", "-q", WORK)
    sent.m3.write(".wip/HANDOFF.md", PAGE)
    before = sent.untouched()
    refused(inside(sent.m3, "send", "m2"), 4, "this work is offered to m2, not m3")
    assert sent.untouched() == before


def test_a_push_after_the_hand_over_is_stopped(sent: Monday) -> None:
    before = sent.remote.refs()
    for _ in range(2):
        said = sent.m1.push("origin", WORK)
        assert said.code == 1
        assert f"handsoff: {WORK}: " in said.err
        assert "m2" in said.err
        inside(sent.m2, "catch", WORK).ok()
    heads = {ref: oid for ref, oid in sent.remote.refs().items() if "heads" in ref}
    assert heads.items() <= before.items()


def test_two_commands_in_one_clone_wait_for_each_other(monday: Monday) -> None:
    before = monday.untouched()
    with monday.m1.checkout().lock():
        refused(inside(monday.m1, "send", "m2"), 8, "another handsoff command is at work")
    assert monday.untouched() == before


def test_of_two_hand_overs_from_two_clones_one_succeeds(monday: Monday, tmp_path: Path) -> None:
    m1 = monday.m1
    shutil.copytree(m1.top, tmp_path / "second", symlinks=True)
    second = Machine("m1", m1.home, tmp_path / "second")
    log = tmp_path / "steps"
    env = {"HANDSOFF_PAUSE_AT": "send.record.push.before:3", "HANDSOFF_STEPS_LOG": str(log)}
    with background(m1, "send", "m3", "--via", "remote", **env) as slow:
        wait_for(lambda: "send.record.push.before" in steps(log))
        inside(second, "send", "m2", "--via", "remote").ok()
        ended = slow.end()
    refused(ended, 5, f"m1 was faster with {WORK}: it is offered to m2")
    assert "interrupted" not in inside(m1, "pending").out, "nothing can go on with what lost"
    assert inside(monday.m3, "catch", WORK).code == 4
    assert inside(monday.m2, "catch", WORK).code == 0


@pytest.mark.parametrize("where", ["send.capture.before", "send.record.push.before"])
def test_a_send_that_is_interrupted_leaves_nothing_and_can_be_typed_again(
    monday: Monday, tmp_path: Path, where: str
) -> None:
    before, travels = monday.untouched(), monday.travels
    log = tmp_path / "steps"
    with at_home(monday.m2) as there:
        words = ("send", "m2", "--at", there.address)
        env = {"HANDSOFF_PAUSE_AT": f"{where}:60", "HANDSOFF_STEPS_LOG": str(log)}
        with background(monday.m1, *words, **env) as running:
            wait_for(lambda: where in steps(log))
            ended = running.interrupt()
        assert ended.code == 130
        assert "Traceback" not in ended.err
        assert "interrupted" in ended.err
        assert monday.carrier == ("free", "", 0)
        assert untouched(monday.m1.top).items() <= before.items()
        inside(monday.m1, *words).ok()
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels
    assert not [*(monday.m2.home / "inbox").iterdir()]


@pytest.mark.parametrize("step", ["send.record.push.after", "memory.here.before"])
def test_a_send_that_was_killed_after_the_record_had_moved_leaves_no_parcel_here(
    monday: Monday, step: str
) -> None:
    m1 = monday.m1
    dying = Machine(m1.name, m1.home, m1.top, {"HANDSOFF_KILL_AT": step})
    with at_home(monday.m2) as there:
        assert dying.handsoff("send", "m2", "--at", there.address).code == -9
    assert inside(m1, "send", "m2", "--json").ok().json["already"]
    assert list((m1.checkout().store_dir / "parcels").iterdir()) == []
    assert monday.carrier == ("offered", "m1", 1)


def test_what_waits_for_the_remote_still_waits_when_it_is_typed_again(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    parcel = str(monday.world.folder / "parcel")
    words = ("send", "m2", "--to-file", parcel)
    with away(m1), away(m2):
        assert inside(m1, *words).code == 6
        said = inside(m1, *words)
        assert said.code == 6
        assert f"{WORK} is offered to m2 already (r1); nothing was sent again" in said.err
        assert "the record waits here" in said.err
        assert inside(m1, *words, "--json").json["pending"]
        inside(m2, "receive", parcel).ok()
        for _ in range(2):
            said = inside(m2, "catch", WORK)
            assert said.code == 6
            assert "the remote has not confirmed it yet" in said.err
    assert inside(m2, "catch", WORK).ok().code == 0
