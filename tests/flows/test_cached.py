"""What hooks of agents are told: state.json follows the verbs, on both machines."""

import json
import stat
from datetime import timedelta
from typing import Any

import pytest

from handsoff.edge import clock
from handsoff.flows import cached
from tests.kit.machines import Machine, World
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import at_home, away, inside

TRAPS = "\n## Traps\n\n- The table is\x1b[31m red.\n- " + "long " * 100 + "\n"


def state(machine: Machine) -> Any:
    path = machine.top / ".git" / "handsoff" / "state.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return json.loads(path.read_bytes())


def told(machine: Machine, work: str = WORK) -> Any:
    return state(machine)["works"][work]


def brief(machine: Machine) -> tuple[object, ...]:
    entry = told(machine)
    names = ("state", "here", "last_here", "offered_to_me", "may_push", "may_push_then")
    return (entry["carrier"]["name"], *(entry[name] for name in names))


def test_it_follows_a_work_from_one_machine_to_the_other(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    m1.write(".wip/HANDOFF.md", PAGE + TRAPS)
    inside(m1, "save").ok()
    assert brief(m1) == ("m1", "held", True, True, False, True, True)
    assert told(m1)["next"] == "Make the rounding test pass."
    assert told(m1)["traps"][0] == "The table is[31m red."
    assert len(told(m1)["traps"][1]) == 200
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
        (wait,) = state(m2)["waits"]
    assert (wait["work"], wait["from"], wait["revision"]) == (WORK, "m1", 2)
    assert brief(m1) == ("m1", "offered", False, True, False, False, True)
    inside(m2, "status").ok()
    assert brief(m2) == ("m1", "offered", False, False, True, False, False)
    assert state(m2)["waits"][0]["until"] == told(m2)["until"] > 0
    inside(m2, "catch", WORK).ok()
    assert brief(m2) == ("m2", "held", True, True, False, True, True)
    assert state(m2)["waits"] == []
    assert told(m2)["taken"] is None
    inside(m1, "status").ok()
    assert brief(m1) == ("m2", "held", False, False, False, False, False)
    inside(m2, "drop", "--reason", "off\x1b[0m home").ok()
    inside(m1, "status").ok()
    assert brief(m1) == ("m2", "dropped", False, False, False, False, False)
    assert told(m1)["drop"] | {"since": 0} == {
        "by": "m2", "reason": "off[0m home", "since": 0, "blocked": False,
    }  # fmt: skip
    assert brief(m2)[-2:] == (True, True)


def test_who_takes_a_dropped_work_is_told_until_the_next_save(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    inside(monday.m1, "drop", "--reason", "x").ok()
    inside(monday.m2, "catch", WORK).ok()
    assert told(monday.m2)["taken"]["by"] == "m1"
    inside(monday.m2, "save", "--page-only").ok()
    assert told(monday.m2)["taken"] is None


def test_what_waits_for_the_remote_counts_and_is_called_provisional(monday: Monday) -> None:
    inside(monday.m1, "save").ok()
    with away(monday.m1):
        inside(monday.m1, "drop", "--reason", "x")
        assert (told(monday.m1)["state"], told(monday.m1)["provisional"]) == ("dropped", True)
    inside(monday.m1, "status").ok()
    assert (told(monday.m1)["state"], told(monday.m1)["provisional"]) == ("dropped", False)


@pytest.mark.parametrize("seconds", [-1, 0])
def test_what_runs_out_is_told_as_pre_push_judges_it_then(world: World, seconds: int) -> None:
    m1, m2 = world.members("m1", "m2")
    record = m1.writes("feat/x", lambda pen: pen.caught())
    until = record.lease.until
    assert until is not None
    for machine in (m1, m2):
        inside(machine, "status").ok()
        entry = told(machine, "feat/x")
        judged = record.may_push(machine.member().id, until + timedelta(seconds=seconds))
        assert entry["may_push_then" if seconds >= 0 else "may_push"] is judged.allowed


def test_a_damaged_file_is_made_anew_with_all_works(world: World) -> None:
    (m1,) = world.members("m1")
    m1.writes("feat/x", lambda pen: pen.caught())
    m1.writes("feat/y", lambda pen: pen.caught())
    m1.git("config", "handsoff.guardEdits", "warn")
    m1.git("config", "handsoff.autosave", "5m")
    inside(m1, "status").ok()
    assert state(m1)["settings"] == {"edits": "warn", "save_every": 300}
    (m1.top / ".git" / "handsoff" / "state.json").write_bytes(b"{")
    cached.write(m1.desk(clock.now()), None)
    assert state(m1)["works"].keys() == {"feat/x", "feat/y"}
