"""Passwords: which names say that a value is one, and which values are none by the look of them.

Values are put together when they are asked for, so that no scanner trips on this file.
"""

import pytest

from handsoff.core import passwords

CHOSEN = "Wq7" + "xT2pLm9"  # as a person would choose
KEY = "aB3dE6gH" * 2 + "9jK2"  # as a program would make
REFERENCES = (
    "$DB_PASS1", "${DB_PASS1}", "$(pass show db1)", "%DB_PASS1%", "%s", "%(pass1)s", "@{pass1}",
    "{{ pass1 }}", "<pass-1>", "[PASS1]", "://x1y2z3a4", "/run/secrets/db1", "/etc1", "./pass1.txt",
    "os.environ1", "process.env.P1", "self.pass1x", "this.pass1x", "config.pass1", "config[pass1]",
    "settings.P4SS", "env.PASS_1", "request.form1", "args.pass1x", "var.db_pass1", "vars.db_pass1",
    "local.db_pass1", "data.aws_p4ss", "secret.db_p4ss", "secrets.DB_P4SS", "module.db.out1",
    "Deno.env.get1", "import.meta.env1", "ENV[PASS1]", "vault:kv/db1", "op:team/db1", "ref:db1",
    "file:db1.txt", "arn:aws:sm:1", "env:DB_PASS1", "ssm:/prod/db1", "https:db1x.y", "http:db1.xyz",
    "ssh:db1.xyz", "keychain://db1",
)  # fmt: skip
EXAMPLES = (
    "my1-example", "placeholder1", "changeme12", "change-this1", "change_it12", "replaceme12",
    "replace-this1", "replace_with1", "your-pass1", "your_pass1", "dummy1234x", "redacted12",
    "insert12x", "to-do-12345", "todo12345", "sample12x", "not-real12", "not.a.real1", "notsecret1",
    "fake12345x", "mock12345x", "lorem1ipsum", "goes1-here", "a1<value", "a1>value", "a1b2c3..d",
    "a1xxxxb2", "a1b2**c3d", "a1b00000000", "z1234567", "abcdefg12", "foobar1234", "foo-bar1234",
    "test9x8y7", "q9x8y7test", "q9x8-test-y7", "password12", "passwd12", "my-pass12", "secret12!",
    "token1234", "admin1234", "root1234", "user1234", "guest1234", "default123", "qwerty1234",
    "letmein123", "postgres12", "p@ssw0rd12",
    "password12!",
)  # fmt: skip
NO_SECRET = (
    "name file path url uri type field label len length count hash sha256 digest checksum regex "
    "regexp pattern policy env var ref arn expiry ttl timeout limit hint prompt error "
    "message msg title ize ized size index node kind class column header param version "
    "endpoint prefix suffix reset required enabled _id -id _ids"
)


def found(text: str) -> list[str]:
    return [value.decode() for value, _ in passwords.assigned(text.encode())]


def in_urls(text: str) -> list[str]:
    return [value.decode() for value, _ in passwords.in_urls(text.encode())]


@pytest.mark.parametrize("value", REFERENCES)
def test_what_refers_to_a_secret_is_none(value: str) -> None:
    assert passwords.stands_in(value.encode())
    assert not passwords.is_password(value.encode())


@pytest.mark.parametrize("value", EXAMPLES)
def test_what_stands_for_a_secret_is_none(value: str) -> None:
    assert passwords.stands_in(value.encode())


@pytest.mark.parametrize("value", [CHOSEN, KEY, "mypass9!word", "os1xenviron", "vaulted9door"])
def test_what_only_begins_like_that_may_be_one(value: str) -> None:
    assert not passwords.stands_in(value.encode())
    assert passwords.is_password(value.encode())


@pytest.mark.parametrize("end", NO_SECRET.split())
def test_a_name_that_says_what_is_told_of_a_secret_is_not_its_name(end: str) -> None:
    joint = "" if end.startswith(("_", "-", "iz")) else "_"
    assert found(f'password{joint}{end} = "{CHOSEN}"') == []
    assert found(f'password{joint}{end}x9 = "{CHOSEN}"') == [CHOSEN]


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("aB3dE6gH", True),  # eight characters
        ("ab3de6gh", True),
        ("ab3de6g", False),  # fewer, of two kinds
        ("aB3dE6g", True),  # fewer, of three
        ("aB3c4aB3c", True),  # five that differ
        ("aB3cB3aB3", False),
        ("qwhgzvbnmk", False),  # a word
        ("9182736450", False),  # a number
        ("91827-36450", False),
        ("密码aB3dE6gH", False),
    ],
)
def test_a_password_is_long_or_mixed_and_no_word(value: str, is_one: bool) -> None:
    assert passwords.is_password(value.encode()) is is_one


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("aB3dE6gH9jK2mN5p", True),
        ("aB3dE6gH9jK2mN5", False),  # fifteen characters
        ("ab3de6gh9jk2mn5p", True),  # two kinds, a digit among them
        ("aBxdEygHzjKwmNvp", False),  # no digit
        ("9182736450918273", False),  # digits alone
        ("0a1b2c3d4e5f6a7b", False),  # hexadecimal, as ids are
        ("0A1B2C3D4E5F6A7B", False),
        ("sha512-aB3dE6gH9jK2mN5p", False),
        ("stepNumberTitleOf2", False),  # words put together
        ("STEP2NUMBER3TITLE", False),
        ("9tepNumberTitleOf2", True),  # which no word begins with
        ("stepNumberTitleOf2=", True),  # or ends with
        ("step1Word2Title3Abc", True),  # a number is no part of a word
        ("StepXYZTitleOfPage2", True),  # nor is each capital
        ("q1w2e3r4q1w2e3r4", False),  # little in it
    ],
)
def test_a_generated_secret_is_long_and_like_no_word_and_no_digest(
    value: str, is_one: bool
) -> None:
    assert passwords.looks_random(value.encode()) is is_one


