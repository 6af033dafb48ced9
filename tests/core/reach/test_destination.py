"""Destinations of ssh: what gets past is one word for ssh, and one word for the shell there."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.reach.destination import (
    NOBODY,
    Destination,
    is_destination,
    is_known,
    parse_destination,
    remote_words,
)
from handsoff.errors import UsageError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("box", ("--", "box")),
        ("lin@box", ("--", "lin@box")),
        ("lin.x+y@10.0.0.7", ("--", "lin.x+y@10.0.0.7")),
        ("lin@fe80::1%eth0", ("--", "lin@fe80::1%eth0")),
        ("ssh://lin@box", ("--", "lin@box")),
        ("ssh://box:2222/", ("-p", "2222", "--", "box")),
        ("ssh://lin@[::1]:22", ("-p", "22", "--", "lin@::1")),
    ],
)
def test_a_destination_is_read_and_spelled(text: str, words: tuple[str, ...]) -> None:
    read = parse_destination(text)
    assert read.words == words
    assert parse_destination(read.text) == read


@pytest.mark.parametrize(
    "text",
    [
        "", "@", "@box", "lin@", "-oProxyCommand=touch x", "-box", "lin@-oProxyCommand=x", "-l@box",
        "ssh://-oProxyCommand=x", "ssh://lin@-x", "ssh://", "ssh://box:0", "ssh://box:65536",
        "ssh://box:22:22", "ssh://lin:secret@box", "ssh://box/path", "ssh://fe80::1:22", "box:22",
        "lin@box:22", "box;id", "box`id`", "$(id)", "a b", "box\n", "b\x1b[1mox", "lin'@box",
        "lin@bo|x", "li%h@box", "li\\n@box", "lin@box%eth0", "bö", "x" * 300, "ext::sh", "l@n@-b",
        "file:///x", "lin@b*x", "lin@[::1]", "!box", "l@b{o,}x", "lin@$HOME", "../box", "~lin@box",
    ],
)  # fmt: skip
def test_what_ssh_or_a_shell_could_take_for_more_is_no_destination(text: str) -> None:
    with pytest.raises(UsageError):
        parse_destination(text)


@given(st.text(max_size=40) | st.from_regex(r"(ssh://)?([-a-z%:]{0,4}@)?[-a-z.:%\[\]]{0,8}(:\d+)?"))
def test_whatever_gets_past_is_no_option_and_no_more_than_a_word(text: str) -> None:
    try:
        read = parse_destination(text)
    except UsageError:
        return
    *options, mark, place = read.words
    assert mark == "--"
    assert [w for w in options if w != "-p" and not w.isdigit()] == []
    assert not place.startswith("-")
    assert not place.partition("@")[2].startswith("-")
    assert shlex.split(place) == [place]
    assert place.isascii()
    assert place.isprintable()
    assert not set(place) & set(" ;&|<>()$`\\\"'*?[]#~=!{}")


def test_only_what_has_an_at_or_the_scheme_can_mean_nothing_but_ssh() -> None:
    assert [is_destination(t) for t in ("lin@box", "ssh://box", "box", "box:7022")] == [
        True, True, False, False,
    ]  # fmt: skip


def test_an_alias_is_what_the_configuration_says_something_of() -> None:
    nobody = [f"host {NOBODY}", "user lin", f"hostname {NOBODY}", "port 22"]
    assert not is_known("m2", ["host m2", "user lin", "hostname m2", "port 22"], nobody)
    assert is_known("m2", ["host m2", "user lin", "hostname 10.0.0.7", "port 22"], nobody)
    assert is_known("m2", ["host m2", "user lin", "hostname m2", "port 2222"], nobody)
    # every name goes through the same jump: nothing is said of this one
    assert not is_known("s", ["host s", "proxyjump gate"], [f"host {NOBODY}", "proxyjump gate"])


@pytest.mark.parametrize("command", ["", "  ", "-x", "a\nb", "a\0", "x" * 2000])
def test_what_is_no_program_is_refused(command: str) -> None:
    with pytest.raises(UsageError):
        remote_words(command)


def test_a_program_is_one_word_and_its_home_stays_open() -> None:
    assert remote_words() == "handsoff receive --stdio"
    assert remote_words("~/venv/bin/handsoff") == "~/venv/bin/handsoff receive --stdio"
    assert remote_words("~lin/my venv/h") == "~lin/'my venv/h' receive --stdio"
    assert remote_words("a; touch x") == "'a; touch x' receive --stdio"
    assert remote_words("~;x/y") == "'~;x/y' receive --stdio"


@given(st.text(st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1, max_size=30))
def test_the_shell_there_reads_the_very_word(command: str) -> None:
    try:
        line = remote_words(command)
    except UsageError:
        return
    if not command.startswith("~"):
        assert shlex.split(line) == [command, "receive", "--stdio"]


def test_a_shell_runs_what_was_named_and_nothing_else() -> None:
    named = 'it\'s $(id) `id` "x" \\ *'
    ran = subprocess.run(
        ["sh", "-c", "printf '%s|' " + remote_words(named)], capture_output=True, check=True
    )
    assert ran.stdout.decode() == f"{named}|receive|--stdio|"


def test_a_destination_made_by_hand_says_what_it_is() -> None:
    assert Destination("::1", "lin", 22).text == "ssh://lin@[::1]:22"
