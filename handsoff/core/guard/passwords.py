"""Passwords and keys by the look of them: whether a value may be a secret where one would stand.

What refers to a secret (``$DB_PASSWORD``, ``os.environ[...]``), stands for one (``changeme``,
``<your-token>``) or is a word is none. Where such values stand, ``assignments.py`` knows.
"""

import math
import re
from typing import Final

KEY_LENGTH: Final = 16
PASSWORD_LENGTH: Final = 8
DIFFERENT: Final = 5
"""Different characters that a password has at least."""
ENTROPY: Final = 3.2
"""Bits a character that a generated key of 16 characters or more has at least."""
WORD: Final = 3
"""Letters that a word has on average; in random letters and digits a run has fewer than two."""

_DIGIT: Final = re.compile(rb"[0-9]")
_LETTER: Final = re.compile(rb"[A-Za-z]")
_KINDS: Final = (_DIGIT, re.compile(rb"[a-z]"), re.compile(rb"[A-Z]"))
_REFERENCE: Final = re.compile(
    rb"[$%@]?[({<\[]|\$\w|%\w+%$|%[sdr]$|://|/[a-z][a-z0-9_.-]*(?:/|$)|\./"
    rb"|(?:os|process|self|this|config|settings|env|request|args|vars?|local|data|secrets?)[.\[]"
    rb"|(?:module|Deno|import\.meta|ENV)[.\[]|(?:vault|op|ref|file|arn|env|ssm|https?|ssh):|\w+://"
)
_EXAMPLE: Final = re.compile(
    rb"(?i)example|placeholder|change.?(?:me|this|it)|replace.?(?:me|this|with)|your[-_ ]|dummy"
    rb"|redacted|insert|to.?do|sample|not.?(?:a.?)?(?:real|secret)|fake|mock|lorem|here$|[<>]|\.\."
    rb"|x{4}|\*{2}|0{8}|1234567|abcdefg|foo.?bar|^test|test$|(?:^|[-_])test[-_]"
    rb"|^(?:my)?[-_]?(?:pass(?:word|wd)?|secret|token|admin|root|user|guest|default|qwerty|letmein"
    rb"|postgres)[-_.!]?\d{0,4}!?$|^p[a@]ss(?:w[o0]rd)?\d{0,4}$"
)
_HEX: Final = re.compile(rb"(?:[0-9a-f]{32,128}|[0-9A-F]{32,128})")
_DIGEST: Final = re.compile(
    rb"(?:sha\d{1,3}[-:=])?(?:[0-9a-f-]+|[0-9A-F-]+)|sha\d{3}-[A-Za-z0-9+/=]+"
)
_PIECES: Final = re.compile(rb"[A-Z]?[a-z]+|[A-Z]|\d+")


def kinds(value: bytes) -> int:
    """Count which of digits, small and capital letters are in ``value``."""
    return sum(chars.search(value) is not None for chars in _KINDS)


def looks_random(value: bytes) -> bool:
    """Say whether ``value`` is long and mixed as only a generated secret is.

    Digests, object ids and UUIDs are random too, and public: what is all hexadecimal is not
    taken for a secret here, nor are words put together.
    """
    if len(value) < KEY_LENGTH or kinds(value) < len(_KINDS) - 1 or not _DIGIT.search(value):
        return False
    if _DIGEST.fullmatch(value) or _EXAMPLE.search(value) or is_wordy(value):
        return False
    return _entropy(value) >= ENTROPY


def stands_in(value: bytes) -> bool:
    """Say whether ``value`` refers to a secret, or stands where one would be put."""
    return bool(_REFERENCE.match(value) or _EXAMPLE.search(value))


def is_password(value: bytes) -> bool:
    """Say whether a person would use ``value`` as a password, and not to stand for one."""
    if not value.isascii() or len(set(value)) < DIFFERENT or stands_in(value):
        return False
    if not _LETTER.search(value) or value.isalpha():
        return False
    return len(value) >= PASSWORD_LENGTH or kinds(value) == len(_KINDS)


def is_mixed(value: bytes) -> bool:
    """Say whether ``value`` has digits, small letters and capitals, and is not made of words."""
    return kinds(value) == len(_KINDS) and not is_wordy(value)


def is_wordy(value: bytes) -> bool:
    """Say whether ``value`` is put together from words, as names in programs are."""
    # words put together change between letters and digits, small and capital, less often
    if value[:1].isdigit() or value.endswith(b"="):
        return False
    # a run of capitals is a word only where all letters are capitals
    pieces = _PIECES.findall(value.lower() if value.isupper() else value)
    return sum(map(len, pieces)) >= WORD * len(pieces)


def is_key(value: bytes) -> bool:
    """Say whether ``value`` looks like a key that a program made, in hexadecimal or not."""
    if _REFERENCE.match(value):
        return False
    return looks_random(value) or (
        _HEX.fullmatch(value) is not None and len(set(value)) > DIFFERENT
    )


def _entropy(value: bytes) -> float:
    counts = [value.count(c) for c in set(value)]
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
