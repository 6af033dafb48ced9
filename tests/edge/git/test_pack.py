"""A pack that we write is one that git reads, strictly, under the same names."""

import hashlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from handsoff.core.objects import FILE, Commit, TreeEntry, encode_commit, encode_tree, oid_of
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.pack import PackWriter, Piece, pack_object
from handsoff.edge.git.sinks import Packing
from tests.kit.plumbing import line, raw, repository

WHO = "Lin <lin@example.invalid> 1700000000 +0000"
SIZES = [0, 1, 15, 16, 17, 2047, 2048, 2049, 262143, 262144, 262145, 5_000_000]


def nothing(pieces: Sequence[Piece]) -> None:
    """Inspect pieces, and object to none."""


def closed_set() -> list[Piece]:
    """Return blobs of awkward sizes, the tree that names them, and a commit of it."""
    blobs = [os.urandom(size) if size < 3000 else b"ab" * (size // 2) for size in SIZES]
    entries = [
        TreeEntry(b"f%d" % number, FILE, oid_of("blob", data)) for number, data in enumerate(blobs)
    ]
    tree = encode_tree(entries)
    commit = encode_commit(Commit(oid_of("tree", tree), (), WHO, WHO, "m\n"))
    pieces = [Piece("blob", data, b"f", "") for data in blobs]
    return [*pieces, Piece("tree", tree, b"", ""), Piece("commit", commit, b"", "")]


def test_git_indexes_the_pack_strictly_and_gives_the_same_names(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    pieces = closed_set()
    path = tmp_path / "x.pack"
    with path.open("w+b") as file:
        writer = PackWriter(file, nothing)
        writer.add(pieces[:5])
        writer.submit(lambda: iter(pieces[5:]))
        writer.add(pieces)
        digest = writer.finish()
    assert digest.size == path.stat().st_size
    assert digest.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    raw(repo, "index-pack", "--strict", "--stdin", given=path.read_bytes())
    listed = line(
        repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"
    )
    wanted = {(oid_of(p.kind, p.data), p.kind) for p in pieces}
    assert {tuple(text.split()) for text in listed.splitlines()} == wanted
    assert writer.written == {oid for oid, _ in wanted}
    for piece in pieces:
        oid = oid_of(piece.kind, piece.data)
        assert raw(repo, "cat-file", piece.kind, oid) == piece.data


def test_an_object_is_written_once_however_often_it_comes(tmp_path: Path) -> None:
    sizes = []
    for times in (1, 7):
        with (tmp_path / "x").open("w+b") as file:
            writer = PackWriter(file, nothing)
            for _ in range(times):
                writer.add([Piece("blob", b"same", b"", "")] * times)
            sizes.append(writer.finish().size)
    assert sizes[0] == sizes[1]


def test_the_pack_follows_the_order_of_submission(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    sizes = [200_000 if number % 7 == 0 else 10 for number in range(50)]
    blobs = [b"%d" % number * size for number, size in enumerate(sizes)]
    path = tmp_path / "x.pack"
    with path.open("w+b") as file:
        writer = PackWriter(file, nothing)
        for data in blobs:
            writer.add([Piece("blob", data, b"", "")])
        writer.finish()
    raw(repo, "index-pack", str(path))
    listed = line(repo, "show-index", given=path.with_suffix(".idx").read_bytes())
    placed = sorted((int(row.split()[0]), row.split()[1]) for row in listed.splitlines())
    assert [oid for _, oid in placed] == [oid_of("blob", data) for data in blobs]


def test_every_piece_is_inspected_as_it_is_packed(tmp_path: Path) -> None:
    seen: list[Piece] = []
    lock = threading.Lock()

    def inspect(pieces: Sequence[Piece]) -> None:
        with lock:
            seen.extend(pieces)

    pieces = closed_set()
    with (tmp_path / "x").open("w+b") as file:
        writer = PackWriter(file, inspect)
        for piece in pieces:
            writer.add([piece])
        writer.finish()
    assert sorted(seen) == sorted(pieces)


def test_workers_take_files_in_batches_of_a_megabyte_or_of_so_many(tmp_path: Path) -> None:
    sizes = [1 << 20, *[1] * 300, 1 << 20, 5]
    names = [b"f%03d" % number for number in range(len(sizes))]
    for name, size in zip(names, sizes, strict=True):
        (tmp_path / name.decode()).write_bytes(name[:size].ljust(size, b"x"))
    batches: list[list[Piece]] = []
    with (tmp_path / "x").open("w+b") as file:
        writer = PackWriter(file, lambda pieces: batches.append(list(pieces)))
        sink = Packing(writer, limit=1 << 20, oversize=lambda path, size, oid: False)
        taken = sink.files(Worktree(tmp_path), [*names, b"none"])
        writer.finish()
    pieces = [piece for batch in batches for piece in batch]
    assert sorted(piece.path for piece in pieces) == names == sorted(taken)
    assert all(oid_of("blob", p.data) == p.oid == taken[p.path].leaf.oid for p in pieces)
    assert writer.written == {piece.oid for piece in pieces}
    for batch in filter(None, batches):
        assert len(batch) <= 256
        assert sum(len(piece.data) for piece in batch[:-1]) < 1 << 20


def test_what_an_inspector_or_a_job_raises_reaches_the_caller(tmp_path: Path) -> None:
    def object_to(pieces: Sequence[Piece]) -> None:
        raise KeyError(pieces[0].path)

    def job() -> list[Piece]:
        raise LookupError("job")

    for inspect, given in ((object_to, lambda: [Piece("blob", b"", b"p", "")]), (nothing, job)):
        with (tmp_path / "x").open("w+b") as file:
            writer = PackWriter(file, inspect)
            writer.submit(given)
            with pytest.raises(LookupError):
                writer.finish()
            writer.abandon()
            assert writer.written == set()


def test_an_empty_pack_is_a_pack(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w+b") as file:
        digest = PackWriter(file, nothing).finish()
    assert digest.size == 32
    repo = repository(tmp_path / "repo")
    raw(repo, "index-pack", "--stdin", "--strict", given=(tmp_path / "x").read_bytes())


@pytest.mark.parametrize(("size", "head"), [(0, "30"), (15, "3f"), (16, "b001"), (2048, "b08001")])
def test_the_header_of_an_object_is_as_short_as_it_can_be(size: int, head: str) -> None:
    assert pack_object("blob", b"x" * size).head.hex() == head
