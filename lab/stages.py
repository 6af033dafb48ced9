"""A hand-over in stages that can be put back: what lies on the machines at the end of each.

    start -> sent -> caught -> undone -> redone

A ``Bench`` runs the whole once, keeps a copy of the machines at each stage, and what they looked
like. Everything is seen by ``tests/kit/whole.py``, which shares no code with handsoff.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from machines import BRANCH, Lab, Listener
from refold import record_faults
from states_to_kill import State, shell

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kit.whole import Whole, differences, see

SCRAP: Final = re.compile(
    r"(?<!/listener)(?<!/handsoff/state)\.lock$|(^|/)tmp|\.tmp$|\.part$|~$|/scratch/.*/"
)
"""What a killed program must not leave. Two files are named as git names its locks and stay, empty:
those that are locked by the system, which lets go of them when a program dies."""
LISTENER: Final = re.compile(r"/listener\.(lock|json)$")
"""What a killed listener leaves: the lock is the system's, and without it the other is nothing."""

ENDS: Final = 50
"""For how many tenths of a second a process may go on after the one that began it was killed."""

CARRIED: Final = frozenset({b".wip/notes.md"})
WORDS: Final = {
    "send": ("m1", "send", "m2"),
    "catch": ("m2", "catch", BRANCH),
    "undo": ("m2", "undo"),
    "redo": ("m2", "undo"),
}
"""What is typed, and where; "redo" is the undo of an undo."""
LEADS: Final = {"send": "sent", "catch": "caught", "undo": "undone", "redo": "redone"}
"""At which stage each of them ends."""
PROGRAMS: Final = ("send", "listen", "catch", "undo", "redo")

Env = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Look:
    """One machine: its checkout, and what else its git folder says."""

    whole: Whole
    more: Mapping[str, str]

    def unlike(self, other: "Look") -> Iterator[str]:
        """Yield a line for each part of ``other`` that is not as it is here."""
        pairs = [(f.name, getattr(self.whole, f.name), getattr(other.whole, f.name))
                 for f in fields(Whole)]  # fmt: skip
        pairs += [(name, value, other.more[name]) for name, value in self.more.items()]
        for name, here, there in pairs:
            if here != there:
                yield f"{name}: {_shown(here, there)} -> {_shown(there, here)}"


def _shown(here: Any, there: Any) -> str:
    """Return what of ``here`` is not so in ``there``."""
    if isinstance(here, Mapping):
        here = {k: getattr(v, "text", v) for k, v in here.items() if there.get(k) != v}
    return str(here)[:400]


@dataclass(frozen=True)
class End:
    """What there is at the end of a stage."""

    m1: Look
    m2: Look
    places: frozenset[str]
    sessions: Mapping[str, bytes]
    """What is in the home of m2's agent; an undo leaves it there."""


