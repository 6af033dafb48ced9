"""Clones that are not whole, around a remote with some history, and what they took from it.

    pair(folder, sender=("--depth=1",))    m1 in the middle of WORK, and m2 on main
    watch(m2)                              notes what m2 asks the remote for; see Watched
    blobs(m2)                              what is really there, and nothing is fetched for it

main has six commits, each with another ``src/table.txt``; WORK goes on from the fourth one, and
its last commit on the remote changes that file once more.
"""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kit.compare import look
from tests.kit.machines import Machine, Remote, World, git
from tests.kit.monday import STAYS, WORK, change
from tests.kit.running import at_home, inside

TABLE = "src/table.txt"
_FILES = ("src/places.py", "src/rounding.py", "src/legacy.py", "tools/run", "data/a.csv")


@dataclass(frozen=True)
class Pair:
    """A sender and a receiver."""

    world: World
    m1: Machine
    m2: Machine

    def arrived(self, top: Path | None = None) -> None:
        """Fail unless m2 (or the worktree ``top``) is what m1 is, in a clone that git likes."""
        top = top or self.m2.top
        assert look(top) == look(self.m1.top).without(*STAYS)
        sound(top)


def goes_on(both: Pair) -> Pair:
    """Let m2 commit and hand the work back to m1, which catches it; return the two, m2 first."""
    back = Pair(both.world, both.m2, both.m1)
    back.m1.commit("on m2")
    with at_home(back.m2) as there:
        inside(back.m1, "send", "m1", "--at", there.address).ok()
    inside(back.m2, "catch", WORK).ok()
    assert back.m1.git("rev-parse", "HEAD") == back.m2.git("rev-parse", "HEAD")
    return back


def sound(top: Path) -> None:
    """Fail unless git finds nothing missing or broken in a clone."""
    said = git(top, "fsck", "--no-dangling", "--connectivity-only")
    assert not [line for line in said.splitlines() if not line.startswith("notice")], said
    git(top, "rev-list", "--quiet", "HEAD")
    assert git(top, "log", "--format=%s", "-1")
    walk = ("--exclude-promisor-objects",) if _is_partial(top) else ()
    git(top, "rev-list", "--objects", "--quiet", *walk, "--all", "HEAD")


def _is_partial(top: Path) -> bool:
    return "promisor" in git(top, "config", "--list", "--name-only")


def _history() -> str:
    """Return main and WORK, for fast-import."""
    told = ""
    for number in range(1, 8):
        branch, parent = ("main", "") if number < 7 else (WORK, "from :4\n")
        who = f"committer kit <kit@example.invalid> {1893456000 + number} +0000"
        told += f"commit refs/heads/{branch}\nmark :{number}\n{who}\n{_data(f'c{number}')}{parent}"
        told += _file(TABLE, f"table {number}\n" + "a line\n" * 20)
        if number == 1:
            told += "".join(_file(name, f"# {name}\n" + "a line\n" * 20) for name in _FILES)
            told += _file(".gitignore", "/cache/\n.env*\n*.log\n")
    return told


def _file(name: str, text: str) -> str:
    return f"M 644 inline {name}\n{_data(text)}"


def _data(text: str) -> str:
    return f"data {len(text)}\n{text}\n"


def remote_with_history(folder: Path) -> World:
    """Return a remote with main and WORK, which takes filters."""
    world = World.make(folder)
    remote = world.remote.path
    git(remote, "update-ref", "-d", "refs/heads/main")
    git(remote, "fast-import", "--quiet", given=_history())
    git(remote, "config", "uploadpack.allowFilter", "true")
    return world


def pair(
    folder: Path, *, sender: Sequence[str] = (), receiver: Sequence[str] = ("-b", "main")
) -> Pair:
    """Return two machines whose clones were made with the options named; m1 has work to send."""
    world = remote_with_history(folder)
    m1 = clone(world, "m1", "-b", WORK, *sender)
    m2 = clone(world, "m2", *receiver)
    world.enrol(m1, m2)
    work(m1)
    return Pair(world, m1, m2)


def clone(world: World, name: str, *words: str) -> Machine:
    """Return a machine with a clone made with ``words``, over git's own protocol."""
    top = world.folder / name / "checkout"
    top.parent.mkdir()
    git(world.folder, "clone", "-q", *words, f"file://{world.remote.path}", str(top))
    return Machine(name, world.folder / name / "handsoff-home", top)


def work(m1: Machine) -> None:
    """Leave m1 half done: two commits, a stash entry, and all that Monday has."""
    for places in ('{"CNY": 2}', '{"CNY": 2, "JPY": 0}'):
        m1.write("src/places.py", f"PLACES = {places}\n")
        m1.git("commit", "-q", "-am", f"places: {places}")
    m1.write("src/places.py", "PLACES = 'one'\n")
    m1.git("stash", "push", "-q", "-m", "experiment one")
    change(m1)


def _local(machine: Machine) -> list[list[str]]:
    listed = machine.git("cat-file", "--batch-all-objects", "--unordered", "--batch-check")
    return [line.split() for line in listed.splitlines()]


def blobs(machine: Machine) -> set[str]:
    """Return the blobs that a clone has, which nothing is fetched for."""
    return {oid for oid, kind, _ in _local(machine) if kind == "blob"}


def commits(machine: Machine) -> set[str]:
    """Return the commits that a clone has."""
    return {oid for oid, kind, _ in _local(machine) if kind == "commit"}


@dataclass(frozen=True)
class Watched:
    """What a clone asked the remote for."""

    log: Path

    @property
    def wants(self) -> list[list[str]]:
        """The objects that were asked for, one list for each connection that wanted any."""
        found: dict[str, list[str]] = {}
        text = self.log.read_text() if self.log.exists() else ""
        for number, oid in re.findall(r"^(\d+) .*< want ([0-9a-f]{40})", text, re.MULTILINE):
            found.setdefault(number, []).append(oid)
        return list(found.values())

    def forget(self) -> None:
        """Begin anew."""
        self.log.unlink(missing_ok=True)


def watch(machine: Machine) -> Watched:
    """Let the remote note what this machine asks it for."""
    log = machine.home.parent / "asked"
    program = machine.home.parent / "upload-pack"
    program.write_text(
        "#!/bin/sh\n"
        f"GIT_TRACE_PACKET={log}.$$ git-upload-pack \"$@\"\n"
        f"rc=$?; sed \"s/^/$$ /\" {log}.$$ >>{log}; rm {log}.$$; exit $rc\n"
    )  # fmt: skip
    program.chmod(0o755)
    machine.git("config", "remote.origin.uploadpack", str(program))
    return Watched(log)


def lose(remote: Remote, oid: str) -> None:
    """Take an object away from a remote."""
    packs = remote.path / "objects" / "pack"
    moved = [pack.rename(remote.path / pack.name) for pack in packs.glob("*.pack")]
    for left in packs.iterdir():
        left.unlink()
    for pack in moved:
        with pack.open("rb") as file:
            subprocess.run(["git", "unpack-objects", "-q"], cwd=remote.path, stdin=file, check=True)
    (remote.path / "objects" / oid[:2] / oid[2:]).unlink()
