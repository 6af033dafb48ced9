"""Secrets to plant, and things that only look like one: for tests of the guard and the scanner.

All are random and put together when they are asked for, so that no scanner trips on this file.
"""

import base64
import json
import random
import string
from collections.abc import Callable
from typing import Final

_ALNUM: Final = string.ascii_letters + string.digits
_HEX: Final = "0123456789abcdef"
_CAPITALS: Final = string.ascii_uppercase + "123"
_SMALL: Final = string.ascii_lowercase + string.digits
_PNG: Final = b"\x89PNG\r\n\x1a\n"


def _r(rng: random.Random, n: int, alphabet: str = _ALNUM) -> str:
    """Return ``n`` random characters, with a digit, a small and a capital letter where it can."""
    text = [rng.choice(alphabet) for _ in range(n)]
    sets = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    for at, chars in enumerate(chars for chars in sets if set(chars) <= set(alphabet)):
        text[at * 2 + 1] = rng.choice(chars)
    return "".join(text)


def _b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def _pem(rng: random.Random, label: str, eol: str = "\n") -> str:
    body = _b64(rng.randbytes(300))
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    dashes = "-" * 5
    head, tail = f"{dashes}BEGIN {label} KEY{dashes}", f"{dashes}END {label} KEY{dashes}"
    return eol.join([head, *lines, tail]) + eol


def _jwt(rng: random.Random) -> str:
    head = _b64(json.dumps({"alg": "HS256", "typ": "JWT"})).rstrip("=")
    body = _b64(json.dumps({"sub": _r(rng, 10), "iat": 1516239022})).rstrip("=")
    return f"{head}.{body}.{_r(rng, 43)}"


def _uuid(rng: random.Random) -> str:
    return "-".join(_r(rng, n, _HEX) for n in (8, 4, 4, 4, 12))


def _ghp(rng: random.Random) -> str:
    return "gh" + "p_" + _r(rng, 36)


def _behind(begin: str, n: int, alphabet: str) -> "Plant":
    return lambda rng: f"k: {begin}{_r(rng, n, alphabet)}\n".encode()


Plant = Callable[[random.Random], bytes]

