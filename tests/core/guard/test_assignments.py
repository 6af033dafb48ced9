"""Secrets known by the name before them: which names say so, and where the value ends.

Values are put together when they are asked for, so that no scanner trips on this file.
"""

import pytest

from handsoff.core.guard import assignments

CHOSEN = "Wq7" + "xT2pLm9"  # as a person would choose
KEY = "aB3dE6gH" * 2 + "9jK2"  # as a program would make
NO_SECRET = (
    "name file path url uri type field label len length count hash sha256 digest checksum regex "
    "regexp pattern policy env var ref arn expiry ttl timeout limit hint prompt error "
    "message msg title ize ized size index node kind class column header param version "
    "endpoint prefix suffix reset required enabled _id -id _ids"
)


def found(text: str) -> list[str]:
    return [value.decode() for value, _ in assignments.assigned(text.encode())]


def in_urls(text: str) -> list[str]:
    return [value.decode() for value, _ in assignments.in_urls(text.encode())]


@pytest.mark.parametrize("end", NO_SECRET.split())
def test_a_name_that_says_what_is_told_of_a_secret_is_not_its_name(end: str) -> None:
    joint = "" if end.startswith(("_", "-", "iz")) else "_"
    assert found(f'password{joint}{end} = "{CHOSEN}"') == []
    assert found(f'password{joint}{end}x9 = "{CHOSEN}"') == [CHOSEN]


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
        "f('password', 'aB3aB3aB3')", "f('password', 'stepNumber2Title')",
        "f('token', 'stepNumberTitleOf2')",
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
