"""Machines as they are in life: each with its own keys and checkout, around one bare remote.

    world.machine("m1")            a machine that has a clone, and nothing of ours yet
    world.members("m1", "m2")      machines that are set up and in the roster, made quickly
    m1.handsoff("send", "m2")      runs the program as that machine; see Ran
    m1.writes("feat/x", lambda pen: pen.caught())    puts entries on a work's record

Nothing of whoever runs the tests is seen: ``sealed`` is the whole environment of a test.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from handsoff.core.machines import admission
from handsoff.core.machines.admission import RosterRead
from handsoff.core.machines.cards import encode_card
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.edge import clock, hooks, keys
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.objects import Objects, store_of
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.edge.home import Home
from handsoff.flows.desk import Desk
from handsoff.flows.machine import own_card
from handsoff.flows.machines.init import ignore_pages
from tests.kit import schemas
from tests.kit.copying import copy_tree

ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 60

_FIRST_COMMIT = b"""commit refs/heads/main
committer kit <kit@example.invalid> 1893456000 +0000
data 6
first
M 644 inline README
data 6
hello

"""


def sealed(folder: Path) -> dict[str, str]:
    """Return an environment in which the caller's home, git, agents and network do not exist."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Lin\n\temail = lin@example.invalid\n[init]\n\tdefaultBranch = main\n"
        "[protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
        "[receive]\n\tautogc = false\n"
    )  # fmt: skip
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "TMPDIR") or "COVERAGE" in k}
    return {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "HANDSOFF_MDNS": "off",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
    }


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def ok(self) -> "Ran":
        """Return this; fail the test, with what was said, unless the command succeeded."""
        assert self.code == 0, f"exit {self.code}\n{self.out}\n{self.err}"
        return self


def run(
    *words: str | Path, cwd: Path, env: Mapping[str, str] | None = None, given: str = ""
) -> Ran:
    """Run a program with the environment of the test, and ``env`` on top."""
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, **(env or {})}, input=given.encode(),
        capture_output=True, timeout=_SECONDS, check=False,
    )  # fmt: skip
    out, err = (s.decode("utf-8", "backslashreplace") for s in (done.stdout, done.stderr))
    return Ran(done.returncode, out, err)


def git(cwd: Path, *words: str, given: str = "") -> str:
    """Run git, which must succeed, and return what it prints without the last line end."""
    return run("git", *words, cwd=cwd, given=given).ok().out.rstrip("\n")


@dataclass(frozen=True)
class Remote:
    """A bare repository with one commit on main."""

    path: Path

    @classmethod
    def of(cls, folder: Path) -> "Remote":
        return cls(folder / "remote.git")

    @classmethod
    def make(cls, path: Path) -> "Remote":
        git(path.parent, "init", "-q", "--bare", str(path))
        git(path, "fast-import", "--quiet", given=_FIRST_COMMIT.decode())
        return cls(path)

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        listed = git(self.path, "for-each-ref", "--format=%(refname) %(objectname)", prefix)
        return dict(tuple(line.split(" ")) for line in listed.splitlines())  # type: ignore[misc]


