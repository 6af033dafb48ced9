"""What people do with plain git and plain files between two verbs, for ``walk.py``.

Each deed takes a turn at a machine, and returns what it did, in words. It may do nothing: git
refuses much in the middle of something.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from machines import BRANCH, Lab

SECOND: Final = "fix/two"
WORKS: Final = (BRANCH, SECOND)
CARRY: Final = ".wip/notes.md\ncache/keep*\n"
LISTED: Final = (b".wip/notes.md", b"cache/keep")
"""How what a carry list names begins."""
_NAMES: Final = ("a.txt", "b file.txt", "src/new.py", "src/deep/er.py", "café.md", "-dash")
_PAGE: Final = "# Handoff\n\n## Next\n{}\n\n## Tried and failed\nnone\n\n## Do not touch\nnone\n"
_EDITOR: Final = {"GIT_EDITOR": "true"}


def carried(listed: bytes, ignored: frozenset[bytes]) -> frozenset[bytes]:
    """Return which of ``ignored`` a carry list takes along, of which two are in use here."""
    return frozenset(n for n in ignored if any(a in listed and n.startswith(a) for a in LISTED))


@dataclass(frozen=True)
class Turn:
    """A turn at a machine."""

    lab: Lab
    machine: str
    rng: Random
    token: str
    """It stands nowhere else."""

    @property
    def top(self) -> Path:
        return self.lab.root / self.machine

    def git(self, *words: str) -> str:
        """Run git; return what was typed, and its exit code unless that is 0."""
        code = self.lab.run(self.machine, "git", *words, env=_EDITOR, check=False).returncode
        return f"git {' '.join(words)}" + (f" ({code})" if code else "")

    def tracked(self) -> str:
        """Return a file that git knows and that is there."""
        listed = sorted({*self.lab.git(self.machine, "ls-files", "-z").split("\0")} - {""})
        there = [n for n in listed if (self.top / n).is_file()]
        return self.rng.choice(there or ["README.md"])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def edit(turn: Turn) -> str:
    """Change a file that git knows, or make one."""
    name = turn.tracked() if turn.rng.random() < 0.6 else turn.rng.choice(_NAMES)
    _write(turn.top / name, turn.token + "\n")
    return f"edit {name}"


def same_line(turn: Turn) -> str:
    """Put a whole file anew, so that two machines are likely to disagree."""
    (turn.top / "README.md").write_text(turn.token + "\n")
    return "rewrite README.md"


def remove(turn: Turn) -> str:
    """Remove a file, for git as well or not."""
    name = turn.tracked()
    if turn.rng.random() < 0.5:
        return turn.git("rm", "-qf", "--", name)
    (turn.top / name).unlink(missing_ok=True)
    return f"rm {name}"


def rename(turn: Turn) -> str:
    """Give a file another name."""
    return turn.git("mv", "--", turn.tracked(), f"moved-{turn.token[-6:]}")


def mode(turn: Turn) -> str:
    """Make a file executable, or not any more; or put a link in its place."""
    path = turn.top / turn.tracked()
    if not path.is_file() or path.is_symlink():
        return "nothing"
    if turn.rng.random() < 0.3:
        path.unlink()
        path.symlink_to(f"nowhere-{turn.token}")
        return f"link {path.name}"
    path.chmod(path.stat().st_mode ^ 0o111)
    return f"chmod {path.name}"


def stage(turn: Turn) -> str:
    """Stage all, one file, or a name only; or take one back."""
    name = turn.tracked()
    return turn.git(*turn.rng.choice((
        ("add", "-A"), ("add", "-A"), ("add", "--", name), ("reset", "-q", "--", name),
        ("add", "-N", "."), ("update-index", "--assume-unchanged", "--", name),
    )))  # fmt: skip


def commit(turn: Turn) -> str:
    """Commit, or amend."""
    return turn.git(*turn.rng.choice((
        ("commit", "-qam", turn.token), ("commit", "-qm", turn.token),
        ("commit", "-q", "--amend", "--allow-empty", "-m", turn.token),
    )))  # fmt: skip


def stash(turn: Turn) -> str:
    """Put changes aside, or take them back."""
    return turn.git("stash", *turn.rng.choice((
        ("push", "-qm", turn.token), ("push", "-uqm", turn.token),
        ("pop", "-q"), ("pop", "-q", "--index"), ("apply", "-q"),
    )))  # fmt: skip


def conflict(turn: Turn) -> str:
    """Begin something that is likely to stop half way: a merge, rebase, pick or revert."""
    top = turn.top
    env = {"GIT_INDEX_FILE": str(top / ".git" / "other-index")}
    blob_file = turn.lab.root / "blob"
    blob_file.write_text(turn.token + "\n")
    base = "HEAD~1" if turn.rng.random() < 0.7 else "HEAD"
    blob = turn.lab.git(turn.machine, "hash-object", "-w", str(blob_file)).strip()
    if turn.lab.run(turn.machine, "git", "read-tree", base, env=env, check=False).returncode:
        return "nothing"
    info = f"100644,{blob},{turn.rng.choice(('README.md', 'src/rounding.py', 'a.txt'))}"
    turn.lab.run(turn.machine, "git", "update-index", "--add", "--cacheinfo", info, env=env)
    tree = os.fsdecode(turn.lab.run(turn.machine, "git", "write-tree", env=env).stdout).strip()
    other = turn.lab.git(turn.machine, "commit-tree", tree, "-p", base, "-m", turn.token).strip()
    Path(env["GIT_INDEX_FILE"]).unlink()
    words = turn.rng.choice((
        ("merge", "-q", other), ("rebase", "-q", other), ("rebase", "-q", "--apply", other),
        ("cherry-pick", other), ("revert", "HEAD"), ("merge", "--squash", other),
        ("merge", "-q", "--no-commit", other), ("rebase", "-q", "--autostash", other),
    ))  # fmt: skip
    return turn.git(*words)


def settle(turn: Turn) -> str:
    """Go on with what stopped half way, or give it up."""
    git_dir = turn.top / ".git"
    marks = {
        "rebase-merge": "rebase", "rebase-apply": "rebase", "MERGE_HEAD": "merge",
        "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert",
    }  # fmt: skip
    verb = next((v for mark, v in marks.items() if (git_dir / mark).exists()), "")
    if not verb:
        return "nothing"
    if turn.rng.random() < 0.4:
        return turn.git(verb, "--abort")
    told = turn.git("add", "-A")
    return told + "; " + turn.git(verb, "--continue")


def carry(turn: Turn) -> str:
    """Make ignored files: some that travel, some that stay."""
    top = turn.top
    (top / ".wip").mkdir(exist_ok=True)
    if turn.rng.random() < 0.3:
        (top / ".wip/carry").unlink(missing_ok=True)
        return "rm .wip/carry"
    (top / ".wip/carry").write_text(CARRY)
    name = turn.rng.choice((".wip/notes.md", "cache/keep.bin", "cache/rates.bin"))
    _write(top / name, turn.token + "\n")
    return f"edit {name} and .wip/carry"


def page(turn: Turn) -> str:
    """Write the page."""
    (turn.top / ".wip").mkdir(exist_ok=True)
    (turn.top / ".wip/HANDOFF.md").write_text(_PAGE.format(turn.token))
    return "write the page"


def switch(turn: Turn) -> str:
    """Stand on another branch, or on none."""
    name = turn.rng.choice((*WORKS, *WORKS, *WORKS, "main", "--detach"))
    told = turn.git("switch", "-q", name)
    return told + ("; " + turn.git("switch", "-qc", name) if "(128)" in told else "")


def clean(turn: Turn) -> str:
    """Have everything in a commit, and nothing under way, so that a catch finds room."""
    for verb in ("rebase", "merge", "cherry-pick", "revert"):
        turn.git(verb, "--abort")
    told = turn.git("add", "-A")
    return f"abort; {told}; " + turn.git("commit", "-qm", turn.token)


def make_room(turn: Turn) -> str:
    """Have everything on a branch of its own, so that a catch finds room and a branch as it was."""
    for verb in ("rebase", "merge", "cherry-pick", "revert"):
        turn.git(verb, "--abort")
    for name in ("HANDOFF.md", "notes.md", "carry"):
        (turn.top / ".wip" / name).unlink(missing_ok=True)
    with suppress(OSError):
        (turn.top / ".wip").rmdir()
    told = [turn.git(*words) for words in (
        ("switch", "-qc", f"side-{turn.token}"), ("add", "-A"), ("commit", "-qm", turn.token),
        ("switch", "-q", "main"),
    )]  # fmt: skip
    return "; ".join(told)


DEEDS: Final[tuple[Callable[[Turn], str], ...]] = (
    edit, edit, edit, same_line, remove, rename, mode, stage, stage, stage, commit, commit, stash,
    conflict, settle, settle, carry, page, switch, clean, clean,
)  # fmt: skip
