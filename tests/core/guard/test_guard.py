"""The guard: names and sizes that may not travel, and how findings are named and shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.guard import guard
from handsoff.core.guard.guard import DEFAULT_LIMIT, Finding

STORES = ("keystore", "bks", "kdb", "kdbx", "keychain", "keychain-db")
CREDENTIALS = (
    ".pgpass", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", ".htpasswd", ".dockercfg",
    ".terraformrc", ".vault-token", ".authinfo", ".authinfo.gpg", "_netrc", "git-credentials",
    "credentials.csv", "credentials.ini", "credentials.tfrc.json", "accessKeys.csv", "rootkey.csv",
    "client_secret.json", "client_secrets-web.json", "service-account.json",
    "prod_service_account_key.json", "application_default_credentials.json", "prod.kubeconfig",
    ".gnupg/private-keys-v1.d/x", ".password-store/mail.gpg", ".config/gcloud/access_tokens.db",
    ".azure/msal_token_cache.json", ".config/gh/hosts.yml", ".cargo/credentials.toml",
    ".m2/settings.xml", ".m2/settings-security.xml", ".config/rclone/rclone.conf",
)  # fmt: skip
CODE = (
    "py", "pyi", "go", "rs", "c", "h", "cc", "cpp", "hpp", "java", "kt", "rb", "js", "mjs", "ts",
    "tsx", "jsx", "sh", "md", "rst", "html", "cs", "php", "swift",
)  # fmt: skip
EXAMPLES = ("example", "sample", "dist", "template", "tmpl", "tpl")


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".env.local", ".env.production", ".ENV", "a/b/.env", ".envrc", ".env~",
        ".env.bak", ".env-prod", "api/.Env.Local", ".env/settings", ".env.example.local",
        ".envs/prod", "..env.un~", "a/#.env#", ".#.env", ".env.swp",
    ],
)  # fmt: skip
def test_an_environment_file_never_travels(path: str) -> None:
    assert guard.never(path.encode())
    assert guard.name_finding(path.encode()) == "environment file"


@pytest.mark.parametrize(
    "path",
    [
        ".env.example", ".env.sample", ".env.dist", ".env.template", ".env.prod.example",
        ".env.local.sample", "a/.env-example", ".ENV.EXAMPLE", ".envrc.example", ".env_sample",
        ".env.example.md", "src/environment.py", "env", "x.env.py", "venv/x", ".env.tmpl",
        ".env.tpl", ".env.schema", ".env.example.txt", ".env.example.yml", ".env.example.yaml",
        ".env.sample.json", ".env.dist.j2",
    ],
)  # fmt: skip
def test_templates_of_environment_files_travel(path: str) -> None:
    assert not guard.never(path.encode())
    assert guard.name_finding(path.encode()) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("id_rsa", "private key file"),
        ("keys/id_rsa_work", "private key file"),
        ("id_ed25519", "private key file"),
        ("id_ecdsa_sk", "private key file"),
        ("ID_RSA.bak", "private key file"),
        ("tls/server.pem", "private key file"),
        ("server.key", "private key file"),
        ("putty.ppk", "private key file"),
        ("x.p12", "key store"),
        ("x.PFX", "key store"),
        ("app.jks", "key store"),
        (".npmrc", "credentials file"),
        ("a/.netrc", "credentials file"),
        (".pypirc", "credentials file"),
        (".git-credentials", "credentials file"),
        ("credentials", "credentials file"),
        (".aws/credentials", "credentials file"),
        ("kubeconfig", "credentials file"),
        ("home/.kube/config", "credentials file"),
        (".docker/config.json", "credentials file"),
        (".ssh/work", "credentials file"),
        ("infra/terraform.tfstate", "credentials file"),
        ("infra/terraform.tfstate.1699999999.backup", "credentials file"),
        ("infra/prod.tfstate", "credentials file"),
        ("gha-creds-0123456789abcdef.json", "credentials file"),
        ("prod.env", "environment file"),
        ("docker/app.env", "environment file"),
        ("server.pem.old", "private key file"),
        (".server.pem.swp", "private key file"),
        (".npmrc~", "credentials file"),
        ("#.netrc#", "credentials file"),
        ("credentials.json.bak.2", "credentials file"),
        ("server.key.orig.1~", "private key file"),
        *[(name, "environment file") for name in (".flaskenv", ".dev.vars")],
        *[(f"id_{kind}", "private key file") for kind in ("dsa", "ed448", "xmss")],
        *[(f"a.{end}", "private key file") for end in ("p8", "pk8", "agekey")],
        *[(f"a.{end}", "key store") for end in STORES],
        *[(name, "credentials file") for name in CREDENTIALS],
    ],
)
def test_names_of_keys_and_credentials_are_found_at_any_depth(path: str, kind: str) -> None:
    assert guard.name_finding(path.encode()) == kind
    assert guard.name_finding(b"d\xc3\xa9p\xf4t/\xff/" + path.encode()) == kind


@pytest.mark.parametrize(
    "path",
    [
        "id_rsa.pub", ".ssh/work.pub", ".ssh/config", ".ssh/known_hosts", "docs/id_rsa.md",
        "test_credentials.py", "public.pem", "src/credentials.rs", "keys.py", "monkey.txt",
        "pemmican.txt", ".npmrc.example", "docker/config.json", "kube/config", "package.json",
        "Keystore.java", "turnkey/readme", "certs/rsa_public_key.pem", "secrets.py",
        "a.key/readme.txt", "example.env", "ci/test.env", "keys.py.orig", ".keys.py.swp",
        "id_rsa.pub~", "release-1.2.key.md", "~", "a.bak", "#", ".1", "main.tf", "pub.pem",
        "server-pub.key", "pubkey.pem", ".ssh/authorized_keys", "schema.env", "app.ci.env",
        "default.env", "defaults.env",
        *[f"id_rsa.{end}" for end in (*CODE, *EXAMPLES)],
        *[f"{kind}.env" for kind in EXAMPLES],
    ],
)  # fmt: skip
def test_ordinary_names_travel(path: str) -> None:
    assert guard.name_finding(path.encode()) is None


@given(st.binary(max_size=60))
def test_any_bytes_may_be_a_name(path: bytes) -> None:
    kind = guard.name_finding(path)
    assert kind is None or kind
    assert guard.never(b"x/" + path + b"/.env")


def test_a_file_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    assert DEFAULT_LIMIT == 5242880
    assert guard.size_finding(b"x", DEFAULT_LIMIT) is None
    found = guard.size_finding(b"x", DEFAULT_LIMIT + 1, where="worktree")
    assert found is not None
    assert "5242881" in found.kind
    assert found.where == "worktree"


def test_a_limit_may_be_given() -> None:
    assert guard.size_finding(b"x", 11, 10) is not None
    assert guard.size_finding(b"x", 10, 10) is None


def test_a_fingerprint_depends_on_kind_path_and_secret_and_on_nothing_else() -> None:
    one = guard.fingerprint("token", b"a", b"s3cret")
    assert one == guard.fingerprint("token", b"a", b"s3cret")
    others = {
        guard.fingerprint("key", b"a", b"s3cret"),
        guard.fingerprint("token", b"b", b"s3cret"),
        guard.fingerprint("token", b"a", b"s3cres"),
        guard.fingerprint("token", b"as", b"3cret"),
    }
    assert len(others | {one}) == 5
    assert len(one) == 16


def test_the_place_is_not_part_of_the_fingerprint() -> None:
    here = guard.finding(b"a", "token", b"secret-value", "worktree")
    assert here.fingerprint == guard.finding(b"a", "token", b"secret-value", "index").fingerprint


@pytest.mark.parametrize(
    ("secret", "seen"),
    [
        (b"abcdefghij", "abcd\u2026"),
        (b"abcd", "ab\u2026"),
        (b"a", "\u2026"),
        (b"\x1b[2Jabcdef", "\\x1b[2J\u2026"),
        ("密码一二三四五六".encode(), "密码一二\u2026"),
        (b"", "\u2026"),
    ],
)
def test_at_most_four_characters_are_shown(secret: bytes, seen: str) -> None:
    assert guard.shown(secret) == seen


def test_findings_are_waived_by_their_fingerprint_only() -> None:
    one = guard.finding(b"a", "token", b"first-secret", "")
    two = guard.finding(b"b", "token", b"other-secret", "")
    assert guard.decide([two, one], set()) == ([one, two], [])
    assert guard.decide([one, two], {one.fingerprint.upper()}) == ([two], [one])
    assert guard.decide([one, two], {one.fingerprint[:15], "token", ""}) == ([one, two], [])


def test_the_same_finding_in_two_places_counts_once() -> None:
    one = guard.finding(b"a", "token", b"first-secret", "index")
    two = guard.finding(b"a", "token", b"first-secret", "worktree")
    assert len(guard.decide([one, two], set())[0]) == 1


def test_a_name_is_found_with_its_place() -> None:
    found = guard.named(b"a/.env", "worktree")
    assert found is not None
    assert (found.kind, found.shown, found.where) == ("environment file", "", "worktree")
    assert guard.named(b"a/env", "worktree") is None


def test_a_line_says_path_kind_beginning_place_and_how_to_waive() -> None:
    found = guard.finding(b"tests/f.json", "GitHub token", b"ghp-not-one-really", "stash 0")
    assert guard.render([found]) == [
        f"tests/f.json: GitHub token ghp-\u2026 in stash 0  [--allow {found.fingerprint}]"
    ]


def test_a_line_about_a_name_says_nothing_of_what_is_not_known() -> None:
    found = guard.named(b".env", "")
    assert found is not None
    line = f".env: environment file  [--allow {found.fingerprint}]"
    assert guard.render([found]) == [line]


def test_a_line_about_what_has_no_path_begins_with_what_it_is() -> None:
    found = guard.finding(b"", "GitHub token", b"ghp-not-one-really", "message of commit 12ab")
    (line,) = guard.render([found])
    assert line.startswith("GitHub token ghp-\u2026 in message of commit 12ab  [--allow ")


def test_a_path_cannot_act_on_a_terminal() -> None:
    found = Finding(b"a\x1b[31m\n\xff\xe2\x80\xae.txt", "size", "", "", "0" * 16)
    (line,) = guard.render([found])
    assert line.startswith("a\\x1b[31m\\n\\xff\\u202e.txt: size")


def test_many_findings_are_cut_and_counted() -> None:
    found = [guard.finding(b"%d" % n, "token", b"%032d" % n, "") for n in range(30)]
    lines = guard.render(found, 20)
    assert len(lines) == 21
    assert lines[-1] == "and 10 more"
    assert len(guard.render(found, 30)) == 30


@pytest.mark.parametrize(
    ("paths", "redacted", "begins", "size"),
    [
        (["a.py"], False, "take it out (also of the stash", True),
        (["a.py"], True, "take it out (also of the stash", True),
        (["transcript of x"], False, "--redact puts a marker", False),
        (["transcript of x"], True, "what is signed, hashed or compressed", False),
        (["transcript of x", "a.py"], False, "--redact puts a marker", True),
    ],
)
def test_what_to_do_is_said_of_where_the_findings_are(
    paths: list[str], redacted: bool, begins: str, size: bool
) -> None:
    said = guard.advice(
        [guard.finding(path.encode(), "token", b"secret", "") for path in paths], redacted=redacted
    )
    assert said.startswith(begins)
    assert ("take the rest out" in said) is (len(paths) > 1)
    assert ("--max-size" in said) is size
    assert "--allow FINGERPRINT" in said
