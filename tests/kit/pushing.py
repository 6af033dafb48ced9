"""Two machines with a branch to push, and what the remote says of it."""

import pytest

from handsoff.core.works.lease import Pushed
from handsoff.core.works.pen import Pen
from tests.kit.machines import Machine, World

WORK = "feat/x"


@pytest.fixture
def pair(world: World) -> tuple[Machine, Machine]:
    """Return m1 and m2, both on feat/x; m1 has a commit that the remote's branch lacks."""
    m1, m2 = world.prepared("m1", "m2", by=_ahead)
    return m1, m2


def _ahead(world: World, m1: Machine, m2: Machine) -> None:
    for machine in (m1, m2):
        machine.git("switch", "-qc", WORK)
    m1.push("-q", "-u", "origin", WORK).ok()
    m1.commit()


def caught(pen: Pen) -> Pen:
    return pen.caught()


def branch(world: World, name: str = WORK) -> str:
    return world.remote.refs().get(f"refs/heads/{name}", "")


def entries(machine: Machine, work: str = WORK) -> list[str]:
    desk = machine.desk()
    return [e.kind for e in desk.history(machine.record(work)).good]


def last(machine: Machine) -> Pushed:
    event = machine.desk().history(machine.record(WORK)).good[-1].event
    assert isinstance(event, Pushed)
    return event
