"""A checkout with two commits, for the rooms that read and write one."""

from pathlib import Path

import pytest

from handsoff.edge.git.repo import Checkout, open_checkout
from tests.kit.checkout import Here


@pytest.fixture
def here(tmp_path: Path) -> Here:
    """Return a checkout with a committed file, folder, link and program."""
    return Here.make(tmp_path / "co")


@pytest.fixture
def checkout(here: Here) -> Checkout:
    """Return the same checkout as the program sees it."""
    return open_checkout(here.top)
