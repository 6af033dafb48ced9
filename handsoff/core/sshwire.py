"""SSH's wire forms of an Ed25519 key and of a signature over a message (SSHSIG).

Sources: RFC 4251 section 5 (strings), RFC 8709 (Ed25519), and PROTOCOL.sshsig of OpenSSH.
Git signs commits in this form with namespace ``git``; ``ssh-keygen -Y verify`` reads it.

Trap: a verifier that takes the namespace from the signature accepts a signature that was
made for something else. Here the caller names the namespace, and it must be the same.
"""

import hashlib
from base64 import b64decode, b64encode
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from handsoff.errors import DamagedError

KEY_BYTES: Final = 32
_KIND: Final = b"ssh-ed25519"
_MAGIC: Final = b"SSHSIG"
_HEAD: Final = "-----BEGIN SSH SIGNATURE-----"
_FOOT: Final = "-----END SSH SIGNATURE-----"
_LINE: Final = 70
_LIMIT: Final = 4096


def string(data: bytes) -> bytes:
    """Return ``data`` as an SSH string: four bytes of length, then the bytes."""
    return len(data).to_bytes(4, "big") + data


def public_blob(public_key: bytes) -> bytes:
    """Return a raw Ed25519 public key in SSH's wire form."""
    return string(_KIND) + string(public_key)


def openssh_public(public_key: bytes) -> str:
    """Return a raw public key as OpenSSH writes it in a file: kind, blank, base64."""
    return f"{_KIND.decode()} {b64encode(public_blob(public_key)).decode('ascii')}"


def message_to_sign(message: bytes, namespace: str) -> bytes:
    """Return the bytes that an SSHSIG over ``message`` really signs (SHA-512)."""
    digest = hashlib.sha512(message).digest()
    return _MAGIC + b"".join(map(string, (namespace.encode(), b"", b"sha512", digest)))


def armor(public_key: bytes, namespace: str, signature: bytes) -> str:
    """Return an armored SSHSIG made of a raw key and a raw 64-byte signature."""
    blob = _MAGIC + (1).to_bytes(4, "big") + string(public_blob(public_key))
    blob += b"".join(map(string, (namespace.encode(), b"", b"sha512")))
    blob += string(string(_KIND) + string(signature))
    text = b64encode(blob).decode("ascii")
    lines = [text[i : i + _LINE] for i in range(0, len(text), _LINE)]
    return "\n".join([_HEAD, *lines, _FOOT])


def signer(armored: str, namespace: str, message: bytes) -> bytes | None:
    """Return the raw public key that signed ``message`` for ``namespace``.

    None when the signature is well formed but does not hold (wrong message, wrong namespace);
    DamagedError when it is not an SSHSIG by one Ed25519 key at all.
    """
    fields = _fields(_dearmor(armored))
    try:
        key_blob, space, reserved, hashed, signature_blob = fields
    except ValueError as error:
        raise DamagedError("not an SSH signature: wrong number of fields") from error
    key = _tagged(key_blob)
    signature = _tagged(signature_blob)
    if reserved or hashed != b"sha512":
        raise DamagedError("not an SSH signature that handsoff makes: sha512 is expected")
    if space != namespace.encode():
        return None
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(
            signature, message_to_sign(message, namespace)
        )
    except (InvalidSignature, ValueError):
        return None
    return key


def _dearmor(armored: str) -> bytes:
    lines = armored.strip("\n").split("\n")
    if len(armored) > _LIMIT or lines[0] != _HEAD or lines[-1] != _FOOT:
        raise DamagedError("not an SSH signature")
    try:
        blob = b64decode("".join(lines[1:-1]), validate=True)
    except ValueError as error:  # binascii.Error is one; characters beyond ASCII give another
        raise DamagedError("not an SSH signature: broken base64") from error
    head = _MAGIC + (1).to_bytes(4, "big")
    if not blob.startswith(head):
        raise DamagedError("not an SSH signature: wrong magic or version")
    return blob[len(head) :]


def _fields(blob: bytes) -> list[bytes]:
    found = []
    while blob:
        length = int.from_bytes(blob[:4], "big")
        if len(blob) < 4 + length:
            raise DamagedError("not an SSH signature: cut short")
        found.append(blob[4 : 4 + length])
        blob = blob[4 + length :]
    return found


def _tagged(blob: bytes) -> bytes:
    match _fields(blob):
        case [kind, value] if kind == _KIND:
            return value
        case _:
            raise DamagedError("not an Ed25519 key or signature")
