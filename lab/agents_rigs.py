"""The real agents, without network or account: do they resume what moved, do they hear a denial?

Run as root from a checkout with what the tests need:

    npm install --prefix DIR @anthropic-ai/claude-code @openai/codex
    python lab/agents_rigs.py DIR [WORD ...]

Not part of the tests. Everything runs in a network namespace that has loopback only, against
lab/agents_server.py and with a key that is none; homes of agents and people are temporary
folders. Two machines stand on one remote, in folders of different names. Prints a line for each
case; a WORD picks the cases whose name has it. An agent that is not there is no failure.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "lab")]

from agents_server import PUSH, SAID, Model  # noqa: E402

from handsoff.core.settings import adapters  # noqa: E402
from handsoff.core.settings.settings_text import Found  # noqa: E402
from tests.kit.machines import Machine, Ran, World, run, sealed  # noqa: E402

INSIDE: Final = "HANDSOFF_LAB_INSIDE"
PAGE: Final = "# Handoff\n\n## Next\nGo on.\n\n## Tried and failed\n- x\n\n## Do not touch\n- y\n"
WORK: Final = "feat/moved"
FIRST: Final = "remember the word heliotrope"
PLACES: Final = {"claude": "@anthropic-ai/claude-code*/claude",
                 "codex": "@openai/codex-*/vendor/*/bin/codex"}  # fmt: skip
HOOK: Final = "PreToolUse"
"""What a refusal by a hook has in it, and none by pre-push."""
ASKED: Final = {"claude": "/v1/messages", "codex": "/v1/responses"}


@dataclass(frozen=True)
class Rig:
    """One agent on two machines."""

    agent: str
    program: Path
    model: Model
    m1: Machine
    m2: Machine

    def home(self, machine: Machine) -> Path:
        return machine.home.parent / "agent-home"

    def env(self, machine: Machine) -> dict[str, str]:
        """Return the environment of an agent on ``machine``, and set its home up."""
        home = self.home(machine)
        home.mkdir(exist_ok=True)
        path = f"{machine.home.parent / 'bin'}:{os.environ['PATH']}"
        if self.agent == "claude":
            return {
                "PATH": path, "CLAUDE_CONFIG_DIR": str(home), "ANTHROPIC_API_KEY": "none",
                "ANTHROPIC_BASE_URL": self.model.url, "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", **machine.env,
            }  # fmt: skip
        config = home / "config.toml"
        if not config.exists():
            config.write_text(
                'model = "gpt-5"\nmodel_provider = "canned"\n[model_providers.canned]\n'
                f'name = "canned"\nbase_url = "{self.model.url}/v1"\nenv_key = "NO_KEY"\n'
                f'wire_api = "responses"\n[projects."{machine.top}"]\ntrust_level = "trusted"\n'
            )
        return {"PATH": path, "CODEX_HOME": str(home), "NO_KEY": "none", **machine.env}

    def ask(self, machine: Machine, prompt: str, *resume: str) -> tuple[Ran, list[str]]:
        """Let the agent answer one prompt; return how it ended, and what it asked the model."""
        before = len(self.model.texts(ASKED[self.agent]))
        if self.agent == "claude":
            words = ["-p", prompt, "--allowedTools", "Bash", *resume]
        else:
            # the lab has no sandbox of its own to offer, and is nobody's computer
            words = ["exec", "--dangerously-bypass-approvals-and-sandbox", *resume, prompt]
        env = {"HANDSOFF_HOME": str(machine.home), **self.env(machine)}
        ran = run(self.program, *words, cwd=machine.top, env=env)
        return ran, self.model.texts(ASKED[self.agent])[before:]

    def handsoff(self, machine: Machine, *words: str | Path) -> Ran:
        env = {"HANDSOFF_HOME": str(machine.home), **self.env(machine)}
        return run(sys.executable, "-m", "handsoff", *words, cwd=machine.top, env=env)

    def session(self, machine: Machine) -> str:
        """Return the id of the newest session there."""
        found = self.handsoff(machine, "sessions", "--json").ok().json["sessions"]
        return str(next(one["id"] for one in found if one["agent"] == self.agent))


def moved(rig: Rig, mode: str) -> str:
    """A session begun on m1 is found and resumed on m2, with what was said before."""
    for machine in (rig.m1, rig.m2):
        machine.git("switch", "-q", "-c", WORK)
    rig.m1.commit()
    ran, _ = rig.ask(rig.m1, FIRST)
    assert SAID in ran.ok().out, ran
    session = rig.session(rig.m1)
    rig.m1.write(".wip/HANDOFF.md", PAGE)
    parcel = rig.m1.home.parent / "parcel"
    rig.handsoff(rig.m1, "send", "m2", "--to-file", parcel, "--transcript", mode, "--live-ok").ok()
    rig.m2.git("switch", "-q", "main")
    rig.m2.git("branch", "-q", "-D", WORK)
    rig.handsoff(rig.m2, "receive", parcel).ok()
    rig.handsoff(rig.m2, "catch", WORK).ok()
    told = []
    by_id = ["--resume", session] if rig.agent == "claude" else ["resume", session]
    last = ["--continue"] if rig.agent == "claude" else ["resume", "--last"]
    for name, words in (("the last", last), ("by id", by_id)):
        ran, asked = rig.ask(rig.m2, f"which word? {name}", *words)
        heard = ran.code == 0 and SAID in ran.out and any(FIRST in text for text in asked)
        old = [text.count(str(rig.m1.top)) for text in asked if FIRST in text]
        told.append(
            f"{name} {'yes' if heard else 'NO'} (old place named {max(old, default=0)} times)"
        )
        if name == "by id":
            assert heard, (ran, [text[:300] for text in asked])
    return f"{mode}: resumed {', '.join(told)}"


def denied(rig: Rig) -> str:
    """A push of a work that was handed over is refused by the hook, and the model hears it."""
    rig.m1.git("switch", "-q", "-c", WORK)
    rig.m1.commit()
    rig.m1.write(".wip/HANDOFF.md", PAGE)
    rig.handsoff(rig.m1, "send", "m2", "--via", "remote").ok()
    rig.handsoff(rig.m1, "status").ok()
    rig.handsoff(rig.m1, "adapter", "install", rig.agent).ok()
    before = heard(rig, "please PUSH")
    if rig.agent == "codex":
        trust(rig)
    after = heard(rig, "please PUSH again") if rig.agent == "codex" else before
    state = rig.handsoff(rig.m1, "adapter", "status", rig.agent, "--json").json["adapters"][0]
    assert state["works"], state
    assert HOOK in after, after
    assert f"refs/heads/{WORK}" not in rig.m1.git("ls-remote", "origin")
    skipped = "; before it was trusted, the hook was skipped" if HOOK not in before else ""
    return f"{PUSH}: {after[:400]!r}{skipped}"


def heard(rig: Rig, prompt: str) -> str:
    """Return what the model was told of its push."""
    ran, asked = rig.ask(rig.m1, prompt)
    assert asked, ran
    told = json.loads(asked[-1])
    items = told["messages" if rig.agent == "claude" else "input"]
    found = [
        str(part.get("content") or part.get("output"))
        for item in items
        for part in [item, *(p for p in item.get("content") or [] if isinstance(p, dict))]
        if part.get("type") in ("tool_result", "function_call_output")
    ]
    assert found, ran
    return found[-1]


def trust(rig: Rig) -> None:
    """Do what the person does in /hooks; only the lab ever does so, in a home that it made."""
    hooks = str(rig.home(rig.m1) / "hooks.json")
    with (rig.home(rig.m1) / "config.toml").open("a") as config:
        for event, group in adapters.groups("codex").items():
            found = Found(event, 0, 0, group)
            key, value = adapters.trust_key(hooks, found), adapters.trust_hash(found)
            config.write(f'[hooks.state."{key}"]\ntrusted_hash = "{value}"\n')


CASES: Final[dict[str, Callable[[Rig], str]]] = {
    "rewritten": lambda rig: moved(rig, "rewrite"),
    "raw": lambda rig: moved(rig, "raw"),
    "denied": denied,
}


def rig_of(agent: str, program: Path, folder: Path) -> Rig:
    """Return two machines that are set up, with our hook program on their PATH."""
    folder.mkdir()
    machines = World.make(folder).members("m1", "m2")
    for machine in machines:
        hook = machine.home.parent / "bin" / "handsoff-hook"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m handsoff.hook "$@"\n')
        hook.chmod(0o755)
    return Rig(agent, program, Model(), *machines)


def main() -> None:
    """Print a line for each case and agent; fail if any does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("dir", type=Path, help="where npm has installed the agents")
    parser.add_argument("word", nargs="*", help="only the cases whose name has it")
    given = parser.parse_args()
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "-n", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    where, failed = given.dir.resolve(), 0
    for agent, place in PLACES.items():
        program = next(iter(sorted((where / "node_modules").glob(place))), None)
        if program is None:
            print(f"{agent}: not installed in {where}")
            continue
        print(run(program, "--version", cwd=where).out.strip(), flush=True)
        for name, case in CASES.items():
            title = f"{agent} {name}"
            if given.word and not any(word in title for word in given.word):
                continue
            # what an agent has begun beside itself may write for a moment after its end
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                os.environ |= sealed(Path(scratch))
                try:
                    print(
                        f"{title:18} {case(rig_of(agent, program, Path(scratch) / 'w'))}",
                        flush=True,
                    )
                except Exception:  # noqa: BLE001 - a case that fails must not hide the next
                    failed += 1
                    print(f"{title:18} FAILED", flush=True)
                    traceback.print_exc()
    sys.exit(failed)


if __name__ == "__main__":
    main()
