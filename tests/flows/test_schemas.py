"""The schemas of ``--json``: they are sound, there is one for each command, and each was held
against a real run. Every other test that reads ``--json`` does that as well; see tests/kit/schemas.
"""

import json
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any, Final, get_args

import pytest
import typer
from jsonschema import Draft202012Validator

from handsoff.cli.app import app
from handsoff.cli.schemas import names, text
from handsoff.cli.shape import shape
from handsoff.core import chain
from handsoff.core.audit import findings, strayed
from handsoff.core.checkup import health
from handsoff.core.reach import nearby
from handsoff.core.remote import prune, pushing
from handsoff.core.transcripts import installing
from handsoff.core.works import lease
from handsoff.core.works.history import Line
from handsoff.errors import HandsoffError
from handsoff.flows.agents.sessions import AtWork, Listed, Listing
from handsoff.flows.catching.catching import CatchResult
from handsoff.flows.catching.undo import Undone
from handsoff.flows.receiving.happening import Happening, Kind
from handsoff.flows.remote.branches import Strayed
from handsoff.flows.sending.plan import Sent
from handsoff.flows.sending.push import Done
from handsoff.flows.shown.status import Arrived, Status, WorkStatus
from handsoff.flows.works.history import History, SavedPage
from handsoff.flows.works.letting import Let
from handsoff.flows.works.note import WroteNote
from handsoff.flows.works.pending import PendingList, Waits
from tests.flows.machines.test_pair import shows
from tests.kit import schemas
from tests.kit.machines import World
from tests.kit.monday import WORK, Monday
from tests.kit.running import away, background, inside, wait_for
from tests.kit.visiting import served

ROOT: Final = shape(typer.main.get_command(app))
WRITTEN: Final[dict[str, list[type]]] = {
    "catch": [CatchResult, Let], "close": [Let], "drop": [Let],
    "history": [History, SavedPage, Line], "inbox": [Arrived],
    "listen": [Happening], "note": [WroteNote], "offer": [Sent],
    "pending": [PendingList, Waits], "push": [Done], "save": [Sent, Let], "send": [Sent],
    "sessions": [Listing, Listed, AtWork], "status": [Status, WorkStatus, Strayed],
    "undo": [Undone], "withdraw": [Let],
}  # fmt: skip
"""What is printed as it is."""
WORDS: Final[dict[str, list[type[Enum]]]] = {
    "audit": [findings.What, findings.Grade, chain.Word, lease.State, lease.How],
    "catch": [installing.Verdict], "doctor": [health.Level], "peers": [nearby.Presence],
    "prune": [prune.Do], "push": [pushing.Deed], "status": [lease.State, strayed.How],
}  # fmt: skip
"""The words that a value may be."""


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object that a schema describes."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        schema = [*schema.values()]
    if isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


def test_there_is_a_schema_for_each_command_that_prints_json() -> None:
    with_json = {
        verb.path.replace(" ", "-")
        for verb in ROOT.all()
        if any("--json" in option.names for option in verb.options)
    }
    assert names() == (with_json - {*schemas.ALIASES}) | {"error"}


@pytest.mark.parametrize("name", sorted(names()))
def test_a_schema_is_sound_and_says_what_each_key_is(name: str) -> None:
    schema = json.loads(text(name))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    found = [*objects(schema)]
    for described in found:
        assert described["additionalProperties"] is False
        assert set(described["required"]) <= set(described["properties"])
        for key, value in described["properties"].items():
            assert value.get("description", "").endswith("."), key
    keys = [set(described["properties"]) for described in found]
    for kind in WRITTEN.get(name, ()):
        more = {"agents"} if kind is Sent else set()
        assert {f.name for f in fields(kind)} | more in keys, kind


def test_the_words_that_a_value_may_be_are_those_of_the_code() -> None:
    told = {name: re.findall(r'"enum": \[(.*?)\]', text(name), re.DOTALL) for name in names()}
    words = {name: [set(re.findall(r'"(.*?)"', found)) for found in told[name]] for name in told}
    for name, kinds in WORDS.items():
        for kind in kinds:
            assert {word.value for word in kind} in words[name], (name, kind)
    assert set(get_args(Kind)) in words["listen"]
    assert {"bug", *(kind.code for kind in HandsoffError.__subclasses__())} in words["error"]


