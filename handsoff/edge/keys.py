"""This machine's keys and name: one Ed25519 key for signing and SSH, one X25519 key for age.

They live in one private folder (``HANDSOFF_HOME``, else the platform's data folder) and belong
to the machine, not to its user's ``~/.ssh``: an SSH key of a person would open more than this.

machine.json             the name, the person, and the folder of the keys if it is not this one
signing.key sealing.key  the first keys; later ones are in keys-<machine id>/
next.json                as machine.json: keys that are being put in the place of these

One rename decides which keys are the machine's (``switch``), so no power cut leaves a half of each.
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
_NEXT: Final = "next.json"
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
    def pem(self) -> bytes:
        """The signing key as OpenSSH keeps it in a file."""
        return self._signing.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())

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
        if not Path(given).is_absolute():  # another machine in each folder, its keys in a checkout
            raise UsageError(
                f"HANDSOFF_HOME is {given}, which is another place in each folder",
                hint=f"export HANDSOFF_HOME={Path(given).absolute()}, or wherever it is to be",
            )
        return Path(given)
    from platformdirs import user_data_path  # noqa: PLC0415 - only where no home is given

    return user_data_path("handsoff")


def load(home: Path) -> Machine | None:
    """Return this machine, or None if it has no keys yet; TrustError if others can read them."""
    return _load_by(home, _CARD)


def upcoming(home: Path) -> Machine | None:
    """Return the machine with the keys that are to take the place of its own, if it has some."""
    return _load_by(home, _NEXT)


def _load_by(home: Path, card: str) -> Machine | None:
    if not (home / card).exists():
        return None
    try:
        return _load(home, files.read_json(home / card))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(
            f"the keys in {home} are incomplete or damaged",
            hint="restore them from a backup, or move that folder away and make a new machine",
        ) from error


def _load(home: Path, card: dict[str, str]) -> Machine:
    folder = home / card.get("keys", "")
    for name in (_SIGNING, _SEALING):
        mode = (folder / name).stat().st_mode
        if mode & _OTHERS:
            raise TrustError(
                f"others can read {folder / name} (mode {stat.S_IMODE(mode):04o})",
                hint=f"chmod 600 {folder / name}; if it may have been read: handsoff roster rotate",
            )
    key = load_ssh_private_key((folder / _SIGNING).read_bytes(), None)
    if not isinstance(key, Ed25519PrivateKey):
        raise TrustError(f"{folder / _SIGNING} is not an Ed25519 key")
    sealing = (folder / _SEALING).read_text("ascii").strip()
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
    """Make the keys of a new machine, and keep them."""
    return keep(draft(name, person, home))


def draft(name: str, person: str, home: Path = Path()) -> Machine:
    """Return a new machine whose keys are nowhere but here, until ``keep``."""
    import pyrage  # noqa: PLC0415 - as above

    sealing = str(pyrage.x25519.Identity.generate())
    return Machine(home, name, person, Ed25519PrivateKey.generate(), sealing)


def keep(machine: Machine) -> Machine:
    """Write the keys of a new machine. The card comes last: without it there is no machine."""
    home = machine.home
    with files.saying(f"cannot make keys in {home}"):
        files.ensure_folder(home)
        home.chmod(0o700)
    _write_keys(home, machine)
    files.write_json(home / _CARD, {"name": machine.name, "person": machine.person})
    kept = load(home)
    assert kept is not None
    return kept


def prepare(machine: Machine) -> Machine:
    """Make the keys that are to take the place of a machine's, or return those made before."""
    begun = upcoming(machine.home)
    if begun is not None:
        return begun
    new = draft(machine.name, machine.person)
    folder = f"keys-{new.id}"
    with files.saying(f"cannot make keys in {machine.home}"):
        files.ensure_folder(machine.home / folder)
    _write_keys(machine.home / folder, new)
    files.write_json(
        machine.home / _NEXT, {"name": machine.name, "person": machine.person, "keys": folder}
    )
    made = upcoming(machine.home)
    assert made is not None
    return made


def switch(home: Path) -> Machine:
    """Let the keys that were prepared be the machine's from now on."""
    files.write_json(home / _CARD, files.read_json(home / _NEXT))
    (home / _NEXT).unlink()
    return need(home)


def rename(machine: Machine, name: str) -> None:
    """Note another name for this machine."""
    card = files.read_json(machine.home / _CARD)
    files.write_json(machine.home / _CARD, {**card, "name": name})


def _write_keys(folder: Path, machine: Machine) -> None:
    files.write(folder / _SIGNING, machine.pem)
    files.write(folder / _SEALING, machine.sealing.encode() + b"\n")
