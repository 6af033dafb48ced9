"""What becomes of a transcript that arrives: no byte of what stands here is ever lost."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.transcripts import installing, whereabouts
from handsoff.core.transcripts.installing import Pair, Relation, Verdict, mapped, settle
from handsoff.core.transcripts.pathmap import PathMap
from tests.core.transcripts.test_baggage import ID

HERE, THERE = "/home/li/app", "/srv/work/app"
"""Where it is here, and where it was on the sender."""
MAP = PathMap.of([(THERE, HERE)])
WORDS = st.sampled_from([HERE, THERE, f"{THERE}/x", f"{HERE}2", "x", "é", '"', "\n"])
LINES = st.builds(
    lambda words: json.dumps({"m": " ".join(words)}, ensure_ascii=False, separators=(",", ":")),
    st.lists(WORDS, max_size=4),
)
HISTORY = st.lists(LINES, max_size=4).map(lambda lines: "".join(f"{x}\n" for x in lines).encode())
CHUNK = st.integers(1, 40)
F, R = "a.jsonl", "tasks/x/1.json"


def source(body: bytes, chunk: int = 7) -> installing.Source:
    def read() -> Iterator[bytes]:
        return (body[at : at + chunk] for at in range(0, len(body), chunk))

    return read


def pair(ours: bytes | None, theirs: bytes, mapping: PathMap = MAP, chunk: int = 7) -> Pair:
    return Pair(None if ours is None else source(ours), source(theirs, chunk), mapping)


def outcome(one: Pair) -> tuple[Verdict, bytes]:
    """Return what becomes of one file, and what would stand here then."""
    verdict = settle({F: one.relation()}, F)[F]
    ours = b"".join(one.ours()) if one.ours else b""
    return verdict, b"".join(one.result()) if verdict.writes else ours


@given(HISTORY, HISTORY, HISTORY, st.booleans(), CHUNK)
def test_what_stands_here_is_how_the_result_begins(
    base: bytes, mine: bytes, theirs: bytes, moved: bool, chunk: int
) -> None:
    there = b"".join(mapped([base], MAP.inverse())) if moved else base
    for ours, come in ((base + mine, there + theirs), (mine, theirs), (None, theirs)):
        verdict, result = outcome(pair(ours, come, chunk=chunk))
        assert result.startswith(ours or b"")
        if verdict in (Verdict.NEW, Verdict.EXTENSION, Verdict.SAME) and not mine:
            # nothing of theirs is lost either
            assert result.count(b"\n") == come.count(b"\n")


@given(HISTORY, HISTORY, HISTORY)
def test_there_and_back_a_transcript_has_its_own_bytes_and_what_was_added(
    base: bytes, there: bytes, here: bytes
) -> None:
    _, on_m2 = outcome(pair(None, base, MAP.inverse()))
    verdict, back = outcome(pair(base, on_m2 + there))
    assert back == base + b"".join(mapped([there], MAP))
    assert verdict is (Verdict.EXTENSION if there else Verdict.SAME)
    # and once more, with what was added on the first machine
    verdict, again = outcome(pair(on_m2 + there, back + here, MAP.inverse()))
    assert again == on_m2 + there + b"".join(mapped([here], MAP.inverse()))
    assert verdict is (Verdict.EXTENSION if here else Verdict.SAME)


@given(HISTORY, HISTORY)
def test_the_line_that_says_where_it_is_moves_to_the_end_or_the_way_back_is_a_fork(
    base: bytes, more: bytes
) -> None:
    line, raw = whereabouts.marker(ID, HERE), PathMap.of(())
    come = base + more + b"{}\n"
    # as it stands here without its last line: the sender's own way to the same bytes
    _, result = outcome(pair(base, come, raw))
    assert outcome(pair(come, result, raw)) == (Verdict.SAME, come)
    # written whole, it would be in the middle of what goes back
    assert outcome(pair(come, base + line + more + b"{}\n", raw))[0] is Verdict.FORK
    # and where theirs has it in the middle already, it stays there
    on_m2 = base + line + more + b"{}\n"
    assert outcome(pair(base, on_m2, raw))[1].startswith(base + line)


def test_a_line_that_is_not_whole_is_gone_on_with() -> None:
    odd = f'{{"m":"{THERE}"}}\n'.encode()  # written here, of the other machine's place
    new = f'{{"m":"{THERE}/b"}}\n'.encode()
    come = f'{{"m":"{HERE}/b"}}\n'.encode()
    for end in range(len(come)):
        verdict, result = outcome(pair(odd + come[:end], odd + new + new))
        fits = (Verdict.EXTENSION, odd + come + come)
        assert (verdict, result) == fits
    # theirs is not whole, and begins what stands here
    for more in (b"", come):
        ours = odd + b'{"m":"x"}\n' + more
        assert outcome(pair(ours, odd + b'{"m":"x"')) == (Verdict.SHORTER, ours)


def test_how_two_files_begin() -> None:
    table = {
        (b"ab", b"ab"): Relation.SAME, (b"a", b"ab"): Relation.GROWN,
        (b"ab", b"a"): Relation.SHORTER, (b"ab", b"ax"): Relation.OTHER,
        (b"", b""): Relation.SAME, (b"", b"a"): Relation.GROWN, (b"a", b""): Relation.SHORTER,
    }  # fmt: skip
    for (ours, theirs), found in table.items():
        assert installing.relation([ours[:1], b"", ours[1:]], [theirs]) is found


def test_one_fork_is_a_fork_of_the_whole_session() -> None:
    same, grown, other = Relation.SAME, Relation.GROWN, Relation.OTHER
    parts = {F: grown, "b.jsonl": other}
    assert {*settle(parts, F).values()} == {Verdict.FORK}
    assert {*settle({F: other, "b.jsonl": grown}, F).values()} == {Verdict.FORK}
    assert settle({F: grown, R: other}, F) == {F: Verdict.EXTENSION, R: Verdict.REPLACED}
    assert settle({F: None, R: other}, F)[R] is Verdict.REPLACED
    assert settle({F: same, R: other}, F)[R] is Verdict.KEPT
    assert settle({F: Relation.SHORTER, R: other}, F) == {F: Verdict.SHORTER, R: Verdict.KEPT}
    assert [v for v in Verdict if v.writes] == [Verdict.NEW, Verdict.EXTENSION, Verdict.REPLACED]


@pytest.mark.parametrize(
    ("mtime", "time"), [(0, 10**9), (10**9 - 5, 10**9 - 5), (2 * 10**9, 10**9)]
)
def test_what_would_be_swept_for_its_age_is_of_now(mtime: int, time: int) -> None:
    assert installing.time_here(mtime, 10**9) == time


@given(st.binary(max_size=60), st.integers(0, 70), CHUNK)
def test_a_file_is_cut_where_it_should_be(body: bytes, size: int, chunk: int) -> None:
    read = source(body, chunk)
    assert b"".join(installing.without_end(read(), size)) == body[:size]
    assert b"".join(installing.without_start(read(), size)) == body[size:]