PLANTED: Final[dict[str, Plant]] = {
    "github classic": lambda r: f'token = "{_ghp(r)}"\n'.encode(),
    "github fine": lambda r: f"x {'github' + '_pat_'}{_r(r, 22)}_{_r(r, 59)}\n".encode(),
    "github oauth": lambda r: f"- {'gh' + 'o_'}{_r(r, 36)}\n".encode(),
    "gitlab": lambda r: f"CI={'glp' + 'at-'}{_r(r, 20)}\n".encode(),
    "aws key id alone": lambda r: (
        f"key={'AK' + 'IA'}{_r(r, 16, string.ascii_uppercase + '234567')}\n".encode()
    ),
    "aws secret key": lambda r: f"aws_secret_access_key = {_r(r, 40, _ALNUM + '/+')}\n".encode(),
    "openai project": lambda r: f"k: {'sk-' + 'proj-'}{_r(r, 48)}\n".encode(),
    "sk plain": lambda r: f"key={'sk' + '-'}{_r(r, 26)}\n".encode(),
    "anthropic": lambda r: f"{'sk-' + 'ant-api03-'}{_r(r, 93)}AA\n".encode(),
    "stripe": lambda r: f"{'sk' + '_live_'}{_r(r, 24)}\n".encode(),
    "npm": lambda r: f"//registry.example.test/:_authToken={'np' + 'm_'}{_r(r, 36)}\n".encode(),
    "pypi": lambda r: f"password = {'pypi' + '-AgEIcHlwaS5vcmc'}{_r(r, 120)}\n".encode(),
    "slack bot": lambda r: (
        f"{'xo' + 'xb-'}{_r(r, 12, '123456789')}-{_r(r, 12, '123456789')}-{_r(r, 24)}\n".encode()
    ),
    "slack short": lambda r: f"{'xo' + 'xb-'}{_r(r, 12, '123456789')}-{_r(r, 16)}\n".encode(),
    "slack hook": lambda r: (
        f"https://hooks.slack.com/{'serv' + 'ices'}/"
        f"T{_r(r, 8, _CAPITALS)}/B{_r(r, 8, _CAPITALS)}/{_r(r, 24)}\n"
    ).encode(),
    "google api": lambda r: f"{'AI' + 'za'}{_r(r, 35)}\n".encode(),
    "google service account": lambda r: json.dumps(
        {
            "type": "service_account",
            "private_key_id": _r(r, 40, _HEX),
            "private_key": _pem(r, "PRIVATE"),
            "client_email": "x@y.iam.gserviceaccount.com",
        }
    ).encode(),
    "openssh key": lambda r: b"the key:\n" + _pem(r, "OPENSSH PRIVATE").encode(),
    "rsa key crlf": lambda r: _pem(r, "RSA PRIVATE", "\r\n").encode(),
    "encrypted key": lambda r: _pem(r, "ENCRYPTED PRIVATE").encode(),
    "key in a string": lambda r: b'K = "' + _pem(r, "EC PRIVATE", "\\n").encode() + b'"\n',
    "age key": lambda r: (
        f"{'AGE-SECRET' + '-KEY-1'}{_r(r, 58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}\n".encode()
    ),
    "json web token": lambda r: f"cookie: s={_jwt(r)}\n".encode(),
    "bearer": lambda r: f"Authorization: Bearer {_r(r, 40)}\n".encode(),
    "basic": lambda r: f"Authorization: Basic {_b64('svc:' + _r(r, 14))}\n".encode(),
    "url password": lambda r: f"DATABASE=postgres://app:{_r(r, 12)}@db.corp.test:5432/x\n".encode(),
    "redis url": lambda r: f"redis://:{_r(r, 20)}@cache.corp.test/0\n".encode(),
    "git remote url": lambda r: f"url = https://lin:{_r(r, 18)}@git.corp.test/a.git\n".encode(),
    "export": lambda r: f"export DB_PASSWORD={_r(r, 14)}\n".encode(),
    "python string": lambda r: f'password = "{_r(r, 14)}"\n'.encode(),
    "yaml password": lambda r: f"  password: {_r(r, 14)}\n".encode(),
    "json secret": lambda r: json.dumps({"client_secret": _r(r, 32)}).encode(),
    "ini token": lambda r: f"api_token={_r(r, 32)}\n".encode(),
    "hex api key": lambda r: f'API_KEY = "{_r(r, 32, _HEX)}"\n'.encode(),
    "netrc": lambda r: f"machine git.corp.test login lin password {_r(r, 14)}\n".encode(),
    "azure storage": lambda r: (
        f"DefaultEndpointsProtocol=https;AccountName=acct;AccountKey={_b64(r.randbytes(64))};EndpointSuffix=core.windows.net\n".encode()
    ),
    "sendgrid": lambda r: f"{'S' + 'G.'}{_r(r, 22)}.{_r(r, 43)}\n".encode(),
    "hugging face": lambda r: f"{'h' + 'f_'}{_r(r, 34, string.ascii_letters)}\n".encode(),
    "digitalocean": lambda r: f"{'dop' + '_v1_'}{_r(r, 64, _HEX)}\n".encode(),
    "telegram": lambda r: f"bot={_r(r, 10, '123456789')}:AA{_r(r, 33)}\n".encode(),
    "vault": lambda r: f"{'hv' + 's.'}{_r(r, 95)}\n".encode(),
    "docker config": lambda r: json.dumps(
        {"auths": {"https://index.docker.io/v1/": {"auth": _b64("lin:" + _r(r, 20))}}}
    ).encode(),
    "kubernetes secret": lambda r: f"kind: Secret\ndata:\n  password: {_b64(_r(r, 16))}\n".encode(),
    "terraform": lambda r: f'  secret_key = "{_r(r, 40)}"\n'.encode(),
    "chinese label": lambda r: f"数据库密码\uff1a{_r(r, 14)}\n".encode(),
    "sk of small letters": lambda r: f"{'sk' + '-'}{_r(r, 40, _SMALL)}\n".encode(),
    "command line": lambda r: f"dump --password={_r(r, 14)} db\n".encode(),
    "commit message": lambda r: f"fix login\n\nthe password is {_r(r, 14)} for now\n".encode(),
    "connection string": lambda r: f"Server=db;User Id=sa;Password={_r(r, 14)};X=y\n".encode(),
    "argument": lambda r: f"define( 'DB_PASSWORD', '{_r(r, 14)}' );\n".encode(),
    "element": lambda r: f"<password>{_r(r, 14)}</password>\n".encode(),
    "attribute": lambda r: f'<add key="Password" value="{_r(r, 14)}"/>\n'.encode(),
    "web key": lambda r: json.dumps({"kty": "EC", "crv": "P-256", "d": _r(r, 43)}).encode(),
    "typed": lambda r: f'    password: str = "{_r(r, 14)}"\nval pwd: String = "x"\n'.encode(),
    "verbatim": lambda r: f'const string Password = @"{_r(r, 14)}";\n'.encode(),
    "property list": lambda r: f"<key>apiToken</key>\n\t<string>{_r(r, 40)}</string>\n".encode(),
    "call": lambda r: f'source.setPassword("{_r(r, 14)}");\n'.encode(),
    "fallback": lambda r: f'process.env.DB_PASSWORD || "{_r(r, 14)}"\n'.encode(),
    "argument behind a blank": lambda r: f"dump --password {_r(r, 14)} db\n".encode(),
    "image variable": lambda r: f"ENV DB_PASSWORD {_r(r, 14)}\n".encode(),
    "sql": lambda r: f"ALTER ROLE app WITH PASSWORD '{_r(r, 14)}';\n".encode(),
    "key of an environment": lambda r: f"AZURE_OPENAI_KEY={_r(r, 40)}\n".encode(),
    "long session token": lambda r: f"aws_session_token = {_r(r, 400, _ALNUM + '/+')}\n".encode(),
    "web key, private part first": lambda r: json.dumps({"d": _r(r, 43), "kty": "OKP"}).encode(),
    "symmetric web key": lambda r: json.dumps({"kty": "oct", "k": _r(r, 43)}).encode(),
    "vpn key": lambda r: (
        f"{'-' * 5}BEGIN OpenVPN Static key V1{'-' * 5}\n{_r(r, 32, _HEX)}\n".encode()
    ),
    "ssh2 key": lambda r: (
        f"{'-' * 4} BEGIN SSH2 ENCRYPTED PRIVATE KEY {'-' * 4}\n"
        f'Comment: "x"\n{_b64(r.randbytes(48))}\n'
    ).encode(),
    "minisign": lambda r: (
        f"untrusted comment: minisign encrypted secret key\nRWRT{_b64(r.randbytes(96))}\n".encode()
    ),
    "wireguard": lambda r: f"PrivateKey = {_b64(r.randbytes(32))}\n".encode(),
    "azure client secret": lambda r: f"value: {_r(r, 6)[:3]}8{'Q' + '~'}{_r(r, 34)}\n".encode(),
    "azure signature": lambda r: f"?sv=2024&{'si' + 'g='}{_r(r, 43)}%3D\n".encode(),
    "application key": lambda r: f"APP_{'KEY='}base64:{_b64(r.randbytes(32))}\n".encode(),
    "registry login": lambda r: f"//r.test/:_{'auth'}={_b64('lin:' + _r(r, 14))}\n".encode(),
    "webhook": lambda r: f"https://h.test/bot/v2/{'hook'}/{_uuid(r)}\n".encode(),
    **{
        name: _behind("".join(begin), n, of)
        for name, begin, n, of in (
            ("notion", ("nt", "n_"), 46, _ALNUM),
            ("sentry", ("sntr", "ys_"), 120, _ALNUM),
            ("new relic", ("NRA", "K-"), 27, string.ascii_uppercase + string.digits),
            ("planetscale", ("pscale", "_tkn_"), 43, _ALNUM),
            ("supabase", ("sb_", "secret_"), 32, _ALNUM),
            ("sonar", ("sq", "p_"), 40, _HEX),
            ("pinecone", ("pc", "sk_"), 60, _ALNUM),
            ("bitbucket", ("AT", "BB"), 32, _ALNUM),
            ("doppler", ("dp.", "st.prd."), 43, _ALNUM),
            ("square", ("sq0", "csp-"), 43, _ALNUM),
            ("firebase", ("x:APA", "91b"), 134, _ALNUM),
        )
    },
    "utf-32": lambda r: f"key={_ghp(r)}\n".encode("utf-32"),
    "utf-16 with mark": lambda r: f"key={_ghp(r)}\n".encode("utf-16"),
    "utf-16 little": lambda r: f"key={'sk' + '-'}{_r(r, 26)}\n".encode("utf-16-le"),
    "utf-16 big": lambda r: f"export DB_PASSWORD={_r(r, 14)}\n".encode("utf-16-be"),
    "binary": lambda r: b"SQLite\0\0\0\x07" + _ghp(r).encode() + b"\0\0\xff\xfe",
    "json escape": lambda r: (
        '{"t": "' + "".join(f"\\u{ord(c):04x}" for c in _ghp(r)) + '"}'
    ).encode(),
    "json half escaped": lambda r: ('{"t": "\\u0067' + _ghp(r)[1:] + '"}').encode(),
    "json in json": lambda r: json.dumps({"line": json.dumps({"password": _r(r, 14)})}).encode(),
    "log line in json": lambda r: json.dumps({"out": "a\n" + _ghp(r) + "\nb"}).encode(),
    "base64": lambda r: _b64(f"export TOKEN={_ghp(r)}\n").encode() + b"\n",
    "base64 twice": lambda r: _b64(_b64(f"export TOKEN={_ghp(r)}\n")).encode() + b"\n",
    "base64 of a key": lambda r: _b64(_pem(r, "RSA PRIVATE")).encode() + b"\n",
    "percent encoded": lambda r: f"/cb?x=1%26token%3D{_ghp(r)}\n".encode(),
    "diff": lambda r: f"@@ -1 +1 @@\n-a\n+{_ghp(r)}\n".encode(),
}

