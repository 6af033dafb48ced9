"""A certificate counts for the push that it was made for, and for no other."""

import pytest

from handsoff.core.remote.pushcert import LIMIT, read_certificate
from handsoff.errors import DamagedError
from tests.kit.signing import M1

A, B = "a" * 40, "b" * 40
HEAD = "certificate version 0.1\npusher SHA256:x 1893456000 +0000\npushee ssh://h/r\nnonce n1\n"
BODY = f"\n{A} {B} refs/heads/feat/x\n{A} {B} refs/heads/a b\n"


def made(text: str = HEAD + BODY, namespace: str = "git") -> bytes:
    return f"{text}{M1.sign(text.encode(), namespace)}\n".encode()


def test_it_says_who_signed_which_updates() -> None:
    read = read_certificate(made(), nonce="n1", status="OK")
    assert read.key == M1.key
    assert read.updates == {("refs/heads/feat/x", A, B), ("refs/heads/a b", A, B)}


@pytest.mark.parametrize("status", ["", "BAD", "SLOP", "MISSING", "UNSOLICITED", "ok"])
def test_only_a_fresh_nonce_counts(status: str) -> None:
    with pytest.raises(DamagedError, match="it was not made for this push"):
        read_certificate(made(), nonce="n1", status=status)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (made(HEAD.replace("n1", "n2") + BODY), "another nonce"),
        (made(HEAD + "nonce n2\n" + BODY), "another nonce"),
        (made(HEAD.replace("nonce n1\n", "") + BODY + "nonce n1\n"), "another nonce"),
        (made(BODY), "not a certificate"),
        (made("tree x\n" + HEAD + BODY), "not a certificate"),
        ((HEAD + BODY).encode(), "not a certificate"),
        (made(namespace="handsoff-card"), "does not hold"),
        (made().replace(b"feat/x", b"feat/y"), "does not hold"),
        (made().replace(b"SSH SIGNATURE", b"PGP SIGNATURE"), "not a certificate"),
        (made() + b"x", "not an SSH signature"),
        (made(HEAD + f"\n{A} {B}\n"), "no update of a ref"),
        (made() + b"x" * LIMIT, "over the limit"),
    ],
)
def test_what_is_not_a_whole_certificate_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(DamagedError, match=said):
        read_certificate(data, nonce="n1", status="OK")


def test_a_server_that_gives_no_nonce_gets_no_certificate() -> None:
    with pytest.raises(DamagedError, match="not made for this push"):
        read_certificate(made(HEAD.replace("n1", "") + BODY), nonce="", status="OK")
