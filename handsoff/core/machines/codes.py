"""A code for pairing: a number and two words, such as ``7-orbit-lamp``; and words for people.

The number says which waiting machine is meant and may be known to all; the two words are the
secret, 16 bits of it. That is enough because a code can be guessed once (see pairing.py), and
it is short because a person carries it from one screen to another.

Reading is generous: case, blanks, and whatever stands between the parts do not matter.
"""

import difflib
import re
from dataclasses import dataclass
from typing import Final

from handsoff.core.machines.words import WORDS
from handsoff.errors import UsageError

LAST_NUMBER: Final = 99
WORD_COUNT: Final = 2
RANDOM_BYTES: Final = 2 + WORD_COUNT
"""Bytes that ``make_code`` needs."""

_HINT: Final = "a code is a number and two words, such as 7-orbit-lamp"
_TYPED_LIMIT: Final = 100
_BETWEEN: Final = re.compile(r"[^0-9A-Za-z]+|(?<=[0-9])(?=[A-Za-z])")
_BYTES: Final = {word: number for number, word in enumerate(WORDS)}


@dataclass(frozen=True, slots=True)
class Code:
    """A code, as it was made or read."""

    number: int
    words: tuple[str, ...]

    @property
    def spelled(self) -> str:
        """The code in its one spelling, which is what both ends prove."""
        return "-".join((str(self.number), *self.words))


def make_code(random: bytes) -> Code:
    """Return the code that random bytes spell."""
    assert len(random) == RANDOM_BYTES
    number = int.from_bytes(random[:2], "big") % LAST_NUMBER + 1
    return Code(number, spoken(random[2:]))


def parse_code(text: str) -> Code:
    """Return the code that was typed; UsageError says what is wrong with it, and the nearest."""
    parts = [part for part in _BETWEEN.split(text[:_TYPED_LIMIT].strip().lower()) if part]
    if len(parts) != 1 + WORD_COUNT or not parts[0].isdigit():
        raise UsageError(f"{text[:40]!r} is not a code", hint=_HINT)
    number, words = int(parts[0]), tuple(parts[1:])
    if not 0 < number <= LAST_NUMBER:
        raise UsageError(f"no code has the number {number}", hint=f"1 to {LAST_NUMBER}; {_HINT}")
    for word in words:
        if word not in _BYTES:
            raise UsageError(f"no code has the word {word!r}", hint=_nearest(word))
    return Code(number, words)


def spoken(data: bytes) -> tuple[str, ...]:
    """Return bytes as words, one for each."""
    return tuple(WORDS[byte] for byte in data)


def _nearest(word: str) -> str:
    near = difflib.get_close_matches(word, WORDS, n=2, cutoff=0.6)
    return f"is it {' or '.join(near)}?" if near else f"look again; {_HINT}"
