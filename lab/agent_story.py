"""The story of the field report with an agent that does not stop: who stops it, and where?

    agent_story.py [claude|codex ...]

Machine 1 has Monday's state and an agent at work; machine 2 catches the work, commits and pushes.
The agent of machine 1 goes on as agents do: it edits, commits with --amend, pushes, pushes -f. It
is a script that does what both programs do: it asks ``handsoff-hook`` before each tool, and obeys.
Then it does the same without its hook (git's pre-push hook has to refuse), and with --no-verify
(the server's hook has to). After each try the branch on the remote must be what machine 2 pushed,
and at the end machine 2 must have all that it had. Prints a line for each try; fails if any ends
otherwise than it should. What plain git lets through without the server's hook is shown as well,
and that an audit and the status of machine 2 find it, and machine 2 puts it back.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import machines  # noqa: E402
from machines import BRANCH, Done, Lab  # noqa: E402

SESSION: Final = "5d0c7a52-9b1e-4f7a-8f10-0e5f3c1a2b3c"
PUSHES: Final = ("git push", "git push -f", f"git push --force origin HEAD:{BRANCH}",
                 "git commit -q --amend --no-edit && sh -c 'git push -f'")  # fmt: skip
"""What an agent types when it has finished a turn, and when the first did not go through."""


@dataclass
class Agent:
    """A scripted agent on one machine, of the kind of one of the two programs."""

    lab: Lab
    machine: str
    kind: str

    def ask(self, event: str, **fields: Any) -> dict[str, Any]:
        """Call the hook as the program does; return the JSON that it answers, or nothing."""
        told = {
            "session_id": SESSION,
            "transcript_path": None if self.kind == "codex" else "/nowhere/session.jsonl",
            "cwd": str(self.lab.root / self.machine),
            "hook_event_name": event,
            "permission_mode": "default",
            **({"model": "none", "turn_id": "1"} if self.kind == "codex" else {}),
            **fields,
        }
        run = subprocess.run(
            [Path(self.lab.handsoff_program).with_name("handsoff-hook"), self.kind],
            input=json.dumps(told).encode(),
            cwd=self.lab.root / self.machine,
            env=self.lab.env(self.machine),
            capture_output=True,
            timeout=30,
            check=True,
        )
        text = run.stdout.decode()
        if not text.strip():
            return {}
        try:
            found = json.loads(text)
        except ValueError:
            return {"context": text}
        inner = found.get("hookSpecificOutput", {})
        return {"context": inner.get("additionalContext", ""), **inner}

    def denied(self, tool: str, **given: str) -> str:
        """Return why the hook refuses a tool, or ""."""
        answer = self.ask("PreToolUse", tool_name=tool, tool_input=given, tool_use_id="t1")
        if answer.get("permissionDecision") != "deny":
            return ""
        return str(answer["permissionDecisionReason"])

    def edit(self, name: str, text: str) -> str:
        """Write a file of the checkout if the hook lets it; return why it did not."""
        place = self.lab.root / self.machine / name
        if self.kind == "codex":
            patch = f"*** Begin Patch\n*** Update File: {name}\n@@\n+{text}\n*** End Patch"
            why = self.denied("apply_patch", command=patch)
        else:
            why = self.denied("Write", file_path=str(place), content=text)
        if not why:
            place.write_text(text)
        return why

    def shell(self, command: str) -> str:
        """Run a command of the agent's if the hook lets it; return why it did not."""
        why = self.denied("Bash", command=command)
        if not why:
            self.lab.run(self.machine, "sh", "-c", command, check=False)
        return why


class Story:
    """What is tried, and whether it ended as it should."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.wrong = 0
        self.theirs = ""

    def tip(self) -> str:
        """Return what the branch is on the remote."""
        remote = self.lab.root / "remote.git"
        words = ("git", "-C", str(remote), "rev-parse", f"refs/heads/{BRANCH}")
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    def say(self, what: str, answer: str, *, good: bool) -> None:
        """Print how one try ended."""
        self.wrong += not good
        print(f"{'ok' if good else 'BAD':4} {what}")
        if answer:
            print(f"       {answer.strip().splitlines()[0][:110]}")

    def refused(self, what: str, why: str) -> None:
        """Note a try that had to be refused, and must have changed nothing on the remote."""
        same = self.tip() == self.theirs
        self.say(what, why or "it was let through", good=bool(why) and same)
        if not same:
            self.say("the branch on the remote", f"is {self.tip()}", good=False)


def said(done: Done, mark: str = "handsoff: ") -> str:
    """Return the line with ``mark`` of what a refused git printed, or "" if it let it through."""
    lines = done.stderr.decode().splitlines()
    ours = [line.removeprefix("remote: ") for line in lines if mark in line]
    return ours[0] if done.returncode and ours else ""


def server_hook(lab: Lab) -> None:
    """Put the server's hook on the remote."""
    remote = lab.root / "remote.git"
    founding = lab.told("m1", "roster")["founding"]
    python = Path(lab.handsoff_program).with_name("python")
    for key, value in (("python", str(python)), ("founding", founding)):
        lab.run("m1", "git", "-C", str(remote), "config", f"handsoff.{key}", value)
    hook = remote / "hooks" / "pre-receive"
    shutil.copy(HERE.parent / "contrib" / "server-hook" / "pre-receive", hook)
    hook.chmod(0o755)


