"""The record in a parcel: whole and in order, or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.guard.views import without_signatures
from handsoff.core.objects import oid_of
from handsoff.core.works import luggage
from handsoff.errors import DamagedError
from tests.kit.signing import M1, empty

COMMITS = st.lists(st.binary(max_size=40), max_size=4)
OTHERS = st.lists(st.tuples(st.sampled_from(["tree", "blob"]), st.binary(max_size=40)), max_size=4)


@given(COMMITS, OTHERS)
def test_what_was_packed_comes_out(commits: list[bytes], others: list[tuple[str, bytes]]) -> None:
    chain = [(oid_of("commit", data), data) for data in commits]
    found = luggage.unpack(luggage.pack(chain, others))
    assert (list(found.commits), list(found.others)) == (chain, others)


@given(COMMITS, OTHERS, st.data())
def test_what_was_cut_or_lengthened_is_refused(
    commits: list[bytes], others: list[tuple[str, bytes]], data: st.DataObject
) -> None:
    whole = luggage.pack([(oid_of("commit", d), d) for d in commits], [*others, ("blob", b"end")])
    cut = data.draw(st.integers(len(whole) - 8, len(whole) - 1))
    with pytest.raises(DamagedError):
        luggage.unpack(whole[:cut])
    with pytest.raises(DamagedError):
        luggage.unpack(whole + b"x")


@pytest.mark.parametrize(
    "blob",
    [b"tag 1\nx\n", b"commit -1\nx\n", b"commit 1\nxy", b"commit 9999999999\nx\n", b"\n", b"blob"],
)
def test_other_forms_are_refused(blob: bytes) -> None:
    with pytest.raises(DamagedError, match=r"malformed|cut short"):
        luggage.unpack(blob)


def test_more_than_a_parcel_may_bring_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(luggage, "LIMIT", 10)
    with pytest.raises(DamagedError, match="over 10"):
        luggage.unpack(b"x" * 11)


def test_what_is_looked_at_of_a_record_is_all_but_its_signatures() -> None:
    """A short token is found in random letters sooner or later: in one of a hundred records."""
    token = b"EAAA" + b"l" * 60  # what a square access token looks like
    commit = (
        b"tree x\nauthor a\ngpgsig -----BEGIN SSH SIGNATURE-----\n U1NI" + token + b"\n "
        b"-----END SSH SIGNATURE-----\n\nm1 saved x\n\n{}\n"
    )
    packed = luggage.pack([("", commit)], [("blob", token)])
    left = without_signatures(packed)
    assert left.count(token) == 1
    assert b"m1 saved x" in left
    for other in (b"OPENSSH PRIVATE KEY", b"SIGNATURE"):
        kept = commit.replace(b"SSH SIGNATURE", other)
        assert without_signatures(kept) == kept


def test_real_entries_lose_their_signatures_and_nothing_else() -> None:
    pen = M1.pen(empty()).caught().saved(page="a" * 40)
    for draft in pen.drafts:
        left = without_signatures(draft.data)
        assert b"SIGNATURE" not in left
        assert [line for line in draft.data.split(b"\n") if line.startswith(b"{")] == [
            line for line in left.split(b"\n") if line.startswith(b"{")
        ]
