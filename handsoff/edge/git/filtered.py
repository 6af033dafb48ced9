"""Tracked files that are not on disk what they are in git: which of them a checkout brings back.

lossless   git makes the object of the file, and the same file of the object: the object travels
raw        it does not: the bytes on disk travel
secret     a filter encrypts it: only what git has of it travels, never what is on disk
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from handsoff.core.checkout import paths
from handsoff.core.checkout.conversion import Kind
from handsoff.core.checkout.index import Entry
from handsoff.core.checkout.trees import Leaf
from handsoff.core.objects import EXECUTABLE, FILE
from handsoff.edge.git.convert import (
    OURS,
    Converter,
    Rules,
    attributes_among,
    converter,
    rules_of,
)
from handsoff.edge.git.disk import Worktree, leaf_of
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.edge.git.sinks import Taken
from handsoff.edge.git.unlike import unlike
from handsoff.errors import RefusedError

Spared: TypeAlias = Callable[[bytes, Leaf, int], bool]
"""Says of a path, what git has of it, and its size on disk, whether it need not travel."""


@dataclass(frozen=True, slots=True)
class Lossless:
    """A file that a checkout would write just so."""

    taken: Taken
    """What is on disk."""
    kept: Leaf
    """What git makes of it."""
    data: bytes | None
    """The object's content, unless the index has it: then it travels with that."""


@dataclass(frozen=True)
class Filtered:
    """What is converted in one checkout; empty where nothing is."""

    lossless: Mapping[bytes, Lossless] = field(default_factory=dict)
    raw: frozenset[bytes] = frozenset()
    programs: frozenset[bytes] = frozenset()
    """Files of a filter of the user's."""
    secret: frozenset[bytes] = frozenset()
    spared: frozenset[bytes] = frozenset()
    """Files of a filter that need not travel: unchanged, and the other end can get them."""
    cleaned: Mapping[bytes, str] = field(default_factory=dict)
    """Ids of what git would make of files that are not read here, or are not lossless."""
    behind: Mapping[bytes, Leaf] = field(default_factory=dict)
    """What is on disk of secret files that git has, though their stat data do not say so.

    It goes nowhere, and may be written over.
    """
    exposed: frozenset[bytes] = frozenset()
    """Files that git does not track, and that a filter would encrypt if it did."""


def _is_touched(worktree: Worktree, look: Look, path: bytes) -> bool:
    """Say whether a file was touched since the index was written, to the nanosecond.

    Trap: git compares whole seconds where it was built so, and takes the file for unchanged.
    """
    st = worktree.stat(path)
    if st is None:
        return False
    times = divmod(st.st_ctime_ns, 10**9), divmod(st.st_mtime_ns, 10**9)
    return not any((e.stat.ctime, e.stat.mtime) == times for e in look.entries.of(path))


def read_filtered(
    checkout: Checkout,
    look: Look,
    outside: Iterable[bytes],
    *,
    programs: bool,
    spared: Spared | None = None,
) -> Filtered:
    """Return which tracked files of ``checkout`` git converts; ``outside`` are others that travel.

    With ``programs`` the user's filters are asked whether files differ from what git has of them.
    RefusedError for a change that only its plaintext could carry.
    """
    outside = list(outside)
    known = [*look.entries.paths, *outside]
    rules = rules_of(checkout, known, [*known, *look.staged])  # attributes may be going
    if rules is None:
        return Filtered()
    worktree = Worktree(checkout.top)
    tracked = (path for path in look.entries.paths if _is_file(look, path))
    present = [path for path in tracked if worktree.stat(path) is not None]
    filters = [path for path in present if rules.kind(path) is Kind.FILTER]
    left = {p for p in filters if spared and p not in look.suspects and _is_spared(look, p, spared)}
    secret = [path for path in present if rules.kind(path) is Kind.SECRET]
    mine = dict(_differing(worktree, rules, present))
    left_so = unlike(checkout, look, rules, {*present} - mine.keys(), refused=programs)
    asked = [p for p in (*filters, *secret) if p in look.suspects]
    asked += [p for p in secret if p not in look.suspects and _is_touched(worktree, look, p)]
    with converter(checkout, standing_in=_not_on_disk(worktree, look)) as git:
        ids = git.clean((_indexed(look, path) for path in asked), programs=True) if programs else {}
        behind = dict(_on_disk(worktree, (path for path in asked if path in secret)))
        # one that nobody has decrypted is on disk as git has it
        plain = {path: leaf.oid for path, leaf in behind.items()}
        unknown = {
            p for p in behind if not any(_is_indexed(look, p, made) for made in (plain, ids))
        }
        if programs:
            refuse_plaintext(unknown)
        cleaned = git.clean((_indexed(look, path) for path in mine), programs=False)
        lossless = dict(_lossless(checkout, look, git, mine, cleaned))
    return Filtered(
        lossless=lossless,
        raw=frozenset({*filters, *mine, *left_so} - lossless.keys() - left),
        programs=frozenset(filters),
        spared=frozenset(left),
        secret=frozenset(secret),
        exposed=frozenset(path for path in outside if rules.kind(path) is Kind.SECRET),
        cleaned={**cleaned, **ids},
        behind={path: leaf for path, leaf in behind.items() if path not in unknown},
    )


