"""This machine's keys and name: one Ed25519 key for signing and SSH, one X25519 key for age.

They live in one private folder (``HANDSOFF_HOME``, else the platform's data folder) and belong
to the machine, not to its user's ``~/.ssh``: an SSH key of a person would open more than this.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
)

from handsoff.core.ids import fingerprint, machine_id
from handsoff.core.sshwire import armor, message_to_sign
from handsoff.edge import files
from handsoff.errors import DamagedError, TrustError, UsageError

_SIGNING: Final = "signing.key"
_SEALING: Final = "sealing.key"
_CARD: Final = "machine.json"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Machine:
    """This machine: its names, its keys, and the folder in which it keeps them."""

    home: Path
    name: str
    person: str
    _signing: Ed25519PrivateKey = field(repr=False)
    sealing: str = field(repr=False)
    """The age identity, ``AGE-SECRET-KEY-1...``."""

    @property
    def public_key(self) -> bytes:
        """The raw 32-byte public half of the signing key."""
        return self._signing.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def seed(self) -> bytes:
        """The raw 32-byte private half, for the SSH library."""
        return self._signing.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())

    @property
    def id(self) -> str:
        """The immutable machine id."""
        return machine_id(self.public_key)

    @property
    def fingerprint(self) -> str:
        """The OpenSSH fingerprint of the signing key."""
        return fingerprint(self.public_key)

    @property
    def age_key(self) -> str:
        """The public half of the sealing key, ``age1...``."""
        import pyrage  # noqa: PLC0415 - a native module that pre-push does without

        return str(pyrage.x25519.Identity.from_str(self.sealing).to_public())

    def sign(self, message: bytes, namespace: str) -> str:
        """Return an armored SSHSIG over ``message``."""
        return armor(
            self.public_key, namespace, self._signing.sign(message_to_sign(message, namespace))
        )


def home_folder() -> Path:
    """Return the folder of this machine's keys and inbox; it need not exist yet."""
    given = os.environ.get("HANDSOFF_HOME")
    if given:
        return Path(given).absolute()
    from platformdirs import user_data_path  # noqa: PLC0415 - only where no home is given

    return user_data_path("handsoff")


def load(home: Path) -> Machine | None:
    """Return this machine, or None if it has no keys yet; TrustError if others can read them."""
    if not (home / _CARD).exists():
        return None
    try:
        return _load(home)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(
            f"the keys in {home} are incomplete or damaged",
            hint="restore them from a backup, or move that folder away and make a new machine",
        ) from error


def _load(home: Path) -> Machine:
    for name in (_SIGNING, _SEALING):
        mode = (home / name).stat().st_mode
        if mode & _OTHERS:
            raise TrustError(
                f"others can read {home / name} (mode {stat.S_IMODE(mode):04o})",
                hint=f"chmod 600 {home / name}; if others may have read it, make a new machine",
            )
    key = load_ssh_private_key((home / _SIGNING).read_bytes(), None)
    if not isinstance(key, Ed25519PrivateKey):
        raise TrustError(f"{home / _SIGNING} is not an Ed25519 key")
    card = files.read_json(home / _CARD)
    sealing = (home / _SEALING).read_text("ascii").strip()
    return Machine(home, card["name"], card["person"], key, sealing)


def need(home: Path) -> Machine:
    """Return this machine; UsageError if it has no keys yet."""
    machine = load(home)
    if machine is None:
        raise UsageError(
            "this machine has no name yet", hint="in a checkout, type: handsoff init --name NAME"
        )
    return machine


def create(home: Path, name: str, person: str) -> Machine:
    """Make the keys of a new machine. The card is written last: without it there is no machine."""
    import pyrage  # noqa: PLC0415 - as above

    with files.saying(f"cannot make keys in {home}"):
        files.ensure_folder(home)
        home.chmod(0o700)
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    files.write(home / _SIGNING, pem)
    files.write(home / _SEALING, str(pyrage.x25519.Identity.generate()).encode() + b"\n")
    files.write_json(home / _CARD, {"name": name, "person": person})
    machine = load(home)
    assert machine is not None
    return machine
