"""Operations in progress on disk: read from a worktree's git folder, and put into another one.

Reading believes nothing of the names: only what ``core/checkout/operation.py`` lists is touched.
Refs of a bisect or a rebase are each worktree's own, and git finds them for the worktree it runs
in.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from handsoff.core.checkout import operation
from handsoff.core.checkout.operation import FILES, FOLDERS, NOTHING, RERERE, TAGS, Operation
from handsoff.core.objects import EMPTY_TREE
from handsoff.edge import files
from handsoff.edge.git.repo import Checkout, decode, encode, lines
from handsoff.edge.steps import step

_MODE: Final = 0o644
_KEPT: Final = (RERERE, b"ORIG_HEAD")
"""Not removed: other worktrees may need those, and what ORIG_HEAD names nothing else may."""


def read(checkout: Checkout) -> Operation:
    """Return what is in progress in this worktree, with the objects that it needs."""
    found = dict(_files(checkout))
    kept = {name: data for name, data in found.items() if name != b"ORIG_HEAD"}
    if not kept:
        return NOTHING
    if operation.kind_of(Operation(tuple(kept.items()))) is None:
        found = kept  # ORIG_HEAD alone is a habit of git's; `git am --abort` needs it
    found |= dict(_rerere(checkout, found.get(b"MERGE_RR", b"")))
    asked = {oid for name, data in found.items() for oid in operation.ids_in(name, data)}
    kinds = dict(_resolve(checkout, sorted(asked - operation.labels_in(found))))
    commits = {oid for kind, oid in kinds.values() if kind == "commit"}
    for oid in [oid for kind, oid in kinds.values() if kind == "tag"]:
        tags, commit = _tagged(checkout, oid)
        if commit is not None:
            found |= tags
            commits.add(commit)
    merged = found.get(b"AUTO_MERGE", b"").decode("ascii", "replace").strip()
    return Operation(
        files=tuple(sorted(found.items())),
        refs=tuple(_refs(checkout)),
        commits=tuple(sorted(commits)),
        short=tuple(
            (name, oid) for name, (kind, oid) in kinds.items() if kind == "commit" and name != oid
        ),
        merged=merged if kinds.get(merged, ("", ""))[0] == "tree" else "",
    )


def branch(checkout: Checkout) -> str | None:
    """Return the branch that the operation in progress here has left for a while, or None."""
    names = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
    places = ((name.encode(), checkout.git_dir / name) for name in names)
    return operation.branch_of({name: p.read_bytes() for name, p in places if p.is_file()})


def branch_of_worktree(git_dir: Path) -> str | None:
    """Return the branch that an operation has left in the worktree with this git folder."""
    return branch(Checkout(git_dir, git_dir, git_dir))


def _files(checkout: Checkout) -> Iterator[tuple[bytes, bytes]]:
    root = os.fsencode(checkout.git_dir)
    for name in sorted(FILES):
        data = _read(os.path.join(root, name))
        if data is not None:
            yield name, data
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                full = os.path.join(where, name)
                data = _read(full)
                path = os.path.relpath(full, root)
                if data is not None and operation.may_be_written(path):
                    yield path, data


def _read(path: bytes) -> bytes | None:
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        return Path(os.fsdecode(path)).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _rerere(checkout: Checkout, listed: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield what rerere remembers of the conflicts that are listed, as ``id<TAB>path<NUL>``."""
    for record in listed.split(b"\0"):
        known = RERERE + record.partition(b"\t")[0].partition(b".")[0] + b"/"
        folder = os.path.join(os.fsencode(checkout.common_dir), known)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            data = _read(folder + name)
            if data is not None and operation.may_be_written(known + name):
                yield known + name, data


def _refs(checkout: Checkout) -> Iterator[tuple[str, str]]:
    listed = checkout.git("for-each-ref", "--format=%(objectname) %(refname)", *operation.REFS)
    for line in lines(listed):
        oid, _, name = line.partition(" ")
        yield name, oid