def _not_on_disk(worktree: Worktree, look: Look) -> Iterator[Entry]:
    """Yield attributes that git reads from the index, say where a sparse checkout has no file."""
    for path in attributes_among(look.entries.paths):
        for entry in look.entries.of(path):
            if entry.stage in (0, OURS) and worktree.stat(path) is None:
                yield Entry(path, entry.mode, entry.oid)


def _is_spared(look: Look, path: bytes, spared: Spared) -> bool:
    entry = look.entries.of(path)[0]
    return entry.plain and spared(path, Leaf(entry.mode, entry.oid), entry.stat.size)


def _is_file(look: Look, path: bytes) -> bool:
    return any(entry.mode in (FILE, EXECUTABLE) for entry in look.entries.of(path))


def _indexed(look: Look, path: bytes) -> Entry:
    entry = look.entries.of(path)[0]
    return Entry(path, entry.mode, entry.oid if entry.stage == 0 else "")


def _is_indexed(look: Look, path: bytes, ids: Mapping[bytes, str]) -> bool:
    return ids.get(path) in {entry.oid for entry in look.entries.of(path)}


def _on_disk(worktree: Worktree, wanted: Iterable[bytes]) -> Iterator[tuple[bytes, Leaf]]:
    for path in wanted:
        content = worktree.read(path)
        if content is not None:
            yield path, leaf_of(content)


def _differing(
    worktree: Worktree, rules: Rules, present: Iterable[bytes]
) -> Iterator[tuple[bytes, Taken]]:
    """Yield the files of which git itself might make other bytes, as they are on disk."""
    for path in present:
        if rules.kind(path) is Kind.GIT:
            content = worktree.read(path)
            is_file = content is not None and content.mode in (FILE, EXECUTABLE)
            if content and is_file and rules.may_differ(path, content.data):
                yield path, Taken(content)


def _lossless(
    checkout: Checkout,
    look: Look,
    git: Converter,
    mine: Mapping[bytes, Taken],
    cleaned: Mapping[bytes, str],
) -> Iterator[tuple[bytes, Lossless]]:
    kept = {path: Leaf(mine[path].leaf.mode, oid) for path, oid in cleaned.items()}
    back = git.smudge(kept)
    # what the clone has besides, no commit need lead to
    objects = Objects(git.objects, checkout.objects_dir)
    for path, leaf in kept.items():
        if back.get(path) == mine[path].leaf:
            data = None if _is_indexed(look, path, cleaned) else objects.blob(leaf.oid)
            yield path, Lossless(mine[path], leaf, data)


def refuse_plaintext(found: Iterable[bytes]) -> None:
    """Raise RefusedError for the first of ``found``, of which git has nothing encrypted."""
    for path in sorted(found):
        raise RefusedError(
            f"a filter encrypts {paths.shown(path)}, and what is on disk is not committed: "
            "its plaintext never travels",
            hint="commit it (the commit has it encrypted), then send again",
        )
