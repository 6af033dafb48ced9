"""One git that is asked for many objects: what it says, what it is not asked, and how it ends."""

import os
import signal
from contextlib import closing
from itertools import pairwise

import pytest

from handsoff.core.objects import EMPTY_TREE, Commit, encode_commit, oid_of
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.reader import MISSING, reader_of
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.errors import DamagedError
from tests.kit.machines import World

WHO = "Lin <lin@example.invalid> 1700000000 +0000"


@pytest.fixture
def shared(world: World) -> Shared:
    return open_shared(world.machine("m1").checkout())


def chain_of(objects: Objects, length: int) -> list[str]:
    """Return the ids of new commits on top of each other, oldest first."""
    found: list[str] = []
    objects.write("tree", b"")
    for number in range(length):
        commit = Commit(EMPTY_TREE, tuple(found[-1:]), WHO, WHO, f"{number}")
        found.append(objects.write("commit", encode_commit(commit)))
    return found


def test_one_git_answers_all_that_is_asked_in_a_block_and_sees_what_comes_meanwhile(
    shared: Shared,
) -> None:
    objects = Objects(shared.objects)
    with shared.reader.open():
        blob = objects.write("blob", b"a\nb\0" * 50_000)
        assert shared.reader.infos([blob])[blob] == ("blob", 200_000)
        first = shared.reader._git
        oids = chain_of(objects, 200)
        assert [oid for oid, _ in shared.chains.line(oids[-1]) or []] == oids
        assert shared.reader.contents([blob, oids[0], blob])[::2] == [b"a\nb\0" * 50_000] * 2
        assert shared.reader._git is first is not None
    assert shared.reader._git is None
    assert first.returncode is not None
    for older, newer in pairwise(shared.chains.commits(oids)):
        assert older[0].encode() in newer[1]


@pytest.mark.parametrize("length", [3, 40])
def test_a_chain_with_a_gap_is_incomplete_however_long_it_is(shared: Shared, length: int) -> None:
    objects = Objects(shared.objects)
    oids = chain_of(objects, length)
    (shared.objects / oids[0][:2] / oids[0][2:]).unlink()
    with pytest.raises(DamagedError, match="chain of the remote is incomplete"):
        shared.chains.line(oids[-1])
    assert shared.chains.line(oids[-1], oids[0]) == shared.chains.commits(oids[1:])


@pytest.mark.parametrize("name", ["", "HEAD", "1" * 39, "info x\n" + "1" * 40, "1" * 40, "\udcff"])
def test_only_ids_are_asked_for(shared: Shared, name: str) -> None:
    there = chain_of(Objects(shared.objects), 1)[0]
    assert shared.kinds([there, name, there]) == {there: "commit", name: MISSING}


def test_a_git_that_was_killed_is_an_error_and_the_next_question_has_another(
    shared: Shared,
) -> None:
    oid = chain_of(Objects(shared.objects), 1)[0]
    with shared.reader.open():
        assert shared.has(oid)
        assert shared.reader._git is not None
        os.kill(shared.reader._git.pid, signal.SIGKILL)
        with pytest.raises(DamagedError, match="git cannot read"):
            shared.has(oid)
        assert shared.has(oid)


def test_a_question_that_was_broken_off_leaves_no_answer_for_the_next(shared: Shared) -> None:
    one, two = chain_of(Objects(shared.objects), 2)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with shared.reader.open():
            assert shared.has(one)
            git = shared.reader._git
            assert git is not None
            git.send_signal(signal.SIGSTOP)  # so the question is asked, and its answer comes late
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(KeyboardInterrupt):
                shared.reader.contents([one])
            assert git.returncode is not None
            assert shared.chains.commits([two])[0][1].endswith(b"\n\n1")
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_object_that_is_gone_since_it_was_found_is_not_waited_for(shared: Shared) -> None:
    one, two = chain_of(Objects(shared.objects), 2)
    with shared.reader.open():
        assert shared.has(two)
        (shared.objects / two[:2] / two[2:]).unlink()
        with pytest.raises(DamagedError, match="git cannot read"):
            shared.reader.contents([one, two])
        assert len(shared.chains.commits([one])) == 1


def test_blobs_come_in_the_order_in_which_they_were_asked_for(shared: Shared) -> None:
    objects = Objects(shared.objects)
    oids = [objects.write("blob", b"%d\n" % n * (n % 7) * 900) for n in range(150)]
    oids += oids[:40]
    found = list(reader_of(shared.checkout, shared.objects).each(iter(oids)))
    assert [oid_of("blob", data) for data in found] == oids


def test_while_one_blob_is_used_git_was_asked_for_more(shared: Shared) -> None:
    objects = Objects(shared.objects)
    oids = [objects.write("blob", b"%d" % n) for n in range(100)]
    reader = reader_of(shared.checkout, shared.objects)
    left = iter(oids)
    with closing(reader.each(left)) as blobs:
        assert next(blobs) == b"0"
        assert 100 - len(list(left)) == 64  # two batches, which a small pipe has room for
        git = reader._git
        assert git is not None
    assert git.returncode is not None
    assert reader.contents([oids[99]]) == [b"99"]


def test_a_blob_that_is_not_here_ends_it(shared: Shared) -> None:
    objects = Objects(shared.objects)
    oids = [objects.write("blob", b"%d" % n) for n in range(3)]
    blobs = reader_of(shared.checkout, shared.objects).each([*oids, "1" * 40, oids[0]])
    assert [next(blobs) for _ in oids] == [b"0", b"1", b"2"]
    with pytest.raises(DamagedError, match="git cannot read"):
        next(blobs)
