"""Writing into a worktree: no link is followed, no half of a file is seen, no stray name stays."""

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from handsoff.core.checkout.index import Stat
from handsoff.core.checkout.trees import Change, Leaf
from handsoff.core.objects import EXECUTABLE, FILE, LINK, oid_of
from handsoff.edge.git.disk import Worktree, leaf_of
from handsoff.edge.git.repo import Checkout, open_checkout
from handsoff.edge.git.writer import Writer, stat_of
from handsoff.errors import DamagedError, UnfitError
from tests.kit.checkout import Here, traces

Blobs = dict[str, bytes]
Write = tuple[bytes, Leaf]
Read = Callable[[Iterable[str]], Generator[bytes]]


def reading(blobs: Blobs) -> Read:
    """Return what gives these in the order in which they are asked for."""
    return lambda oids: (blobs[oid] for oid in oids)


@pytest.fixture
def blobs() -> Blobs:
    return {}


@pytest.fixture
def writer(checkout: Checkout, blobs: Blobs) -> Writer:
    return Writer(checkout, reading(blobs), never, {})


def leaf(blobs: Blobs, data: bytes, mode: int = FILE) -> Leaf:
    """Return a leaf with this content."""
    oid = oid_of("blob", data)
    blobs[oid] = data
    return Leaf(mode, oid)


def changes(here: Here, gone: Iterable[bytes], writes: Iterable[Write] = ()) -> list[Change]:
    """Return what turns the files of now into ``writes``, less ``gone``."""

    def old(path: bytes) -> Leaf | None:
        content = Worktree(here.top).read(path)
        return leaf_of(content) if content else None

    return [
        *(Change(path, old(path), None) for path in gone),
        *(Change(path, old(path), new) for path, new in writes),
    ]


def never(_path: bytes, _stat: Stat) -> bool:
    """Vouch for nothing: every file is read again."""
    return False


def strays(here: Here) -> list[str]:
    """Return names that only a writer of ours could have left."""
    found = [path for path in here.top.rglob("*") if "handsoff-new" in path.name]
    return [str(path) for path in (*found, *here.top.glob(".git/handsoff/staging/*"))]


def test_a_file_that_is_not_what_its_id_says_is_not_written(
    here: Here, writer: Writer, blobs: Blobs
) -> None:
    wanted = leaf(blobs, b"PLACES = 2")
    blobs[wanted.oid] = b"PLACES = 3"
    with pytest.raises(DamagedError, match="is broken"):
        writer.carry_out(changes(here, (), [(b"f", wanted)]), ())
    assert (here.top / "f").read_text() == "f\n"


def test_files_programs_and_links_are_written_as_they_are(
    here: Here, writer: Writer, blobs: Blobs
) -> None:
    writes = (
        (b"new/deep/f", leaf(blobs, b"\0\r\n")),
        (b"x", leaf(blobs, b"#!", EXECUTABLE)),
        (b"l", leaf(blobs, b"../..\xff", LINK)),
        (b"odd\xff\n", leaf(blobs, b"")),
    )
    writer.carry_out(changes(here, (), writes), [b"void/within", b"void"])
    assert (here.top / "new" / "deep" / "f").read_bytes() == b"\0\r\n"
    assert (here.top / "x").stat().st_mode & 0o100
    assert not (here.top / "new" / "deep" / "f").stat().st_mode & 0o111
    assert os.fsencode((here.top / "l").readlink()) == b"../..\xff"
    assert (here.top / os.fsdecode(b"odd\xff\n")).read_bytes() == b""
    assert (here.top / "void" / "within").is_dir()
    assert strays(here) == []
    assert writer.written.keys() == {path for path, _ in writes}
    for path, wanted in writes:
        there = os.lstat(os.fsencode(here.top) + b"/" + path)
        assert writer.written[path] == (wanted, stat_of(there))


def test_the_stat_data_are_those_that_git_keeps(here: Here, checkout: Checkout) -> None:
    (_, *entry) = checkout.git("ls-files", "--stage", "--debug", "-z", "f").split(b"\n")
    st = stat_of((here.top / "f").lstat())
    assert b"  mtime: %d:%d" % st.mtime in entry
    assert b"size: %d" % st.size in entry[-2]


def test_what_is_removed_takes_its_empty_folders_along_unless_they_are_kept(
    here: Here, writer: Writer
) -> None:
    here.write("a/b/c", "x")
    here.write("a/b/d", "x")
    here.write("k/l/m", "x")
    writer.carry_out(
        changes(here, (b"a/b/c", b"k/l/m", b"none", b"f/none", b"none/x"), ()), [b"k/l"]
    )
    assert (here.top / "a" / "b" / "d").exists()
    assert (here.top / "k" / "l").is_dir()
    writer.carry_out(changes(here, (b"a/b/d",), ()), [])
    assert not (here.top / "a").exists()