@dataclass(frozen=True)
class Machine:
    """A machine: a name, the folder of its keys, and its checkout."""

    name: str
    home: Path
    top: Path
    env: dict[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    """What its commands are run by, such as words that put them into a network of their own."""

    def handsoff(self, *words: str | Path, given: str = "", cwd: Path | None = None) -> Ran:
        """Run handsoff as this machine, in its checkout."""
        ran = self.run(sys.executable, "-m", "handsoff", *words, given=given, cwd=cwd)
        schemas.check(words, ran.out, ran.code)
        return ran

    def run(self, *words: str | Path, given: str = "", cwd: Path | None = None) -> Ran:
        """Run any program as this machine."""
        env = {"HANDSOFF_HOME": str(self.home), **self.env}
        return run(*self.prefix, *words, cwd=cwd or self.top, env=env, given=given)

    def git(self, *words: str) -> str:
        """Run git in the checkout, which must succeed."""
        return self.run("git", *words).ok().out.rstrip("\n")

    def push(self, *words: str) -> Ran:
        """Run ``git push``, hooks and all."""
        return self.run("git", "push", *words)

    def write(self, name: str, text: str) -> Path:
        """Put a file into the checkout."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, message: str = "more") -> str:
        """Commit another line in a file of its own, and return the commit's id."""
        path = self.top / f"{self.name}.txt"
        with path.open("a") as file:
            file.write(message + "\n")
        self.git("add", "--", path.name)
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def card(self, person: str = "lin") -> bytes:
        """Return this machine's card file; its keys are made if there are none."""
        own = keys.load(self.home) or keys.create(self.home, self.name, person)
        return encode_card(own_card(own, clock.now()))

    def member(self) -> keys.Machine:
        """Return this machine's keys."""
        return keys.need(self.home)

    def checkout(self) -> Checkout:
        """Return the checkout as the program sees it."""
        return open_checkout(self.top)

    def desk(self, now: datetime | None = None) -> Desk:
        """Return the desk that a verb of this machine would open."""
        return Desk(self.checkout(), Home(self.home), self.member(), now or clock.now())

    def record(self, work: str) -> Record:
        """Return the record of a work as the remote has it."""
        return self.desk().view(work).record

    def writes(
        self, work: str, entries: Callable[[Pen], Pen], now: datetime | None = None
    ) -> Record:
        """Put entries on a work's record, at ``now``, and return what it adds up to."""
        desk = self.desk(now)
        view = desk.view(work)
        pen = entries(
            Pen(record=view.record, by=desk.machine.id, sign=desk.machine.sign, now=desk.now)
        )
        store(desk).write_drafts(pen.drafts)
        tip = pen.record.git_tip
        assert tip is not None
        assert desk.shared.push(Move(desk.shared.record_ref(work), tip, view.tip)) is Outcome.MOVED
        return pen.record


def store(desk: Desk) -> Objects:
    """Return the clone's private objects, to be written to."""
    return store_of(desk.shared)


@dataclass(frozen=True)
class World:
    """A remote, and the machines around it."""

    folder: Path
    remote: Remote
    templates: Path | None = None
    """A folder with a remote that is as new, and with machines that were set up around it."""

    @classmethod
    def make(cls, folder: Path) -> "World":
        return cls(folder, Remote.make(folder / "remote.git"))

    @classmethod
    def copy_of(cls, templates: Path, folder: Path) -> "World":
        remote = Remote.of(folder)
        copy_tree(Remote.of(templates).path, remote.path)
        # what is built for ``templates`` itself is built, not copied
        return cls(folder, remote, None if folder.parent == templates else templates)

    def machine(self, name: str, checkout: str = "checkout") -> Machine:
        """Return a machine that has a clone of the remote, and nothing of ours yet."""
        top = self.folder / name / checkout
        top.parent.mkdir(exist_ok=True)
        git(self.folder, "clone", "-q", str(self.remote.path), str(top))
        return Machine(name, self.folder / name / "handsoff-home", top)

    def members(self, *names: str, person: str = "lin") -> list[Machine]:
        """Return machines that are set up; the first founds the roster and admits the others.

        Where the remote is as it was made, they are copies of machines that were set up before.
        """
        if self.templates is not None and _refs(self.remote) == _refs(Remote.of(self.templates)):
            return [*self._copies(names, person, self.templates)]
        machines = [self.machine(name) for name in names]
        self.enrol(*machines, person=person)
        return machines

    def prepared(self, *names: str, by: Callable[..., object]) -> list[Machine]:
        """Return members after ``by(world, *members)``: done once, and copied for each test."""
        assert self.templates is not None
        made = self.templates / f"{by.__module__}.{by.__qualname__}"
        if not made.exists():
            world = World.copy_of(self.templates, made)
            by(world, *world.members(*names))
        return [*self._copied(names, made, "")]

    def _copies(self, names: Sequence[str], person: str, templates: Path) -> Iterator[Machine]:
        made = templates / "-".join([person, *names])
        if not made.exists():
            World.copy_of(templates, made).members(*names, person=person)
        yield from self._copied(names, made, "objects", "refs")

    def _copied(self, names: Sequence[str], made: Path, *kept: str) -> Iterator[Machine]:
        for part in kept:
            copy_tree(Remote.of(made).path / part, self.remote.path / part)
        for name in names:
            copy_tree(made / name, self.folder / name)
            yield arrived(name, made, self.folder)

    def enrol(self, *machines: Machine, person: str = "lin", **others: str) -> None:
        """Do what init, card and admit do, without starting a program for each.

        ``others`` are machines of other persons, by name.
        """
        owns = [keys.create(m.home, m.name, others.get(m.name, person)) for m in machines]
        first, now, by = machines[0].desk(), clock.now(), owns[0]
        at = int(now.timestamp())
        read = RosterRead()
        for own in owns:
            card = own_card(own, now)
            if read.roster is None:
                draft = admission.found(read, card, at=at, sign=by.sign)
            else:
                draft = admission.admit(read, card, by=by.id, at=at, sign=by.sign)
            store(first).write_drafts([draft])
            read = read.extend([(draft.oid, draft.data)])
        roster = read.trusted()
        first.shared.push(Move(first.shared.roster_ref, roster.tip, ""))
        for machine in machines:
            desk = machine.desk(now)
            desk.set_pin(roster.founding)
            desk.live_roster()
            desk.home.remember_clone(roster.founding, desk.checkout.top)
            ignore_pages(desk.checkout)
            hooks.install(desk.checkout)


def copied(template: Path, folder: Path, *names: str) -> tuple[World, list[Machine]]:
    """Copy the world that was built at ``template``, paths inside and all, with these machines."""
    copy_tree(template, folder)
    machines = [arrived(name, template, folder) for name in names]
    return World(folder, Remote.of(folder)), machines


def arrived(name: str, template: Path, folder: Path) -> Machine:
    """Return a machine that was copied from ``template`` to ``folder``, at home there."""
    machine = Machine(name, folder / name / "handsoff-home", folder / name / "checkout")
    git_dir = machine.top / ".git"
    named = [git_dir / "config", git_dir / "hooks" / "pre-push", machine.home / "clones.json"]
    for path in [*named, *machine.home.glob("inbox/*/objects/info/alternates")]:
        path.write_text(path.read_text().replace(str(template), str(folder)))
    machine.run("git", "update-index", "-q", "--refresh")  # copies have other inodes
    return machine


def _refs(remote: Remote) -> dict[str, str]:
    folder = remote.path / "refs"
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}
