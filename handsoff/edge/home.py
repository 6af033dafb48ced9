"""What a machine keeps beside its keys: its clones, addresses of others, and the inbox.

HANDSOFF_HOME/
  clones.json      founding id of a roster -> checkouts of that repository here
  addresses.json   machine id -> HOST:PORT at which it last answered
  met.json         machine id -> when it last answered there, in seconds since 1970
  ssh.json         machine id -> the destination of ssh that led there, and the program there
  incoming/        parcels on their way in; a cut one goes on from here
  inbox/ID/        a parcel that arrived whole and was verified: manifest, signature, pack
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from handsoff.core.ids import is_parcel_id
from handsoff.core.parcels import manifest
from handsoff.core.parcels.manifest import Manifest
from handsoff.edge import files, parts

_CLONES: Final = "clones.json"
_LOCK: Final = "lock"
_ADDRESSES: Final = "addresses.json"
_MET: Final = "met.json"
_OFTEN: Final = 60
"""Seconds within which it is not noted again that a machine was met."""
_SSH: Final = "ssh.json"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.sig"


@dataclass(frozen=True, slots=True)
class Parcel:
    """A verified parcel in the inbox. ``objects`` is an object folder that holds its pack."""

    folder: Path
    manifest: Manifest

    @property
    def size(self) -> int:
        """How many bytes it has on disk."""
        total = 0
        for path in self.folder.rglob("*"):
            with suppress(FileNotFoundError):  # whoever catches it removes it
                total += 0 if path.is_dir() else path.lstat().st_size
        return total

    @property
    def objects(self) -> Path:
        """The folder ``objects`` with the parcel's pack and its index."""
        return self.folder / "objects"

    def remove(self) -> None:
        """Throw the parcel away, once what was in it is in the clone."""
        shutil.rmtree(self.folder, ignore_errors=True)


def cache_folder() -> Path:
    """Return the user's folder for what can be made again, such as compiled scanner rules."""
    from platformdirs import user_cache_path  # noqa: PLC0415 - only send and init need it

    return user_cache_path("handsoff")


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one machine."""

    folder: Path

    @property
    def incoming(self) -> Path:
        """Where parcels are staged while they arrive."""
        return files.ensure_folder(self.folder / "incoming")

    @contextmanager
    def receiving(self) -> Iterator[str]:
        """Let nobody sweep while a parcel comes in; gives a name that nobody else uses."""
        with (self.folder / _LOCK).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield secrets.token_hex(8)

    def sweep(self) -> None:
        """Remove what killed runs left: parcels that were opened and not kept, and old parts."""
        with (self.folder / _LOCK).open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # somebody is at work here, and sweeps another time
            files.sweep(self.incoming)
            parts.sweep(self.incoming)
            for path in self.incoming.iterdir():
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif path.suffix in (".open", ".file"):
                    path.unlink(missing_ok=True)

    def keep_only_whole(self, parcel_id: str) -> None:
        """Remove what there is of a parcel beside the whole one, which is in the inbox.

        Called by whoever has put it there, and by whoever finds it there: a run that is killed
        right after that leaves both.
        """
        parts.forget(self.incoming, parcel_id)
        self.sweep()

    @property
    def inbox(self) -> Path:
        """Where verified parcels wait."""
        return files.ensure_folder(self.folder / "inbox")

    def clones(self, founding: str | None = None) -> list[Path]:
        """Return the checkouts registered here, of one repository or of all."""
        known: dict[str, list[str]] = files.read_json(self.folder / _CLONES) or {}
        wanted = known.values() if founding is None else [known.get(founding, [])]
        # not Path.is_dir, which raises for what cannot be looked at: it is as good as gone
        return [Path(top) for tops in wanted for top in tops if os.path.isdir(top)]  # noqa: PTH112

    def repositories(self) -> list[str]:
        """Return the founding ids of the repositories that were ever set up here."""
        return sorted(files.read_json(self.folder / _CLONES) or {})

    def remember_clone(self, founding: str, top: Path) -> None:
        """Register the checkout at ``top`` as one of the repository ``founding``."""
        known: dict[str, list[str]] = files.read_json(self.folder / _CLONES) or {}
        if str(top) not in known.get(founding, []):
            others = {f: [t for t in tops if t != str(top)] for f, tops in known.items()}
            others[founding] = [*others.get(founding, []), str(top)]
            files.write_json(self.folder / _CLONES, others)

    def address_of(self, machine: str) -> str | None:
        """Return where ``machine`` last answered, or None."""
        known: dict[str, str] = files.read_json(self.folder / _ADDRESSES) or {}
        return known.get(machine)

    def remember_address(self, machine: str, address: str, at: int | None = None) -> None:
        """Note where ``machine`` answered, and when."""
        known: dict[str, str] = files.read_json(self.folder / _ADDRESSES) or {}
        if known.get(machine) != address:
            files.write_json(self.folder / _ADDRESSES, {**known, machine: address})
        if at is not None:
            met: dict[str, int] = files.read_json(self.folder / _MET) or {}
            if abs(at - met.get(machine, 0)) >= _OFTEN:
                files.write_json(self.folder / _MET, {**met, machine: at})

    def met(self, machine: str) -> int | None:
        """Return when ``machine`` last proved to be there, or None."""
        known: dict[str, int] = files.read_json(self.folder / _MET) or {}
        return known.get(machine)

    def ssh_of(self, machine: str) -> str | None:
        """Return the destination of ssh that last led to ``machine``, or None."""
        return self._ssh().get(machine, {}).get("to")

    def by_ssh(self, destination: str) -> str | None:
        """Return the machine to which this destination of ssh led last, or None."""
        led = [machine for machine, way in self._ssh().items() if way.get("to") == destination]
        return led[0] if led else None

    def program_at(self, destination: str) -> str | None:
        """Return the program that the person named for this destination, or None."""
        named = [way.get("program") for way in self._ssh().values() if way.get("to") == destination]
        return named[0] if named else None

    def remember_ssh(self, machine: str, destination: str, program: str | None) -> None:
        """Note which destination led to ``machine``, and which program answered if it was named."""
        known, program = self._ssh(), program or self.program_at(destination)
        way = {"to": destination} | ({"program": program} if program else {})
        if known.get(machine) != way:
            others = {m: w for m, w in known.items() if w.get("to") != destination}
            files.write_json(self.folder / _SSH, {**others, machine: way})

    def _ssh(self) -> dict[str, dict[str, str]]:
        return files.read_json(self.folder / _SSH) or {}

    def parcel(self, parcel_id: str) -> Parcel | None:
        """Return the verified parcel of this id, or None."""
        folder = self.inbox / parcel_id
        if not is_parcel_id(parcel_id):
            return None
        try:
            body = (folder / MANIFEST).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Parcel(folder, manifest.decode(body))

    def parcels(self) -> list[Parcel]:
        """Return all verified parcels, oldest first."""
        found = [self.parcel(folder.name) for folder in self.inbox.iterdir()]
        return sorted((p for p in found if p), key=lambda p: (p.manifest.at, p.manifest.parcel))
