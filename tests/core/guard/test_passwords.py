"""Passwords: which values are none by the look of them.

Values are put together when they are asked for, so that no scanner trips on this file.
"""

import pytest

from handsoff.core.guard import passwords

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
