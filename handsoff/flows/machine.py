"""This machine's names, its keys and its card: made once, then the same for ever.

Rule of the room: names are chosen and checked before anything is written, and a machine that
has a name is never given another one on the way.
"""

import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias

from handsoff.core.ids import check_name
from handsoff.core.machines.cards import Card, encode_card, make_card, parse_card
from handsoff.core.machines.roster import Roster
from handsoff.edge import files, keys
from handsoff.edge.git import command
from handsoff.edge.git.repo import decode
from handsoff.errors import HandsoffError, UsageError

Setting: TypeAlias = Callable[[str], str | None]
"""Looks up a key of git's configuration."""

_CARD: Final = "own.card"
_NAME_LIMIT: Final = 63


@dataclass(frozen=True, slots=True)
class Names:
    """What a machine is to be called, and whose it is."""

    machine: str
    person: str


def user_setting(key: str) -> str | None:
    """Return a value of git's configuration as it is here, inside a checkout or not."""
    done = command.run(("config", "--get", key))
    return decode(done.stdout).removesuffix("\n") if done.returncode == 0 else None


def choose_names(
    known: keys.Machine | None, *, name: str | None, person: str | None, setting: Setting
) -> Names:
    """Return the names this machine has, or is to have; UsageError if they will not do.

    A new machine's name is ``name``, else MACHINE_ID, else ``wip.machine``; its person is
    ``person``, else git's user.name in the letters that are allowed, else the login name.
    """
    if known is not None:
        _check_same("machine", name, known.name)
        _check_same("person", person, known.person)
        return Names(known.name, known.person)
    chosen = name or os.environ.get("MACHINE_ID") or setting("wip.machine")
    if not chosen:
        raise UsageError("this machine has no name yet", hint="give it one: --name NAME")
    return Names(check_name(chosen), _person(person, setting))


def make_machine(home: Path, names: Names) -> keys.Machine:
    """Return this machine, with new keys if it has none."""
    return keys.load(home) or keys.create(home, names.machine, names.person)


def own_card(machine: keys.Machine, now: datetime) -> Card:
    """Return this machine's card. It is signed once and kept: printed twice, the same bytes."""
    kept = _kept_card(machine.home / _CARD)
    if kept is not None and (kept.id, kept.name, kept.person, kept.age_key) == (
        machine.id, machine.name, machine.person, machine.age_key,
    ):  # fmt: skip
        return kept
    card = new_card(machine, now)
    keep_card(machine, card)
    return card


def new_card(machine: keys.Machine, now: datetime) -> Card:
    """Return a card of this machine, signed now and kept nowhere."""
    return make_card(
        name=machine.name,
        person=machine.person,
        sign_key=machine.public_key,
        age_key=machine.age_key,
        at=int(now.timestamp()),
        sign=machine.sign,
    )


def keep_card(machine: keys.Machine, card: Card) -> None:
    """Let ``card`` be the card of this machine from now on."""
    files.write(machine.home / _CARD, encode_card(card) + b"\n")


def print_card(*, name: str | None, person: str | None, now: datetime) -> str:
    """Return the content of this machine's card file; its keys are made if there are none."""
    home = keys.home_folder()
    names = choose_names(keys.load(home), name=name, person=person, setting=user_setting)
    return encode_card(own_card(make_machine(home, names), now)).decode("ascii")


def way_in(machine: keys.Machine, roster: Roster) -> str:
    """Return what a machine can do that is not in the roster."""
    if keys.upcoming(machine.home):
        return "its keys are being changed; to go on with that: handsoff roster rotate"
    if machine.id in roster.everyone:
        return "it was revoked; with other keys: HANDSOFF_HOME=FOLDER handsoff init --name NAME"
    return (
        "here and on a member: handsoff pair; or handsoff card > ~/my.card, and there admit my.card"
    )


def _kept_card(path: Path) -> Card | None:
    try:
        return parse_card(path.read_bytes())
    except (FileNotFoundError, HandsoffError):
        return None


def _check_same(what: str, asked: str | None, known: str) -> None:
    if asked is not None and asked != known:
        raise UsageError(
            f"the {what} of these keys is {known} already, not {asked}",
            hint=f"leave --{'name' if what == 'machine' else what} out; a machine has one name",
        )


def _person(asked: str | None, setting: Setting) -> str:
    if asked:
        return check_name(asked, "person")
    for text in (setting("user.name"), _login()):
        squeezed = _squeeze(text or "")
        if squeezed is not None:
            return squeezed
    raise UsageError("whose machine is this?", hint="say so: --person NAME")


def _squeeze(text: str) -> str | None:
    """Return ``text`` in the letters that a name may have, or None if none is left."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", ascii_only).strip("._-")[:_NAME_LIMIT]
    try:
        return check_name(name, "person")
    except UsageError:
        return None


def _login() -> str | None:
    import getpass  # noqa: PLC0415 - only where git does not know the person

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None
