"""Secrets without a shape of their own: known by the name before them.

``DB_PASSWORD=...``, ``"client_secret": "..."``, ``scheme://user:...@host``. The name says that a
value is secret; the value must then look like one (``passwords.py``).
"""

import re
from collections.abc import Iterator
from typing import Final

from handsoff.core.guard.passwords import is_key, is_mixed, is_password, is_wordy, stands_in

_URL: Final = re.compile(
    rb"://([^\s:/@\"'<>?#\\`|,]{0,128}):([^\s/@\"'<>\\`]{4,256})@"
    rb"(?!example\.(?:com|org|net)\b)[\w\[.%{$-]"
)

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
    *(b"secret", b"token", b"credential", b"api_key", b"apikey", b"api-key", b"access_key"),
    *(b"accesskey", b"access-key", b"private_key", b"auth_key", b"encryption_key"),
    *(b"signing_key", b"account_key", "密钥".encode(), "令牌".encode()),
)
_NOT_SECRET: Final = re.compile(
    rb"(?i)[\w.-]*(?:name|file|path|url|uri|type|field|label|len|length|count|hash|sha\d*|digest"
    rb"|checksum|regexp?|pattern|policy|env|var|ref|arn|expiry|expires\w*|ttl|timeout|limit|hint"
    rb"|prompt|error|message|msg|title|izer\w*|ized?|size|index|node|kind|class|column|header|param"
    rb"|version|endpoint|prefix|suffix|reset|required|enabled|[_-]ids?)$"
)
_LINK: Final = (
    # "password": , password = , password is , 密码是 , <password> , key="password" value=
    # and of property lists <key>password</key><string>
    r"""["'`\\\]]{0,6}\s{0,4}"""
    r"(?:</key>\s{0,40}<string>|"
    ":=|=>|=|:|\uff1a|[ \\t](?:is|was)[ \\t]|是|>|[ \\t]value[ \\t]?=)[ \\t]{0,8}"
)
_QUOTED: Final = (
    # define('DB_PASSWORD', '...') , setPassword("...") , env.DB_PASSWORD || "..." ,
    r"""(?:["'`]\s{0,4},|\(|[ \t]{0,4}(?:\|\||\?\?)"""
    # and with its type, password: str = "..."
    r"""|\??:[ \t]?&?[A-Za-z][\w<>.|? ]{0,30}[ \t]=)[ \t]{0,8}"""
)
"""What stands between name and value only where the value has quotes."""
_QUOTE: Final = r"""[bruf@]{0,2}\\{0,3}["'`]"""
_ASSIGNED: Final = re.compile(
    rb"(?P<tail>[\w.-]{0,64})(?P<link>"
    rb"(?:" + _QUOTED.encode() + rb")(?=" + _QUOTE.encode() + rb")|" + _LINK.encode() + rb")"
    rb"(?:[bruf@]{0,2}\\{0,3}(?P<q>[\"'`])(?P<quoted>[^\"'`\s\\]{6,1024})\\{0,3}(?P=q)"
    rb"|(?P<bare>[^\s\0\"'`,;<>(){}\[\]\\]{6,1024})"
    rb"(?=(?P<end>[ \t]*(?:[\r\n\0]|#|//|$)|[ \t;&<]|(?=.))))",
)
_ELEMENT: Final = re.compile(rb"(?<!=)>[ \t]*$")
_SPACED: Final = re.compile(
    rb"[\w-]{0,32}[ \t]{1,4}(?P<q>[\"']?)(?P<value>[^\s\"'`\\]{8,256})(?P=q)(?=[\s;,)]|$)"
)
"""After ``--password`` of a command line, and after ``PASSWORD`` of a Dockerfile, fish or SQL."""
_NAME: Final = re.compile(rb"[\w.-]{0,48}$")
_WORDS: Final = (*_PASSWORDS[:3], b"_pass", b"token", b"secret", b"api-key", b"api_key")
_KEPT: Final = re.compile(rb"_KEY=[\"']?([^\s\"'`,;<>(){}\[\]\\]{16,512})")
"""A line of an environment: what is called a key there is one, unless its name says otherwise."""
_PUBLIC: Final = re.compile(rb"PUB|CACHE|SEARCH|SORT|PRIMARY|FOREIGN|PARTITION|HOST|MAP|SITE|[a-z]")
_NETRC: Final = re.compile(rb"machine\s+\S{1,128}\s+login\s+\S{1,128}\s+password\s+(\S{3,256})")

_ANY: Final = "|".join(word.decode() for word in _WORDS)

