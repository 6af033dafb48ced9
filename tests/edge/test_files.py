"""Files of our own: whole or not there, private, and a failure says what was being done."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from handsoff.edge import files
from handsoff.errors import DamagedError, RefusedError, UnfitError


def test_a_file_is_replaced_whole_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(0o666)
    files.write(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    files.write(path, b"newer", 0o444)
    assert path.stat().st_mode & 0o777 == 0o444
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError, ValueError])
def test_a_file_that_is_not_finished_leaves_the_old_one_and_no_trace(
    tmp_path: Path, stop: type[BaseException]
) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(stop), files.replacing(path) as file:
        file.write(b"half")
        raise stop
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_run_left_half_written_goes_with_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "f"
    cut = "from pathlib import Path; from handsoff.edge import files; files.write(Path('f'), b'')"
    env = {**os.environ, "HANDSOFF_KILL_AT": "file.replace.before"}
    killed = subprocess.run([sys.executable, "-c", cut], cwd=tmp_path, env=env, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    mine = tmp_path / ".f.new"
    mine.touch()
    files.write(path, b"new")
    assert sorted(tmp_path.iterdir()) == [mine, path]


def test_what_another_run_is_writing_is_not_swept(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with files.replacing(path) as slow:
        slow.write(b"slow")
        files.write(path, b"fast")
        files.sweep(tmp_path)
    assert path.read_bytes() == b"slow"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_that_somebody_laid_there_keeps_nobody_waiting(tmp_path: Path) -> None:
    pipe, link = tmp_path / ".f.a.handsoff-new", tmp_path / ".f.b.handsoff-new"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    files.write(tmp_path / "f", b"new")
    assert sorted(tmp_path.iterdir()) == [pipe, link, tmp_path / "f"]


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("target")
    (tmp_path / "f").symlink_to("target")
    files.write(tmp_path / "f", b"new")
    assert (tmp_path / "target").read_text() == "target"
    assert not (tmp_path / "f").is_symlink()


def test_what_cannot_be_written_is_said_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(UnfitError, match=r"cannot write .*/none/f: no such file or directory"):
        files.write(tmp_path / "none" / "f", b"")


def test_an_error_of_ours_passes_through_and_one_of_the_system_is_named() -> None:
    with pytest.raises(RefusedError, match="no"), files.saying("cannot x"):
        raise RefusedError("no")
    with pytest.raises(UnfitError, match="cannot x: out of luck"), files.saying("cannot x"):
        raise OSError("out of luck")


def test_json_reads_back_and_is_stable(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    assert files.read_json(path) is None
    value = {"b": ["é", 1], "a": None}
    files.write_json(path, value)
    assert files.read_json(path) == value
    first = path.read_bytes()
    files.write_json(path, dict(reversed(value.items())))
    assert path.read_bytes() == first
    for data in (b"", b"{", b"\xff", b'{"a":1}x'):
        path.write_bytes(data)
        with pytest.raises(DamagedError, match=r"f\.json is not JSON"):
            files.read_json(path)


def test_a_folder_is_made_private_with_its_parents(tmp_path: Path) -> None:
    made = files.ensure_folder(tmp_path / "a" / "b")
    assert made == tmp_path / "a" / "b"
    assert made.stat().st_mode & 0o077 == 0
    assert files.ensure_folder(made) == made


@pytest.mark.parametrize("target", ["real", "nowhere"])
def test_a_link_in_the_place_of_a_folder_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to(target)
    with pytest.raises(UnfitError, match=r"is a link|is no folder"):
        files.ensure_folder(tmp_path / "way")
    assert not (tmp_path / "nowhere").exists()


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    for path in (tmp_path / "f", tmp_path / "f" / "below"):
        with pytest.raises(UnfitError, match="is no folder"):
            files.ensure_folder(path)


def test_a_file_of_ours_that_is_not_ours_any_more_is_named(tmp_path: Path) -> None:
    (tmp_path / "here.json").mkdir()
    with pytest.raises(UnfitError, match=r"here\.json cannot be read: .*directory"):
        files.read_json(tmp_path / "here.json")
