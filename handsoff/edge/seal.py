"""Sealing a parcel with age, and opening one: whole files in, whole files out, flat memory.

A parcel is sealed to each receiver's X25519 key, also inside SSH, so that the same bytes may go
down any route and rest anywhere. What comes out of age before its end is not to be believed:
it goes to a staging file, and only a complete one is looked at.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Protocol

import pyrage

from handsoff.core.parcels.manifest import LIMIT, MAGIC, TRAILER
from handsoff.edge import files
from handsoff.errors import DamagedError, TrustError

_CHUNK: Final = 1 << 20
_SIGNATURE: Final = 4096
"""Bytes that a signature may have; both parts of the trailer are read into memory."""
_HEADER: Final = 128 << 10
"""Bytes in which age's header must end, which is read into memory: over a thousand receivers."""
_AGE: Final = b"age-encryption.org/"
_MAC: Final = b"\n--- "
"""What the last line of the header begins with (age-encryption.org/v1)."""
_CHANGED: Final = "the parcel is cut short or was changed on its way"


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class _Joined:
    """Several sources read as one."""

    def __init__(self, sources: Sequence[_Readable]) -> None:
        self._sources = list(sources)

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes of the first source that has any."""
        while self._sources:
            data = self._sources[0].read(size)
            if data:
                return data
            self._sources.pop(0)
        return b""


class _Bytes:
    """Bytes as a source."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` of the bytes left."""
        size = len(self._data) if size < 0 else size
        taken, self._data = self._data[:size], self._data[size:]
        return taken


class _Counting:
    """A sink that hashes and counts what it passes on."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Pass ``data`` on."""
        self.sha256.update(data)
        self.size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Pass the wish on."""
        self._file.flush()


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A sealed parcel on disk."""

    path: Path
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Opened:
    """What an age file held: the file (magic, then the pack), and its trailer taken off."""

    path: Path
    pack_size: int
    manifest: bytes
    signature: str


def seal(
    path: Path, pack: IO[bytes], manifest: bytes, signature: str, receivers: Sequence[str]
) -> SealedFile:
    """Write the sealed parcel at ``path``, durably, readable by the ``receivers`` (``age1...``)."""
    signed = signature.encode("ascii")
    lengths = len(manifest).to_bytes(4, "big") + len(signed).to_bytes(4, "big")
    pack.seek(0)
    source = _Joined([_Bytes(MAGIC), pack, _Bytes(manifest + signed + lengths)])
    keys = [pyrage.x25519.Recipient.from_str(key) for key in receivers]
    with files.saying(f"cannot write the parcel {path}"), files.replacing(path) as file:
        counted = _Counting(file)
        pyrage.encrypt_io(source, counted, keys)
    return SealedFile(path, counted.size, counted.sha256.hexdigest())


def unseal(sealed: Path, staging: Path, identity: str) -> Opened:
    """Open the parcel ``sealed`` into the file ``staging``.

    TrustError when it is sealed to other machines, DamagedError when it is cut or changed.
    """
    key = pyrage.x25519.Identity.from_str(identity)
    try:
        with sealed.open("rb") as source, staging.open("w+b") as target:
            staging.chmod(0o600)
            head = source.read(_HEADER)
            strange = not head.startswith(_AGE[: len(head)])
            if strange or (len(head) == _HEADER and _MAC not in head):
                raise DamagedError("this is not a parcel of handsoff", hint="have it sent again")
            source.seek(0)
            pyrage.decrypt_io(source, target, [key])
            return _take_off_trailer(staging, target)
    except pyrage.DecryptError as error:
        if "No matching keys" in str(error):
            raise TrustError(
                "this parcel is sealed to other machines", hint="ask its sender to send it here"
            ) from error
        raise DamagedError(_CHANGED, hint="have it sent again") from error
    except OSError as error:
        if error.errno is None:  # pyrage's own, of a chunk in the middle
            raise DamagedError(_CHANGED, hint="have it sent again") from error
        with files.saying(f"cannot write {staging}"):
            raise


def _take_off_trailer(path: Path, file: IO[bytes]) -> Opened:
    size = file.seek(0, 2)
    file.seek(0)
    if file.read(len(MAGIC)) != MAGIC or size < len(MAGIC) + TRAILER:
        raise DamagedError("this is not a parcel of handsoff")
    file.seek(size - TRAILER)
    lengths = file.read(TRAILER)
    manifest_size = int.from_bytes(lengths[:4], "big")
    signature_size = int.from_bytes(lengths[4:], "big")
    pack_end = size - TRAILER - manifest_size - signature_size
    if pack_end < len(MAGIC) or manifest_size > LIMIT or signature_size > _SIGNATURE:
        raise DamagedError("the parcel's trailer is malformed")
    file.seek(pack_end)
    manifest, signature = file.read(manifest_size), file.read(signature_size)
    file.truncate(pack_end)
    file.flush()
    try:
        return Opened(path, pack_end - len(MAGIC), manifest, signature.decode("ascii"))
    except UnicodeDecodeError as error:
        raise DamagedError("the parcel's signature is malformed") from error


def digest(path: Path, skip: int = 0) -> str:
    """Return the SHA-256 of a file from byte ``skip`` on, in hex."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(skip)
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()
