"""A parcel as a file: it arrives whole and from whom it says, or nothing of it is kept."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handsoff.edge.keys import Machine as Keys
from handsoff.edge.keys import create
from tests.kit.compare import look
from tests.kit.disks import noise
from tests.kit.monday import WORK, Monday, built, copy
from tests.kit.parcels import put_together, take_apart
from tests.kit.running import inside, refused


@pytest.fixture
def monday(request: pytest.FixtureRequest, templates: Path, tmp_path: Path) -> Monday:
    """Return Monday, and for whoever asks for the parcel, after it was written."""
    if "parcel" not in request.fixturenames:
        return copy(built(templates), tmp_path / "monday")
    made = templates / "parcel"
    if not made.exists():
        before = copy(built(templates), made)
        before.m2.git("fetch", "-q")  # else what m1 builds on comes with the parcel
        inside(before.m1, "send", "m2", "--to-file", made / "work.handsoff").ok()
    return copy(made, tmp_path / "monday")


@pytest.fixture
def parcel(monday: Monday, tmp_path: Path) -> Path:
    """Return the file that m1 wrote for m2."""
    return (monday.world.folder / "work.handsoff").rename(tmp_path / "work.handsoff")


def nothing_was_kept(monday: Monday) -> bool:
    folders = [monday.m2.home / name for name in ("inbox", "incoming")]
    return not [path for folder in folders if folder.exists() for path in folder.iterdir()]


def test_a_work_goes_by_file_and_all_of_it_arrives(monday: Monday, parcel: Path) -> None:
    travels = monday.travels
    assert parcel.stat().st_mode & 0o077 == 0
    said = inside(monday.m2, "receive", parcel).ok()
    assert f"received {WORK}" in said.err
    assert f"next: handsoff catch {WORK}" in said.err
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels


def test_a_parcel_may_be_received_anywhere_on_the_machine(
    monday: Monday, parcel: Path, tmp_path: Path
) -> None:
    told = inside(monday.m2, "receive", parcel, "--json", cwd=tmp_path).ok().json
    assert told["work"] == WORK
    assert monday.m2.desk().home.parcel(told["parcel"]) is not None


def test_a_parcel_received_twice_is_there_once(monday: Monday, parcel: Path) -> None:
    incoming = monday.m2.home / "incoming"
    told: list[dict[str, Any]] = []
    for _ in range(2):
        if told:  # what came of it by other ways, and stopped
            (incoming / f"{told[0]['parcel']}.part").write_bytes(b"x")
            (incoming / f"{'a' * 26}.{told[0]['parcel']}.{'c' * 16}.part").write_bytes(b"x")
        told.append(inside(monday.m2, "receive", parcel, "--json").ok().json)
        assert not [*incoming.iterdir()]
    assert told[0] == told[1]
    assert len([*(monday.m2.home / "inbox").iterdir()]) == 1


def test_the_file_of_a_hand_over_is_never_written_over(monday: Monday, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("mine")
    before = monday.untouched()
    refused(inside(monday.m1, "send", "m2", "--to-file", file), 2, f"{file} exists already")
    assert file.read_text() == "mine"
    assert monday.untouched() == before


def test_a_file_that_is_cut_short_leaves_nothing(monday: Monday, parcel: Path) -> None:
    whole = parcel.read_bytes()
    before = monday.untouched()
    for size in (0, 1, 100, len(whole) // 2, len(whole) - 16, len(whole) - 1):
        parcel.write_bytes(whole[:size])
        refused(inside(monday.m2, "receive", parcel), 9, "cut short or was changed")
        assert nothing_was_kept(monday)
    assert monday.untouched() == before


def test_one_bit_that_flips_anywhere_is_noticed(monday: Monday, parcel: Path) -> None:
    whole = parcel.read_bytes()
    before = monday.untouched()
    places = [0, 20, 40, 80, 120, 160, 170, 190, *range(200, len(whole), len(whole) // 12)]
    for at in [*places, len(whole) - 1]:
        parcel.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        said = inside(monday.m2, "receive", parcel)
        # in the line that names a receiver, a flip makes it another one's
        refused(said, 7 if "other machines" in said.err else 9, "parcel")
        assert nothing_was_kept(monday)
    assert monday.untouched() == before


def test_bytes_after_the_end_are_noticed(monday: Monday, parcel: Path) -> None:
    parcel.write_bytes(parcel.read_bytes() + b"x")
    refused(inside(monday.m2, "receive", parcel), 9, "cut short or was changed")
    assert nothing_was_kept(monday)


def test_a_parcel_for_another_machine_is_not_opened(monday: Monday, parcel: Path) -> None:
    before = monday.untouched()
    refused(inside(monday.m3, "receive", parcel), 7, "this parcel is sealed to other machines")
    assert monday.untouched() == before


Change = Callable[[dict[str, Any]], dict[str, Any]]


def _of_m3(monday: Monday) -> Change:
    return lambda claims: {**claims, "sender": monday.m3.member().id}


@pytest.mark.parametrize(
    ("change", "code", "parts"),
    [
        (lambda c: {**c, "version": 2}, 9, ["has format 2", "install a newer handsoff"]),
        (lambda c: {**c, "more": 1}, 9, ["missing or unknown fields"]),
        (lambda c: {k: c[k] for k in c if k != "work"}, 9, ["missing or unknown fields"]),
        (lambda c: {**c, "repository": "1" * 40}, 8, ["m2 has no clone of this repository"]),
        (lambda c: {**c, "receivers": [c["sender"]]}, 7, ["this parcel names other receivers"]),
        (lambda c: {**c, "sender": "a" * 26}, 7, ["this parcel is from a stranger", "admit"]),
        (lambda c: {**c, "pack_sha256": "1" * 64}, 9, ["not those that its manifest names"]),
        (lambda c: {**c, "pack_size": 5}, 9, ["not those that its manifest names"]),
        (lambda c: {**c, "envelope": c["bases"][0]}, 9, ["the parcel is not complete"]),
        (lambda c: {**c, "envelope": "1" * 40}, 9, ["the parcel is not complete", "1" * 40]),
        (lambda c: {**c, "work": "feat/jpy"}, 9, ["manifest and its snapshot do not agree"]),
        (lambda c: {**c, "parcel": "../../etc"}, 9, ["'../../etc'"]),
        (lambda c: {**c, "counts": {"commits": "many"}}, 9, ["the manifest's counts"]),
        (lambda c: {**c, "counts": None, "bases": None}, 9, ["manifest"]),
        (lambda c: {**c, "counts": {"unpacked": 10**11}}, 3, ["would unpack to 100000000000"]),
        (lambda c: {**c, "counts": {"unpacked": 5}}, 3, ["unpacks to more than 5 bytes"]),
        (lambda c: {**c, "counts": {"files": 1}}, 9, ["files, and its manifest says 1"]),
    ],
)
def test_claims_that_do_not_hold_are_refused_though_a_member_signed_them(
    monday: Monday, parcel: Path, change: Change, code: int, parts: list[str]
) -> None:
    m1, m2 = monday.m1.member(), monday.m2.member()
    pack, claims = take_apart(parcel, m2)
    put_together(parcel, pack, change(claims), by=m1, to=m2)
    before = monday.untouched()
    refused(inside(monday.m2, "receive", parcel), code, *parts)
    assert nothing_was_kept(monday)
    assert monday.untouched() == before


def test_a_member_cannot_send_in_the_name_of_another(monday: Monday, parcel: Path) -> None:
    pack, claims = take_apart(parcel, monday.m2.member())
    put_together(parcel, pack, claims, by=monday.m3.member(), to=monday.m2.member())
    refused(inside(monday.m2, "receive", parcel), 9, "the parcel's signature is not that of m1")
    assert nothing_was_kept(monday)


def test_a_stranger_with_the_right_form_stays_a_stranger(
    monday: Monday, parcel: Path, tmp_path: Path
) -> None:
    stranger: Keys = create(tmp_path / "stranger", "m1", "lin")
    pack, claims = take_apart(parcel, monday.m2.member())
    claims |= {"sender": stranger.id}
    put_together(parcel, pack, claims, by=stranger, to=monday.m2.member())
    refused(inside(monday.m2, "receive", parcel), 7, "from a stranger", stranger.id)
    assert nothing_was_kept(monday)


def test_a_parcel_nobody_offered_waits_and_cannot_be_caught(monday: Monday, parcel: Path) -> None:
    pack, claims = take_apart(parcel, monday.m2.member())
    claims |= {"parcel": "0" * 32}
    put_together(parcel, pack, claims, by=monday.m1.member(), to=monday.m2.member())
    inside(monday.m2, "receive", parcel).ok()
    before = monday.untouched()
    refused(inside(monday.m2, "catch", WORK), 6, "neither here nor on the remote")
    assert monday.untouched() == before


@pytest.mark.parametrize("damage", ["magic", "trailer", "pack", "missing object", "garbage"])
def test_what_is_no_parcel_inside_is_refused(monday: Monday, parcel: Path, damage: str) -> None:
    m1, m2 = monday.m1.member(), monday.m2.member()
    pack, claims = take_apart(parcel, m2)
    if damage == "magic":
        put_together(parcel, pack, claims, by=m1, to=m2, magic=b"handsoff-parcel-2\n")
    elif damage == "trailer":
        put_together(parcel, pack, claims, by=m1, to=m2, trailer=b"\xff" * 8)
    elif damage == "garbage":
        parcel.write_bytes(b"no parcel at all\n" * 100)
    else:
        pack = b"PACK" + b"\0" * 100 if damage == "pack" else _empty_pack()
        claims |= {"pack_size": len(pack), "pack_sha256": hashlib.sha256(pack).hexdigest()}
        put_together(parcel, pack, claims, by=m1, to=m2)
    before = monday.untouched()
    refused(inside(monday.m2, "receive", parcel), 9, "parcel")
    assert nothing_was_kept(monday)
    assert monday.untouched() == before


def _empty_pack() -> bytes:
    head = b"PACK" + (2).to_bytes(4, "big") + (0).to_bytes(4, "big")
    return head + hashlib.sha1(head, usedforsecurity=False).digest()


@pytest.mark.parametrize("name", ["nowhere", ".", "/dev/null"])
def test_what_is_no_file_is_said_so(monday: Monday, name: str) -> None:
    said = inside(monday.m2, "receive", name)
    refused(said, 9 if name == "/dev/null" else 8)
    assert nothing_was_kept(monday)


def test_a_machine_without_keys_is_told_to_make_some(
    monday: Monday, parcel: Path, tmp_path: Path
) -> None:
    said = inside(monday.m2, "receive", parcel, HANDSOFF_HOME=str(tmp_path / "empty"))
    refused(said, 2, "this machine has no name yet", "handsoff init")


@pytest.mark.parametrize("size", [9_000_000, 12_000_000, 16_000_000])
def test_a_disk_that_fills_up_is_said_to_be_full_and_nothing_stays_on_it(
    monday: Monday, tmp_path: Path, small_disk: Path, size: int
) -> None:
    monday.m1.write("data/noise.txt", noise(size // 2))
    monday.m1.write("data/more.txt", noise(size // 2)[::-1])
    file = tmp_path / "work.handsoff"
    inside(monday.m1, "send", "m2", "--to-file", file, "--max-size", "10000000").ok()
    shutil.move(monday.m2.home, small_disk / "home")
    monday.m2.home.symlink_to(small_disk / "home")
    refused(inside(monday.m2, "receive", file), 8, "no space left on device")
    assert nothing_was_kept(monday)
