"""Passwords and keys that have no shape of their own: known by the name before them.

``DB_PASSWORD=...``, ``"client_secret": "..."``, ``scheme://user:...@host``. The name says that a
value is secret, the value must then look like one: what refers to a secret (``$DB_PASSWORD``,
``os.environ[...]``), stands for one (``changeme``, ``<your-token>``) or is a word passes.
"""

import math
import re
from collections.abc import Iterator
from typing import Final

_REFERENCE: Final = re.compile(
    rb"[$%@]?[({<\[]|\$\w|%\w+%$|%[sdr]$|(?:os|process|self|this|config|settings|env|ENV|request|args|vars?|local"
    rb"|data|secrets?|module|Deno|import\.meta)[.\[]|(?:vault|op|ref|file|arn|env|ssm|https?|ssh):|\w+://|/\w|\./"
)
_EXAMPLE: Final = re.compile(
    rb"(?i)example|placeholder|change.?(?:me|this|it)|replace.?(?:me|this|with)|your[-_ ]|dummy|redacted|insert"
    rb"|to.?do|sample|not.?(?:a.?)?(?:real|secret)|fake|mock|lorem|here$|[<>]|\.\.|x{4}|\*{2}|0{8}"
    rb"|1234567|abcdefg|foo.?bar|^test|test$|(?:^|[-_])test[-_]|^(?:my)?[-_]?(?:pass(?:word|wd)?|secret|token"
    rb"|admin|root|user|guest|default|qwerty|letmein|postgres)[-_.!]?\d{0,4}!?$|^p[a@]ss(?:w[o0]rd)?\d{0,4}$"
)
_HEX: Final = re.compile(rb"(?:[0-9a-f]{32,128}|[0-9A-F]{32,128})")
_DIGEST: Final = re.compile(
    rb"(?:sha\d{1,3}[-:=])?(?:[0-9a-f-]+|[0-9A-F-]+)|sha\d{3}-[A-Za-z0-9+/=]+"
)
_PIECES: Final = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|\d+")

_URL: Final = re.compile(rb"://([^\s:/@\"'<>?#\\`|,]{0,128}):([^\s/@\"'<>\\`]{3,256})@[\w\[.%{$-]")

_PASSWORDS: Final = (
    b"passw",
    b"pwd",
    b"passphrase",
    b"_pass",
    b"_pw",
    "密码".encode(),
    "口令".encode(),
)
_KEYS: Final = (
    b"secret", b"token", b"api_key", b"apikey", b"api-key", b"access_key", b"accesskey", b"access-key",
    b"private_key", b"credential", b"auth_key", b"encryption_key", b"signing_key", b"account_key",
    "密钥".encode(), "令牌".encode(),
)  # fmt: skip
_NOT_SECRET: Final = re.compile(
    rb"(?i)[\w.-]*(?:name|file|path|url|uri|type|field|label|len|length|count|hash|sha\d*|digest|checksum|regexp?"
    rb"|pattern|policy|env|var|ref|arn|expiry|expires\w*|ttl|timeout|limit|hint|prompt|error|message|msg|title"
    rb"|izer\w*|ized?|size|index|node|kind|class|column|header|param|version|endpoint|prefix|suffix|reset|required"
    rb"|enabled|_ids?|-ids?|Id)$"
)
_ASSIGNED: Final = re.compile(
    rb"(?P<tail>[\w.-]{0,64})[\"'`\\\]]{0,6}\s{0,4}(?P<sep>:=|=>|=|:|\xef\xbc\x9a)[ \t]{0,8}"
    rb"(?:[bruf]{0,2}\\{0,3}(?P<q>[\"'`])(?P<quoted>[^\"'`\s\\]{6,256})\\{0,3}(?P=q)"
    rb"|(?P<bare>[^\s\"'`,;<>(){}\[\]\\]{6,256})(?=(?P<end>[ \t]*(?:[\r\n\0]|#|//|$))?))"
)
_NAME: Final = re.compile(rb"[\w.-]{0,48}$")
_NETRC: Final = re.compile(rb"machine\s+\S{1,128}\s+login\s+\S{1,128}\s+password\s+(\S{3,256})")

