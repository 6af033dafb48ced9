"""Names of refs: which are ours, and what each is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.ids import work_component
from handsoff.core.remote.refs import Kind, Ref, read_ref
from tests.kit.signing import M1

PREFIX, BRANCHES = "refs/wip", "refs/heads/handsoff"
PARCEL = "1" * 32
CUT = work_component("w" * 300)


@pytest.mark.parametrize(
    ("name", "kind", "component", "work", "last"),
    [
        ("refs/wip/roster", Kind.ROSTER, "", "", ""),
        ("refs/wip/archive", Kind.ARCHIVE, "", "", ""),
        ("refs/wip/lease/a%2Fb", Kind.RECORD, "a%2Fb", "a/b", ""),
        (f"refs/wip/lease/{CUT}", Kind.RECORD, CUT, "", ""),
        (f"refs/wip/notes/a/{M1.id}", Kind.NOTES, "a", "a", M1.id),
        (f"refs/wip/snap/a/{PARCEL}", Kind.PARCEL, "a", "a", PARCEL),
        ("refs/wip/probe/m1-0", Kind.PROBE, "", "", "m1-0"),
        ("refs/wip", Kind.STRAY, "", "", ""),
        ("refs/wip/lease/a/b", Kind.STRAY, "", "", ""),
        ("refs/wip/lease/a%2fb", Kind.STRAY, "", "", ""),
        ("refs/wip/notes/a/m1", Kind.STRAY, "", "", ""),
        ("refs/wip/snap/a/x", Kind.STRAY, "", "", ""),
        ("refs/wipe/roster", Kind.OTHER, "", "", ""),
        ("refs/tags/v1", Kind.OTHER, "", "", ""),
        ("refs/heads/feat/x", Kind.BRANCH, "", "feat/x", ""),
    ],
)
def test_each_ref_is_read_the_same_wherever_ours_lie(
    name: str, kind: Kind, component: str, work: str, last: str
) -> None:
    wanted = Ref(name=name, kind=kind, component=component, work=work, last=last)
    assert read_ref(name, PREFIX) == wanted
    if kind not in (Kind.OTHER, Kind.BRANCH):
        below = name.replace(PREFIX, BRANCHES)
        assert read_ref(below, BRANCHES).kind is kind
        assert read_ref(below, PREFIX).kind is Kind.BRANCH


@given(st.text(max_size=30))
def test_any_name_of_a_ref_is_read(name: str) -> None:
    ref = read_ref(f"{PREFIX}/{name}", PREFIX)
    assert ref.kind in Kind
    assert (ref.component == "") == (ref.kind not in (Kind.RECORD, Kind.NOTES, Kind.PARCEL))


def test_a_ref_whose_name_is_no_text_is_not_ours_and_stops_nobody() -> None:
    for name in ("refs/wip/lease/\udc80", "refs/wip/notes/a\udcff/x", "refs/wip/\udc80"):
        assert read_ref(name, "refs/wip").kind is Kind.STRAY
