"""Entries that nobody honest writes: each kind made by hand, and the words that refuse it.

A kind is made of a ``Cast``, a record and those who write: in memory with the keys of
``signing``, or with the keys and the remote of real machines. ``KINDS`` has them by name.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeAlias

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from handsoff.core.objects import (
    Commit,
    TreeEntry,
    encode_commit,
    encode_tree,
    oid_of,
    parse_commit,
)
from handsoff.core.sshwire import message_to_sign, string
from handsoff.core.works.entry import time_of
from handsoff.core.works.lease import Caught, Event, Offered, Recipient, Saved
from handsoff.core.works.record import Record
from tests.kit.signing import START, Signs, forged

PAGE, ENVELOPE, OTHER = "a" * 40, "b" * 40, "c" * 40
MINUTE = timedelta(minutes=1)
_HEAD, _FOOT = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order of Ed25519's group (RFC 8032): a scalar and the scalar plus this are one point."""

Raw: TypeAlias = tuple[str, bytes]


@dataclass(frozen=True)
class Cast:
    """A record that ``carrier`` holds, another member, and a stranger."""

    record: Record
    carrier: Signs
    other: Signs
    stranger: Signs
    page: str = PAGE

    def event(self, kind: type[Event] = Saved, by: Signs | None = None, **more: Any) -> Any:
        """Return an event that fits the record, unless ``more`` says otherwise."""
        lease = self.record.lease
        if kind is Saved:
            more = {"page": self.page, "envelope": OTHER, **more}
        here: dict[str, Any] = {
            "by": (by or self.carrier).id, "at": time_of(self.record.at or self.record.roster.at),
            "leg": lease.leg, "revision": lease.revision,
        }  # fmt: skip
        return kind(**{**here, **more})

    def entry(self, event: Any = None, by: Signs | None = None, **fields: Any) -> Raw:
        """Return an entry that is signed as it stands; ``fields`` replace those of its body."""
        return forged(self.record, event or self.event(), by or self.carrier, **fields)

    def sound(self) -> Commit:
        """Return the save that the carrier might well make."""
        return parse_commit(self.entry()[1])


Kind: TypeAlias = Callable[[Cast], Raw]


def named(data: bytes) -> Raw:
    """Return a commit with its id."""
    return oid_of("commit", data), data


def signed(commit: Commit, by: Signs, namespace: str = "git") -> Raw:
    """Return a commit as it stands, with one signature that holds."""
    bare = replace(commit, signatures=())
    armored = by.sign(encode_commit(bare), namespace)
    return named(encode_commit(replace(bare, signatures=(armored,))))


def bent(**changes: Any) -> Kind:
    """Return the kind that is a sound save with some of its parts changed, and signed so."""
    return lambda cast: signed(replace(cast.sound(), **changes), cast.carrier)


def rewritten(change: Callable[[str], str]) -> Kind:
    """Return the kind that is a sound save with another message, and signed so."""

    def make(cast: Cast) -> Raw:
        sound = cast.sound()
        return signed(replace(sound, message=change(sound.message)), cast.carrier)

    return make


def line(change: Callable[[str], str]) -> Kind:
    """Return the kind that is a sound save with another line of JSON, and signed so."""

    def make(message: str) -> str:
        subject, blank, body, _ = message.split("\n")
        return "\n".join([subject, blank, change(body), ""])

    return rewritten(make)


def identity(change: Callable[[str], str], *, committer: bool = True) -> Kind:
    """Return the kind that has another author, and another committer too if wanted."""

    def make(cast: Cast) -> Raw:
        sound = cast.sound()
        who = change(sound.author)
        other = who if committer else sound.committer
        return signed(replace(sound, author=who, committer=other), cast.carrier)

    return make


def touched(change: Callable[[bytes], bytes]) -> Kind:
    """Return the kind that is a sound save, changed after it was signed."""
    return lambda cast: named(change(cast.entry()[1]))


def fields(**changes: Any) -> Kind:
    """Return the kind that is a save with other fields."""
    return lambda cast: cast.entry(**changes)


def happened(kind: type[Event], **more: Any) -> Kind:
    """Return the kind in which the carrier says that ``kind`` happened."""
    return lambda cast: cast.entry(cast.event(kind, **more))


def by_other(kind: type[Event], **more: Any) -> Kind:
    """Return the kind in which a member that carries nothing says that ``kind`` happened."""
    return lambda cast: cast.entry(cast.event(kind, by=cast.other, **more), cast.other)


