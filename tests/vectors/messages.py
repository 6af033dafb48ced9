"""One of every message, whole as it crosses the wire. Run it to write messages.txt anew."""

from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from handsoff.core import ids, sshwire
from handsoff.core.talk import frames, messages
from handsoff.core.talk.messages import (
    Accept,
    Ask,
    Bye,
    Got,
    Have,
    Hello,
    Message,
    Offer,
    Receipt,
    Refuse,
    Told,
    Want,
)

FILE: Final = Path(__file__).with_suffix(".txt")
KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PARCEL: Final = "0123456789abcdef" * 2


def receipt() -> Receipt:
    public = KEY.public_key().public_bytes_raw()
    by, manifest, at = ids.machine_id(public), "ab" * 32, 1_767_225_600
    payload = messages.receipt_payload(parcel=PARCEL, manifest=manifest, by=by, at=at)
    space = messages.RECEIPT_NAMESPACE
    signature = KEY.sign(sshwire.message_to_sign(payload, space))
    return Receipt(PARCEL, manifest, by, at, sshwire.armor(public, space, signature))


def every_message() -> list[Message]:
    return [
        Hello(versions=(1, 2), machine="m1", software="handsoff 0.1.0"),
        Ask(repository="1" * 40, work="feat/舍入", roster="2" * 40, record="3" * 40),
        Ask(repository="1" * 40, work="caf\udce9"),
        Have(commits=("4" * 40, "5" * 40), clone=True, roster="2" * 40, record=""),
        Have(commits=(), clone=False),
        Refuse(code="unfit", message="feat/x has changes", hint="commit or stash them"),
        Offer(parcel=PARCEL, size=4_294_967_296, sha256="cd" * 32),
        Accept(offset=1_048_576),
        receipt(),
        Told(record="6" * 40),
        Bye(),
        Want(
            repository="1" * 40, work="feat/舍入", parcel=PARCEL, roster="2" * 40, record="3" * 40
        ),
        Want(repository="1" * 40, work="w"),
        Got(offset=262_144),
    ]


def text() -> str:
    """Each message as two lines: the frame's length in hex, and its body, which is ASCII."""
    lines = []
    for message in every_message():
        frame = frames.encode(messages.encode(message))
        lines += [frame[:4].hex(), frame[4:].decode("ascii")]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="ascii")