def _resolve(checkout: Checkout, names: Iterable[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each of ``names`` that is an object's id, short or long, with its kind and full id.

    A short one is that of a commit, as git reads it in a list of steps.
    """
    given = "".join(
        f"{name}\n" if len(name) == len(EMPTY_TREE) else f"{name}^{{commit}}\n" for name in names
    )
    if not given:
        return
    said = checkout.git(
        "cat-file", "--batch-check=%(objecttype) %(objectname)", given=given.encode()
    )
    for name, line in zip(names, decode(said).splitlines(), strict=True):
        kind, _, oid = line.partition(" ")
        if kind in ("commit", "tree", "tag") and oid.startswith(name):
            yield name, (kind, oid)


def _tagged(checkout: Checkout, tag: str) -> tuple[dict[bytes, bytes], str | None]:
    """Return a tag and all that it is a tag of, by name, down to its commit; or None for that."""
    tags, commit = {}, checkout.commit(tag)
    while commit is not None and tag != commit:
        data = checkout.git("cat-file", "tag", tag)
        tags[TAGS + tag.encode()] = data
        tag = decode(data[len(b"object ") :].partition(b"\n")[0])
    return tags, commit


def unclear(checkout: Checkout, wanted: Operation) -> set[str]:
    """Return the abbreviations in ``wanted`` that do not mean here what they meant there."""
    meant = dict(wanted.short)
    here = {name: oid for name, (_, oid) in _resolve(checkout, sorted(meant))}
    return {name for name, oid in meant.items() if here.get(name) != oid}


def put(
    checkout: Checkout, wanted: Operation, current: Operation, write: Callable[[str, bytes], str]
) -> None:
    """Let ``wanted`` be in progress here instead of ``current``; ``write`` stores an object.

    Refs go before the files and come after them: with no file there, ``read`` sees nothing.
    """
    place = _placer(checkout)
    files.sweep(checkout.git_dir)
    fresh, old = dict(wanted.files), dict(current.files)
    refs, old_refs = dict(wanted.refs), dict(current.refs)
    _move_refs(checkout, (f"delete {name}\n" for name in old_refs.keys() - refs.keys()))
    for name in old.keys() - fresh.keys():
        if not name.startswith((*_KEPT, TAGS)):
            step("catch.apply.operation.before")
            place(name).unlink(missing_ok=True)
    for name, data in fresh.items():
        step("catch.apply.operation.before")
        if name.startswith(TAGS):
            write("tag", data)
        elif not (name.startswith(RERERE) and place(name).exists()):
            _write(place(name), data)
    step("catch.apply.operation.folders.before")
    for folder in FOLDERS:
        if not any(name.startswith(folder + b"/") for name in fresh):
            _remove_empty(place(folder))
    updates = (f"update {n} {oid}\n" for n, oid in refs.items() if old_refs.get(n) != oid)
    _move_refs(checkout, updates)


def _placer(checkout: Checkout) -> Callable[[bytes], Path]:
    def place(name: bytes) -> Path:
        root = checkout.common_dir if name.startswith(RERERE) else checkout.git_dir
        return root / os.fsdecode(name)

    return place


def _write(path: Path, data: bytes) -> None:
    if _read(os.fsencode(path)) != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, data, _MODE)


def _remove_empty(folder: Path) -> None:
    for where, _, _ in os.walk(folder, topdown=False):
        files.sweep(Path(where))  # git takes a folder that stays for an operation in progress
        with suppress(OSError):
            Path(where).rmdir()


def _move_refs(checkout: Checkout, moves: Iterable[str]) -> None:
    given = encode("".join(moves))
    if given:
        step("catch.apply.operation.refs.before")
        checkout.git("update-ref", "--stdin", given=given)


def as_here(checkout: Checkout, wanted: Operation) -> Operation:
    """Return ``wanted`` as it must be written in this clone, which has other commits besides."""
    return operation.expanded(wanted, unclear(checkout, wanted))


def stands(checkout: Checkout, wanted: Operation, seen: Operation) -> bool:
    """Say whether ``seen``, which is in progress here, is ``wanted``.

    What this clone remembers for itself may be there besides: it was neither moved nor removed.
    """
    arrived, found = dict(as_here(checkout, wanted).files), dict(seen.files)
    more = [name for name in found.keys() - arrived.keys() if not name.startswith(_KEPT)]
    same = all(
        name in found and (data == found[name] or name.startswith(RERERE))
        for name, data in arrived.items()
    )
    return same and not more and wanted.refs == seen.refs
