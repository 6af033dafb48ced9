"""The settings of agents on disk: read as text, and written back with nothing else changed.

    ~/.claude/settings.json     CLAUDE_CONFIG_DIR moves ~/.claude
    ~/.codex/hooks.json         CODEX_HOME moves ~/.codex
    .claude/ and .codex/        of a checkout, for all who work in it
    ~/.codex/config.toml        only read: hooks that are trusted, or switched off

A file that is a link (as dotfile managers make) is written where it leads, and stays a link.
What stood there before goes into ``settings/`` of the machine's folder.
"""

import os
import shlex
import shutil
import stat
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from handsoff.core.settings.adapters import PROGRAM
from handsoff.core.transcripts.sessions import CLAUDE, CODEX
from handsoff.edge import clock, files, keys
from handsoff.edge.agents.agents import homes
from handsoff.errors import RefusedError, UnfitError, UsageError

_FILES: Final = {CLAUDE: "settings.json", CODEX: "hooks.json"}
_FOLDERS: Final = {CLAUDE: ".claude", CODEX: ".codex"}
_KEPT: Final = 5
"""Older texts of one file that are kept."""
_LARGEST: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class File:
    """A text file of somebody else's; ``data`` is None where there is none."""

    path: Path
    data: bytes | None
    mode: int

    @property
    def text(self) -> str | None:
        """What it says; UnfitError if that is no UTF-8."""
        try:
            return None if self.data is None else self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data[: error.start].count(b"\n") + 1 if self.data else 1
            raise UnfitError(
                f"{self.path} is no UTF-8: line {line}", hint="nothing was changed; mend that line"
            ) from error


def place(agent: str, project: Path | None) -> Path:
    """Return where the hooks of ``agent`` stand: the user's own, or those of a checkout."""
    if project is not None:
        return project / _FOLDERS[agent] / _FILES[agent]
    return homes(os.environ)[agent] / _FILES[agent]


def as_codex_spells(path: Path) -> str:
    """Return how Codex names its file of hooks: links in the way to it resolved, not its own."""
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118 - as text


def has_home(agent: str) -> bool:
    """Say whether this user has ever run ``agent``."""
    return homes(os.environ)[agent].is_dir()


def read(path: Path, *, inside: Path | None = None, mode: int = 0o600) -> File:
    """Return what is at ``path``, or where it leads; ``mode`` is for one that is not there.

    ``inside`` is the folder that it must not lead out of.
    """
    with files.saying(f"cannot read {path}"):
        real = Path(os.path.realpath(path))
        if inside is not None and not real.is_relative_to(os.path.realpath(inside)):
            raise RefusedError(f"{path} leads out of {inside}", hint="nothing was changed")
        try:
            told = real.stat()
        except FileNotFoundError as error:
            if path.is_symlink():
                hint = f"nothing was changed; make {real}, or remove the link"
                raise UnfitError(f"{path} is a link to nowhere", hint=hint) from error
            return File(real, None, mode)
        if not stat.S_ISREG(told.st_mode) or told.st_size > _LARGEST:
            raise UnfitError(f"{real} is no file of settings", hint="nothing was changed")
        if told.st_uid != os.geteuid():
            raise UnfitError(f"{real} belongs to another user", hint="run this as that user")
        return File(real, real.read_bytes(), stat.S_IMODE(told.st_mode))


def write(file: File, text: str | None, *, linked: bool) -> Path | None:
    """Put ``text`` in the place of what was read; None removes it. Return where that is kept.

    UnfitError if it was changed meanwhile: an agent writes its settings, too.
    """
    if file.data is not None and not file.mode & stat.S_IWUSR:
        said = f"{file.path} is read-only, and so not to be changed"
        raise UnfitError(said, hint=f"nothing was changed; chmod u+w {shlex.quote(str(file.path))}")
    kept = None if file.data is None else _keep(file.path, file.data)
    with files.saying(f"cannot write {file.path}"):
        if (file.path.read_bytes() if file.path.exists() else None) != file.data:
            said = f"{file.path} was changed by something else just now"
            raise UnfitError(said, hint="nothing was changed; try again")
        if text is None and not linked:
            file.path.unlink()
            return kept
        private = 0o777 if file.mode & 0o077 else 0o700
        file.path.parent.mkdir(private, parents=True, exist_ok=True)
        # a link that leads nowhere helps nobody: what is left there is the empty document
        files.write(file.path, ("{}\n" if text is None else text).encode("utf-8"), file.mode)
    return kept


def _keep(path: Path, data: bytes) -> Path:
    """Keep what stands at ``path``; the oldest of many goes."""
    folder = files.ensure_folder(keys.home_folder() / "settings")
    name = f"{path.name}-{sha256(os.fsencode(path)).hexdigest()[:8]}"
    kept = folder / f"{name}-{clock.now():%Y%m%dT%H%M%S}"
    number = 1
    while kept.exists():
        number += 1
        kept = folder / f"{name}-{clock.now():%Y%m%dT%H%M%S}-{number}"
    files.write(kept, data)
    by_age = sorted(folder.glob(f"{name}-*"), key=lambda p: (p.stat().st_mtime_ns, p.name))
    for old in by_age[:-_KEPT]:
        old.unlink(missing_ok=True)
    return kept


def program() -> tuple[Path | None, bool]:
    """Return where our hook program is, and whether PATH leads to it."""
    found = shutil.which(PROGRAM)
    if found:
        return Path(os.path.abspath(found)), True  # noqa: PTH100 - no link is followed
    for folder in (Path(sys.executable).parent, Path(sys.argv[0]).absolute().parent):
        if can_run(str(folder / PROGRAM)):
            return folder / PROGRAM, False
    return None, False


def can_run(word: str) -> bool:
    """Say whether a program, by its place or by its name, can be found and run."""
    return shutil.which(word) is not None


def codex_config() -> Mapping[str, Any]:
    """Return the configuration of Codex, {} where it has none; UsageError if it is no TOML."""
    path = homes(os.environ)[CODEX] / "config.toml"
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="mend it first") from error