GATES: Final = (
    "(?i:" + "|".join(word.decode() for word in _PASSWORDS + _KEYS) + rf")[\w.-]{{0,64}}{_LINK}"
    r"""(?:[bruf@]{0,2}\\{0,3}["'`][^\s"'`\\]{6}|[^\s"'`,;<>(){}\[\]\\$][^\s"'`,;<>(){}\[\]\\]{5})""",
    "(?i:" + "|".join(word.decode() for word in _PASSWORDS + _KEYS) + rf")[\w.-]{{0,64}}{_QUOTED}"
    rf"""{_QUOTE}[^\s"'`\\]{{6}}""",
    r"""://[^\s:/@"'<>?#\\`|,]{0,128}:[^\s/@"'<>\\`]{4,256}@""",
    r"machine\s+\S{1,128}\s+login\s+\S{1,128}\s+password",
    rf"--[\w-]{{0,40}}(?i:{_ANY})[\w-]{{0,32}}[ \t]{{1,4}}[\"']?[^\s\"'`\\-]",
    rf"(?:{_ANY.upper()})[A-Z0-9_-]{{0,32}}[ \t]{{1,4}}[\"']?[^\s\"'`\\-][^\s\"'`\\]{{7}}",
    r"_KEY=[\"']?[^\s\"'`,;<>(){}\[\]\\]{16}",
)  # fmt: skip
"""``assigned`` and ``in_urls`` made coarse (see ``patterns.GATES``)."""

Place = tuple[bytes, int]


def in_urls(data: bytes) -> Iterator[Place]:
    """Yield the passwords in URLs, where they are not the user's name or an example."""
    for at in _places(data, b"://"):
        match = _URL.match(data, at)
        if not match or not data[at - 1 : at].isalnum():
            continue
        if match[2] != match[1] and not stands_in(match[2]):
            yield match[2], match.start(2)


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
    yield from _spaced(data, lowered)
    yield from _kept(data)
    for at in _places(lowered, b"machine"):
        match = _NETRC.match(data, at)
        if match and is_password(match[1]):
            yield match[1], match.start(1)


def _spaced(data: bytes, lowered: bytes) -> Iterator[Place]:
    for word in _WORDS:
        for at in _places(lowered, word):
            match = _SPACED.match(data, at + len(word))
            if match and _is_spaced_secret(data, at, match):
                yield match["value"], match.start("value")


def _kept(data: bytes) -> Iterator[Place]:
    for at in _places(data, b"_KEY="):
        match = _KEPT.match(data, at)
        before = _NAME.search(data, max(0, at - 48), at)
        if match and before and is_key(match[1]) and not _PUBLIC.search(before[0]):
            yield match[1], match.start(1)


def _is_secret(data: bytes, at: int, match: re.Match[bytes], *, password: bool) -> bool:
    if _NOT_SECRET.match(match["tail"]):
        return False
    before = _NAME.search(data, max(0, at - 48), at)
    name = (before[0] if before else b"") + data[at : match.end("tail")]
    environment = name.isupper() and match["link"].strip(b" \t") == b"="
    quoted, bare = match["quoted"], match["bare"]
    # two words of a list most often, a call that is given a name, or what stands in for a password
    if match["link"].rstrip(b" \t").endswith((b",", b"(", b"|", b"?")):
        mixed = quoted is not None and is_mixed(quoted)
        return mixed and ((password and is_password(quoted)) or is_key(quoted))
    if quoted is not None:
        return ((password or environment) and is_password(quoted)) or is_key(quoted)
    # a shell takes no blank beside its "=", a program written in capitals has them
    tight = match["link"] == b"="
    if environment and tight:
        return is_password(bare)
    if not _ends(match, tight=tight):
        return False
    # without quotes it may be code: a name, an attribute, a type
    chosen = password and is_password(bare) and not is_wordy(bare) and b"." not in bare
    return chosen or is_key(bare)


def _is_spaced_secret(data: bytes, at: int, match: re.Match[bytes]) -> bool:
    before = _NAME.search(data, max(0, at - 48), at)
    name = (before[0] if before else b"") + data[at : match.start("q")].rstrip()
    value = match["value"]
    if not (name.startswith(b"--") or name.isupper()) or value.startswith((b"-", b"/", b"0x")):
        return False
    return is_mixed(value) and is_password(value)


def _ends(match: re.Match[bytes], *, tight: bool) -> bool:
    """Say whether a value without quotes ends as one does that is not code."""
    link, end = match["link"], match["end"]
    if match.end("end") == len(match.string) and not end.strip(b" \t"):
        end = b"\n"  # the last line of a file may have no end
    if end in (b" ", b"\t", b";", b"&"):
        return tight or b"is" in link or b"was" in link or "是".encode() in link
    if _ELEMENT.search(link):
        return end == b"<"
    return end not in (b"", b"<")


def _places(data: bytes, literal: bytes) -> Iterator[int]:
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + len(literal))
