"""Pairing: what two machines that share a short code say to each other, without I/O.

    types                     shows
      Hi(pake)     -------->           in the clear, and all that is
                   <--------  Hi(pake)      from here on the code is used up
      Claims       -------->           sealed from here on, each message with a proof
                   <--------  Claims   now both have the code confirmed, and the same words
      gate                      guest  which is which: joining.gate_of
      Trust        -------->           a person agreed, the roster is there
                   <--------  Ready    its keys are on disk, its remote shows that roster
      Let          -------->           it is in
                   <--------  Bye

A message is a frame of at most LIMIT bytes. Keys are drawn with HKDF (RFC 5869) from the key that
the PAKE gave, with the transcript of both hellos as salt; one pair for each direction. A sealed
message is an HMAC over the transcript so far and the box, then the box: ChaCha20-Poly1305 (RFC
8439) of the JSON, with the number of the turn as nonce. The transcript has the side and the digest
of each message, so a proof says: I know the code, I am that side, and we both heard the same.

Traps: the HMAC is checked first, since it commits to one key and the box does not. A code may be
guessed once, so whoever sits in between must have been lucky; the words are made slowly (scrypt)
from the keys and both claims, so that even then nobody finds in time claims that spell the same.
"""

import hashlib
import hmac
from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from handsoff.core import canon
from handsoff.core.machines.codes import spoken
from handsoff.core.machines.joining import Claims, Side, gate_of
from handsoff.core.machines.pairtalk import Bye, Hi, Let, Message, No, Ready, Trust, read, spell
from handsoff.errors import DamagedError, HandsoffError, TrustError

LIMIT: Final = 64 << 10
"""Bytes of one message."""

WORD_COUNT: Final = 4
_MAC_BYTES: Final = 32
_START: Final = b"handsoff-pair 1"


class Role(Enum):
    """Who speaks once it is known who lets whom in."""

    GATE = "gate"
    GUEST = "guest"


EXPECTED: Final[tuple[tuple[Side | Role, type[Message]], ...]] = (
    (Side.TYPES, Hi),
    (Side.SHOWS, Hi),
    (Side.TYPES, Claims),
    (Side.SHOWS, Claims),
    (Role.GATE, Trust),
    (Role.GUEST, Ready),
    (Role.GATE, Let),
    (Role.GUEST, Bye),
)
_SEALED: Final = 2
"""The turn from which on messages are sealed."""

_CLAIMED: Final = 4


class Pairing:
    """Where one pairing has got to, seen from one side."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.gate: Side | None = None
        self._turn = 0
        self._transcript = hashlib.sha256(_START).digest()
        self._keys: Mapping[str, bytes] = {}
        self._claims: dict[Side, Claims] = {}
        self._claimed = b""

    def agree(self, key: bytes) -> None:
        """Take the key that the PAKE gave, once both have said hi."""
        assert self._turn == _SEALED, "the key comes after both hellos"
        labels = [f"{side.value} {use}" for side in Side for use in ("proves", "seals")]
        self._keys = {label: self._draw(key, label) for label in (*labels, "words")}

    def judge(self) -> Side | None:
        """Return which side lets the other in, None if both are in; raise if neither can."""
        assert self._turn == _CLAIMED, "both have to make their claims first"
        self.gate = gate_of(self._claims[Side.TYPES], self._claims[Side.SHOWS])
        return self.gate

    @property
    def theirs(self) -> Claims:
        """What the other end claims."""
        return self._claims[self.side.other]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Words that are the same on both screens, or somebody sits in between."""
        assert self._turn >= _CLAIMED, "the words are over both claims"
        key = self._keys["words"]
        return spoken(
            hashlib.scrypt(key, salt=self._claimed, n=1 << 14, r=8, p=1, dklen=WORD_COUNT)
        )

    @property
    def may_refuse(self) -> bool:
        """Whether we may say No now."""
        unjudged = self._turn == _CLAIMED and self.gate is None
        return not unjudged and self._due(self.side, No("", "", ""))

    def send(self, message: Message) -> bytes:
        """Return the bytes of ``message``, which must be due."""
        assert self._due(self.side, message), f"{message} is not due"
        body = canon.encode(spell(message))
        if self._turn >= _SEALED:
            body = self._seal(body)
        assert len(body) <= LIMIT, "what we say ourselves fits"
        self._advance(self.side, message, body)
        return body

    def receive(self, body: bytes) -> Message:
        """Return the message in ``body``; raise DamagedError unless it is due and proved."""
        if len(body) > LIMIT:
            raise DamagedError(f"a message of {len(body)} bytes is over the limit of {LIMIT}")
        opened = self._open(body) if self._turn >= _SEALED else body
        message = read(canon.decode(opened, limit=LIMIT))
        if not self._due(self.side.other, message):
            raise DamagedError(f"out of turn: {type(message).__name__}")
        self._advance(self.side.other, message, body)
        return message

    def _due(self, side: Side, message: Message) -> bool:
        if self._turn == len(EXPECTED):
            return False
        who, kind = EXPECTED[self._turn]
        if who is Role.GATE or who is Role.GUEST:
            gate = self.gate
            assert gate is not None, "who lets whom in was judged"
            who = gate if who is Role.GATE else gate.other
        fits = type(message) is kind or (isinstance(message, No) and self._turn >= _SEALED)
        return who is side and fits

    def _advance(self, side: Side, message: Message, body: bytes) -> None:
        name = side.value.encode("ascii")
        digest = hashlib.sha256(body).digest()
        self._transcript = hashlib.sha256(self._transcript + name + digest).digest()
        self._turn = len(EXPECTED) if isinstance(message, No) else self._turn + 1
        if isinstance(message, Claims):
            self._claims[side] = message
        if self._turn == _CLAIMED:
            self._claimed = self._transcript

    def _draw(self, key: bytes, label: str) -> bytes:
        salt, info = self._transcript, b"handsoff-pair " + label.encode("ascii")
        return HKDF(SHA256(), length=32, salt=salt, info=info).derive(key)

    def _seal(self, body: bytes) -> bytes:
        box = ChaCha20Poly1305(self._key(self.side, "seals")).encrypt(
            self._nonce(), body, self._transcript
        )
        return self._proof(self.side, box) + box

    def _open(self, body: bytes) -> bytes:
        proof, box = body[:_MAC_BYTES], body[_MAC_BYTES:]
        if not hmac.compare_digest(proof, self._proof(self.side.other, box)):
            raise _unproved(self._turn)
        try:
            return ChaCha20Poly1305(self._key(self.side.other, "seals")).decrypt(
                self._nonce(), box, self._transcript
            )
        except InvalidTag as error:
            raise _unproved(self._turn) from error

    def _proof(self, side: Side, box: bytes) -> bytes:
        return hmac.digest(self._key(side, "proves"), self._transcript + box, "sha256")

    def _key(self, side: Side, use: str) -> bytes:
        return self._keys[f"{side.value} {use}"]

    def _nonce(self) -> bytes:
        return self._turn.to_bytes(12, "big")


def _unproved(turn: int) -> HandsoffError:
    if turn < _CLAIMED:
        return TrustError(
            "the other end does not know the code", hint="handsoff pair again, on both machines"
        )
    return DamagedError("a message was changed on its way", hint="handsoff pair again, on both")
