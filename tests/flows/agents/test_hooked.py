"""What hooks of agents start in the background, and what their sessions hear of it later."""

import json
import sys
from pathlib import Path
from typing import Any, Final

from tests.kit.hooking import event, said
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import inside, wait_for

_HOOK: Final = "from handsoff.hook import main; main()"


def apart(machine: Machine, agent: str, given: dict[str, Any]) -> str:
    """Run the hook as a process, as agents do."""
    words = [sys.executable, "-P", "-c", _HOOK, agent]
    return machine.run(*words, given=json.dumps(given)).ok().out


def store(machine: Machine) -> Path:
    return machine.top / ".git" / "handsoff"


def test_a_session_is_told_once_that_the_work_was_caught_meanwhile(monday: Monday) -> None:
    m1, m2 = monday.m1, monday.m2
    inside(m1, "save").ok()
    start = event("SessionStart", m1.top, source="startup")
    first = said("claude", "SessionStart", apart(m1, "claude", start))
    assert "this machine (m1) carries feat/cny" in first
    assert "Make the rounding test pass." in first
    inside(m1, "offer", "--to", "m2").ok()
    inside(m2, "catch", WORK).ok()
    (store(m1) / "hooked-refresh").unlink()
    apart(m1, "claude", {**start, "source": "clear", "session_id": "other"})
    prompt = event("UserPromptSubmit", m1.top, prompt="go on")

    def state() -> Any:
        return json.loads((store(m1) / "state.json").read_text())["works"][WORK]

    wait_for(lambda: state()["carrier"]["name"] == "m2")
    told = [said("claude", "UserPromptSubmit", apart(m1, "claude", prompt)) for _ in range(2)]
    assert "m2 carries feat/cny since" in told[0]
    assert told[1] == ""
    wait_for(lambda: "claude session 0199a213 started" in inside(m2, "history", WORK).out)


def test_a_stop_saves_in_the_background_and_not_again_soon(monday: Monday) -> None:
    m1 = monday.m1
    inside(m1, "save").ok()
    for name in ("handsoff/__init__.py", "json.py", "typer.py", "sitecustomize.py"):
        m1.write(name, "raise SystemExit('imported from the checkout')\n")
    stop = event("Stop", m1.top, stop_hook_active=False)
    assert apart(m1, "codex", stop) == ""
    wait_for(lambda: monday.m2.record(WORK).lease.revision == 2)
    stamp = store(m1) / "hooked-save"
    before = stamp.stat().st_mtime
    assert apart(m1, "codex", stop) == ""
    assert stamp.stat().st_mtime == before