class Bench(Lab):
    """A lab that can be put back to each stage of one hand-over; its path never changes."""

    def __init__(self, folder: Path, handsoff: str, route: str, state: State) -> None:
        super().__init__(folder / "lab", handsoff)
        self.route = route
        self.state = state
        self.copies = folder
        self.ends: dict[str, End] = {}
        self.went_on = ""
        """What going on with the operation comes to on m1."""
        self.build()
        state.make(self)
        self.shell("write_page", str(self.root), "m1")
        self.enroll("m1", "m2")
        # The scanner compiles its rules once; not again in each of the many runs to come.
        self.handsoff("m1", "send", "m2", "--via", "remote", "--dry-run")
        self.keep("start")

    def run_whole(self, env: Env) -> list[str]:
        """Take every stage without a kill, and keep each; return what is wrong already.

        Each program is started with its own part of ``env``.
        """
        wrong = []
        for verb, (machine, *words) in WORDS.items():
            route, listener = self.route_words(env.get("listen")) if verb == "send" else ((), None)
            more = self.state.send if verb == "send" else ()
            self.handsoff(machine, *words, *more, *route, env=env.get(verb))
            if listener:
                settle(listener)
            self.keep(LEADS[verb])
        start, sent, caught, undone, redone = (self.ends[s] for s in ("start", *LEADS.values()))
        wrong += [f"m2 after the catch: {line}" for line in self._arrived(start.m1, caught.m2)]
        if caught.sessions != _moved(self.sessions("m1")):
            wrong.append(f"m2 after the catch: sessions: {caught.sessions}")
        wrong += [f"m2 after undo: {line}" for line in sent.m2.unlike(undone.m2)]
        wrong += [f"m2 after undo twice: {line}" for line in caught.m2.unlike(redone.m2)]
        self.went_on = self._go_on("m1")
        wrong += self.end_faults() + record_faults(self)
        return wrong

    def _arrived(self, m1: Look, m2: Look) -> list[str]:
        told = {k: v for k, v in m2.whole.status.items() if k in self.state.unlike}
        kept = {k: v for k, v in m1.whole.status.items() if k not in self.state.unlike}
        # what m2 had before lies below what came
        came = m2.whole.stash[: len(m1.whole.stash)]
        want = replace(m1.whole.travelling(CARRIED), status={**kept, **told})
        return differences(want, replace(m2.whole, stash=came))

    def end_faults(self) -> list[str]:
        """Return whether m2 goes on with the operation in progress to another end than m1."""
        there = self._go_on("m2")
        same = there == self.went_on
        return [] if same else [f"going on with the operation: {self.went_on} -> {there}"]

    def _go_on(self, machine: str) -> str:
        return shell(self, machine, self.state.end) if self.state.end else ""

    def route_words(
        self, env: Mapping[str, str] | None = None
    ) -> tuple[tuple[str, str], Listener | None]:
        """Return the words that choose the route, and a listener where it needs one."""
        if self.route != "direct":
            return ("--via", self.route), None
        listener = self.listen("m2", env)
        return ("--at", listener.address), listener

    def keep(self, stage: str) -> None:
        """Keep a copy of the machines, and what they look like, as the end of ``stage``."""
        self._refresh()
        self.ends[stage] = self.end()
        shutil.copytree(self.root, self.copies / stage, symlinks=True)

    def put_back(self, stage: str) -> None:
        """Return everything to where it was at the end of ``stage``."""
        shutil.rmtree(self.root)
        shutil.copytree(self.copies / stage, self.root, symlinks=True)
        self._refresh()

    def _refresh(self) -> None:
        for machine in ("m1", "m2"):
            self.run(machine, "git", "update-index", "-q", "--refresh", check=False)

    def end(self) -> End:
        """Return what there is now. The names first: git writes some of its own when asked."""
        places = frozenset(self._places())
        return End(self.look("m1"), self.look("m2"), places, self.sessions("m2"))

    def _places(self) -> Iterator[str]:
        """Yield the names of all files but git objects, with ids and numbers left out."""
        for folder, inner, names in os.walk(self.root):
            if folder.endswith("/objects"):
                inner[:] = [name for name in inner if len(name) != 2]
            for name in names:
                path = str((Path(folder) / name).relative_to(self.root))
                if "/" in path:
                    yield re.sub(r"[0-9a-f]{16,}|[0-9]{6,}", "ID", path)

    def look(self, machine: str) -> Look:
        """Return all that stands on ``machine``."""
        top = self.root / machine
        settings = self.git(machine, "config", "--show-scope", "--list")
        more = {
            "refs": self.git(machine, "for-each-ref", "refs/heads", "refs/stash", "refs/tags"),
            "config": "\n".join(sorted(settings.splitlines())),
        }
        return Look(see(top), more)

    def sessions(self, machine: str) -> Mapping[str, bytes]:
        """Return all files in the home of the agent there, by their names in it."""
        home = self.root / "home" / machine / ".claude"
        files = (path for path in home.rglob("*") if path.is_file())
        return {str(path.relative_to(home)): path.read_bytes() for path in files}

    def bytes_of(self, machine: str) -> Mapping[str, Any]:
        """Return all of ``machine`` that handing over must not touch, index and refs included."""
        index = (self.root / machine / ".git/index").read_bytes()
        refs, sessions = self.git(machine, "show-ref"), self.sessions(machine)
        return {"look": self.look(machine), "index": index, "refs": refs, "sessions": sessions}

    def alive(self) -> list[str]:
        """Return a line for each process of the machines' that still runs; it may end by itself."""
        for _ in range(ENDS):
            left = [*self._processes()]
            if not left:
                break
            time.sleep(0.1)
        return [f"still runs: {words}" for words in left]

    def _processes(self) -> Iterator[str]:
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended, or is another person's
                if f"HANDSOFF_HOME={self.root}/".encode() in (process / "environ").read_bytes():
                    told = os.fsdecode((process / "cmdline").read_bytes())
                    if told:  # else it has ended, and nobody has asked how
                        yield told.replace("\0", " ")

    def faults(self, *stages: str) -> list[str]:
        """Return how what there is now differs from the ends of ``stages``, which are alike."""
        ends = [self.ends[stage] for stage in stages]
        now = self.end()
        known = frozenset().union(*(end.places for end in ends))
        scrap = {name for name in now.places if SCRAP.search(name)}
        more = {name for name in now.places - known if not LISTENER.search(name)}
        left = sorted({*more, *scrap})
        wrong = [f"m2, {stages[0]}: {line}" for line in ends[0].m2.unlike(now.m2)]
        if ends[0].sessions != now.sessions:
            wrong.append(f"m2, {stages[0]}: sessions: {now.sessions}")
        return wrong + [f"left over: {name}" for name in left]


def _moved(sessions: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return what m1's sessions are on m2."""
    return {
        name.replace("-m1/", "-m2/"): body.replace(b"/m1", b"/m2")
        for name, body in sessions.items()
    }


def settle(listener: Listener) -> int:
    """Give a listener the time to end by itself, then end it."""
    try:
        return listener.process.wait(2)
    except subprocess.TimeoutExpired:
        return listener.stop()


def first_lines(told: Iterable[bytes]) -> str:
    """Return what a program said first, on one line."""
    return " / ".join(os.fsdecode(line) for line in [*told][:2])