LOOK_ALIKES: Final[dict[str, Plant]] = {
    "aws documentation": lambda r: (
        f"aws_access_key_id = {'AKIA' + 'IOSFODNN7' + 'EXAMPLE'}\n"
        f"aws_secret_access_key = {'wJalrXUtnFEMI/K7MDENG/' + 'bPxRfiCYEXAMPLEKEY'}\n"
    ).encode(),
    "change me": lambda r: b'password = "changeme"\nDB_PASSWORD=changeme123\n',
    "your token": lambda r: b'token: "<your-token>"\nAPI_KEY=your-api-key-here\nTOKEN=<token>\n',
    "xxx": lambda r: ("ghp_" + "x" * 36 + "\nsk-" + "x" * 40 + "\n").encode(),
    "sha1": lambda r: f"commit {_r(r, 40, _HEX)}\n".encode(),
    "sha256": lambda r: f"sha256:{_r(r, 64, _HEX)}\n--hash=sha256:{_r(r, 64, _HEX)}\n".encode(),
    "uuid": lambda r: (
        f'id = "{_r(r, 8, _HEX)}-{_r(r, 4, _HEX)}-4{_r(r, 3, _HEX)}'
        f'-a{_r(r, 3, _HEX)}-{_r(r, 12, _HEX)}"\n'
    ).encode(),
    "lock file": lambda r: f'"integrity": "sha512-{_b64(r.randbytes(64))}",\n'.encode(),
    "go sum": lambda r: f"golang.org/x/net v0.1.0 h1:{_b64(r.randbytes(32))}\n".encode(),
    "environment": lambda r: (
        b'token = os.environ["GITHUB_TOKEN"]\npassword: ${DB_PASSWORD}\n'
        b"secret: ${{ secrets.NPM_TOKEN2 }}\n"
    ),
    "function": lambda r: (
        b"password = get_password(user1)\ntoken = self.next_token\n"
        b"secret_key = settings.SECRET_KEY\n"
    ),
    "types": lambda r: (
        b"def login(password: str, token: Token2 | None = None) -> None: ...\n  token: uint64;\n"
    ),
    "public key": lambda r: (
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"
        + _r(r, 43)
        + " lin@m1\n-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n"
        + "-----END PUBLIC KEY-----\n"
    ).encode(),
    "key format in prose": lambda r: (
        b"A file that begins with -----BEGIN OPENSSH PRIVATE KEY----- is refused.\n"
    ),
    "pointer": lambda r: b"secret: vault:billing/prod-db, where the database password lives\n",
    "url without": lambda r: (
        b"https://user:password@example.com/ http://${USER}:${PASS}@host/ ssh://git@host:22/x\n"
        b"https://a.test:8080/@x\n"
    ),
    "style sheet": lambda r: (
        b".sk-circle-fade-dot-animation-delay-2 { x: y }\nclass='disk-usage-monitor-panel-1'\n"
    ),
    "words of a list": lambda r: (
        b"t('password', 'Step-2-Title'), ['token', 'secretV2Name'], (\"password\", user2Name)\n"
        b"f('api_key', 'header-x-2', \"secret\", \"AES256GcmKey\", 'pwd', 'Field2')\n"
    ),
    "constants": lambda r: (
        b"#define CKF_SECRET_KEY_HELD 0x00000E1UL\nconst TOKEN_KIND = parse('Step2Title')\n"
        b"CACHE_KEY=v1-0123456789abcdef0123456789abcdef\nSSH_PUBLIC_KEY=AAAAC3NzaC1lZDI1NTE5AAAA\n"
        b"password: string | undefined = undefined\n"
        b"foo --token TOKEN --secret-file /run/s3cretFile\n"
        b"getByLabel('password').fill(user1Password) || 'Field2Name'\n"
    ),
    "prose": lambda r: b"the password is case-sensitive, the token is base64-encoded text\n",
    "tokenizer": lambda r: (
        b"max_tokens = 4096\ntokenizer: cl100k_base\npad_token='[PAD]'\nnext_token_id=50256\n"
    ),
    "image data": lambda r: (
        f"url(data:image/png;base64,{_b64(_PNG + r.randbytes(600))})\n".encode()
    ),
    "chinese prose": lambda r: "密码\uff1a请向运维索取\n口令: 见保险库\n".encode(),
    "signature": lambda r: (
        f"-----BEGIN SSH SIGNATURE-----\n{_b64(r.randbytes(48))}\n-----END SSH SIGNATURE-----\n"
    ).encode(),
}
