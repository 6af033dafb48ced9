"""Who converts a file: read off attributes and settings as git reads them, and never too few."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.checkout.conversion import Kind, Settings, kind_of, may_differ, settings_of

PLAIN = Settings()


def clone(**lines: str) -> Settings:
    """Return the settings of a clone; a double underscore stands for a dot."""
    return settings_of({key.replace("__", "."): [value] for key, value in lines.items()})


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({}, Kind.NOBODY),
        ({"text": "set"}, Kind.GIT),
        ({"text": "auto"}, Kind.GIT),
        ({"text": "auto", "eol": "lf"}, Kind.GIT),
        ({"eol": "crlf"}, Kind.GIT),
        ({"crlf": "input"}, Kind.GIT),
        ({"crlf": "set"}, Kind.GIT),
        ({"text": "unset"}, Kind.NOBODY),
        ({"text": "unset", "eol": "crlf"}, Kind.NOBODY),
        ({"text": "unset", "crlf": "set"}, Kind.NOBODY),
        ({"crlf": "unset"}, Kind.NOBODY),
        ({"text": "set", "crlf": "unset"}, Kind.GIT),
        ({"text": "unset", "ident": "set"}, Kind.GIT),
        ({"ident": "unset"}, Kind.NOBODY),
        ({"text": "unset", "working-tree-encoding": "UTF-16"}, Kind.GIT),
        ({"binary": "set", "diff": "unset", "merge": "unset", "text": "unset"}, Kind.NOBODY),
        ({"diff": "word", "merge": "union", "whitespace": "set"}, Kind.NOBODY),
        ({"filter": "lfs"}, Kind.NOBODY),
        ({"filter": "unset", "text": "set"}, Kind.GIT),
    ],
)
def test_attributes_say_who_converts(attributes: dict[str, str], kind: Kind) -> None:
    assert kind_of(attributes, PLAIN) is kind


@pytest.mark.parametrize(
    ("driver", "kind"),
    [
        ({"clean": "c"}, Kind.FILTER),
        ({"smudge": "s"}, Kind.FILTER),
        ({"process": "p", "required": "true"}, Kind.FILTER),
        ({"clean": "", "smudge": ""}, Kind.NOBODY),
        ({"required": "true"}, Kind.BROKEN),
        ({"required": "ON", "clean": ""}, Kind.BROKEN),
        ({"required": "false"}, Kind.NOBODY),
        ({"clean": "git-crypt clean"}, Kind.SECRET),
        ({"smudge": "/usr/bin/age --decrypt"}, Kind.SECRET),
        ({"process": "gpg -e"}, Kind.SECRET),
        ({"clean": "openssl enc"}, Kind.SECRET),
        ({"clean": "manage.sh"}, Kind.FILTER),
    ],
)
def test_a_filter_is_a_program_only_if_this_clone_names_one(
    driver: dict[str, str], kind: Kind
) -> None:
    config = {f"filter.it.{what}": [value] for what, value in driver.items()}
    assert kind_of({"filter": "it"}, settings_of(config)) is kind
    assert kind_of({"filter": "other"}, settings_of(config)) is Kind.NOBODY


def test_the_name_of_a_filter_may_be_odd_and_may_say_that_it_encrypts() -> None:
    config = {"filter.git-crypt-a.b=c.clean": ["cat"], "filter.git-crypt-a.b=c.required": ["no"]}
    assert kind_of({"filter": "git-crypt-a.b=c"}, settings_of(config)) is Kind.SECRET
    assert kind_of({"filter": "unset"}, settings_of({"filter.unset.clean": ["cat"]})) is Kind.NOBODY


def test_a_filter_that_is_required_and_has_no_command_is_missed() -> None:
    assert clone(filter__a__required="true").misses_a_command
    assert not clone(filter__a__required="true", filter__a__clean="cat").misses_a_command
    assert not PLAIN.misses_a_command


@pytest.mark.parametrize(
    ("value", "converts", "gives_crlf"),
    [
        ("true", True, True), ("TRUE", True, True), ("", True, True), ("yes", True, True),
        ("1", True, True), ("on", True, True), ("input", True, False), ("Input", True, False),
        ("false", False, False), ("no", False, False),
    ],
)  # fmt: skip
def test_autocrlf_converts_all_that_no_attribute_spares(
    value: str, converts: bool, gives_crlf: bool
) -> None:
    settings = clone(core__autocrlf=value)
    assert (settings.converts_all, settings.gives_crlf) == (converts, gives_crlf)
    assert kind_of({}, settings) is (Kind.GIT if converts else Kind.NOBODY)
    assert kind_of({"text": "unset"}, settings) is Kind.NOBODY


def test_the_last_value_of_a_setting_counts() -> None:
    assert not settings_of({"core.autocrlf": ["true", "false"]}).converts_all
    assert clone(core__eol="CRLF").gives_crlf
    assert not clone(core__eol="lf").gives_crlf
    assert settings_of({}) == Settings("false")


@pytest.mark.parametrize(
    ("data", "attributes", "settings", "differs"),
    [
        (b"a\n", {}, PLAIN, False),
        (b"a\r\n", {}, PLAIN, True),
        (b"a\r", {}, PLAIN, True),
        (b"", {"working-tree-encoding": "UTF-16"}, PLAIN, True),
        (b"$Id: x$", {"ident": "set"}, PLAIN, True),
        (b"$Id: x$", {}, PLAIN, False),
        (b"none", {"ident": "set"}, PLAIN, False),
        (b"a\n", {"eol": "crlf"}, PLAIN, True),
        (b"a", {"eol": "crlf"}, PLAIN, False),
        (b"a\n", {}, Settings("true"), True),
        (b"a\n", {"eol": "lf"}, Settings("true"), False),
        (b"a\n", {"text": "set"}, Settings("false", "crlf"), True),
        (b"a\n", {}, Settings("input"), False),
    ],
)
def test_only_some_bytes_can_come_out_as_others(
    data: bytes, attributes: dict[str, str], settings: Settings, differs: bool
) -> None:
    assert may_differ(data, attributes, settings) is differs


# --- a model of what git does, from gitattributes(5) and convert.c ------------------------------


def _action(attributes: dict[str, str], settings: Settings) -> str:
    """Return "binary", or how text is known ("text" or "auto") and its ends on disk."""
    meanings = {"set": "text", "unset": "binary", "input": "text lf", "auto": "auto"}
    said = [meanings.get(attributes.get(name, "")) for name in ("text", "crlf")]
    action = said[0] or said[1] or ""
    if action == "binary":
        return action
    eol = attributes.get("eol", "")
    if eol in ("lf", "crlf"):
        return f"{'auto' if action == 'auto' else 'text'} {eol}"
    native = "crlf" if settings.autocrlf == "true" else "lf"
    if settings.autocrlf not in ("true", "input") and settings.eol == "crlf":
        native = "crlf"
    if not action:
        return f"auto {native}" if settings.converts_all else "binary"
    return action if " " in action else f"{action} {native}"


def _cleaned(data: bytes, action: str) -> bytes:
    lone = b"\r" in data.replace(b"\r\n", b"")
    if action == "binary" or (action.startswith("auto") and (lone or b"\0" in data)):
        return data
    return data.replace(b"\r\n", b"\n")


def _smudged(data: bytes, action: str) -> bytes:
    if not action.endswith("crlf") or (action.startswith("auto") and {*b"\r\0"} & {*data}):
        return data
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


ATTRIBUTES = st.fixed_dictionaries(
    {},
    optional={
        "text": st.sampled_from(["set", "unset", "auto", "input", "odd"]),
        "crlf": st.sampled_from(["set", "unset", "input"]),
        "eol": st.sampled_from(["lf", "crlf", "odd", "unset"]),
        "diff": st.just("set"),
    },
)
SETTINGS = st.builds(
    Settings, st.sampled_from(["true", "input", "false"]), st.sampled_from(["", "lf", "crlf"])
)
DATA = st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"\0"]), max_size=6).map(b"".join)


@given(ATTRIBUTES, SETTINGS, DATA)
def test_what_is_said_not_to_differ_is_the_same_either_way(
    attributes: dict[str, str], settings: Settings, data: bytes
) -> None:
    action = _action(attributes, settings)
    if kind_of(attributes, settings) is Kind.NOBODY:
        assert action == "binary"
    elif not may_differ(data, attributes, settings):
        assert _cleaned(data, action) == data == _smudged(data, action)