def test_a_document_with_a_key_too_many_or_too_few_is_not_let_pass() -> None:
    good = {"parcel": "x", "work": "y"}
    schemas.check(["receive", "f", "--json"], json.dumps(good), 0)
    for bad in ({**good, "more": 1}, {"parcel": "x"}, {**good, "work": 7}, [good]):
        with pytest.raises(AssertionError, match=r"receive\.json"):
            schemas.check(["receive", "f", "--json"], json.dumps(bad), 0)


def test_schema_prints_what_it_is_asked_for(world: World) -> None:
    m1 = world.machine("m1")
    listed = inside(m1, "schema").ok().out.splitlines()
    assert sorted(name.replace(" ", "-") for name in listed) == sorted(names())
    for words in (["status"], ["roster", "revoke"], ["error"]):
        assert inside(m1, "schema", *words).ok().json == json.loads(text("-".join(words)))
    assert inside(m1, "schema", "../x").code == 2


def test_what_waits_is_one_document_also_while_the_remote_is_away(world: World) -> None:
    m1, _ = world.members("m1", "m2")
    with away(m1):
        said = inside(m1, "pending", "--send", "--json")
    assert (said.code, said.json["verbs"]) == (6, [])
    assert said.err == f"handsoff: {said.json['away']}\nhint: it waits here; nothing is lost\n"


def test_each_schema_was_held_against_a_real_run(
    monday: Monday, world: World, tmp_path: Path
) -> None:
    schemas.seen.clear()
    m1, m2, m3 = monday.m1, monday.m2, monday.m3
    _between_two(monday, tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "handsoff-hook").write_text("#!/bin/sh\n")
    (programs / "handsoff-hook").chmod(0o755)
    for words in (
        ["status"], ["history", WORK], ["history", WORK, "r1"], ["pending"], ["peers"], ["audit"],
        ["sessions", "--all"], ["adapter"], ["adapter", "status", "claude"], ["roster"],
        ["doctor", "--no-probe"], ["prune", "--dry-run"], ["init"], ["tour", "--list"],
        ["roster", "rename", "m3", "m4"], ["roster", "rotate", "--dry-run"],
        ["roster", "revoke", "m4", "--reason", "sold", "--yes"],
        ["adapter", "install", "claude"], ["adapter", "uninstall", "claude"], ["adapter", "rules"],
    ):  # fmt: skip
        assert inside(m1, *words, "--json", PATH=f"{programs}:{os.environ['PATH']}").code in (0, 3)
    late = monday.world.machine("late")
    (tmp_path / "late.card").write_bytes(late.card("ann"))
    inside(m1, "admit", tmp_path / "late.card", "--yes", "--json").ok()
    with shows(m2, "--name", "m2", "--yes", "--json") as there:
        there.typed(late, "--name", "late", "--yes", "--json").ok()
        there.running.end().ok()
    inside(m3, "catch", WORK, "--json")
    with served(m1):
        pass
    assert schemas.seen == names()


def _between_two(monday: Monday, scratch: Path) -> None:
    """Hand the work over and back, in all the ways that there are."""
    m1, m2 = monday.m1, monday.m2
    inside(m1, "note", "look", "--json").ok()
    inside(m1, "save", "--json").ok()
    inside(m1, "push", "--json").ok()
    inside(m1, "offer", "--anyone", "--json").ok()
    inside(m1, "withdraw", "--json").ok()
    file = scratch / "parcel"
    inside(m1, "send", "m2", "--to-file", file, "--json").ok()
    inside(m2, "receive", file, "--json").ok()
    inside(m2, "inbox", "--json").ok()
    inside(m2, "catch", WORK, "--json").ok()
    inside(m2, "undo", "--json").ok()
    inside(m2, "drop", WORK, "--reason", "ill", "--dry-run", "--json").ok()
    inside(m2, "close", WORK, "--outcome", "merged", "--json").ok()
    address = scratch / "address"
    with background(
        m2, "listen", "--bind", "127.0.0.1", "--json", "--address-file", address
    ) as listening:
        wait_for(address.exists)
        assert listening.interrupt(signal.SIGINT).code == 130
