"""Parts: what has come of a parcel, written by one connection, swept in time."""

import os
import threading
import time
from pathlib import Path

import pytest

from handsoff.edge import clock, parts
from handsoff.edge.parts import Part, part_of
from handsoff.errors import UnfitError

M1, M2 = "a" * 26, "b" * 26
PARCEL, SHA = "0" * 32, "c" * 64


def test_a_part_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with part_of(tmp_path, M1, PARCEL, SHA, wait=0) as part:
        assert part.size == 0
        part.write(b"abc")
    with part_of(tmp_path, M1, PARCEL, SHA, wait=0) as part:
        assert part.size == 3
        part.write(b"def")
        assert part.path.read_bytes() == b"abcdef"
        assert part.path.stat().st_mode & 0o777 == 0o600
    # other bytes, or another machine, are another part
    for machine, sha in ((M1, "d" * 64), (M2, SHA)):
        with part_of(tmp_path, machine, PARCEL, sha, wait=0) as part:
            assert part.size == 0
    assert len([*tmp_path.iterdir()]) == 1


def test_one_connection_writes_and_the_next_waits_for_it(tmp_path: Path) -> None:
    with part_of(tmp_path, M1, PARCEL, SHA, wait=0) as part:
        part.write(b"abc")
        with (
            pytest.raises(UnfitError, match="another connection"),
            part_of(tmp_path, M1, PARCEL, SHA, wait=0.1),
        ):
            pass
        seen: list[int] = []

        def waits() -> None:
            with part_of(tmp_path, M1, PARCEL, SHA, wait=5) as mine:
                seen.append(mine.size)

        other = threading.Thread(target=waits)
        other.start()
        time.sleep(0.1)
        assert seen == []
        part.write(b"def")
    other.join(5)
    assert seen == [6]


def test_whoever_waited_for_a_part_that_is_done_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "x.part"
    first = Part.hold(path)
    assert first is not None
    first.write(b"abc")
    assert Part.hold(path) is None
    first.remove()
    second = Part.hold(path)
    assert second is not None
    assert second.size == 0
    first.let_go()
    assert Part.hold(path) is None
    second.let_go()


def test_a_link_in_its_place_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (tmp_path / f"{M1}.{PARCEL}.{SHA[:16]}.part").symlink_to(outside)
    with pytest.raises(UnfitError), part_of(tmp_path, M1, PARCEL, SHA, wait=0):
        pass
    assert outside.read_text() == "mine"


def test_old_parts_go_and_held_ones_stay(tmp_path: Path) -> None:
    long_ago = clock.now().timestamp() - parts.KEPT - 60
    for name in ("old", "held", "young"):
        (tmp_path / f"{name}.part").write_bytes(b"x")
        if name != "young":
            os.utime(tmp_path / f"{name}.part", (long_ago, long_ago))
    held = Part.hold(tmp_path / "held.part")
    assert held is not None
    parts.sweep(tmp_path)
    assert sorted(p.stem for p in tmp_path.iterdir()) == ["held", "young"]
    held.let_go()


def test_a_machine_leaves_a_few_parts_and_those_of_others_stay(tmp_path: Path) -> None:
    now = clock.now().timestamp()
    for number in range(6):
        for machine in (M1, M2):
            path = tmp_path / f"{machine}.{number:032}.x.part"
            path.write_bytes(b"x")
            os.utime(path, (now + number, now + number))
    parts.leave(tmp_path, M1, 3, besides={f"{M1}.{0:032}.x.part"})
    left = sorted(p.name for p in tmp_path.glob(f"{M1}*"))
    assert [name.split(".")[1][-1] for name in left] == ["0", "3", "4", "5"]
    assert len([*tmp_path.glob(f"{M2}*")]) == 6
    assert parts.sizes(tmp_path)[left[0]] == (M1, 1)


def test_of_a_parcel_that_is_kept_no_part_stays_but_what_is_held(tmp_path: Path) -> None:
    other = "1" * 32
    names = [f"{M1}.{PARCEL}.x", f"{M2}.{PARCEL}.y", PARCEL, f"{M1}.{other}.x", other]
    for name in names:
        (tmp_path / f"{name}.part").write_bytes(b"x")
    with parts.part_from_remote(tmp_path, PARCEL, wait=0) as part:
        assert part.size == 0
        part.write(b"half")
        parts.forget(tmp_path, PARCEL)
        assert part.path.read_bytes() == b"half"
        assert sorted(p.stem for p in tmp_path.iterdir()) == sorted(names[2:])
    assert sorted(p.stem for p in tmp_path.iterdir()) == sorted(names[3:])
