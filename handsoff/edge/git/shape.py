"""What a checkout is besides files: nested repositories, foreign formats, a receiver that is busy.

Each thing that this handsoff does not carry is named, so that a verb can refuse it by name before
anything is sent or changed. Nothing is moved half.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from handsoff.core.checkout import paths
from handsoff.core.checkout.operation import FOLDERS, kind_of, moved_in
from handsoff.core.plain import plain
from handsoff.core.remote.refs import HEADS
from handsoff.edge.git import command, operation, submodule
from handsoff.edge.git.look import Look
from handsoff.edge.git.oddity import Oddity
from handsoff.edge.git.repo import Checkout, decode, encode, split
from handsoff.errors import UnfitError


def refuse(found: Iterator[Oddity]) -> None:
    """Raise UnfitError for the first of ``found``."""
    for oddity in found:
        raise UnfitError(oddity.what, hint=oddity.hint)


def operations(look: Look) -> Iterator[Oddity]:
    """Yield the operation that is in progress in this worktree."""
    kind = kind_of(look.operation)
    if kind is not None:
        go_on, stop = kind.command, kind.stop
        end = f"finish it first ({go_on}), or catch with --into DIR"
        if stop:
            end = f"finish it first ({go_on}), give it up ({stop}), or catch with --into DIR"
        yield Oddity(f"{kind.what} is in progress here", end)


def moved_along(look: Look) -> Iterator[Oddity]:
    """Yield each other branch that a rebase here will move: git cannot where it does not exist."""
    for branch in moved_in(look.operation):
        yield Oddity(
            f"the rebase in progress here also moves the branch {plain(branch)}, which stays here",
            "finish it first, or take its update-ref lines out: git rebase --edit-todo",
        )


def clone_shape(checkout: Checkout) -> Iterator[Oddity]:
    """Yield what is odd about the clone itself."""
    # where nothing is said, git takes sha1 whatever its own default is
    said = checkout.setting("extensions.objectformat")
    kind = checkout.line("rev-parse", "--show-object-format") if said is not None else "sha1"
    if kind != "sha1":
        yield Oddity(
            f"this repository names its objects with {kind}, which handsoff cannot read",
            "use a sha1 repository: git init --object-format=sha1",
        )


def lost_stash(checkout: Checkout, look: Look) -> Iterator[Oddity]:
    """Yield the stash whose list is gone, say by ``git reflog expire``: nothing would carry it."""
    ref = "refs/stash"
    oid = None if look.stash else checkout.commit(ref)
    if oid is not None:
        yield Oddity(
            f"a stash stands in {ref} here, and git stash list does not have it any more",
            f"to keep it: git update-ref -d {ref}; then: git stash store {oid}",
        )


def log_without_stash(checkout: Checkout, look: Look) -> Iterator[Oddity]:
    """Yield the log of a stash list that is gone: with a new entry git would list its own again."""
    log = checkout.common_dir / "logs" / "refs" / "stash"
    if not look.stash and log.is_file() and log.stat().st_size:
        yield Oddity(
            f"{log} names entries of a stash list that is gone, and would come back",
            "move it away; what it names can be stored again: git stash store ID",
        )


def nested(checkout: Checkout, look: Look) -> Iterator[Oddity]:
    """Yield repositories inside the checkout that hold work of their own.

    A submodule without any travels as git records it, by its commit.
    """
    for path in sorted(look.entries.links):
        work = submodule.work_in(checkout, path, look)
        if work is not None:
            yield Oddity(f"the submodule {paths.shown(path)} {work.what}", work.hint)
    for path in sorted(look.nested) + sorted(p for p in look.carried if p.endswith(b"/")):
        what = "a worktree of this clone" if _is_own(checkout, path) else "a repository of its own"
        yield Oddity(
            f"{paths.shown(path)} is {what} inside this checkout",
            "move it out of the checkout, or ignore it (in .git/info/exclude): then it stays here",
        )


def _is_own(checkout: Checkout, path: bytes) -> bool:
    gitfile = checkout.top / os.fsdecode(path) / ".git"
    ours = os.fsencode(checkout.common_dir / "worktrees")
    return gitfile.is_file() and ours in gitfile.read_bytes()


def unreadable(look: Look) -> Iterator[Oddity]:
    """Yield folders whose content nobody can tell."""
    ignored = look.ignored
    for folder in sorted(look.walked.unreadable):
        if folder + b"/" not in ignored:
            yield Oddity(
                f"the folder {paths.shown(folder)} cannot be read",
                "make it readable, or move it out of the checkout",
            )


def unreadable_files(look: Look) -> Iterator[Oddity]:
    """Yield files that even their owner may not read: a receiver could not compare them."""
    for path, mode in look.modes.items():
        if not mode & 0o400:
            shown = paths.shown(path)
            yield Oddity(f"the file {shown} cannot be read by its owner", f"chmod u+r {shown}")


def unwritable(look: Look) -> Iterator[Oddity]:
    """Yield new files with a name that every receiver refuses, as git add does most of them."""
    for path in look.untracked | look.carried:
        problem = paths.path_problem(path)
        if problem is not None:
            yield Oddity(
                f"the file {paths.shown(path)} {problem}: no machine takes such a name",
                "rename it, or move it out of the checkout",
            )


def other_worktree(checkout: Checkout, branch: str) -> str | None:
    """Return the path of another worktree that has ``branch`` checked out, or None."""
    if checkout.alone:
        return None
    wanted = b"branch refs/heads/" + encode(branch)
    here = checkout.top.resolve()
    place = here
    for line in split(checkout.git("worktree", "list", "--porcelain", "-z")):
        if line.startswith(b"worktree "):
            place = Path(os.fsdecode(line.removeprefix(b"worktree "))).resolve()
        elif line == wanted and place != here:
            return str(place)
    return _left_for_a_while(checkout, branch)


def taken_elsewhere(checkout: Checkout, branch: str) -> Iterator[Oddity]:
    """Yield the other worktree that has ``branch``: git lets a branch be in one only."""
    place = other_worktree(checkout, branch)
    if place is not None:
        yield Oddity(
            f"the branch {branch} is checked out in {place}",
            "go on there, or switch that worktree to another branch"
            if os.path.lexists(place)
            else "its folder is gone; to let git forget it: git worktree prune",
        )


def _left_for_a_while(checkout: Checkout, branch: str) -> str | None:
    """Return the other worktree in which a rebase or bisect of ``branch`` is in progress."""
    linked = (checkout.common_dir / "worktrees").glob("*")
    for git_dir in (checkout.common_dir, *linked):
        if git_dir != checkout.git_dir and operation.branch_of_worktree(git_dir) == branch:
            gitfile = git_dir / "gitdir"
            named = os.fsdecode(gitfile.read_bytes()) if gitfile.exists() else str(git_dir)
            return str(Path(named.removesuffix("\n")).parent)
    return None


def clashing_branch(checkout: Checkout, branch: str) -> str | None:
    """Return a branch that stands where ``branch`` needs a folder, or the reverse, or None."""
    if checkout.commit(f"refs/heads/{branch}"):
        return None  # git lets none stand beside it
    parents = [decode(parent) for parent in paths.parents(encode(branch))]
    for parent in parents:
        if checkout.commit(f"refs/heads/{parent}"):
            return parent
    below = checkout.line(
        "for-each-ref", "--count=1", "--format=%(refname)", f"refs/heads/{branch}/"
    )
    return below.removeprefix(HEADS) if below else None


def stands_for(checkout: Checkout, branch: str) -> str | None:
    """Return what ``branch`` is only another name for, as a symbolic ref, or None."""
    place = checkout.common_dir / os.fsdecode(encode(HEADS + branch))
    try:
        said = place.read_bytes()  # git packs no symbolic ref
    except OSError:
        return None
    mark = b"ref:"
    if not said.startswith(mark):
        return None
    return plain(decode(said.removeprefix(mark).strip()).removeprefix(HEADS), limit=200)


def locked(checkout: Checkout, branch: str) -> Iterator[Oddity]:
    """Yield the locks, say of a git that crashed, at which git would stop half-way in a restore.

    Trap: git locks what a config that is a link leads to.
    """
    shared = ("packed-refs", "refs/stash", os.fsdecode(encode(HEADS + branch)))
    held = [
        *(checkout.git_dir / name for name in ("index", "HEAD", "config.worktree")),
        *(checkout.common_dir / name for name in shared),
        (checkout.common_dir / "config").resolve(),
    ]
    for place in held:
        lock = place.with_name(place.name + ".lock")
        if os.path.lexists(lock):
            yield Oddity(
                f"another git process holds {lock}",
                "when it has ended, or if none runs, remove that file and type it again",
            )


def misshapen(checkout: Checkout, branch: str) -> Iterator[Oddity]:
    """Yield what stands in the git folder where a restore of ``branch`` needs a folder."""
    hint = "look what it is, and move it away"
    for place in (checkout.git_dir / os.fsdecode(name) for name in FOLDERS):
        if place.is_symlink() or place.is_file():
            yield Oddity(f"{place} is no folder, so no operation can be put there", hint)
    logs = checkout.common_dir / "logs" / HEADS
    for place in (logs / os.fsdecode(parent) for parent in paths.parents(encode(branch))):
        if place.is_file():
            yield Oddity(f"{place} is no folder, so no log of {branch} can be put there", hint)


def has_loose_commits(checkout: Checkout) -> bool:
    """Say whether HEAD is detached on commits that no ref names."""
    if checkout.branch() is not None or checkout.commit("HEAD") is None:
        return False
    listed = checkout.git("for-each-ref", "--count=1", "--contains", "HEAD")
    return not listed.strip()


def folds_names(checkout: Checkout) -> bool:
    """Say whether this file system takes names for equal that differ in case."""
    return (checkout.git_dir / "hEaD").exists()


def is_ancestor(checkout: Checkout, older: str, newer: str, arrived: Path) -> bool:
    """Say whether ``newer`` has ``older`` in its history.

    ``arrived`` is a further object folder, for commits that are not in the clone yet.
    """
    asked = (older, newer, arrived)
    if asked in checkout.ancestry:
        return True
    done = checkout.run(
        "merge-base", "--is-ancestor", older, newer,
        GIT_ALTERNATE_OBJECT_DIRECTORIES=command.alternates(arrived),
    )  # fmt: skip
    if done.returncode == 0:
        checkout.ancestry.add(asked)
    return done.returncode == 0
