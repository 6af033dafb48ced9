"""The guard: what must not leave, by name, by size and by content, and how a refusal says it.

Names are bytes in any encoding and are looked at without regard to case, at any depth. Content
is found by ``core/guard/patterns.py`` and by the engine behind ``edge/scan.py``. A finding shows at
most four characters of a secret, and is waived by its fingerprint, which tells nothing of it.
"""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

DEFAULT_LIMIT: Final = 5 * 1024 * 1024
"""Bytes a file may have, unless the sender says otherwise."""

TRANSCRIPT: Final = "transcript of "
"""How the path of a finding in a transcript begins."""

SHOWN: Final = 4
"""Characters of a secret that may be seen."""

_ENVIRONMENT: Final = b".env"
_ENVIRONMENTS: Final = re.compile(rb"(?:\.|\.?#)?\.env")
"""How a ``.env*`` begins: editors put a dot or a hash before the name of what they save beside."""
_TEMPLATE: Final = re.compile(
    rb"\.env.*[._-](?:example|sample|dist|template|tmpl|tpl|schema)(?:\.(?:txt|md|ya?ml|json|j2))?"
)
_CODE: Final = re.compile(
    rb".*\.(?:py|pyi|go|rs|c|h|cc|cpp|hpp|java|kt|rb|js|mjs|ts|tsx|jsx|sh|md|rst|html|cs|php|swift)"
)
_PUBLIC: Final = re.compile(
    rb".*\.pub|(?:.*[._-])?(?:public|pub)(?:[._-]?key)?\.(?:pem|key)"
    rb"|.*[._-](?:example|sample|dist|template|tmpl|tpl)"
    rb"|(?:.*[._-])?(?:example|sample|dist|template|tmpl|tpl|schema|test|ci|defaults?)\.env"
)
_COPIES: Final = frozenset(b"bak backup old orig save saved tmp copy".split())
_SWAPS: Final = frozenset(b"swp swo swn swm un~ kate-swp".split())
"""What editors, merges and people leave beside a file: its bytes, under another name."""
_PEELED: Final = 3
_NAMES: Final = tuple(
    (kind, re.compile(b"|".join(patterns)))
    for kind, patterns in (
        ("environment file", (
            rb".*\.env|\.flaskenv|\.dev\.vars",
        )),
        ("private key file", (
            rb"id_(?:rsa|dsa|ecdsa|ed25519|ed448|xmss)(?:[._-].*)?",
            rb".*\.(?:pem|key|ppk|p8|pk8|agekey)",
        )),
        ("key store", (rb".*\.(?:p12|pfx|jks|keystore|bks|kdbx?|keychain|keychain-db)",)),
        ("credentials file", (
            rb"\.(?:npmrc|netrc|pypirc|git-credentials|pgpass|my\.cnf|mylogin\.cnf|s3cfg|boto|htpasswd)",
            rb"\.(?:dockercfg|terraformrc|vault-token|authinfo(?:\.gpg)?)|_netrc|git-credentials",
            rb"credentials(?:\.(?:json|csv|ini|tfrc\.json))?|(?:accesskeys|rootkey)\.csv",
            rb"client_secrets?(?:[._-].*)?\.json|(?:.*[._-])?service[._-]account(?:[._-]key)?\.json",
            rb"application_default_credentials\.json|kubeconfig(?:[._-].*)?|.*\.kubeconfig",
            rb".*\.tfstate|gha-creds-[0-9a-f]+\.json",
        )),
    )
)  # fmt: skip
_PLACES: Final = re.compile(
    rb"(?:^|/)(?:\.ssh/(?!config$|known_hosts|authorized_keys)[^/]+|\.gnupg/.+|\.password-store/.+"
    rb"|\.aws/credentials|\.kube/config|\.docker/config\.json|\.config/gcloud/.+|\.azure/.+"
    rb"|\.config/gh/hosts\.yml|\.cargo/credentials(?:\.toml)?|\.gem/credentials"
    rb"|\.m2/settings(?:-security)?\.xml|\.config/rclone/rclone\.conf)$"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that may not leave: where it is, what it is, and the name of its waiver."""

    path: bytes
    kind: str
    shown: str
    where: str
    fingerprint: str


def finding(path: bytes, kind: str, secret: bytes, where: str) -> Finding:
    """Return the finding of ``secret`` at ``path``; ``where`` says in which object or place."""
    return Finding(path, kind, shown(secret), where, fingerprint(kind, path, secret))


def fingerprint(kind: str, path: bytes, secret: bytes) -> str:
    """Return the name under which a finding is waived: the same on every machine and day.

    The three parts carry their lengths, so that no two findings share what is hashed.
    """
    parts = (kind.encode(), path, secret)
    body = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    return hashlib.sha256(b"handsoff finding 1\0" + body).hexdigest()[:16]


def shown(secret: bytes) -> str:
    """Return as much of ``secret`` as may be seen: at most four characters, never half of it."""
    text = secret.decode("utf-8", "replace")
    return printable(text[: min(SHOWN, len(text) // 2)].encode()) + "\u2026"


def never(path: bytes) -> bool:
    """Say whether ``path`` is, or lies in, a ``.env*`` that not even the carry list takes along."""
    lowered = path.lower()
    if _ENVIRONMENT not in lowered:  # nearly all of many thousands
        return False
    parts = lowered.split(b"/")
    return any(_ENVIRONMENTS.match(p) and not _TEMPLATE.fullmatch(p) for p in parts)


def name_finding(path: bytes) -> str | None:
    """Return why the name of ``path`` must not travel, or None if it may."""
    lowered = path.lower()
    name = lowered.rsplit(b"/", 1)[-1]
    if never(path):
        return "environment file"
    for original in _originals(name):
        if _CODE.fullmatch(original) or _PUBLIC.fullmatch(original):
            return None
        for kind, pattern in _NAMES:
            if pattern.fullmatch(original):
                return kind
    return "credentials file" if _PLACES.search(lowered) else None


def _originals(name: bytes) -> list[bytes]:
    """Return what ``name`` may be a copy of, from the most likely on, and ``name`` at the end."""
    names = [name]
    if name.startswith((b"#", b".#")):
        names.append(name.removeprefix(b".").removeprefix(b"#").removesuffix(b"#"))
    for _ in range(_PEELED):
        last = names[-1]
        stem, _, end = last.rpartition(b".")
        if end in _SWAPS:  # before a name that has a dot already, some put none
            names += [stem, stem.removeprefix(b".")]
        elif end in _COPIES or end.isdigit():
            names.append(stem)
        elif last.endswith(b"~"):
            names.append(last[:-1])
        else:
            break
    return names[::-1]


def named(path: bytes, where: str) -> Finding | None:
    """Return the finding of the name of ``path``, or None if it may travel."""
    kind = name_finding(path)
    if kind is None:
        return None
    return Finding(path, kind, "", where, fingerprint(kind, path, b""))


def size_finding(
    path: bytes, size: int, limit: int = DEFAULT_LIMIT, where: str = ""
) -> Finding | None:
    """Return the finding of a file of ``size`` bytes, or None if it is within ``limit``."""
    if size <= limit:
        return None
    kind = f"{size} bytes, over the limit of {limit}"
    return Finding(path, kind, "", where, fingerprint("size", path, b"%d" % size))


def decide(
    findings: Iterable[Finding], allowed: Collection[str]
) -> tuple[list[Finding], list[Finding]]:
    """Return which ``findings`` refuse and which are waived, each once, in order of path."""
    once = {(f.fingerprint, f.path): f for f in findings}
    ordered = sorted(once.values(), key=lambda f: (f.path, f.kind, f.fingerprint))
    names = {name.strip().lower() for name in allowed}
    refused = [f for f in ordered if f.fingerprint not in names]
    return refused, [f for f in ordered if f.fingerprint in names]


def render(findings: Collection[Finding], limit: int = 20) -> list[str]:
    """Return a line for each of ``findings``, safe for a terminal, and how many more there are."""
    lines = []
    for f in list(findings)[:limit]:
        seen = f" {f.shown}" if f.shown else ""
        where = f" in {printable(f.where.encode('utf-8', 'surrogateescape'))}" if f.where else ""
        path = f"{_path(f)}: " if f.path else ""
        lines.append(f"{path}{f.kind}{seen}{where}  [--allow {f.fingerprint}]")
    more = len(findings) - limit
    return [*lines, f"and {more} more"] if more > 0 else lines


def advice(refused: Collection[Finding], *, redacted: bool) -> str:
    """Return what to do about ``refused``; ``redacted`` says that what could be redacted was."""
    transcripts = [f for f in refused if f.path.startswith(TRANSCRIPT.encode())]
    if not transcripts:
        said = "take it out (also of the stash, the index or unpushed commits)"
    elif redacted:
        said = "what is signed, hashed or compressed cannot be redacted: leave --transcript out"
    else:
        said = "--redact puts a marker in place of each secret of a transcript"
    if 0 < len(transcripts) < len(refused):
        said += "; take the rest out"
    size = ", for size: --max-size BYTES" if len(transcripts) < len(refused) else ""
    return f"{said}; if it is no secret: --allow FINGERPRINT{size}"


def printable(text: bytes) -> str:
    """Return ``text`` with everything that a terminal could act on, or hide, spelled out."""
    decoded = text.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in decoded)


def _path(found: Finding) -> str:
    return printable(found.path)