@pytest.mark.parametrize(
    "line",
    [
        f"password = {CHOSEN}\n", f"password = {CHOSEN}  # for now\n", f"password={CHOSEN} -h db",
        f"Password={CHOSEN};Server=db", f"password = {CHOSEN} // old",
        f"密码是 {CHOSEN} 吧", f"口令\uff1a{CHOSEN}\n", f"DB_PASSWORD={CHOSEN},x",
        f"API_TOKEN={CHOSEN}",
        f"API_TOKEN='{CHOSEN}'", f"api_key: {KEY}\n", f'api_key = "{KEY}"', f"pwd was {CHOSEN} on",
        f"db_pw = '{CHOSEN}'", f"db_pass = '{CHOSEN}'", f"passphrase: {CHOSEN}\n",
        f"密钥\uff1a{KEY}\n",
        f"machine git.test login lin password {CHOSEN}", f"f('api_key', '{KEY}')",
        f"f('password', '{CHOSEN}')",
    ],
)  # fmt: skip
def test_a_value_after_its_name_is_found(line: str) -> None:
    assert found(line)[:1] in ([CHOSEN], [KEY])


@pytest.mark.parametrize(
    "name", ["password: ", "Password = ", "the pwd is ", "口令\uff1a", "db_pw="]
)
@pytest.mark.parametrize("end", ["", " ", "\t ", "\n", " \r\n", "\0"])
def test_a_line_ends_where_the_text_does(name: str, end: str) -> None:
    assert found(f"{name}{CHOSEN}{end}") == [CHOSEN]


@pytest.mark.parametrize("name", ["passwordExpiresAt: ", "tokenizer: ", "tokenizers = "])
def test_a_name_may_go_on(name: str) -> None:
    assert found(f"{name}{KEY}\n") == []


@pytest.mark.parametrize("letters", ["abcdef", "ABCDEF"])
def test_a_key_may_be_hexadecimal(letters: str) -> None:
    assert found(f'api_key = "{letters[:4] + "12"}{letters[0] * 26}"') != []
    assert found(f'api_key = "{letters[:3] + "12"}{letters[0] * 27}"') == []  # a rule, or zeros
    assert found(f'api_key = "{letters[:4] + "12"}{letters[0] * 25}"') == []


@pytest.mark.parametrize(
    "line",
    [
        f"API_TOKEN = {CHOSEN}\n", "password = 9182736450\n", f"password: {CHOSEN};",
        "the machine is on", f"dbTOKEN='{CHOSEN}'", "f('password', 'ab3de6gh9')",
        "f('password', 'aB3aB3aB3')", "f('token', 'stepNumberTitleOf2')",
        f"password = {CHOSEN} + salt", f"password = {CHOSEN}, user", f"password = {CHOSEN}(x)",
        f"password > {CHOSEN}\n", f"password: {CHOSEN}<T>", f"api_token = '{CHOSEN}'",
        f"Api_Token='{CHOSEN}'", f"API_TOKEN: '{CHOSEN}'", f"api_token={CHOSEN}",
        "password = user1.attr2name\n", "password = stepNumber2Title\n",
        "api_key = settings.aB3dE6gH9jK2mN5p\n", 'api_key = "$aB3dE6gH9jK2mN5p"',
        "machine git.test login lin password changeme12",
        "machine git.test login lin password word",
    ],
)  # fmt: skip
def test_what_may_be_code_or_prose_is_not_found(line: str) -> None:
    assert found(line) == []


@pytest.mark.parametrize("host", ["db.corp.test", "example.dev", "example.community", "[::1]"])
def test_a_password_in_a_url_is_found(host: str) -> None:
    assert in_urls(f"postgres://app:{CHOSEN}@{host}/x") == [CHOSEN]


@pytest.mark.parametrize(
    "url",
    [
        *[f"https://app:{CHOSEN}@example.{end}/x" for end in ("com", "org", "net")],
        f"https://{CHOSEN}:{CHOSEN}@db.test", "https://app:$PASS@db.test", f"://app:{CHOSEN}@db.test",
        f" ://app:{CHOSEN}@db.test",
    ],
)  # fmt: skip
def test_an_example_in_a_url_is_not_found(url: str) -> None:
    assert in_urls(url) == []