def test_a_file_that_took_the_place_of_an_empty_folder_is_not_removed(
    here: Here, writer: Writer, blobs: Blobs
) -> None:
    (here.top / "void" / "within").mkdir(parents=True)
    (here.top / "mine").write_text("typed meanwhile")
    plan = changes(here, (), [(b"void", leaf(blobs, b"new"))])
    writer.carry_out(plan, [], [b"mine", b"void", b"void/within"])
    assert (here.top / "void").read_bytes() == b"new"
    assert (here.top / "mine").read_text() == "typed meanwhile"


def test_a_folder_that_took_the_place_of_a_file_is_not_removed(here: Here, writer: Writer) -> None:
    (here.top / "f").unlink()
    here.write("f/mine", "mine")
    writer.carry_out(changes(here, (b"f",), ()), [])
    assert (here.top / "f" / "mine").read_text() == "mine"


def test_a_link_is_replaced_or_removed_itself_and_what_it_leads_to_stays(
    here: Here, writer: Writer, blobs: Blobs, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("outside")
    (here.top / "to-file").symlink_to(outside / "f")
    (here.top / "to-folder").symlink_to(outside)
    (here.top / "gone").symlink_to(outside)
    before = traces(outside)
    writes = ((b"to-file", leaf(blobs, b"new")), (b"to-folder", leaf(blobs, b"new")))
    writer.carry_out(changes(here, (b"gone",), writes), [])
    assert (here.top / "to-file").read_bytes() == b"new"
    assert not (here.top / "to-file").is_symlink()
    assert not (here.top / "to-folder").is_symlink()
    assert not (here.top / "gone").is_symlink()
    assert traces(outside) == before


@pytest.mark.parametrize("path", [b"way/f", b"way/new", b"way/deep/f", b"way/none/f"])
def test_nothing_is_written_or_removed_through_a_link(
    here: Here, writer: Writer, blobs: Blobs, tmp_path: Path, path: bytes
) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "f").write_text("outside")
    (outside / "deep" / "f").write_text("outside")
    (here.top / "way").symlink_to(outside)
    before = traces(outside)
    writer.carry_out(changes(here, (path,), ()), [])
    assert traces(outside) == before
    with pytest.raises(UnfitError, match="way is no longer a folder"):
        writer.carry_out(changes(here, (), ((path, leaf(blobs, b"new")),)), [])
    with pytest.raises(UnfitError, match="way is no longer a folder"):
        writer.carry_out(changes(here, (), ()), [path])
    assert traces(outside) == before
    assert strays(here) == []


