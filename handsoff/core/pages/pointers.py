"""Pointers to secrets: ``vault:billing/prod-db`` says where one lives and gives nothing away.

A pointer is ``scheme:path``. Whoever writes a value instead must be told, so what could be
either is taken for a value; only a scheme that is known to be a store passes without a slash.
"""

import re
from typing import Final

from handsoff.core.guard import passwords

_POINTER: Final = re.compile(
    r"[`<\"']?([A-Za-z][A-Za-z0-9+.-]*):(/{0,2})([^\s,;`<>\"'()（），。；]+)"
)
_PATH: Final = re.compile(r"[\w@%+~.-]+(?:[/:#|][\w@%+~. -]*)*")
_STORES: Final = frozenset(
    {
        "1password", "age", "akeyless", "akv", "arn", "aws", "aws-sm", "awssm", "azure",
        "azure-kv", "berglas", "bitwarden", "bw", "chamber", "ci", "circleci", "conjur",
        "credstash", "cyberark", "dashlane", "doppler", "env", "file", "gcp", "gcp-sm", "github",
        "gitlab", "gopass", "gpg", "gsm", "heroku", "infisical", "k8s", "kdbx", "keepass",
        "keepassxc", "keychain", "keyring", "keyvault", "kubernetes", "lastpass", "libsecret",
        "lpass", "onepassword", "op", "pass", "secret-tool", "secretsmanager", "sops", "ssm",
        "teller", "vault", "wincred",
    }
)  # fmt: skip
_VALUES: Final = frozenset(
    {
        "api-key", "apikey", "base64", "basic", "bearer", "data", "hex", "key", "literal",
        "login", "passphrase", "passwd", "password", "plain", "plaintext", "pw", "pwd", "raw",
        "secret", "text", "token", "user", "username", "val", "value",
    }
)  # fmt: skip
_REST: Final = re.compile(r"^[\s`>\"']*(?:=+>?|->|→|:|：)\s*\S")


def is_pointer(text: str) -> bool:
    """Say whether ``text``, what follows ``secret:``, begins with a pointer and holds no value."""
    match = _POINTER.match(text.strip())
    if not match:
        return False
    scheme, slashes, path = match[1].lower(), match[2], match[3].rstrip(".:")
    if scheme in _VALUES or not path or not _PATH.fullmatch(path):
        return False
    if scheme not in _STORES and not slashes and "/" not in path:
        return False  # "admin:hunter2" is a name and a password
    if "@" in path and slashes and ":" in path.partition("@")[0]:
        return False  # scheme://user:password@host
    return not _holds_value(path, text.strip()[match.end() :])


def _holds_value(path: str, rest: str) -> bool:
    if any(passwords.looks_random(piece.encode()) for piece in re.split(r"[/:#|.]", path)):
        return True
    if _REST.match(rest):
        return True
    words = rest.strip(" \t`>\"'.,;()（），。；").split()
    if any(passwords.looks_random(word.strip("`\"'.,;()").encode()) for word in words):
        return True
    # an explanation is a sentence; one word with a digit or a sign in it is a password
    return len(words) == 1 and not words[0].isalpha()
