"""The certificate of ``git push --signed``: which refs somebody signed to move, and with what key.

    certificate version 0.1
    pusher <key> <time> <zone>
    pushee <url>
    nonce <given by the server for this one connection>
    <push options>

    <old> <new> <ref>      one line for each update
    <SSHSIG over all of the above, namespace git>

Trap: a certificate that was seen once is a good signature for ever. What makes it good for one
push is the nonce, which only the server can judge: it says so as a status, which has to be OK.

Source: git-receive-pack(1), gitprotocol-pack(5).
"""

from dataclasses import dataclass
from typing import Final

from handsoff.core.chain import NAMESPACE
from handsoff.core.sshwire import signer
from handsoff.errors import DamagedError

LIMIT: Final = 1 << 20
"""Bytes that a certificate may have."""

_HEAD: Final = "certificate version 0.1\n"
_SIGNATURE: Final = "-----BEGIN SSH SIGNATURE-----\n"
_FRESH: Final = "OK"
_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was signed: updates as (ref, old, new), ids as git writes them, and by which key."""

    key: bytes
    updates: frozenset[tuple[str, str, str]]


def read_certificate(data: bytes, *, nonce: str, status: str) -> Certificate:
    """Return what a certificate says; DamagedError unless it was made for this very push.

    ``nonce`` and ``status`` are what the server gave out, and what it says of that in ``data``.
    """
    if status != _FRESH or not nonce:
        raise DamagedError(f"its nonce is {status or 'missing'}: it was not made for this push")
    if len(data) > LIMIT:
        raise DamagedError(f"{len(data)} bytes, over the limit of {LIMIT}")
    text = data.decode("utf-8", "surrogateescape")
    signed, mark, rest = text.partition(_SIGNATURE)
    head, _, body = signed.partition("\n\n")
    if not mark or not signed.startswith(_HEAD):
        raise DamagedError("not a certificate with a signature by an SSH key")
    if [line for line in head.split("\n") if line.startswith("nonce ")] != [f"nonce {nonce}"]:
        raise DamagedError("it has another nonce than the one given out")
    key = signer(mark + rest, NAMESPACE, signed.encode("utf-8", "surrogateescape"))
    if key is None:
        raise DamagedError("its signature does not hold")
    lines = [line.split(" ", 2) for line in body.split("\n") if line]
    if any(len(words) != _WORDS for words in lines):
        raise DamagedError("a line that is no update of a ref")
    return Certificate(key, frozenset((ref, old, new) for old, new, ref in lines))
