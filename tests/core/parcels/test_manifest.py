"""The manifest: every field is what it should be, or the parcel is damaged and nothing worse."""

from dataclasses import asdict, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core import canon
from handsoff.core.parcels import manifest
from handsoff.core.parcels.manifest import Manifest, is_vouched
from handsoff.errors import DamagedError
from tests.core.test_canon import TEXT, VALUES
from tests.kit.signing import M1, M2, M3, empty

GOOD = Manifest(
    parcel="c" * 32,
    sender=M1.id,
    receivers=(M2.id, M3.id),
    repository="a" * 40,
    roots=("b" * 40,),
    work="feat/x",
    leg=3,
    revision=7,
    record="d" * 40,
    chain="7" * 40,
    envelope="e" * 40,
    bases=("f" * 40, "0" * 40),
    pack_size=12345,
    pack_sha256="9" * 64,
    counts={"files": 3, "commits": 0},
    waivers=("some text",),
    at=1_900_000_000,
)
NAMES = [field.name for field in fields(Manifest)]
COUNT = st.integers(0, 1 << 37)
OIDS = st.binary(min_size=20, max_size=20).map(bytes.hex)
MACHINES = st.sampled_from([M1.id, M2.id, M3.id])


def body(**changes: Any) -> bytes:
    """Return a good manifest with fields changed, in canonical form."""
    return canon.encode({**asdict(GOOD), **changes})


def test_a_parcel_is_vouched_for_by_the_good_entry_of_its_sender_that_names_it() -> None:
    saved = M1.pen(empty()).caught().saved(envelope=GOOD.envelope, parcel=GOOD.parcel).record
    assert is_vouched(GOOD, saved)
    for other in (
        replace(GOOD, sender=M2.id),
        replace(GOOD, parcel="1" * 32),
        replace(GOOD, envelope="1" * 40),
        replace(GOOD, work="feat/y"),
    ):
        assert not is_vouched(other, saved)
    assert not is_vouched(GOOD, empty())


@given(
    st.builds(
        Manifest,
        parcel=st.binary(min_size=16, max_size=16).map(bytes.hex),
        sender=MACHINES,
        receivers=st.lists(MACHINES, max_size=3).map(tuple),
        repository=OIDS,
        roots=st.lists(OIDS, max_size=2).map(tuple),
        work=st.sampled_from(["feat/x", "中文", "a\udcffb"]),
        leg=COUNT,
        revision=COUNT,
        record=OIDS | st.just(""),
        chain=OIDS | st.just(""),
        envelope=OIDS,
        bases=st.lists(OIDS, max_size=3).map(tuple),
        pack_size=COUNT,
        pack_sha256=st.binary(min_size=32, max_size=32).map(bytes.hex),
        counts=st.dictionaries(TEXT, COUNT, max_size=3),
        waivers=st.lists(TEXT, max_size=2).map(tuple),
        at=COUNT,
    )
)
def test_a_manifest_reads_back_as_it_was_written(made: Manifest) -> None:
    data = manifest.encode(made)
    assert manifest.decode(data) == made
    assert manifest.encode(manifest.decode(data)) == data


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_without_one_of_its_fields_is_damaged(name: str) -> None:
    values = asdict(GOOD)
    del values[name]
    with pytest.raises(DamagedError, match=r"missing or unknown fields|format None"):
        manifest.decode(canon.encode(values))


@pytest.mark.parametrize("name", ["", "x", "Parcel", "parcels", "__class__", "kw_only"])
def test_a_manifest_with_a_field_more_is_damaged(name: str) -> None:
    with pytest.raises(DamagedError, match="missing or unknown fields"):
        manifest.decode(body(**{name: 1}))


WRONG: dict[str, list[Any]] = {
    "parcel": ["", "c" * 31, "C" * 32, "../" + "c" * 29, 7, None, ["c" * 32], {}],
    "sender": ["", "m1", M1.id.upper(), M1.id + "a", 7, None, [M1.id], {}],
    "receivers": [None, 7, True, "", M2.id, {M2.id: 1}, {}, [7], [None], [[M2.id]], [{}], [""],
                  [M2.id, "m3"], [True]],
    "repository": ["", "a" * 39, "A" * 40, 7, None, ["a" * 40], {}, True],
    "roots": [None, 7, True, "", "b" * 40, {}, {"b" * 40: 1}, [7], [None], [[]], [{}], ["b"]],
    "work": ["", None, 7, True, [], {}, ["feat/x"], "a\0b", "a\nb", "a\x7f", "a\ud800b", "\udfff",
             "x" * 1025],
    "leg": [None, "3", -1, True, False, [], {}, 1 << 64, 10**400],
    "revision": [None, "7", -1, True, [], {}, 1 << 64, 10**400],
    "record": [None, 0, False, [], {}, "d", "d" * 41, 7, True],
    "chain": [None, 0, False, [], {}, "d", "d" * 41, 7, True],
    "envelope": ["", None, 7, [], {}, "e" * 39, "E" * 40],
    "bases": [None, 0, False, "", "f" * 40, {}, [7], [[]], [{}], [""], ["f" * 41]],
    "pack_size": [None, "1", -1, True, [], {}, 1 << 64, 10**400],
    "pack_sha256": [None, "", 7, [], {}, "9" * 63, "9" * 65, "G" * 64, "A" * 64],
    "counts": [None, 7, "", [], ["files"], {"files": "3"}, {"files": True}, {"files": None},
               {"files": -1}, {"files": {}}, {"files": 10**400}],
    "waivers": [None, 7, True, "", "text", {}, {"text": 1}, [7], [None], [[]], [{}]],
    "at": [None, "1", -1, True, [], {}, 253_402_300_800, 1 << 64, 10**400],
    "version": [None, "1", 0, 2, -1, True, [], {}, [1], 10**400],
}  # fmt: skip


def test_every_field_has_wrong_values_here() -> None:
    assert sorted(WRONG) == sorted(NAMES)


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values],
    ids=lambda value: repr(value)[:16],
)
def test_a_field_of_a_wrong_kind_or_out_of_bounds_is_damaged(name: str, value: object) -> None:
    with pytest.raises(DamagedError, match=r"the manifest's|this parcel has format"):
        manifest.decode(body(**{name: value}))


@given(st.sampled_from(NAMES), VALUES)
def test_any_value_in_any_field_is_taken_as_it_is_or_damaged(name: str, value: Any) -> None:
    data = body(**{name: value})
    try:
        assert manifest.encode(manifest.decode(data)) == data
    except DamagedError as error:
        assert name in str(error) or name == "version"


@given(st.binary(max_size=100))
def test_any_bytes_are_damaged(data: bytes) -> None:
    for text in (data, body() + data[:1], body()[: len(data)]):
        if text != body():
            with pytest.raises(DamagedError):
                manifest.decode(text)


def test_a_newer_format_says_so_whatever_else_is_in_it() -> None:
    with pytest.raises(DamagedError, match="has format 2; this handsoff reads format 1") as caught:
        manifest.decode(canon.encode({"version": 2, "all": "new"}))
    assert caught.value.hint == "install a newer handsoff here, or send with the older one"


def test_a_manifest_may_name_no_record_no_roots_and_no_bases() -> None:
    bare = replace(GOOD, record="", roots=(), bases=(), receivers=(), waivers=(), counts={})
    assert manifest.decode(manifest.encode(bare)) == bare


def test_a_manifest_over_the_limit_is_damaged() -> None:
    with pytest.raises(DamagedError, match="over the limit"):
        manifest.decode(b" " * (manifest.LIMIT + 1))
