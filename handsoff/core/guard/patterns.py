"""What a secret looks like: our own rules, as data.

They know the kinds that people leave in a checkout, stand in when the engine behind
``edge/scan.py`` is missing, and cover what it leaves out: passwords in assignments and URLs,
key ids alone. Each opens with a literal, and is tried only where that stands; repeats are
bounded, so that no input makes one slow.

``GATES`` are the same rules made coarse, for an engine that tries them all in one pass: where
none of them matches, ``find`` finds nothing. They use only what Rust's ``regex`` knows too.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Final, NamedTuple

from handsoff.core.guard import assignments, passwords


class Hit(NamedTuple):
    """Bytes that look like a secret: what kind, which bytes, and where they begin."""

    kind: str
    secret: bytes
    at: int


class _Token(NamedTuple):
    kind: str
    literals: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    gate: str


def _token(
    kind: str, literals: str | tuple[str, ...], pattern: str, tail: str = r"[\w-]{12}"
) -> _Token:
    """Return a rule: ``pattern`` begins with one of ``literals``, which ``tail`` always follows."""
    words = literals.split() if isinstance(literals, str) else literals
    gate = f"(?:{'|'.join(map(re.escape, words))}){tail}"
    return _Token(kind, tuple(w.encode() for w in words), re.compile(pattern.encode()), gate)


_TOKENS: Final = (
    _token("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[a-z]_[A-Za-z0-9]{30,255}"),
    _token("GitHub token", "github_pat_", r"github_pat_\w{40,255}"),
    _token("GitLab token", "glpat- gldt- glrt- glptt- glcbt-", r"gl[a-z]{2,4}-[\w.-]{20,128}"),
    _token("AWS key id", "AKIA ASIA ABIA ACCA", r"A[A-Z]{3}[A-Z0-9]{16}(?![\w+/=])"),
    _token("API key", "sk-", r"sk-[\w-]{20,256}"),
    _token("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[a-z]k_[a-z]{4}_\w{16,256}"),
    _token("webhook secret", "whsec_", r"whsec_[\w+/]{24,128}={0,2}"),
    _token("npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?!\w)"),
    _token("PyPI token", "pypi-AgE", r"pypi-AgE[\w-]{40,512}"),
    _token("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xapp-",
           r"x[a-z]{3}-[\w%.-]{16,256}"),
    _token("Slack webhook", "hooks.slack.com/",
           r"hooks\.slack\.com/(?:services|workflows)/T\w+/\w+/\w{16,64}", ""),
    _token("Discord webhook", "/api/webhooks/", r"/api/webhooks/\d{16,20}/[\w-]{40,100}"),
    _token("Google API key", "AIza", r"AIza[\w-]{35}(?![\w-])"),
    _token("Google OAuth secret", "GOCSPX-", r"GOCSPX-[\w-]{24,40}"),
    _token("Google OAuth token", "ya29.", r"ya29\.[\w-]{30,512}"),
    _token("SendGrid key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _token("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,64}(?!\w)"),
    _token("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[a-z]_v1_[0-9a-f]{64}"),
    _token("Shopify token", "shpat_ shpss_ shpca_ shppa_", r"shp[a-z]{2}_[0-9a-fA-F]{32}"),
    _token("Vault token", "hvs. hvb. hvr.", r"hv[a-z]\.[\w-]{24,256}"),
    _token("Docker token", "dckr_pat_ dckr_oat_", r"dckr_[a-z]{3}_[\w-]{20,64}"),
    _token("Grafana token", "glsa_ glc_", r"gl(?:sa|c)_[\w+/=-]{32,256}"),
    _token("Linear key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,64}"),
    _token("Postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _token("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?!\w)", "[0-9a-f]{32}"),
    _token("Twilio key", "SK", r"SK[0-9a-f]{32}(?!\w)", "[0-9a-f]{32}"),
    _token("Mailgun key", "key-", r"key-[0-9a-f]{32}(?!\w)", "[0-9a-f]{32}"),
    _token("Azure storage key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{80,90}={0,2})", ""),
    _token("Alibaba key id", "LTAI", r"LTAI[A-Za-z0-9]{12,24}(?!\w)"),
    _token("Tencent key id", "AKID", r"AKID[A-Za-z0-9]{32}(?!\w)"),
    _token("Notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,60}(?!\w)"),
    _token("Sentry token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{40,512}"),
    _token("Tailscale key", "tskey-", r"tskey-[a-z]{3,12}-\w{8,32}-\w{16,64}"),
    _token("New Relic key", "NRAK-", r"NRAK-[A-Z0-9]{27}(?!\w)"),
    _token("PlanetScale key", "pscale_tkn_ pscale_pw_", r"pscale_[a-z]{2,3}_[\w=.-]{32,64}"),
    _token("Supabase key", "sb_secret_ sbp_", r"sb(?:_secret|p)_[\w-]{30,64}"),
    _token("Sonar token", "sqp_ squ_ sqa_", r"sq[pua]_[0-9a-f]{40}(?!\w)"),
    _token("ElevenLabs key", "sk_", r"sk_[0-9a-f]{48}(?!\w)"),
    _token("API key", "tvly- pcsk_ jina_ nfp_ fo1_ fm2_ AKCp cmVmdGtu CFPAT- ATBB AKLT",
           r"(?:tvly-|pcsk_|jina_|nfp_|fo1_|fm2_|AKCp|cmVmdGtu|CFPAT-|ATBB|AKLT)[\w-]{28,512}"),
    _token("Doppler token", "dp.st. dp.pt. dp.ct. dp.sa.",
           r"dp\.[a-z]{2}\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}(?!\w)", r"[\w.-]{12}"),
    _token("Mapbox key", "sk.eyJ", r"sk\.eyJ[\w-]{16,512}\.[\w-]{16,64}"),
    _token("Square secret", "sq0csp- sq0atp-", r"sq0[a-z]{3}-[\w-]{22,43}"),
    _token("Azure client secret", "Q~", r"Q~[\w.~-]{31,34}(?![\w.~-])", r"[\w.~-]{31}"),
    _token("AWS key", "bedrock-api-key-", r"bedrock-api-key-[\w+/=]{40,512}"),
    _token("Baidu key", "bce-v3/ALTAK-", r"bce-v3/ALTAK-\w{16,32}/[0-9a-f]{40}", ""),
    _token("Firebase token", ":APA91b", r":APA91b[\w-]{100,200}"),
    _token("SAS signature", "?sig= &sig=", r".sig=[\w+/%-]{40,70}(?:%3[Dd]|=)", r"[\w+/%-]{40}"),
    _token("webhook", "/bot/v2/hook/ /webhook/send?key= hooks.zapier.com/hooks/catch/",
           r"[\w./]{12,30}(?:\?key=|/)(?:\d{4,12}/\w{6,12}/?(?!\w)"
           r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})", ""),
    _token("application key", "APP_KEY=base64:", r"APP_KEY=base64:([A-Za-z0-9+/]{43}=)", ""),
    _token("WireGuard key", "PrivateKey PresharedKey",
           r"Pr[a-z]{5,7}Key[ \t]?=[ \t]?([A-Za-z0-9+/]{43}=)(?![\w+/=])", r"[ \t]?="),
    _token("wallet key", "xprv", r"xprv[1-9A-HJ-NP-Za-km-z]{100,112}(?!\w)"),
    _token("wallet key", "nsec1", r"nsec1[02-9ac-hj-np-z]{58}(?!\w)"),
    _token("age key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1",
           r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58}"),
    _token("Telegram bot token", ":AA", r":AA[\w-]{32,34}(?![\w-])", r"[\w-]{32}"),
    _token("JSON web token", "eyJ", r"eyJ[\w-]{8,2048}\.eyJ[\w-]{8,8192}\.[\w-]{16,1024}",
           r"[\w-]{8,2048}\.eyJ"),
    _token("private key", "-----BEGIN",
           r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
           # line ends may be escaped, lines quoted, and headers stand before the body
           r"(?:[\s\\\"'+,>|#*]|(?<=\\)[nrt]"
           r"|(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n]{0,200}\n){0,64}"
           # and the whole body, since two keys of one kind begin alike
        r"[A-Za-z0-9+/=]{10,}(?:(?:[\s\\\"'+,>|#*]|(?<=\\)[nrt]){1,16}[A-Za-z0-9+/=]{4,}){0,400}",
           r" [A-Z0-9 ]{0,40}PRIVATE KEY"),
    _token("private key", "PuTTY-User-Key-File-", r"PuTTY-User-Key-File-\d: [\w-]+", ""),
    _token("private key", ("BEGIN SSH2",),
           r"BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[^-]{0,400}?[\w+/=]{40,}", r" ENCRYPTED PRIVATE"),
    _token("private key", ("-----BEGIN OpenVPN",),
           r"-----BEGIN OpenVPN [\w -]{4,40}-----\s{1,4}[\w+/=]{32,}", r" [\w -]{4}"),
    _token("private key", ("secret key",), r"secret key\r?\nRW[\w+/]{80,400}={0,2}", r"\r?\nRW"),
    _token("private key", '"d"', r'"d"\s{0,4}:\s{0,4}"([\w-]{20,2000})"[^{}]{0,2000}"kty"',
           r'\s{0,4}:\s{0,4}"[\w-]{20}'),
    _token("private key", '"kty"', r'"kty"[^{}]{0,2000}"[dk]"\s*:\s*"([\w-]{20,2000})"', ""),
    _token("bearer token", "bearer Bearer BEARER",
           r"(?i:bearer)\s{1,4}([\w.~+/-]{20,2048}={0,2})", r"\s{1,4}[\w.~+/-]{16}"),
    _token("basic credentials", "basic Basic",
           r"[Bb]asic\s{1,4}([A-Za-z0-9+/]{16,512}={0,2})(?![\w.-])", r"\s{1,4}[A-Za-z0-9+/]{16}"),
    _token("registry login", "_auth", r"_auth\s{0,2}=\s{0,2}\"?([A-Za-z0-9+/]{12,512}={0,2})",
           r"\s{0,2}="),
    _token("registry login", '"auth"', r'"auth"\s*:\s*"([A-Za-z0-9+/]{12,512}={0,2})"', r"\s*:"),
)  # fmt: skip

GATES: Final = (*(token.gate for token in _TOKENS), *assignments.GATES)
"""One of these matches wherever ``find`` finds anything."""

_GENERATED: Final = re.compile(rb"(?=.*[a-z])(?=.*[A-Z]).*[0-9]|[0-9a-f]{32}|^sk-(?=\w*[0-9])\w*$")
# nor three letters and chance: base64 of a few megabytes has these behind some dash
_UNLIKE_WORDS: Final = re.compile(
    rb"(?!key-|sk-|hf_|eyJ)\w{3}[\w-](?=.*[a-z])(?=.*[A-Z]).*[0-9]", re.DOTALL
)
_STAND_IN: Final = re.compile(rb"(?i)example|x{4}|^.{4,12}?(.)\1+$")
"""What documents write in place of a token: the last is one character over and over."""
_BEFORE: Final = re.compile(rb"(?:\\[nrtfb0\"'/]|%[0-9A-Fa-f]{2}|\\u[0-9a-f]{4}|\x1b\[[0-9;]*m)$")


def find(data: bytes) -> list[Hit]:
    """Return what in ``data`` looks like a secret to our own rules, each place once."""
    found = [Hit("password in a URL", *place) for place in assignments.in_urls(data)]
    found += [Hit("password or key", *place) for place in assignments.assigned(data)]
    # of two that begin together the token says more than the name it is assigned to
    hits = sorted([*_tokens(data), *found], key=lambda hit: hit.at)
    kept: list[Hit] = []
    end = -1
    for hit in hits:
        if hit.at >= end:
            kept.append(hit)
            end = hit.at + len(hit.secret)
    return kept


def _tokens(data: bytes) -> Iterator[Hit]:
    for kind, literals, pattern, _ in _TOKENS:
        for literal in literals:
            at = data.find(literal)
            while at >= 0:
                match = pattern.match(data, at)
                if match and _stands_alone(data, at, match) and _is_token(kind, match):
                    group = match.lastindex or 0
                    yield Hit(kind, match[group], match.start(group))
                at = data.find(literal, at + len(literal))


def _stands_alone(data: bytes, at: int, match: re.Match[bytes]) -> bool:
    """Say whether a token may begin at ``at``: after no letter, unless that ends an escape.

    After a dash or underscore only what is like no word: ``cache-key-`` and a checksum is none.
    """
    before = data[at - 1 : at] if at else b""
    if before in (b"_", b"-") and _UNLIKE_WORDS.match(match[0]):
        return True
    if not (before.isalnum() or before in (b"_", b"-")) or not data[at : at + 2].isalnum():
        return True
    return _BEFORE.search(data[max(0, at - 8) : at]) is not None


def _is_token(kind: str, match: re.Match[bytes]) -> bool:
    value = match[match.lastindex or 0]
    if kind == "private key":
        return True
    if kind == "API key":  # "sk-circle-fade-dot-animation" is a style
        return bool(_GENERATED.search(value)) and not _STAND_IN.search(value)
    if kind == "Telegram bot token":
        digits = match.string[max(0, match.start() - 11) : match.start()]
        return re.search(rb"(?<!\d)\d{8,10}$", digits) is not None
    if kind == "Azure client secret":
        head = match.string[max(0, match.start() - 5) : match.start()]
        return re.search(rb"(?:^|[^\w.~-])[\w.~-]{3}\d$", head) is not None
    if kind == "bearer token":
        return passwords.looks_random(value)
    if kind in ("basic credentials", "registry login"):
        return _is_login(value)
    return not _STAND_IN.search(value)


def _is_login(value: bytes) -> bool:
    try:
        name, colon, password = b64decode(value, validate=True).partition(b":")
    except ValueError:
        return False
    return bool(colon and name) and name.isascii() and passwords.is_password(password)
