"""The list of transcripts: one spelling, and no place, count or size but those that may be."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core import canon
from handsoff.core.transcripts import baggage
from handsoff.core.transcripts.baggage import Baggage, File, Packed
from handsoff.errors import DamagedError, RefusedError

ID = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
OTHER = "1b2c3d4e-5f60-4172-8182-3b4c5d6e7f80"
MAIN = File(f"projects/-w/{ID}.jsonl", 3, "a" * 64, 1_700_000_000, "00000")
SESSION = Packed(
    agent="claude", id=ID, version="2.1.332", main=0, cwd="/w/sub", top="/w", spellings=("/v",),
    home="/home/li/.claude", platform="posix", project="-w", files=(MAIN,),
)  # fmt: skip
ROLLOUT = f"sessions/2026/11/03/rollout-2026-11-03T10-00-00-{OTHER}.jsonl"
CODEX = replace(
    SESSION, agent="codex", id=OTHER, project="", home="/home/li/.codex",
    files=(replace(MAIN, name=ROLLOUT, pieces="00001"),),
)  # fmt: skip
ALL = Baggage("rewrite", (SESSION, CODEX))


def of(**changes: Any) -> Baggage:
    return Baggage("raw", (replace(SESSION, **changes),))


def named(name: str) -> Baggage:
    return of(files=(MAIN, replace(MAIN, name=name, pieces="00001")))


def test_a_session_has_one_transcript() -> None:
    twin = replace(CODEX.files[0], name=f"archived_sessions/{ROLLOUT[20:]}", pieces="00002")
    twice = Baggage("raw", (replace(CODEX, files=(*CODEX.files, twin)),))
    with pytest.raises(DamagedError, match="not one main file"):
        baggage.decode(baggage.encode(twice))


def test_a_list_is_read_as_it_was_written() -> None:
    assert baggage.decode(baggage.encode(ALL)) == ALL
    beside = f"projects/-w/{ID}/subagents/agent-a.jsonl"
    for more in (beside, f"tasks/{ID}/1.json", f"file-history/{ID}/0123456789abcdef@v1"):
        assert baggage.decode(baggage.encode(named(more))) == named(more)
    empty = of(files=(MAIN, replace(MAIN, name=f"tasks/{ID}/1.json", size=0, pieces="")))
    assert baggage.decode(baggage.encode(empty)) == empty


@pytest.mark.parametrize(
    "name",
    [
        "../x", "/etc/passwd", "", ".", f"projects/-w/{ID}/../../../.bashrc", "settings.json",
        ".credentials.json", f"projects/-w/{OTHER}.jsonl", f"projects/-other/{ID}.jsonl",
        f"projects/-w/{ID}/a.key", f"projects/-w/{ID}\\x.jsonl", "history.jsonl", "sessions/1.json",
        f"session-env/{ID}/x", f"projects/-w/{ID}/.git/config", f"projects/-w/{ID}/a\0b",
        "projects/-w/memory/MEMORY.md", f"projects/-w/{ID}/x\n", ROLLOUT,
        f"projects/-w/{ID}/.a.jsonl.handsoff-new",
    ],
)  # fmt: skip
def test_a_name_that_is_of_no_session_is_refused(name: str) -> None:
    with pytest.raises((DamagedError, RefusedError)):
        baggage.decode(baggage.encode(named(name)))


@pytest.mark.parametrize(
    "changes",
    [
        {"agent": "other"}, {"agent": "codex"}, {"id": OTHER}, {"id": "x"}, {"main": 1},
        {"main": -1}, {"main": True}, {"main": None}, {"files": ()}, {"files": (MAIN, MAIN)},
        {"top": "w"}, {"top": "/"}, {"home": "home"}, {"spellings": ("v",)},
        {"spellings": ("/v",) * 17}, {"platform": "vms"}, {"project": "-v"}, {"version": 3},
        {"cwd": "/w\0"}, {"cwd": "/" + "w" * 5000}, {"cwd": "\ud800"}, {"files": "x"},
        {"files": (MAIN, replace(MAIN, name=f"tasks/{ID}/a", pieces="00000"))},
        {"files": (MAIN, *(replace(MAIN, name=f"tasks/{ID}/{n}", pieces=f"0000{n}")
                           for n in ("1", "2", "2")))},
        {"files": (MAIN, replace(MAIN, name=f"tasks/{ID}/a", pieces="00001"),
                   replace(MAIN, name=f"tasks/{ID}/A", pieces="00002"))},
    ],
)  # fmt: skip
def test_a_session_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((DamagedError, RefusedError)):
        baggage.decode(baggage.encode(of(**changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"size": -1}, {"size": 1.5}, {"size": True}, {"size": "3"}, {"size": 0}, {"pieces": ""},
        {"size": baggage.LIMIT + 1}, {"mtime": -1}, {"mtime": 1 << 60}, {"sha256": "a"},
        {"sha256": None}, {"pieces": "x"}, {"pieces": "../x"},
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    fields = canon.decode(baggage.encode(of()))
    fields["sessions"][0]["files"][0] |= changes
    try:
        data = canon.encode(fields)
    except ValueError:
        return
    with pytest.raises((DamagedError, RefusedError)):
        baggage.decode(data)


def test_too_much_is_refused_before_anything_of_it_is_read() -> None:
    many = [replace(SESSION, id=f"{n:08x}{ID[8:]}", files=(
        replace(MAIN, name=f"projects/-w/{n:08x}{ID[8:]}.jsonl", pieces=f"{n:05d}"),))
        for n in range(baggage.SESSIONS + 1)]  # fmt: skip
    with pytest.raises(RefusedError, match="201 items, and 200 is the most"):
        baggage.decode(baggage.encode(Baggage("raw", tuple(many))))
    with pytest.raises(DamagedError, match="twice"):
        baggage.decode(baggage.encode(Baggage("raw", (SESSION, SESSION))))
    odd: list[dict[str, Any]] = [
        {"mode": "raw"}, {"mode": "x", "sessions": []}, {"mode": [], "sessions": []},
        {"mode": "raw", "sessions": {}}, {"mode": "raw", "sessions": [[]]},
    ]  # fmt: skip
    for broken in odd:
        with pytest.raises(DamagedError):
            baggage.decode(canon.encode(broken))


def test_the_pieces_of_a_file_are_all_of_it_and_no_more() -> None:
    def pieces(*sizes: int) -> list[tuple[bytes, bool, int]]:
        return [(baggage.piece_name(n), True, size) for n, size in enumerate(sizes)]

    file = replace(MAIN, size=6)
    baggage.check_pieces(file, pieces(1, 5))
    large = replace(MAIN, size=baggage.LONGEST + 1)
    wrong = [
        (file, pieces(1, 4)), (file, pieces(1, 6)), (file, pieces(6, 0)), (file, []),
        (file, [(b"00000000", False, 6)]), (file, [(b"00000001", True, 6)]),
        (file, [(b"00000000", False, 6), (b"00000001", True, 6)]),
        (large, pieces(large.size)),
    ]  # fmt: skip
    for of_file, found in wrong:
        with pytest.raises(DamagedError):
            baggage.check_pieces(of_file, found)


@given(st.lists(st.integers(0, 5000), max_size=30), st.integers(1, 9000), st.integers(1, 9000))
def test_a_file_that_grew_begins_with_the_same_pieces(
    lengths: list[int], first: int, second: int
) -> None:
    baggage_piece, baggage.PIECE = baggage.PIECE, 4000  # type: ignore[misc]
    try:
        body = b"".join(b"x" * length + b"\n" for length in lengths)
        whole = list(baggage.blocks(body[at : at + first] for at in range(0, len(body), first)))
        assert b"".join(whole) == body
        assert all(block.endswith(b"\n") and len(block) >= 4000 for block in whole[:-1])
        again = baggage.blocks((body + b"more\n")[at : at + second]
                               for at in range(0, len(body) + 5, second))  # fmt: skip
        assert list(again)[: len(whole) - 1] == whole[:-1]
    finally:
        baggage.PIECE = baggage_piece  # type: ignore[misc]


def test_a_line_without_an_end_is_cut() -> None:
    chunk = b"x" * (8 << 20)
    sizes = [len(block) for block in baggage.blocks(iter([chunk] * 9))]
    assert sizes == [baggage.WHOLE, 8 << 20]
    assert {len(piece) for piece in baggage.cut(chunk)} == {baggage.LONGEST}


def test_which_session_is_meant() -> None:
    ids = [ID, OTHER, f"{ID[:-1]}0"]
    assert baggage.chosen(ids, ()) == [0]
    assert baggage.chosen(ids, ["all"]) == [0, 1, 2]
    assert baggage.chosen(ids, ["1B2c", ids[2], "1b"]) == [1, 2]
    for words, said in ((["0a"], "2 sessions"), (["x"], "no session"), ([""], "no session")):
        with pytest.raises(RefusedError, match=said):
            baggage.chosen(ids, words)
    assert baggage.chosen(["0abc", "0abcd"], ["0abc"]) == [0]


def test_only_one_machine_of_the_same_person_gets_a_transcript() -> None:
    assert baggage.sending_problem("send", 1, "lin", "lin") == ""
    assert "bo's" in baggage.sending_problem("send", 1, "lin", "bo")
    for verb, receivers in (("save", 1), ("offer", 1), ("send", 2), ("send", 0)):
        assert "only to one machine" in baggage.sending_problem(verb, receivers, "lin", "lin")
    assert baggage.person_problem(None, None)
    assert baggage.person_problem("lin", None)
    assert baggage.person_problem("", "lin")
