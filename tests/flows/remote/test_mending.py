"""Records that a remote lost: pushed back where nothing is lost by it, else left to people."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from handsoff.core.remote.archive import Archive, archived
from handsoff.edge.git.moves import Move
from handsoff.flows.remote import mending
from tests.kit.machines import Machine, World, git, store
from tests.kit.running import inside, refused

WORK, REF, ROSTER = "one", "refs/wip/lease/one", "refs/wip/roster"


@pytest.fixture
def pair(world: World) -> tuple[Machine, Machine]:
    m1, m2 = world.prepared("m1", "m2", by=_saved)
    return m1, m2


def _saved(world: World, m1: Machine, m2: Machine) -> None:
    for work in (WORK, "two"):
        m1.writes(work, lambda pen: pen.caught().saved().saved())
    for machine in (m1, m2):
        inside(machine, "status").ok()


def as_remote(world: World, machine: Machine, *words: str) -> str:
    return machine.run("git", *words, cwd=world.remote.path).ok().out.strip()


def doctor(machine: Machine, *words: str) -> Any:
    return json.loads(inside(machine, "doctor", "--json", "--no-probe", *words).out)


def commit(world: World, machine: Machine, *parents: str) -> str:
    words = [word for parent in parents for word in ("-p", parent)]
    return as_remote(world, machine, "commit-tree", "main^{tree}", *words, "-m", "mine")


SPOILED: dict[str, Callable[[World, Machine, str], str]] = {
    "rewound": lambda w, m, ref: as_remote(w, m, "rev-parse", f"{ref}~1"),
    "deleted": lambda w, m, ref: "",
    "blob": lambda w, m, ref: as_remote(w, m, "hash-object", "-w", "HEAD"),
    "tree": lambda w, m, ref: as_remote(w, m, "rev-parse", "main^{tree}"),
    "tag": lambda w, m, ref: as_remote(w, m, "rev-parse", tagged(w, m, "main")),
}


def tagged(world: World, machine: Machine, what: str) -> str:
    as_remote(world, machine, "tag", "-f", "-a", "-m", "x", "x", what)
    return "refs/tags/x"


@pytest.mark.parametrize("ref", [REF, ROSTER])
@pytest.mark.parametrize("how", SPOILED)
def test_what_the_remote_lost_is_pushed_back(
    pair: tuple[Machine, Machine], world: World, how: str, ref: str
) -> None:
    m1, m2 = pair
    before = world.remote.refs("refs/wip")
    new = SPOILED[how](world, m1, ref)
    as_remote(world, m1, *(("update-ref", ref, new) if new else ("update-ref", "-d", ref)))
    spoiled = world.remote.refs("refs/wip")
    what = "the roster" if ref == ROSTER else f"the record of {WORK}"
    found = next(f for f in doctor(m2)["findings"] if f["topic"] == what)
    expected = f"{what} was {how} on the remote" if how in ("rewound", "deleted") else "no chain"
    if how == "tag":
        assert "--keep here" in found["do"]  # it leads to commits, which may be somebody's
        return
    assert found["level"] == "problem"
    assert found["do"].startswith("handsoff doctor --repair; ")
    assert expected in found["said"]
    told = doctor(m2, "--repair", "--dry-run")
    assert told["mended"][0].startswith(f"would put {ref}")
    assert world.remote.refs("refs/wip") == spoiled
    told = doctor(m2, "--repair")
    assert (told["healthy"], len(told["mended"])) == (True, 1)
    assert world.remote.refs("refs/wip") == before
    assert doctor(m2, "--repair")["mended"] == []
    assert doctor(m1)["healthy"]
    m1.writes(WORK, lambda pen: pen.saved())


def test_a_tag_on_honest_entries_gives_way_to_them(
    pair: tuple[Machine, Machine], world: World
) -> None:
    m1, m2 = pair
    newer = m1.writes(WORK, lambda pen: pen.saved()).git_tip
    as_remote(
        world, m1, "update-ref", REF, as_remote(world, m1, "rev-parse", tagged(world, m1, REF))
    )
    assert doctor(m2, "--repair")["healthy"]
    assert world.remote.refs()[REF] == newer


def test_what_was_never_a_record_is_taken_away(pair: tuple[Machine, Machine], world: World) -> None:
    m1, m2 = pair
    as_remote(
        world,
        m1,
        "update-ref",
        "refs/wip/lease/new",
        as_remote(world, m1, "hash-object", "-w", "HEAD"),
    )
    assert "no chain" in str(doctor(m2)["findings"])
    assert doctor(m2, "--repair")["healthy"]
    assert "refs/wip/lease/new" not in world.remote.refs()
    m1.writes("new", lambda pen: pen.caught())


@pytest.mark.parametrize("side", ["here", "remote"])
@pytest.mark.parametrize("ref", [REF, ROSTER])
def test_a_fork_is_for_people_and_ends_as_they_say(
    pair: tuple[Machine, Machine], world: World, ref: str, side: str
) -> None:
    m1, m2 = pair
    before = world.remote.refs("refs/wip")
    as_remote(world, m1, "update-ref", ref, commit(world, m1, f"{ref}~1"))
    forked = world.remote.refs("refs/wip")
    what = "the roster" if ref == ROSTER else f"the record of {WORK}"
    told = doctor(m2, "--repair")
    found = next(f for f in told["findings"] if f["topic"] == what)
    assert f"{what} was forked on the remote" in found["said"]
    assert "only here: 1 by m1; only there: 1 by nobody that can be told" in found["said"]
    assert (told["mended"], world.remote.refs("refs/wip")) == ([], forked)
    inside(m2, "doctor", "--no-probe", "--of", ref, "--keep", side)
    if side == "here":
        assert world.remote.refs("refs/wip") == before
        assert doctor(m2)["healthy"]
    else:
        assert world.remote.refs("refs/wip") == forked
        assert not any(
            f["topic"] == what and f["level"] == "problem" for f in doctor(m2)["findings"]
        )


def test_a_roster_of_somebody_else_is_not_believed_and_gives_way(
    pair: tuple[Machine, Machine], world: World
) -> None:
    m1, m2 = pair
    ours = world.remote.refs()[ROSTER]
    git(world.remote.path, "update-ref", "-d", ROSTER)
    world.enrol(world.machine("m9"), person="mallory")
    (found, _) = [f for f in doctor(m2, "--repair")["findings"] if f["level"] == "problem"]
    assert "the roster was forked on the remote" in found["said"]
    assert world.remote.refs()[ROSTER] != ours
    refused(inside(m1, "roster"), 7, "the roster was forked")
    inside(m2, "doctor", "--no-probe", "--of", ROSTER, "--keep", "remote")
    refused(inside(m2, "roster"), 7, "not the one that this machine trusts")
    inside(m1, "doctor", "--no-probe", "--of", ROSTER, "--keep", "here").ok()
    assert world.remote.refs()[ROSTER] == ours
    inside(m2, "roster").ok()


def test_a_rewind_that_was_agreed_on_is_accepted_where_that_is_said(
    pair: tuple[Machine, Machine], world: World
) -> None:
    m1, m2 = pair
    as_remote(world, m1, "update-ref", REF, f"{REF}~1")
    rewound = world.remote.refs()[REF]
    for machine in pair:
        inside(machine, "doctor", "--no-probe", "--of", REF, "--keep", "remote").ok()
        assert doctor(machine)["healthy"]
    assert m2.writes(WORK, lambda pen: pen).lease.revision == 1
    assert world.remote.refs()[REF] == rewound


def test_only_what_contradicts_can_be_settled(pair: tuple[Machine, Machine]) -> None:
    _, m2 = pair
    refused(inside(m2, "doctor", "--of", REF, "--keep", "here"), 2, "is as this clone saw it")
    refused(
        inside(m2, "doctor", "--of", "refs/wip/lease/x", "--keep", "here"), 2, "has seen nothing"
    )
    refused(inside(m2, "doctor", "--of", REF, "--keep", "mine"), 2, "--keep mine")
    refused(inside(m2, "doctor", "--of", REF), 2, "go together")


def test_a_record_that_moves_meanwhile_is_not_pushed_over(
    pair: tuple[Machine, Machine], world: World
) -> None:
    from handsoff.errors import LostRaceError

    m1, m2 = pair
    seen = world.remote.refs()[REF]
    as_remote(world, m1, "update-ref", REF, f"{REF}~2")
    desk = m2.desk()
    item = mending.torn(desk, "x", REF, seen, world.remote.refs()[REF])
    assert item is not None
    as_remote(world, m1, "update-ref", REF, commit(world, m1, REF))
    with pytest.raises(LostRaceError):
        mending.push_back(desk, item)


def test_a_record_that_was_archived_is_let_go_and_needs_nobody(
    pair: tuple[Machine, Machine], world: World
) -> None:
    m1, m2 = pair
    m1.writes(WORK, lambda pen: pen.closed("merged"))
    inside(m2, "status").ok()
    inside(m1, "prune", "--keep-records", "0", "--yes").ok()
    refused(inside(m2, "doctor", "--of", REF, "--keep", "here"), 2, "is as this clone saw it")
    told = doctor(m2, "--repair")
    assert (told["mended"], told["healthy"]) == ([], True)
    assert REF not in world.remote.refs()


def test_a_work_that_is_carried_is_pushed_back_whoever_archived_it(
    pair: tuple[Machine, Machine], world: World
) -> None:
    m1, m2 = pair
    desk, tip = m1.desk(), world.remote.refs()[REF]
    roster, sign = desk.fresh_roster(), desk.machine.sign
    names = {"lease/one": [oid for oid, _ in desk.shared.chains.line(tip) or []]}
    draft = archived(Archive(roster=roster), names, by=desk.machine.id, at=1, sign=sign)
    store(desk).write_drafts([draft])
    desk.shared.push(Move("refs/wip/archive", draft.oid, ""), Move(REF, "", tip))
    refused(inside(m2, "history", WORK), 7, "was deleted on the remote")
    (found,) = (f for f in doctor(m2)["findings"] if f["level"] == "problem")
    assert "was deleted" in found["said"]
    assert doctor(m2, "--repair")["healthy"]
    assert world.remote.refs()[REF] == tip
