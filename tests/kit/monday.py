"""Monday, 4 p.m.: m1 is half done with feat/cny, m2 and m3 have clean clones, all are members.

On m1: two commits that were never pushed, a staged change and an unstaged one in the same file, a
removal, a mode, an intent to add, untracked files (a link, a name that is no text), two stash
entries, a carried note, and ignored files that stay.

Building it takes a second, so it is built once and copied for each test (paths inside are
rewritten); so is Monday after the work was sent to m2.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.compare import Look, look, untouched
from tests.kit.machines import Machine, Remote, World, copied
from tests.kit.running import at_home, inside

WORK = "feat/cny"
STAYS = (b".env.local", b"cache/rates.bin")
PAGE = """# Handoff

work: feat/cny

## Next

1. Make the rounding test pass.

Done when: `pytest -q` is green.

## Tried and failed

Bankers' rounding everywhere: invoice 2019-0042 is off by one cent.

## Do not touch

The table of places: finance owns it.
"""
ODD = os.fsdecode(b"data/caf\xe9 \n.csv")


@dataclass(frozen=True)
class Monday:
    """The remote and three machines."""

    world: World
    m1: Machine
    m2: Machine
    m3: Machine

    @property
    def remote(self) -> Remote:
        return self.world.remote

    def untouched(self, *more: Path) -> dict[str, object]:
        """Return something that differs if a byte of a checkout or a ref of the remote did.

        But for notes: that a machine was refused is on the record.
        """
        tops = untouched(*(m.top for m in (self.m1, self.m2, self.m3)), *more)
        inboxes = {m.name: _inbox(m) for m in (self.m1, self.m2, self.m3)}
        refs = {ref: tip for ref, tip in self.remote.refs().items() if "/notes/" not in ref}
        return {**tops, "refs": refs, "inboxes": inboxes}

    @property
    def travels(self) -> Look:
        """What is to arrive: all that m1 holds but a secret and a cache."""
        return look(self.m1.top).without(*STAYS)

    @property
    def carrier(self) -> tuple[str, str, int]:
        """What the record says: the state, the carrier, and the leg."""
        view = self.m3.desk().view(WORK)
        lease = view.record.lease
        carrier = view.roster.name_of(lease.carrier) if lease.carrier else ""
        return lease.state.value, carrier, lease.leg


def _inbox(machine: Machine) -> list[str]:
    folder = machine.home / "inbox"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def build(folder: Path, **others: str) -> None:
    """Build Monday in ``folder``; ``others`` are machines of other persons, by name."""
    world = World.make(folder)
    m1 = world.machine("m1")
    for name in ("src/places.py", "src/rounding.py", "src/legacy.py", "tools/run", "data/a.csv"):
        m1.write(name, f"# {name}\n" + "a line\n" * 20)
    m1.write(".gitignore", "/cache/\n.env*\n*.log\n")
    m1.git("add", "-A")
    m1.git("commit", "-q", "-m", "toy")
    m1.git("push", "-q", "origin", "HEAD")
    m2, m3 = world.machine("m2"), world.machine("m3")
    m1.git("switch", "-q", "-c", WORK)
    m1.write("src/places.py", "PLACES = {}\n")
    m1.git("commit", "-q", "-am", "a table")
    m1.git("push", "-q", "-u", "origin", WORK)
    for places in ('{"CNY": 2}', '{"CNY": 2, "JPY": 0}'):
        m1.write("src/places.py", f"PLACES = {places}\n")
        m1.git("commit", "-q", "-am", f"places: {places}")
    for idea in ("one", "two"):
        m1.write("src/places.py", f"PLACES = {idea!r}\n")
        m1.write(f"src/idea_{idea}.py", f"IDEA = {idea!r}\n")
        m1.git("add", f"src/idea_{idea}.py")
        m1.git("stash", "push", "-q", "-m", f"experiment {idea}: ü")
    change(m1)
    world.enrol(m1, m2, m3, **others)
    for sample in folder.glob("**/hooks/*.sample"):
        sample.unlink()  # a third of all files, and nobody's


def change(m1: Machine) -> None:
    """Leave m1 in the middle of things."""
    m1.write("src/rounding.py", "# staged\n" + "a line\n" * 20)
    m1.git("add", "src/rounding.py")
    m1.write("src/rounding.py", "# staged, and more\n" + "a line\n" * 20)
    m1.git("rm", "-q", "src/legacy.py")
    (m1.top / "tools/run").chmod(0o755)
    m1.write("src/soon.py", "SOON = 1\n")
    m1.git("add", "-N", "src/soon.py")
    m1.write("src/money.py", "MONEY = 1\n")
    m1.write(ODD, "amount\n")
    (m1.top / "latest").symlink_to("src/money.py")
    m1.write(".wip/HANDOFF.md", PAGE)
    m1.write(".wip/carry", ".wip/notes.md\nruns/*.log\n")
    m1.write(".wip/notes.md", "the one sentence that matters\n")
    m1.write("runs/last.log", "1 failed\n")
    m1.write(".env.local", "TOKEN=not-a-real-one\n")
    m1.write("cache/rates.bin", "x" * 5000)


def send(monday: Monday) -> None:
    """Hand m1's work over to m2, directly."""
    with at_home(monday.m2) as there:
        inside(monday.m1, "send", "m2", "--at", there.address).ok()


def copy(template: Path, folder: Path) -> Monday:
    """Copy what was built at ``template`` to the new folder ``folder``."""
    world, machines = copied(template, folder, "m1", "m2", "m3")
    return Monday(world, *machines)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which states are built when the first test asks for them."""
    return tmp_path_factory.mktemp("templates")


@pytest.fixture
def monday(templates: Path, tmp_path: Path) -> Monday:
    """Return Monday, the test's own."""
    return copy(built(templates), tmp_path / "monday")


@pytest.fixture
def sent(templates: Path, tmp_path: Path) -> Monday:
    """Return Monday after m1 handed the work over to m2, which has the parcel in its inbox."""
    made = templates / "sent"
    if not made.exists():
        send(copy(built(templates), made))
    return copy(made, tmp_path / "monday")


def built(templates: Path) -> Path:
    """Return the folder in which Monday was built, to be copied."""
    made = templates / "monday"
    if not made.exists():
        made.mkdir()
        build(made)
    return made
