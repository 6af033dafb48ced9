"""A disk that is soon full, and what fills it."""

import base64
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a file system of its own, with room for 8 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "handsoff-test", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def noise(size: int) -> str:
    """Return lines of text that deflate to no less than half; the same each time."""
    return base64.encodebytes(random.Random(size).randbytes(size * 3 // 4)).decode()
