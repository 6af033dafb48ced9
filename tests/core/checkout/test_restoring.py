"""Before a restore: what would be done, and what of the receiver's would be lost by it."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.checkout.restoring import (
    Obstacle,
    Plan,
    Standing,
    merge_stash,
    obstacles,
    plan,
    without_own,
    works_after_undo,
)
from handsoff.core.checkout.state import StashEntry
from handsoff.core.checkout.trees import Change, Leaf
from handsoff.core.objects import FILE, LINK

ONE, TWO = Leaf(FILE, "1" * 40), Leaf(LINK, "2" * 40)
PATH = st.lists(st.sampled_from([b"a", b"b", b"c"]), min_size=1, max_size=3).map(b"/".join)


class Disk(dict[bytes, Leaf]):
    """Files by path; the folders are those above them, and some that are empty."""

    empty: frozenset[bytes] = frozenset()

    def standing(self, path: bytes, leaf: Leaf) -> Standing:
        if path in self:
            return Standing.SAME if self[path] == leaf else Standing.OTHER
        is_folder = any(p.startswith(path + b"/") for p in self) or path in self.empty
        return Standing.FOLDER if is_folder else Standing.NOTHING

    def inside(self, folder: bytes) -> Iterable[bytes]:
        return [p for p in self if p.startswith(folder + b"/")]

    def obstacles(self, wanted: Plan, known: Iterable[bytes] = ()) -> list[Obstacle]:
        return obstacles(wanted, {*known}.__contains__, self.standing, self.inside)


def test_a_plan_removes_first_and_keeps_the_order() -> None:
    changes = [Change(b"a", None, ONE), Change(b"b", ONE, None), Change(b"c", ONE, TWO)]
    assert plan(changes) == Plan((b"b",), ((b"a", ONE), (b"c", TWO)))
    assert plan([]) == Plan((), ())


def test_nothing_is_in_the_way_on_an_empty_disk() -> None:
    assert Disk().obstacles(Plan((), ((b"a/b", ONE), (b"c", TWO)))) == []


def test_a_file_with_other_content_is_in_the_way_and_an_equal_one_is_not() -> None:
    disk = Disk({b"a": TWO, b"b": ONE})
    wanted = Plan((), ((b"a", ONE), (b"b", ONE)))
    assert disk.obstacles(wanted) == [Obstacle(b"a", "exists here with other content")]
    assert disk.obstacles(wanted, known=[b"a"]) == []


def test_a_file_where_a_folder_must_be_is_in_the_way_even_if_it_is_equal() -> None:
    what = "a file or link stands where a folder must be"
    for mine in (ONE, TWO):
        wanted = Plan((), ((b"a/b", ONE), (b"a/c/d", ONE)))
        assert Disk({b"a": mine}).obstacles(wanted) == [Obstacle(b"a", what)]
    assert Disk({b"a": TWO}).obstacles(Plan((b"a",), ((b"a/b", ONE),))) == []


def test_a_folder_is_in_the_way_if_it_holds_what_nobody_knows() -> None:
    disk = Disk({b"a/mine": TWO, b"a/theirs": ONE})
    wanted = Plan((b"a/theirs",), ((b"a", ONE),))
    assert disk.obstacles(wanted) == [Obstacle(b"a", "a folder here holds a/mine")]
    assert disk.obstacles(wanted, known=[b"a/mine"]) == []
    empty = Disk()
    empty.empty = frozenset([b"a"])
    assert empty.obstacles(wanted) == []


def test_a_name_in_the_way_is_shown_safely() -> None:
    disk = Disk({b"a/\x1b[2J": TWO})
    assert disk.obstacles(Plan((), ((b"a", ONE),)))[0].what == r"a folder here holds a/\x1b[2J"


def possible(leaves: dict[bytes, Leaf]) -> dict[bytes, Leaf]:
    return {p: v for p, v in leaves.items() if not any(p.startswith(o + b"/") for o in leaves)}


STATES = st.dictionaries(PATH, st.sampled_from([ONE, TWO]), max_size=6).map(possible)


@given(STATES, STATES, STATES)
def test_without_an_obstacle_no_file_is_lost_that_nobody_knows(
    mine: dict[bytes, Leaf], old: dict[bytes, Leaf], new: dict[bytes, Leaf]
) -> None:
    # the tree `old` is checked out, and `mine` are files that it does not have
    mine = {
        p: v for p, v in mine.items() if p not in old and possible({**old, p: v}) == {**old, p: v}
    }
    disk = Disk({**old, **mine})
    changes = [
        Change(path, old.get(path), new.get(path))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]
    wanted = plan(changes)
    found = disk.obstacles(wanted, known=old)
    after = {p: v for p, v in disk.items() if p not in wanted.removals}
    lost = []
    for path, leaf in wanted.writes:
        for p in list(after):
            if p == path or p.startswith(path + b"/") or path.startswith(p + b"/"):
                gone = after.pop(p)
                if p in mine and (p != path or gone != leaf):
                    lost.append(p)
        after[path] = leaf
    assert bool(found) is bool(lost), (found, lost)
    assert {o.path for o in found} <= disk.keys() | {path for path, _ in wanted.writes}


def stash(*oids: str) -> tuple[StashEntry, ...]:
    return tuple(StashEntry(oid, f"WIP {oid}", "x <y> 1 +0000") for oid in oids)


def test_stashes_that_arrive_come_on_top_and_none_comes_twice() -> None:
    assert merge_stash(stash("a", "b"), stash("c")) == stash("a", "b", "c")
    assert merge_stash(stash("a", "b"), stash("b", "c", "a")) == stash("a", "b", "c")
    assert merge_stash((), stash("c")) == stash("c")
    assert merge_stash(stash("a"), ()) == stash("a")


OIDS = st.lists(st.sampled_from("abcdef"), unique=True)


@given(OIDS, OIDS)
def test_no_stash_of_either_side_is_lost_and_merging_again_changes_nothing(
    arriving: list[str], own: list[str]
) -> None:
    merged = merge_stash(stash(*arriving), stash(*own))
    assert {e.oid for e in merged} == {*arriving, *own}
    assert merged[: len(arriving)] == stash(*arriving)
    assert merge_stash(stash(*arriving), merged) == merged
    assert [e.oid for e in merged if e.oid not in arriving] == [o for o in own if o not in arriving]


@given(OIDS, OIDS, st.sets(st.sampled_from("abcdef")))
def test_stashes_that_were_sent_and_do_not_come_back_are_dropped_and_no_others(
    arriving: list[str], own: list[str], sent: set[str]
) -> None:
    merged = merge_stash(stash(*arriving), stash(*own), sent)
    kept = [oid for oid in own if oid not in arriving and oid not in sent]
    assert [e.oid for e in merged] == [*arriving, *kept]


def test_a_file_that_no_index_has_goes_only_if_the_same_bytes_are_safe_elsewhere() -> None:
    tracked, safe, own, edited = (Change(name, ONE, None) for name in (b"t", b"s", b"o", b"e"))
    arriving = Change(b"o/new", None, ONE)
    changes = [tracked, safe, own, edited, arriving]
    kept = without_own(changes, {b"t"}, {b"s": ONE, b"e": TWO}, ())
    assert kept == [tracked, safe, arriving]


def test_a_file_that_the_other_side_left_behind_stays() -> None:
    named, below, gone = (Change(name, ONE, None) for name in (b"n", b"d/e/f", b"d2"))
    safe = dict.fromkeys((b"n", b"d/e/f", b"d2"), ONE)
    kept = without_own([named, below, gone], (), safe, {b"n", b"d/"})
    assert kept == [gone]
    assert without_own([named], {b"n"}, {}, {b"n"}) == [named]


@pytest.mark.parametrize(
    ("now", "point", "head", "gone", "after"),
    [
        ({"b": "2"}, {}, "main", "", {}),
        ({"b": "2"}, {"b": "1"}, "b", "", {"b": "1"}),
        ({"a": "1", "b": "2"}, {"a": "1"}, "main", "", {"a": "1"}),
        ({"a": "3", "b": "2"}, {"a": "1"}, "main", "", {"a": "3"}),
        ({"a": "3", "b": "2"}, {"a": "1"}, "a", "", {"a": "1"}),
        ({"a": "3", "b": "2"}, {"a": "1"}, "main", "a", {}),
        ({"a": "3", "b": "2"}, {"a": "1"}, "a", "a", {"a": "1"}),
        ({"b": "2"}, {"a": "1"}, "", "", {"a": "1"}),
        ({"b": "2", "c": "4"}, {}, "main", "", {"c": "4"}),
    ],
)
def test_going_back_says_again_which_works_stand_here(
    now: dict[str, str], point: dict[str, str], head: str, gone: str, after: dict[str, str]
) -> None:
    assert works_after_undo(now, point, work="b", head=head, gone=gone) == after