GATES: Final = (
    "(?i:" + "|".join(word.decode() for word in _PASSWORDS + _KEYS) + ")"
    r"""[\w.-]{0,64}["'`\\\]]{0,6}\s{0,4}(?::=|=>|=|:|：)[ \t]{0,8}"""
    r"""(?:[bruf]{0,2}\\{0,3}["'`][^\s"'`\\]{6}|[^\s"'`,;<>(){}\[\]\\$][^\s"'`,;<>(){}\[\]\\]{5})""",
    r"""://[^\s:/@"'<>?#\\`|,]{0,128}:[^\s/@"'<>\\`]{3,256}@""",
    r"machine\s+\S{1,128}\s+login\s+\S{1,128}\s+password",
)  # fmt: skip
"""``assigned`` and ``in_urls`` made coarse (see ``patterns.GATES``)."""

Place = tuple[bytes, int]


def kinds(value: bytes) -> int:
    """Count which of digits, small and capital letters are in ``value``."""
    return sum(any(low <= c <= high for c in value) for low, high in (b"09", b"az", b"AZ"))


def entropy(value: bytes) -> float:
    """Return the Shannon entropy of ``value`` in bits a byte."""
    counts = [value.count(c) for c in set(value)]
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


def looks_random(value: bytes) -> bool:
    """Say whether ``value`` is long and mixed as only a generated secret is.

    Digests, object ids and UUIDs are random too, and public: what is all hexadecimal is not
    taken for a secret here, nor are words put together.
    """
    if len(value) < 16 or kinds(value) < 2 or not any(48 <= c <= 57 for c in value):
        return False
    if _DIGEST.fullmatch(value) or _EXAMPLE.search(value) or _is_wordy(value):
        return False
    return entropy(value) >= 3.2


def is_password(value: bytes) -> bool:
    """Say whether a person would use ``value`` as a password, and not to stand for one."""
    if not 6 <= len(value) <= 256 or len(set(value)) < 5 or not value.isascii():
        return False
    if _REFERENCE.match(value) or _EXAMPLE.search(value):
        return False
    letters = any(65 <= c <= 90 or 97 <= c <= 122 for c in value)
    return letters and not value.isalpha() and (len(value) >= 8 or kinds(value) == 3)


def in_urls(data: bytes) -> Iterator[Place]:
    """Yield the passwords in URLs, where they are not the user's name or an example."""
    for at in _places(data, b"://"):
        match = _URL.match(data, at)
        if match and data[at - 1 : at].isalnum() and match[2] != match[1]:
            password = match[2]
            if not (_REFERENCE.match(password) or _EXAMPLE.search(password)):
                yield password, match.start(2)


def assigned(data: bytes) -> Iterator[Place]:
    """Yield values that stand after a name such as ``password`` or ``api_key``."""
    lowered = data.lower()
    for words, strong in ((_PASSWORDS, True), (_KEYS, False)):
        for word in words:
            for at in _places(lowered, word):
                match = _ASSIGNED.match(data, at + len(word))
                if match and _is_secret(data, at, match, password=strong):
                    group = "bare" if match["quoted"] is None else "quoted"
                    yield match[group], match.start(group)
    for at in _places(lowered, b"machine"):
        match = _NETRC.match(data, at)
        if match and is_password(match[1]):
            yield match[1], match.start(1)


def _is_secret(data: bytes, at: int, match: re.Match[bytes], *, password: bool) -> bool:
    if _NOT_SECRET.match(match["tail"]):
        return False
    before = _NAME.search(data, max(0, at - 48), at)
    name = (before[0] if before else b"") + data[at : match.end("tail")]
    environment = name.isupper() and match["sep"] == b"="
    value = match["quoted"]
    if value is not None:
        return ((password or environment) and is_password(value)) or _is_key(value)
    value = match["bare"]
    if environment:
        return is_password(value)
    if match["end"] is None:
        return False
    # without quotes it may be code: a name, an attribute, a type
    return _is_key(value) or (
        password and is_password(value) and not _is_wordy(value) and b"." not in value
    )


def _is_wordy(value: bytes) -> bool:
    # words put together change between letters and digits, small and capital, less often
    pieces = _PIECES.findall(value)
    return sum(map(len, pieces)) >= 3 * len(pieces)


def _is_key(value: bytes) -> bool:
    if _REFERENCE.match(value):
        return False
    return looks_random(value) or (_HEX.fullmatch(value) is not None and len(set(value)) > 6)


def _places(data: bytes, literal: bytes) -> Iterator[int]:
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + len(literal))
