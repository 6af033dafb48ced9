"""Random states arrive whole: files to the byte and mode, index, stash, branch, operation.

Each seed is a state of its own; ``lab/states.py`` tries as many as one likes.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import pytest

from tests.kit.endings import fork
from tests.kit.hand import Hand
from tests.kit.journeys import Verdict, prepare, travel
from tests.kit.machines import copied, git
from tests.kit.states import KINDS, build
from tests.kit.whole import differences, see

SEEDS: Final = range(16)
CLASH: Final = 2
CARRIED: Final[frozenset[str]] = KINDS
"""The kinds of state that must arrive; one of another kind may be refused by name."""


@pytest.fixture
def ground(templates: Path) -> Path:
    """Return a world with two machines, to be copied for each state."""
    made = templates / "ground"
    if not made.exists():
        made.mkdir()
        prepare(made)
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_state_arrives_whole_and_leaves_the_sender_as_it_was(
    ground: Path, tmp_path: Path, seed: int
) -> None:
    journey = travel(ground, tmp_path / "trip", seed, CARRIED)
    assert journey.verdict is not Verdict.WRONG, journey.text


def test_the_same_seed_makes_the_same_state(ground: Path, tmp_path: Path) -> None:
    seen = []
    for name in ("once", "again"):
        _, (m1, _) = copied(ground, tmp_path / name, "m1", "m2")
        made = build(m1.top, CLASH)
        seen.append((made, see(m1.top)))
    assert seen[0] == seen[1]


def _break(*words: str) -> Callable[[Path], object]:
    return lambda top: git(top, *words)


def _lose_an_object(top: Path) -> None:
    blob = git(top, "rev-parse", "refs/stash^2:README.md")
    (top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


BREAKAGES: Final[dict[str, Callable[[Path], object]]] = {
    "file b'README.md'": lambda top: (top / "README.md").write_bytes(b"other\n"),
    "file b'run'": lambda top: (top / "run").chmod(0o700),
    "file b'link'": lambda top: (top / "link").unlink(),
    "file b'more'": lambda top: (top / "more").touch(),
    "empty folder b'hollow'": lambda top: (top / "hollow").rmdir(),
    "status b'src/a.txt'": lambda top: (top / "src" / "a.txt").write_bytes(b"other\n"),
    "index 'src/a.txt#0'": _break("update-index", "--assume-unchanged", "src/a.txt"),
    "index 'src/b.py#0'": _break("rm", "-q", "--cached", "src/b.py"),
    "index 'op/one.txt#2'": _break("add", "op/one.txt"),
    "operation 'MERGE_MSG'": lambda top: (top / ".git" / "MERGE_MSG").write_bytes(b"other\n"),
    "operation 'MERGE_HEAD'": _break("merge", "--quit"),
    "operation 'refs/bisect/bad'": _break("update-ref", "refs/bisect/bad", "HEAD"),
    "head 'commit'": _break("update-ref", "HEAD", "HEAD~1"),
    "head 'ref'": _break("symbolic-ref", "HEAD", "refs/heads/more"),
    "upstream 'merge'": _break("config", "branch.work.merge", "refs/heads/more"),
    "stash: ": _break("reflog", "delete", "--rewrite", "--updateref", "stash@{0}"),
    "sparse 'patterns'": _break("config", "core.sparseCheckout", "true"),
    "objects are missing": _lose_an_object,
}


@pytest.fixture
def clash(ground: Path, templates: Path) -> Path:
    """Return a checkout in the middle of a merge, with something of everything."""
    if (templates / "clash").exists():
        return templates / "clash" / "m1" / "checkout"
    _, (m1, _) = copied(ground, templates / "clash", "m1", "m2")
    hand = Hand(m1.top, Random(0))
    hand.git("switch", "-q", "-c", "work")
    hand.git("branch", "-q", "-u", "origin/main")
    for message in ("one", "two"):
        hand.write(b"README.md", message.encode())
        hand.git("stash", "push", "-q", "-m", message)
    fork(hand, ["both modified"])
    hand.git("merge", "-q", "other", may_fail=True)
    (m1.top / "link").symlink_to("nowhere")
    (m1.top / "hollow").mkdir()
    return m1.top


@pytest.mark.parametrize("line", BREAKAGES)
def test_whatever_is_not_as_it_was_is_told(clash: Path, tmp_path: Path, line: str) -> None:
    shutil.copytree(clash, tmp_path / "broken", symlinks=True)
    before = see(clash)
    assert differences(before, see(tmp_path / "broken")) == []
    BREAKAGES[line](tmp_path / "broken")
    told = differences(before, see(tmp_path / "broken"))
    assert [each for each in told if each.startswith(line)], told
