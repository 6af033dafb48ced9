"""Which part of the repository a worktree shows: put, taken away, and cut short in between."""

from contextlib import suppress
from itertools import count, product

import pytest

from handsoff.core.checkout.state import Sparse
from handsoff.edge.git import sparse
from handsoff.edge.git.repo import open_checkout
from tests.kit.checkout import Here

CONE = Sparse(b"/*\n!/*/\n/dir/\n", (("core.sparsecheckoutcone", "true"),))


class CutError(Exception):
    """The run ends here."""


def cut(monkeypatch: pytest.MonkeyPatch, here: Here, wanted: Sparse | None, number: int) -> bool:
    """Put ``wanted``, but end at the step of this number; say whether there is one."""
    numbers = count(1)

    def step(_: str) -> None:
        if next(numbers) == number:
            raise CutError

    with monkeypatch.context() as patch, suppress(CutError):
        patch.setattr(sparse, "step", step)
        sparse.put(open_checkout(here.top), wanted)
        return False
    return True


def put(here: Here, wanted: Sparse | None) -> list[str]:
    """Put ``wanted``, and return the settings there are then."""
    checkout = open_checkout(here.top)
    sparse.put(checkout, wanted)
    assert sparse.read(open_checkout(here.top)) == wanted
    return sorted(here.git("config", "--list").splitlines())


@pytest.mark.parametrize(("old", "new"), [(None, CONE), (CONE, None)])
def test_what_was_cut_short_is_finished_or_taken_back(
    here: Here, monkeypatch: pytest.MonkeyPatch, old: Sparse | None, new: Sparse | None
) -> None:
    put(here, CONE)
    whole = {state: put(here, state) for state in (new, old)}
    for number, then in product(range(1, 9), (new, old)):
        put(here, old)
        if not cut(monkeypatch, here, new, number):
            break
        assert put(here, then) == whole[then]
    assert number > 3