def dated(seconds: int) -> Kind:
    """Return a save that says it was made so much later than what it follows."""
    apart = timedelta(seconds=seconds)
    return lambda cast: cast.entry(cast.event(at=time_of(cast.record.at) + apart))


def with_signature(change: Callable[[bytes, bytes], bytes]) -> Kind:
    """Return the kind whose SSHSIG, as bytes, is made from the sound one and what is signed."""

    def make(cast: Cast) -> Raw:
        sound = cast.sound()
        blob = b64decode("".join(sound.signatures[0].split("\n")[1:-1]))
        blob = change(blob, encode_commit(sound, signed=False))
        return named(encode_commit(replace(sound, signatures=(armored(blob),))))

    return make


def armored(blob: bytes, width: int = 70) -> str:
    """Return an SSHSIG as git has it in a header, in lines of any width."""
    text = b64encode(blob).decode("ascii")
    return "\n".join([_HEAD, *(text[i : i + width] for i in range(0, len(text), width)), _FOOT])


def other_curve(_: bytes, message: bytes) -> bytes:
    """Return an SSHSIG by an ECDSA key, as ``ssh-keygen -t ecdsa`` makes them."""
    secret = ec.derive_private_key(7, ec.SECP256R1())
    point = secret.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    kind = b"ecdsa-sha2-nistp256"
    raw = secret.sign(message_to_sign(message, "git"), ec.ECDSA(hashes.SHA256()))
    key = b"".join(map(string, (kind, b"nistp256", point)))
    parts = (key, b"git", b"", b"sha512", string(kind) + string(raw))
    return b"SSHSIG" + (1).to_bytes(4, "big") + b"".join(map(string, parts))


def same_point(blob: bytes, _: bytes) -> bytes:
    """Return the signature with its scalar spelled otherwise: one more way to say the same."""
    scalar = int.from_bytes(blob[-32:], "little") + _ORDER
    return blob[:-32] + scalar.to_bytes(32, "little")


def unsigned(cast: Cast) -> Raw:
    """Return a save without a signature."""
    return named(encode_commit(replace(cast.sound(), signatures=())))


def signed_twice(cast: Cast) -> Raw:
    """Return a save with two signatures, both of which hold."""
    sound = cast.sound()
    return named(encode_commit(replace(sound, signatures=sound.signatures * 2)))


def borrowed(cast: Cast) -> Raw:
    """Return a save under the signature of another one, which the same machine made."""
    other = parse_commit(cast.entry(cast.event(envelope=""))[1])
    return named(encode_commit(replace(cast.sound(), signatures=other.signatures)))


def refolded(cast: Cast) -> Raw:
    """Return a save with its own signature in one long line."""
    sound = cast.sound()
    blob = b64decode("".join(sound.signatures[0].split("\n")[1:-1]))
    return named(encode_commit(replace(sound, signatures=(armored(blob, 4096),))))


def moved_header(cast: Cast) -> Raw:
    """Return a save whose signature, which holds, stands before its author."""
    head, rest = cast.entry()[1].split(b"\nauthor ", 1)
    author, signature = rest.split(b"\ngpgsig ", 1)
    armor, message = signature.split(b"\n\n", 1)
    return named(head + b"\ngpgsig " + armor + b"\nauthor " + author + b"\n\n" + message)


def tree_of(*entries: tuple[bytes, int]) -> str:
    return oid_of("tree", encode_tree([TreeEntry(name, mode, PAGE) for name, mode in entries]))


def tree(*entries: tuple[bytes, int]) -> Kind:
    """Return the kind of a save whose tree has these names and modes, all of the page."""
    return fields(tree=tree_of(*entries))


def swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old, new, 1)


def swapped(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


def subject(more: str) -> Kind:
    return rewritten(swapped("forged", f"forged{more}"))


def bare_armor(what: str) -> Kind:
    return touched(lambda data: data.replace(b"SSH SIGNATURE", f"{what} SIGNATURE".encode()))


OFFER: dict[str, Any] = {"to": Recipient(), "deadline": START + MINUTE, "envelope": ENVELOPE}


def offered(**more: Any) -> Kind:
    return happened(Offered, **{**OFFER, **more})


def caught(cast: Cast, by: Signs | None = None) -> Any:
    return cast.event(Caught, by=by or cast.other, found=cast.record.lease.found())