def hand_over(story: Story, agent: Agent) -> None:
    """Send from m1 while its agent has a session, catch on m2, commit and push there."""
    lab = story.lab
    before = agent.edit("src/money_ctx.py", "MONEY = None  # the agent is at it\n")
    story.say("before: the agent of m1 edits", before, good=not before)
    listener = lab.listen("m2")
    lab.handsoff("m1", "send", "m2", "--at", listener.address)
    listener.stop()
    lab.handsoff("m2", "catch", BRANCH)
    (lab.root / "m2" / "src" / "jpy.py").write_text("JPY_PLACES = 0\n")
    lab.git("m2", "add", "-A")
    lab.git("m2", "commit", "-q", "-m", "m2: JPY has no decimals")
    lab.handsoff("m2", "push")
    story.theirs = story.tip()
    same = lab.git("m2", "rev-parse", "HEAD").strip() == story.theirs
    story.say("m2 catches, commits and pushes", "", good=same)


def goes_on(story: Story, agent: Agent) -> None:
    """Let the agent of m1 go on: with its hook, without it, and past git's hook."""
    kind = agent.kind
    told = agent.ask("UserPromptSubmit", prompt="go on").get("context", "")
    story.say(f"{kind}: the agent is told at its next prompt", told, good="m2" in told)
    seen = agent.edit("src/money_ctx.py", "MONEY = 1  # after the handoff\n")
    story.refused(f"{kind}: its edit, at the hook", seen)
    for command in (*PUSHES, "gh pr create --fill"):
        story.refused(f"{kind}: {command}, at the hook", agent.shell(command))
    reads = [agent.denied("Bash", command=c) for c in ("git status", "git log -3", "git fetch")]
    story.say(f"{kind}: what only reads goes through", "".join(reads), good=not any(reads))
    told = agent.ask("SessionStart", source="startup").get("context", "")
    story.say(f"{kind}: a new session is told", told, good="m2" in told and BRANCH in told)


def unhooked(story: Story) -> None:
    """Do the same with git alone, as an agent that has no hook does."""
    lab = story.lab
    lab.git("m1", "commit", "-q", "-a", "-m", "m1: the agent did not stop")
    for words in (("push",), ("push", "-f"), ("push", "-f", "origin", f"HEAD:{BRANCH}")):
        done = lab.run("m1", "git", *words, check=False)
        story.refused(f"without a hook: git {' '.join(words)}, at pre-push", said(done))
    done = lab.run("m1", "git", "push", "--no-verify", check=False)
    story.refused("git push --no-verify, by git: m2 has pushed", said(done, "[rejected]"))
    done = lab.run("m1", "git", "push", "--no-verify", "-f", check=False)
    story.refused("git push --no-verify -f, at the server", said(done))


def nothing_lost(story: Story, held: Any) -> None:
    """Look whether m2 has all that it had, and still carries the work."""
    lab = story.lab
    story.say("m2 has every byte that it had", "", good=compare.look(lab.root / "m2") == held)
    who = next(w for w in lab.told("m2", "status")["works"] if w["work"] == BRANCH)
    mine = "m2" in json.dumps(who) and "held" in json.dumps(who)
    story.say("m2 carries it still", "", good=mine)


def without_server_hook(story: Story) -> None:
    """Show what no client can stop, and that it is found: the branch loses what m2 pushed."""
    lab = story.lab
    (lab.root / "remote.git" / "hooks" / "pre-receive").unlink()
    lab.run("m1", "git", "push", "--no-verify", "-f", check=False)
    lost = story.tip() != story.theirs
    kept = lab.git("m2", "rev-parse", "HEAD").strip() == story.theirs
    named = story.theirs[:10] in lab.handsoff("m2", "history", BRANCH, "--json").stdout.decode()
    what = "no server hook: push --no-verify -f goes through; m2 and the record have the commit"
    story.say(what, "", good=lost and kept and named)
    ended = lab.run("m2", lab.handsoff_program, "audit", "--json", check=False)
    told = {f["what"]: f["said"] for f in json.loads(ended.stdout)["findings"]}
    forced = told.get("branch-rewritten", told.get("branch-set-back", ""))
    story.say("an audit finds it, and accuses nobody", forced, good=ended.returncode == 3 and
              story.theirs[:12] in forced and "git does not tell" in forced)  # fmt: skip
    seen = next(w for w in lab.told("m2", "status")["works"] if w["work"] == BRANCH)["strayed"]
    back = seen[0]["next"] if seen else ""
    story.say("m2 is told by status how to put it back", back, good="handsoff push" in back)
    lab.handsoff("m2", "push", "--force")
    clean = lab.run("m2", lab.handsoff_program, "audit", "--json", check=False).returncode == 0
    story.say("m2 puts it back, and the audit is clean", "", good=story.tip() == story.theirs
              and clean)  # fmt: skip


def tell(kind: str, program: str) -> int:
    """Tell the story with an agent of one kind; return how much of it went wrong."""
    with tempfile.TemporaryDirectory(prefix="handsoff-lab.") as folder:
        lab = Lab(Path(folder) / "lab", program)
        lab.root.mkdir()
        lab.build()
        lab.shell("write_page", str(lab.root), "m1")
        lab.enroll("m1", "m2")
        server_hook(lab)
        story, agent = Story(lab), Agent(lab, "m1", kind)
        agent.ask("SessionStart", source="startup")
        hand_over(story, agent)
        held = compare.look(lab.root / "m2")
        goes_on(story, agent)
        unhooked(story)
        nothing_lost(story, held)
        without_server_hook(story)
        return story.wrong


def main(argv: Sequence[str]) -> None:
    """Tell it for each kind of agent, and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["claude", "codex"])
    program = machines.program()
    wrong = sum(tell(kind, program) for kind in parser.parse_args(argv).kinds)
    print(f"agent_story: {wrong} of it went wrong" if wrong else "agent_story: all as it should be")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