def test_a_link_is_removed_before_what_comes_in_its_place(
    here: Here, writer: Writer, blobs: Blobs, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (here.top / "way").symlink_to(outside)
    writer.carry_out(changes(here, (b"way",), ((b"way/f", leaf(blobs, b"new")),)), [])
    assert (here.top / "way" / "f").read_bytes() == b"new"
    assert list(outside.iterdir()) == []


def test_a_file_takes_the_place_of_a_folder_that_the_plan_emptied(
    here: Here, writer: Writer, blobs: Blobs
) -> None:
    (here.top / "dir" / "void").mkdir()
    writer.carry_out(changes(here, (b"dir/g",), ((b"dir", leaf(blobs, b"file")),)), [])
    assert (here.top / "dir").read_bytes() == b"file"


@pytest.mark.parametrize("mine", ["dir/mine", "dir/link", "dir/sub/mine"])
def test_a_folder_that_holds_something_else_stops_the_run_and_keeps_it(
    here: Here, writer: Writer, blobs: Blobs, mine: str
) -> None:
    (here.top / "dir" / "sub").mkdir()
    (here.top / mine).symlink_to("/")
    with pytest.raises(UnfitError, match="is not empty"):
        writer.carry_out(changes(here, (b"dir/g",), ((b"dir", leaf(blobs, b"file")),)), [])
    assert (here.top / mine).is_symlink()


def test_what_a_killed_run_left_behind_is_no_trouble(
    here: Here, checkout: Checkout, blobs: Blobs
) -> None:
    (checkout.own_dir / "staging").mkdir()
    (checkout.own_dir / "staging" / "new").write_text("half of one")
    plan = changes(here, (b"link",), ((b"f", leaf(blobs, b"new")),))
    for _ in range(2):
        Writer(checkout, reading(blobs), never, {}).carry_out(plan, [])
        assert (here.top / "f").read_bytes() == b"new"
    assert strays(here) == []


@pytest.mark.parametrize("path", [b"f", b"dir/g", b"link", b"new"])
def test_what_was_written_meanwhile_stops_the_run_and_stays(
    here: Here, writer: Writer, blobs: Blobs, path: bytes
) -> None:
    place = here.top / os.fsdecode(path)
    plans = [changes(here, (), [(path, leaf(blobs, b"arriving"))]), changes(here, [path])]
    place.unlink(missing_ok=True)
    place.write_text("typed meanwhile")
    for plan in plans:
        with pytest.raises(UnfitError, match="was written here while it was to be replaced"):
            writer.carry_out(plan, [])
        assert place.read_text() == "typed meanwhile"
    place.write_text("arriving")
    writer.carry_out(plans[0], [])
    assert place.read_text() == "arriving"


def test_a_file_that_stat_data_vouch_for_is_not_read_again(
    here: Here, checkout: Checkout, blobs: Blobs
) -> None:
    asked: list[tuple[bytes, Stat]] = []

    def always(path: bytes, there: Stat) -> bool:
        asked.append((path, there))
        return True

    expected = [(b"f", stat_of((here.top / "f").lstat()))]
    stale = Change(b"f", leaf(blobs, b"other"), leaf(blobs, b"new"))
    Writer(checkout, reading(blobs), always, {}).carry_out([stale], [])
    assert asked == expected


def test_a_reader_sees_the_old_file_or_the_new_one(
    here: Here, writer: Writer, blobs: Blobs
) -> None:
    with (here.top / "f").open("rb") as old:
        writer.carry_out(changes(here, (), ((b"f", leaf(blobs, b"new")),)), [])
        assert old.read() == b"f\n"
    assert (here.top / "f").read_bytes() == b"new"


def test_a_missing_blob_changes_nothing(here: Here, writer: Writer) -> None:
    with pytest.raises(KeyError):
        writer.carry_out(changes(here, (), ((b"f", Leaf(FILE, "0" * 40)),)), [])
    assert (here.top / "f").read_bytes() == b"f\n"
    assert strays(here) == []


def test_a_git_folder_on_another_file_system_is_no_trouble(
    here: Here, checkout: Checkout, blobs: Blobs
) -> None:
    places = [Path("/dev/shm"), Path("/tmp"), Path("/var/tmp")]
    others = (p for p in places if p.is_dir() and p.stat().st_dev != here.top.stat().st_dev)
    elsewhere = next(others, None)
    if elsewhere is None:
        pytest.skip("there is no second file system here")
    own = elsewhere / f"handsoff-test-{os.getpid()}"
    (own / "handsoff").mkdir(parents=True)
    try:
        other = Writer(Checkout(checkout.top, own, checkout.common_dir), reading(blobs), never, {})
        writes = ((b"f", leaf(blobs, b"new")), (b"dir/l", leaf(blobs, b"f", LINK)))
        other.carry_out(changes(here, (), writes), [])
        assert (here.top / "f").read_bytes() == b"new"
        assert (here.top / "dir" / "l").is_symlink()
        assert [p for p in here.top.rglob("*") if "handsoff-new" in p.name] == []
    finally:
        for path in sorted(own.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        own.rmdir()


@pytest.mark.parametrize("kind", ["write", "remove"])
@pytest.mark.parametrize("comes", ["link", "folder"])
def test_what_takes_the_place_of_a_folder_between_the_look_and_the_write_is_not_entered(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, comes: str
) -> None:
    # CVE-2026-29518 of rsync: whoever swaps a folder in time has files written, or removed, outside
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs")
    (here.top / "d").mkdir()
    (here.top / "d" / "f").write_bytes(b"old")
    old, new = (Leaf(FILE, oid_of("blob", data)) for data in (b"old", b"new"))
    writer = Writer(open_checkout(here.top), lambda oids: (b"new" for _ in oids), never, {})
    look = writer._check

    def swap(change: Change) -> None:
        look(change)
        (here.top / "d").rename(tmp_path / "was")
        if comes == "link":
            (here.top / "d").symlink_to(outside)
        else:
            outside.rename(here.top / "d")

    monkeypatch.setattr(writer, "_check", swap)
    change = Change(b"d/f", old, new if kind == "write" else None)
    with suppress(UnfitError):
        writer.carry_out([change], [])
    assert (here.top / "d" / "f").read_bytes() == b"theirs"


@pytest.mark.parametrize("comes", ["link", "folder"])
def test_a_look_that_met_another_folder_on_its_way_vouches_for_nothing(
    here: Here, tmp_path: Path, blobs: Blobs, comes: str
) -> None:
    (here.top / "copy").mkdir()
    (here.top / "copy" / "g").write_text("g\n")

    def swap(_path: bytes, _stat: Stat) -> bool:
        (here.top / "dir").rename(tmp_path / "was")
        (tmp_path / "was" / "g").write_text("typed meanwhile")
        if comes == "link":
            (here.top / "dir").symlink_to("copy")
        else:
            (here.top / "copy").rename(here.top / "dir")
        return False

    plan = changes(here, (), [(b"dir/g", leaf(blobs, b"new"))])
    with pytest.raises(UnfitError, match="was written here while it was to be replaced"):
        Writer(here.checkout, reading(blobs), swap, {}).carry_out(plan, [])
    assert (tmp_path / "was" / "g").read_text() == "typed meanwhile"
    assert (here.top / "dir" / "g").read_text() == "g\n"


def test_a_folder_that_goes_between_the_look_and_the_write_is_named(
    here: Here, blobs: Blobs
) -> None:
    def go(_path: bytes, _stat: Stat) -> bool:
        (here.top / "dir" / "g").unlink()
        (here.top / "dir").rmdir()
        return True

    plan = changes(here, (), [(b"dir/g", leaf(blobs, b"new"))])
    with pytest.raises(UnfitError, match="dir is no longer a folder"):
        Writer(here.checkout, reading(blobs), go, {}).carry_out(plan, [])
