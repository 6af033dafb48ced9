"""Files as they are on disk: raw bytes, links not followed, a change on the way noticed."""

import os
import threading
from pathlib import Path

import pytest

from handsoff.core.objects import EXECUTABLE, FILE, LINK
from handsoff.edge.git import disk
from handsoff.edge.git.disk import ChangedError, Worktree, signature_of
from handsoff.errors import RefusedError, UnfitError
from tests.kit.rights import as_the_owner


@pytest.fixture
def tree(tmp_path: Path) -> Worktree:
    return Worktree(tmp_path)


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, (1 << 20) + 1])
def test_a_file_is_read_whole_whatever_its_size(tmp_path: Path, tree: Worktree, size: int) -> None:
    (tmp_path / "f").write_bytes(b"\r\n\0\xff"[: size or 0].ljust(size, b"x"))
    content = tree.read(b"f")
    assert content is not None
    assert content.data == (tmp_path / "f").read_bytes()
    assert (content.mode, content.links) == (FILE, 1)
    assert content.signature == signature_of(os.lstat(tmp_path / "f"))


def test_the_mode_is_that_of_the_owner(tmp_path: Path, tree: Worktree) -> None:
    for mode, wanted in ((0o700, EXECUTABLE), (0o744, EXECUTABLE), (0o677, FILE), (0o611, FILE)):
        (tmp_path / "f").write_text("x")
        (tmp_path / "f").chmod(mode)
        content = tree.read(b"f")
        assert content is not None
        assert content.mode == wanted


def test_a_link_is_its_target_and_is_not_followed(tmp_path: Path, tree: Worktree) -> None:
    (tmp_path / "secret").write_text("secret")
    for target in (b"secret", b"/etc/passwd", b"nowhere", b"../..", b"\xff\n"):
        (tmp_path / "link").symlink_to(os.fsdecode(target))
        content = tree.read(b"link")
        assert content is not None
        assert (content.mode, content.data) == (LINK, target)
        (tmp_path / "link").unlink()


def test_nothing_is_found_below_a_link_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_text("x")
    (tmp_path / "way").symlink_to("real")
    (tmp_path / "file").write_text("x")
    tree = Worktree(tmp_path)
    assert tree.read(b"real/f")
    for path in (b"way/f", b"way/f/g", b"file/g", b"file/g/h", b"real/f/g", b"none", b"none/a/b"):
        assert tree.stat(path) is None
        assert tree.read(path) is None
    assert tree.stat(b"way")


def test_a_folder_and_a_fifo_are_no_files_and_are_not_opened(
    tmp_path: Path, tree: Worktree
) -> None:
    (tmp_path / "d").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert tree.read(b"d") is None
    assert tree.read(b"pipe") is None


def test_a_fifo_that_takes_the_place_of_a_file_does_not_hang(
    tmp_path: Path, tree: Worktree
) -> None:
    (tmp_path / "f").write_text("x")
    before = os.lstat(tmp_path / "f")
    (tmp_path / "f").unlink()
    os.mkfifo(tmp_path / "f")
    with pytest.raises(ChangedError, match="files change while they are read: f"):
        tree._read_file(b"f", FILE, before)
    writer = os.open(tmp_path / "f", os.O_RDWR)
    with pytest.raises(ChangedError, match="files change while they are read: f"):
        tree._read_file(b"f", FILE, before)
    os.close(writer)


def test_a_link_that_takes_the_place_of_a_file_is_not_followed(
    tmp_path: Path, tree: Worktree
) -> None:
    (tmp_path / "f").symlink_to("/etc/passwd")
    with pytest.raises(RefusedError, match="f cannot be read"):
        tree._read_file(b"f", FILE, Path("/etc/passwd").stat())


@pytest.mark.parametrize("other", ["folder", "another of its size", "longer", "shorter"])
def test_what_takes_the_place_of_a_file_that_was_looked_at_is_a_change(
    tmp_path: Path, tree: Worktree, other: str
) -> None:
    (tmp_path / "f").write_text("abc")
    before = os.lstat(tmp_path / "f")
    (tmp_path / "f").rename(tmp_path / "old")
    if other == "folder":
        (tmp_path / "f").mkdir()
    else:
        (tmp_path / "f").write_text({"longer": "abcd", "shorter": ""}.get(other, "abc"))
        os.utime(tmp_path / "f", ns=(before.st_mtime_ns, before.st_mtime_ns))
    with pytest.raises(ChangedError, match="files change while they are read: f"):
        tree._read_file(b"f", FILE, before)


def test_of_a_file_that_grows_no_more_is_read_than_shows_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 100)
    with (tmp_path / "f").open("rb") as file:
        assert len(disk._read_whole(file.fileno(), 40)) == 41


def test_a_file_over_the_limit_is_measured_and_not_read(tmp_path: Path, tree: Worktree) -> None:
    (tmp_path / "f").write_bytes(b"x" * 100)
    content = tree.read(b"f", 99)
    assert content is not None
    assert (content.data, content.signature.size) == (b"", 100)
    content = tree.read(b"f", 100)
    assert content is not None
    assert len(content.data) == 100


def test_a_second_name_of_a_file_is_counted(tmp_path: Path, tree: Worktree) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "g").hardlink_to(tmp_path / "f")
    content = tree.read(b"f")
    assert content is not None
    assert content.links == 2


def test_a_file_that_is_written_while_it_is_read_is_never_half_believed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a" * (1 << 20))
    stop = threading.Event()

    def scribble() -> None:
        while not stop.is_set():
            for letter in (b"a", b"b"):
                with path.open("r+b") as file:
                    file.write(letter * (1 << 20))

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        for _ in range(20):
            try:
                content = Worktree(tmp_path).read(b"f")
            except ChangedError as error:
                assert error.hint
                assert isinstance(error, UnfitError)
            else:
                assert content is not None
    finally:
        stop.set()
        writer.join()


def test_many_changed_files_are_named_five_at_most() -> None:
    assert "a, b, c, d, e and 2 more" in str(ChangedError(b"a", b"b", b"c", b"d", b"e", b"f", b"g"))
    assert str(ChangedError(b"\x1b")).endswith(r"read: \x1b")


def test_every_change_of_a_file_changes_its_signature(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("one")
    seen = [signature_of(os.lstat(path))]
    path.write_text("two")
    os.utime(path, ns=(seen[0].mtime, seen[0].mtime))
    seen.append(signature_of(os.lstat(path)))
    (tmp_path / "g").write_text("two")
    (tmp_path / "g").replace(path)
    seen.append(signature_of(os.lstat(path)))
    assert len(set(seen)) == 3


@pytest.mark.parametrize("where", ["f", "d/f"])
def test_what_may_not_be_read_is_refused_by_name(tmp_path: Path, where: str) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / where).write_text("x")
    closed = tmp_path / where.partition("/")[0]
    closed.chmod(0)
    try:
        with (
            as_the_owner(),
            pytest.raises(RefusedError, match=f"{where} cannot be read: permission denied"),
        ):
            Worktree(tmp_path).read(where.encode())
    finally:
        closed.chmod(0o700)
