"""A blob that is read straight from a pack is the one that git wrote; a broken one is no blob."""

import os
import resource
from pathlib import Path

import pytest

from handsoff.core.objects import oid_of
from handsoff.edge.git.pack import PackWriter, Piece
from handsoff.edge.git.unpack import Pack, blobs_of
from handsoff.errors import DamagedError
from tests.kit.plumbing import raw, repository

EDGES = range(4070, 4100)
"""Deflated, one of these ends just where what is read at first does, and others in its checksum."""
SIZES = [0, 1, 15, 16, 2047, 2048, *EDGES, 16384, 40_000]
BLOBS = [os.urandom(size) for size in SIZES] + [b"ab" * 2_000_000, b"x" * 100_000]


def packed(tmp_path: Path) -> Path:
    """Return an object folder with one pack of ours, which git has indexed."""
    repo = repository(tmp_path / "repo")
    with (tmp_path / "x.pack").open("w+b") as file:
        writer = PackWriter(file, lambda _: None)
        writer.add([Piece("blob", data, b"f", "") for data in BLOBS])
        writer.add([Piece("tree", b"", b"", "")])
        writer.finish()
    raw(repo, "index-pack", "--stdin", given=(tmp_path / "x.pack").read_bytes())
    return repo / ".git" / "objects"


def test_each_blob_is_read_and_what_is_none_or_not_here_is_read_by_others(tmp_path: Path) -> None:
    with blobs_of(packed(tmp_path), lambda oid: b"other " + oid.encode()) as read:
        for data in BLOBS:
            assert read(oid_of("blob", data)) == data
        for oid in (oid_of("tree", b""), "0" * 40, "f" * 40):
            assert read(oid) == b"other " + oid.encode()


def test_a_delta_is_read_by_others(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    one = os.urandom(20_000)
    pair = [one, one + b"more"]
    oids = [raw(repo, "hash-object", "-w", "--stdin", given=data).decode().strip() for data in pair]
    raw(repo, "pack-objects", "-q", str(tmp_path / "p"), given="\n".join(oids).encode())
    (index,) = tmp_path.glob("p-*.idx")
    with Pack(index) as pack:
        found = [pack.blob(oid) for oid in oids]
    assert None in found
    assert all(data in (None, want) for data, want in zip(found, pair, strict=True))


def test_an_id_that_stands_across_two_others_is_none_of_them(tmp_path: Path) -> None:
    half = b"\1" + b"\3" * 9
    names = [b"\1" + b"\2" * 9 + half, half + b"\5" * 10]
    counts = b"".join((2 * (byte > 0)).to_bytes(4, "big") for byte in range(256))
    index = tmp_path / "x.idx"
    index.write_bytes(b"\xfftOc\0\0\0\2" + counts + b"".join(names) + bytes(16))
    (tmp_path / "x.pack").touch()
    with Pack(index) as pack:
        assert pack.blob((half + half).hex()) is None
        with pytest.raises(DamagedError):
            pack.blob(names[1].hex())
    index.write_bytes(b"\xfftOc\0\0\0\2")
    with Pack(index) as pack:
        assert pack.blob(names[1].hex()) is None


@pytest.mark.parametrize("change", ["flip", "cut"])
def test_a_broken_blob_is_damaged(tmp_path: Path, change: str) -> None:
    objects = packed(tmp_path)
    (pack,) = (objects / "pack").glob("*.pack")
    data = bytearray(pack.read_bytes())
    middle = len(data) // 2 if change == "cut" else len(data) - 30
    data[middle] ^= 0xFF
    pack.chmod(0o600)
    pack.write_bytes(data if change == "flip" else data[:middle])
    with Pack(pack.with_suffix(".idx")) as damaged, pytest.raises(DamagedError):
        for blob in BLOBS:
            damaged.blob(oid_of("blob", blob))


def test_a_folder_may_have_more_packs_than_a_process_may_open_files(tmp_path: Path) -> None:
    objects = packed(tmp_path)
    (pack,) = (objects / "pack").glob("*.pack")
    empty = b"\xfftOc\0\0\0\2" + bytes(4 * 256 + 40)
    for number in range(300):
        (pack.parent / f"pack-{number}.idx").write_bytes(empty)
        (pack.parent / f"pack-{number}.pack").touch()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (250, before[1]))
    try:
        with blobs_of(objects, lambda oid: oid.encode()) as read:
            assert [read(oid_of("blob", data)) for data in BLOBS] == BLOBS
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
