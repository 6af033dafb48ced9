"""Files that git converts between disk and object: told apart, and converted by git itself.

Git is asked in a scratch folder with an index and an object folder of its own, so nothing of the
clone is touched. Programs that the user named as filters run on the user's own files only where
git would run them too, and never on what was received.

Traps:

* whether line ends are converted on the way in depends on what the index has: ``hash-object``
  does not look there, ``update-index`` does;
* ``core.safecrlf`` makes git die on the files that this room is for;
* ``checkout-index`` reads the attributes of the worktree that it is told, and those that are not
  there from its index;
* ``diff-files`` converts a file that was written in the same second as the index.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from handsoff.core.checkout import conversion
from handsoff.core.checkout.conversion import Kind, Settings
from handsoff.core.checkout.index import Entry, encode, encode_entry
from handsoff.core.checkout.trees import Leaf
from handsoff.edge import files
from handsoff.edge.git import command
from handsoff.edge.git.disk import Worktree, leaf_of
from handsoff.edge.git.repo import Checkout, decode, split

ATTRIBUTES: Final = b".gitattributes"
OURS: Final = 2
"""The stage of a conflict from which git reads attributes that the disk has not."""

Attributes = Mapping[bytes, Mapping[str, str]]


@dataclass(frozen=True)
class Rules:
    """Who converts which of some files, in one clone."""

    settings: Settings
    attributes: Attributes = field(repr=False)

    def kind(self, path: bytes) -> Kind:
        """Return who converts the file at ``path``."""
        return conversion.kind_of(self.attributes.get(path, {}), self.settings)

    def may_differ(self, path: bytes, data: bytes) -> bool:
        """Say whether git itself may make other bytes of ``data``."""
        return conversion.may_differ(data, self.attributes.get(path, {}), self.settings)


def rules_of(
    checkout: Checkout, wanted: Collection[bytes], known: Iterable[bytes], top: Path | None = None
) -> Rules | None:
    """Return the rules for ``wanted``, or None if nothing is converted in this clone.

    ``known`` are all paths at which attributes may stand; ``top`` is the folder to read them
    from, if not the worktree.
    """
    settings = conversion.settings_of(checkout.config)
    if not settings.converts_all and not _has_attributes(checkout, known):
        return None
    given = b"".join(path + b"\0" for path in wanted)
    env = {}
    if top is not None:  # without an index, from which git reads what the worktree lacks
        env = {"GIT_WORK_TREE": str(top), "GIT_INDEX_FILE": str(top / ".git" / "none")}
    fields = split(checkout.git("check-attr", "--stdin", "-z", "-a", given=given, **env))
    found: dict[bytes, dict[str, str]] = {}
    for at in range(0, len(fields), 3):
        path, name, value = fields[at : at + 3]
        found.setdefault(path, {})[decode(name)] = decode(value)
    return Rules(settings, found)


def is_attributes(path: bytes) -> bool:
    """Say whether attributes may stand in the file at ``path``."""
    return path == ATTRIBUTES or path.endswith(b"/" + ATTRIBUTES)


def attributes_among(known: Iterable[bytes]) -> list[bytes]:
    """Return the paths of ``known`` in whose files attributes may stand."""
    named = [path for path in known if path.endswith(ATTRIBUTES)]  # of 100,000 hardly any
    return [path for path in named if is_attributes(path)]


def _has_attributes(checkout: Checkout, known: Iterable[bytes]) -> bool:
    if attributes_among(known):
        return True
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    named = checkout.setting("core.attributesfile")
    places = [
        checkout.common_dir / "info" / "attributes",
        Path(named).expanduser() if named else home / "git" / "attributes",
        Path("/etc/gitattributes"),
    ]
    return any(place.exists() for place in places)


def without_programs(checkout: Checkout) -> list[str]:
    """Return the switches with which git runs no filter, whatever attributes say.

    Not with -c, which takes the first "=" of a filter's name for the end of it.
    """
    return [
        f"--config-env=filter.{name}.{what}={command.EMPTY}"
        for name in conversion.settings_of(checkout.config).filters
        for what in ("clean", "smudge", "process", "required")
    ]


class Converter:
    """Git, converting in a scratch folder of its own."""

    def __init__(
        self, checkout: Checkout, scratch: Path, *more: Path, standing_in: Iterable[Entry] = ()
    ) -> None:
        """``more`` are further object folders to read from.

        ``standing_in`` are attributes that the index has and the disk has not: git reads those.
        """
        self._checkout = checkout
        self._standing_in = {entry.path: encode_entry(entry) for entry in standing_in}
        self._index = scratch / "index"
        self._tree = scratch / "tree"
        self.objects = files.ensure_folder(scratch / "objects")
        self._env = {
            "GIT_INDEX_FILE": str(self._index),
            "GIT_OBJECT_DIRECTORY": str(self.objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": command.alternates(checkout.objects_dir, *more),
        }

    def clean(self, entries: Iterable[Entry], *, programs: bool) -> dict[bytes, str]:
        """Return what git would make of the files on disk, by path; those it cannot are left out.

        ``entries`` are what the index has of them now; with ``programs`` the user's filters run.
        """
        wanted = list(entries)
        switches = self._switches(programs=programs)
        if wanted and not self._cleaned(wanted, switches):
            wanted = self._cleanable(wanted, switches)
            self._cleaned(wanted, switches)
        if not wanted:
            return {}
        listed = split(self._checkout.git("ls-files", "--stage", "-z", given=None, **self._env))
        found = {line.partition(b"\t")[2]: decode(line.split(b" ")[1]) for line in listed}
        return {path: oid for path, oid in found.items() if path not in self._standing_in}

    def _cleanable(self, entries: list[Entry], switches: list[str]) -> list[Entry]:
        """Return those that git can clean, of some on which it gave up: one is enough for that."""
        half = len(entries) // 2
        found: list[Entry] = []
        for part in (entries[:half], entries[half:]) if half else ():
            done = self._cleaned(part, switches)
            found += part if done else self._cleanable(part, switches)
        return found

    def _cleaned(self, entries: list[Entry], switches: list[str]) -> bool:
        known = [encode_entry(entry) for entry in entries if entry.oid]
        self._index.write_bytes(encode([*known, *self._standing_in.values()]))
        done = self._checkout.run(
            *switches, "update-index", "--add", "-z", "--stdin",
            given=b"".join(entry.path + b"\0" for entry in entries), **self._env,
        )  # fmt: skip
        return done.returncode == 0

    def smudge(
        self, leaves: Mapping[bytes, Leaf], attributes: Path | None = None
    ) -> dict[bytes, Leaf]:
        """Return what a fresh checkout would write for ``leaves``, and keep those blobs.

        No program of the user's runs. ``attributes`` is a folder with the ``.gitattributes``
        that count, if it is not the worktree.
        """
        if not leaves:
            return {}
        entries = [Entry(path, leaf.mode, leaf.oid) for path, leaf in leaves.items()]
        entries = [entry for entry in entries if entry.path not in self._standing_in]
        known = map(encode_entry, entries)
        self._index.write_bytes(encode([*known, *self._standing_in.values()]))
        env = {**self._env, **({"GIT_WORK_TREE": str(attributes)} if attributes else {})}
        where = f"--prefix={self._tree}/"
        done = self._checkout.run(
            *self._switches(programs=False), "checkout-index", "--all", "--force", where,
            given=None, **env,
        )  # fmt: skip
        command.checked(done, "convert what arrives")
        written = Worktree(self._tree)
        contents = ((path, written.read(path)) for path in leaves)
        return {path: leaf_of(content) for path, content in contents if content is not None}

    def smudged(self, path: bytes) -> bytes:
        """Return the bytes that ``smudge`` has made for ``path``."""
        content = Worktree(self._tree).read(path)
        return content.data if content is not None else b""

    def _switches(self, *, programs: bool) -> list[str]:
        switches = ["-c", "core.safecrlf=false"]
        return switches if programs else [*switches, *without_programs(self._checkout)]


@contextmanager
def converter(
    checkout: Checkout, *more: Path, standing_in: Iterable[Entry] = ()
) -> Iterator[Converter]:
    """Give a converter whose scratch folder is gone afterwards."""
    with checkout.scratch() as folder:
        yield Converter(checkout, folder, *more, standing_in=standing_in)
