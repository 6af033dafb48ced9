"""One link of a chain: what we write we read, and each way to bend it has its own words."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core import canon
from handsoff.core.chain import (
    LATEST,
    LIMIT,
    Flaw,
    Link,
    Tips,
    Word,
    check_chain,
    compare_tips,
    compose,
    line_of,
    open_link,
    parents_of,
)
from handsoff.core.objects import EMPTY_TREE, Commit, encode_commit, oid_of, parse_commit
from handsoff.errors import DamagedError
from tests.kit.signing import M1, M2, Machine

AT = 1_900_000_000
BODY: dict[str, Any] = {"kind": "Saved", "seq": 1, "prev": ""}


def link(parent: str | None = None, **changes: Any) -> tuple[str, bytes]:
    """Return a sound link by m1."""
    made: dict[str, Any] = {"parent": parent, "tree": EMPTY_TREE, "name": "m1", "machine": M1.id}
    return compose("m1 saved", {**BODY, **changes}, **made, at=AT, sign=M1.sign)


SOUND = parse_commit(link()[1])
LINE = SOUND.message.split("\n")[2]


def signed(commit: Commit, by: Machine = M1, namespace: str = "git") -> bytes:
    """Return the bytes of a commit as it stands, with one signature that holds."""
    bare = replace(commit, signatures=())
    armored = by.sign(encode_commit(bare), namespace)
    return encode_commit(replace(bare, signatures=(armored,)))


def flaw(data: bytes) -> Flaw:
    """Return the flaw of a link that must have one."""
    found = open_link(oid_of("commit", data), data)
    assert isinstance(found, Flaw), found
    return found


def with_line(line: str) -> bytes:
    """Return a signed link with another line of JSON."""
    return signed(replace(SOUND, message=f"m1 saved\n\n{line}\n"))


def test_a_link_reads_as_it_was_written() -> None:
    oid, data = link("a" * 40)
    opened = open_link(oid, data)
    assert isinstance(opened, Link)
    assert (opened.by, opened.at, opened.key, opened.subject) == (M1.id, AT, M1.key, "m1 saved")
    assert opened.body == {**BODY, "v": 1, "by": M1.id, "at": AT}
    assert (opened.tree, opened.size, parents_of(data)) == (EMPTY_TREE, len(data), ("a" * 40,))


@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_any_text_in_a_body_travels(text: str) -> None:
    opened = open_link(*link(prev=text))
    assert isinstance(opened, Link)
    assert opened.body["prev"] == text


@given(st.binary(max_size=400))
def test_any_bytes_are_a_flaw_and_never_a_crash(data: bytes) -> None:
    assert isinstance(open_link("0" * 40, data), Flaw)
    parents_of(data)


@given(st.data())
def test_one_changed_byte_is_noticed(data: st.DataObject) -> None:
    sound = link()[1]
    at = data.draw(st.integers(min_value=0, max_value=len(sound) - 1))
    bit = data.draw(st.integers(min_value=0, max_value=7))
    bent = sound[:at] + bytes([sound[at] ^ (1 << bit)]) + sound[at + 1 :]
    assert isinstance(open_link(oid_of("commit", bent), bent), Flaw)


BROKEN_SIGNATURES = {
    "not signed": (encode_commit(replace(SOUND, signatures=())), Word.UNSIGNED),
    "2 signatures, where one is expected": (
        encode_commit(replace(SOUND, signatures=SOUND.signatures * 2)),
        Word.BAD,
    ),
    "the signature does not hold": (
        encode_commit(replace(SOUND, message=SOUND.message.replace("saved", "stole"))),
        Word.BAD,
    ),
    "not an SSH signature": (encode_commit(replace(SOUND, signatures=("x",))), Word.BAD),
    "not UTF-8": (link()[1].replace(b"m1 saved", b"m1 \xffaved"), Word.BAD),
    "a commit object is malformed": (b"tree " + b"0" * 40 + b"\n\nhello", Word.BAD),
    f"over the limit of {LIMIT}": (link(prev="x" * LIMIT)[1], Word.BAD),
}


@pytest.mark.parametrize("reason", BROKEN_SIGNATURES)
def test_a_signature_that_is_missing_or_does_not_hold(reason: str) -> None:
    data, word = BROKEN_SIGNATURES[reason]
    found = flaw(data)
    assert reason in found.reason
    assert (found.word, found.key) == (word, None)


def test_a_signature_made_for_something_else_does_not_hold() -> None:
    found = flaw(signed(SOUND, namespace="handsoff-card"))
    assert (found.word, found.reason) == (Word.BAD, "the signature does not hold")


def test_the_same_signature_spelled_otherwise_is_refused() -> None:
    lines = SOUND.signatures[0].split("\n")
    again = "\n".join([lines[0], "".join(lines[1:-1]), lines[-1]])
    assert (
        "another way than ours" in flaw(encode_commit(replace(SOUND, signatures=(again,)))).reason
    )


BENT = {
    "a merge of 2 parents": signed(replace(SOUND, parents=("a" * 40, "b" * 40))),
    "a header too many: encoding": signed(replace(SOUND, others=(("encoding", "latin1"),))),
    "a header too many: gpgsig-sha256": signed(replace(SOUND, others=(("gpgsig-sha256", "x"),))),
    "the message is not a subject and one line": signed(replace(SOUND, message="m1 saved\n")),
    "the subject is not one printable line": signed(
        replace(SOUND, message=SOUND.message.replace("m1 saved", "m1 \x1b[2J"))
    ),
    f"signed by {M2.id} in the name of {M1.id}": signed(SOUND, by=M2),
    "author and committer are not the machine that signed": signed(
        replace(SOUND, author=SOUND.author.replace(M1.id, M2.id))
    ),
    "the time of the commit is not the time that was signed": signed(
        replace(
            SOUND,
            author=SOUND.author.replace(str(AT), "1"),
            committer=SOUND.author.replace(str(AT), "1"),
        )
    ),
}


@pytest.mark.parametrize("reason", BENT)
def test_a_commit_of_another_shape_is_named_though_its_signature_holds(reason: str) -> None:
    found = flaw(BENT[reason])
    assert reason in found.reason
    assert found.word is Word.SIGNED
    assert found.key is not None


def test_the_machine_that_signed_must_be_author_and_committer() -> None:
    other = SOUND.author.replace(M1.id, M2.id)
    for bent in (
        replace(SOUND, author=other),
        replace(SOUND, committer=other),
        replace(SOUND, author=other, committer=other),
    ):
        assert "not the machine that signed" in flaw(signed(bent)).reason


def test_author_and_committer_must_both_have_our_shape() -> None:
    for who in ("m1", SOUND.author.replace("+0000", "+0100"), f"x {SOUND.author}"):
        assert (
            "author and committer" in flaw(signed(replace(SOUND, author=who, committer=who))).reason
        )


def test_headers_in_another_order_are_refused() -> None:
    lines = encode_commit(replace(SOUND, signatures=())).split(b"\n")
    swapped = b"\n".join([lines[0], lines[2], lines[1], *lines[3:]])
    armored = M1.sign(encode_commit(replace(SOUND, signatures=())), "git").replace("\n", "\n ")
    data = swapped.replace(b"\n\n", f"\ngpgsig {armored}\n\n".encode(), 1)
    assert "another order" in flaw(data).reason


HOSTILE_LINES = {
    "duplicate keys": LINE.replace('"seq":1', '"seq":1,"seq":1'),
    "NaN": LINE.replace('"seq":1', '"seq":NaN'),
    "floats": LINE.replace('"seq":1', '"seq":1.0'),
    "deep nesting": "[" * 3000 + "]" * 3000,
    "deep objects": '{"a":' * 1000 + "1" + "}" * 1000,
    "a second spelling": LINE.replace(":", ": ", 1),
    "unsorted keys": json.dumps(dict(reversed(json.loads(LINE).items())), separators=(",", ":")),
    "no object": "[]",
}


@pytest.mark.parametrize("name", HOSTILE_LINES)
def test_json_of_another_spelling_is_refused(name: str) -> None:
    assert "not canonical JSON" in flaw(with_line(HOSTILE_LINES[name])).reason


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("v", 2, "not an entry of format 1"),
        ("v", True, "not an entry of format 1"),
        ("at", "now", "no time that we can read: now"),
        ("at", True, "no time that we can read: True"),
        ("at", 0, "no time that we can read: 0"),
        ("at", LATEST + 1, "no time that we can read"),
        ("seq", "1", "its number or its kind is of another type"),
        ("seq", True, "its number or its kind is of another type"),
        ("kind", 7, "its number or its kind is of another type"),
        ("by", ["m1"], "in the name of ['m1']"),
    ],
)
def test_a_field_of_every_chain_must_have_its_type(field: str, value: object, reason: str) -> None:
    line = canon.encode({**json.loads(LINE), field: value}).decode()
    assert reason in flaw(with_line(line)).reason


@pytest.mark.parametrize("field", ["v", "kind", "seq", "prev", "by", "at"])
def test_a_field_of_every_chain_must_be_there(field: str) -> None:
    line = canon.encode({k: v for k, v in json.loads(LINE).items() if k != field}).decode()
    assert flaw(with_line(line)).reason == "not an entry of format 1"


def test_a_chain_is_told_from_commits_that_are_none() -> None:
    first = link()
    second = link(first[0])
    check_chain([first, second])
    check_chain([second], after=first[0])
    check_chain([])
    with pytest.raises(DamagedError, match="stands on nothing, not on"):
        check_chain([first, first])
    with pytest.raises(DamagedError, match=f"stands on {first[0]}, not on nothing"):
        check_chain([second, first])
    with pytest.raises(DamagedError, match="are not its own"):
        check_chain([(first[0], second[1])])


def test_a_merge_stands_on_its_first_parent() -> None:
    first = link()
    data = signed(replace(SOUND, parents=(first[0], "b" * 40)))
    check_chain([first, (oid_of("commit", data), data)])
    assert parents_of(data) == (first[0], "b" * 40)


@pytest.mark.parametrize(
    ("seen", "found", "tips"),
    [
        ("", "", Tips.SAME),
        ("", "abc", Tips.AHEAD),
        ("abc", "abc", Tips.SAME),
        ("c", "abc", Tips.SAME),
        ("abc", "abcd", Tips.AHEAD),
        ("b", "abc", Tips.AHEAD),
        ("abc", "ab", Tips.REWOUND),
        ("abc", "abx", Tips.FORKED),
        ("c", "ab", Tips.FORKED),
        ("abc", "", Tips.DELETED),
    ],
)
def test_a_remote_that_rolls_back_forks_or_deletes_is_found(
    seen: str, found: str, tips: Tips
) -> None:
    assert compare_tips(list(seen), list(found)) is tips


def test_a_line_leads_from_after_what_is_known_to_the_tip_or_is_none() -> None:
    below = {"c": "b", "b": "a", "a": ""}
    assert line_of(below, "c", "a") == ["b", "c"]
    assert line_of(below, "c", "") == ["a", "b", "c"]
    assert line_of(below, "a", "a") == []
    assert line_of(below, "c", "elsewhere") == []
