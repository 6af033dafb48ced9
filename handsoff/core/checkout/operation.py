"""An operation in progress (merge, rebase, picks, am, bisect): what git keeps of it, as values.

Git has no format for it but files in the git folder of a worktree, named in git-rebase(1),
git-bisect(1) and the sources. They travel as they are; this room says which they are, which
objects they name, and what a receiver may write.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

FILES: Final = frozenset(
    b"MERGE_HEAD MERGE_MODE MERGE_MSG MERGE_RR MERGE_AUTOSTASH AUTO_MERGE SQUASH_MSG ORIG_HEAD"
    b" CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD BISECT_LOG BISECT_NAMES BISECT_TERMS BISECT_START"
    b" BISECT_EXPECTED_REV BISECT_ANCESTORS_OK BISECT_FIRST_PARENT BISECT_HEAD BISECT_RUN".split()
)
FOLDERS: Final = (b"rebase-merge", b"rebase-apply", b"sequencer")
REFS: Final = ("refs/bisect/", "refs/rewritten/")
TAGS: Final = b"tags/"
"""Where the annotated tags that ``MERGE_HEAD`` names are kept, each as the bytes of its object."""

RERERE: Final = b"rr-cache/"
"""What the conflicts that ``MERGE_RR`` names looked like: shared by all worktrees of a clone."""

_QUIET: Final = frozenset({b"ORIG_HEAD", b"MERGE_RR", b"AUTO_MERGE", b"REBASE_HEAD", b"MERGE_MSG"})
"""What git leaves behind long after an operation has ended."""

_TODO: Final = frozenset(
    b"sequencer/todo rebase-merge/git-rebase-todo rebase-merge/git-rebase-todo.backup"
    b" rebase-merge/done".split()
)
_TEXT: Final = re.compile(
    rb"(?:.*/)?(?:message.*|MERGE_MSG|SQUASH_MSG|author-script|patch|final-commit|info|msg|opts"
    rb"|\d+|BISECT_NAMES|BISECT_RUN|MERGE_RR|.*opt)|(?:rr-cache|tags)/.*"
)
_FULL: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_SHORT: Final = re.compile(rb"[0-9a-f]{4,39}")
_NO_IDS: Final = frozenset(b"exec x break b label l update-ref u noop".split())
_LABEL: Final = re.compile(rb"(?m)^[ \t]*(?:label|l)[ \t]+(\S+)")
_WORD: Final = re.compile(rb"\S+")
_RERERE: Final = re.compile(rb"rr-cache/[0-9a-f]{40}/(?:pre|post|this)image(?:\.\d{1,4})?")
_REF: Final = re.compile(r"refs/(?:bisect|rewritten)(?:/(?!\.)[^\0-\x20~^:?*\\\[\x7f/]{1,250})+")
_NAME: Final = re.compile(rb"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Operation:
    """What is in progress; empty where nothing is."""

    files: tuple[tuple[bytes, bytes], ...] = ()
    """Name below the git folder, and content; sorted."""
    refs: tuple[tuple[str, str], ...] = ()
    commits: tuple[str, ...] = ()
    """Ids of the commits that the files name; sorted."""
    short: tuple[tuple[str, str], ...] = ()
    """Ids that stand abbreviated in the files, and what they stood for on the sender."""
    merged: str = ""
    """The tree in ``AUTO_MERGE``, or ""."""

    @property
    def anchors(self) -> list[str]:
        """The commits that must travel for the operation to go on."""
        return sorted({*self.commits, *(oid for _, oid in self.refs)})


NOTHING: Final = Operation()


class Kind(NamedTuple):
    """What is in progress, for people, and the commands that go on with it or give it up."""

    what: str
    command: str
    stop: str = ""


_REBASE: Final = Kind("a rebase", "git rebase --continue", "git rebase --abort")
_PICK: Final = ("git cherry-pick --continue", "git cherry-pick --abort")
_REVERT: Final = ("git revert --continue", "git revert --abort")
_REVERTING: Final = Kind("a sequence of reverts", *_REVERT)
_KINDS: Final = (
    (b"rebase-merge/", _REBASE),
    (b"rebase-apply/rebasing", _REBASE),
    (b"rebase-apply/", Kind("git am", "git am --continue", "git am --abort")),
    (b"MERGE_HEAD", Kind("a merge", "git merge --continue", "git merge --abort")),
    (b"CHERRY_PICK_HEAD", Kind("a cherry-pick", *_PICK)),
    (b"REVERT_HEAD", Kind("a revert", *_REVERT)),
    (b"sequencer/", Kind("a sequence of picks", *_PICK)),
    (b"BISECT_LOG", Kind("a bisect", "git bisect good, or git bisect bad", "git bisect reset")),
    (b"SQUASH_MSG", Kind("a squash merge", "git commit", "git reset --merge")),
)
_TERMS: Final = re.compile(rb"([A-Za-z][A-Za-z0-9-]{0,60})\n([A-Za-z][A-Za-z0-9-]{0,60})\n?")
"""What a bisect calls bad and good, each on a line; said to people only where it is plain."""


def kind_of(operation: Operation) -> Kind | None:
    """Return what is in progress, or None; what git leaves behind for good is nothing."""
    for mark, kind in _KINDS:
        if not any(name.startswith(mark) for name, _ in operation.files):
            continue
        if mark == b"sequencer/" and _reverts(operation):
            return _REVERTING
        return _in_its_terms(kind, operation) if mark == b"BISECT_LOG" else kind
    if any(name not in _QUIET and not name.startswith(RERERE) for name, _ in operation.files):
        return Kind("an operation", "git status")
    return None


def _in_its_terms(kind: Kind, operation: Operation) -> Kind:
    """Return ``kind``, a bisect, with the words that git takes there for good and bad."""
    terms = _TERMS.fullmatch(dict(operation.files).get(b"BISECT_TERMS", b""))
    if terms is None:
        return kind
    bad, good = (word.decode() for word in terms.groups())
    return kind._replace(command=f"git bisect {good}, or git bisect {bad}")


def _reverts(operation: Operation) -> bool:
    return dict(operation.files).get(b"sequencer/todo", b"").startswith(b"revert")


def branch_of(files: Mapping[bytes, bytes]) -> str | None:
    """Return the branch that a rebase or a bisect has left and will come back to, or None."""
    for name in (b"rebase-merge/head-name", b"rebase-apply/head-name"):
        ref = files.get(name, b"").strip()
        if ref.startswith(b"refs/heads/"):
            return ref.removeprefix(b"refs/heads/").decode("utf-8", "surrogateescape")
    start = files.get(b"BISECT_START", b"").strip()
    if start and not _FULL.fullmatch(start):
        return start.removeprefix(b"refs/heads/").decode("utf-8", "surrogateescape")
    return None


def may_be_written(name: bytes) -> bool:
    """Say whether a file of this name belongs to an operation: nothing else may be written."""
    if name in FILES or _RERERE.fullmatch(name):
        return True
    if name.startswith(TAGS):
        return _FULL.fullmatch(name.removeprefix(TAGS)) is not None
    first, *rest = name.split(b"/")
    plain = all(_NAME.fullmatch(part) for part in rest)
    return first in FOLDERS and 1 <= len(rest) <= 2 and plain  # noqa: PLR2004 - no deeper in git


def may_be_ref(name: str) -> bool:
    """Say whether a ref of this name belongs to an operation, and is one that git takes."""
    locked = any(part.endswith(".lock") for part in name.split("/"))
    odd = ".." in name or "@{" in name or name.endswith(".") or locked
    return _REF.fullmatch(name) is not None and not odd


def ids_in(name: bytes, data: bytes) -> list[str]:
    """Return the ids of objects in a file of an operation, full or abbreviated.

    Not those in messages, patches and the like, where an id is only talked about.
    """
    if name in _TODO:
        return [word[0].decode() for line in data.split(b"\n") for word in _ids_of_step(line)]
    if _TEXT.fullmatch(name):
        return []
    return [oid.decode() for oid in _FULL.findall(data)]


def _ids_of_step(line: bytes) -> Iterator[re.Match[bytes]]:
    """Yield where ids stand in a step; a merge names what it merges after its own commit."""
    words = _WORD.finditer(line.partition(b" #")[0])
    command = next(words, [b"#"])[0]
    if command in _NO_IDS or command.startswith(b"#"):
        return
    for word in words:
        if _FULL.fullmatch(word[0]) or _SHORT.fullmatch(word[0]):
            yield word
        if command not in (b"merge", b"m") and not word[0].startswith(b"-"):
            return  # the subject begins


def labels_in(files: Mapping[bytes, bytes]) -> set[str]:
    """Return the labels that a rebase sets. Where one looks like an id, git takes the label."""
    return {label.decode("utf-8", "surrogateescape") for name in _TODO & files.keys()
            for label in _LABEL.findall(files[name])}  # fmt: skip


def expanded(operation: Operation, unclear: set[str]) -> Operation:
    """Return ``operation`` with the ``unclear`` abbreviations spelled out in its lists of steps.

    An abbreviation that means the same commit on the receiver stays as it is.
    """
    longer = {short.encode(): oid.encode() for short, oid in operation.short if short in unclear}
    files = tuple(
        (name, _spelled_out(data, longer) if name in _TODO else data)
        for name, data in operation.files
    )
    return replace(operation, files=files)


def _spelled_out(data: bytes, longer: Mapping[bytes, bytes]) -> bytes:
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        for word in reversed(list(_ids_of_step(line))):
            start, end = word.span()
            whole = lines[number]
            lines[number] = whole[:start] + longer.get(word[0], word[0]) + whole[end:]
    return b"\n".join(lines)


def moved_in(operation: Operation) -> list[str]:
    """Return the other branches that a rebase will move at its end (``--update-refs``)."""
    listed = dict(operation.files).get(b"rebase-merge/update-refs", b"").decode("utf-8", "replace")
    heads = "refs/heads/"
    return [ref.removeprefix(heads) for ref in listed.splitlines() if ref.startswith(heads)]


def commands_in(operation: Operation) -> list[str]:
    """Return the shell commands that going on with a rebase would run."""
    found = []
    for name, data in operation.files:
        if name == b"rebase-merge/git-rebase-todo":
            for line in data.decode("utf-8", "backslashreplace").splitlines():
                word, *command = line.split(maxsplit=1)[:2] or [""]
                if word in ("exec", "x") and command:
                    found.append(command[0].strip())
    return found
