"""SSHSIG: who signed what, for which purpose; and nothing else gets a name out of it."""

import subprocess
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.ids import fingerprint
from handsoff.core.sshwire import armor, message_to_sign, openssh_public, signer, string
from handsoff.errors import DamagedError
from tests.kit.signing import M1, M2

HEAD, FOOT = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
SIGNED = M1.sign(b"hello", "git")


def wrapped(blob: bytes) -> str:
    """Return ``blob`` as an armored signature."""
    return f"{HEAD}\n{b64encode(blob).decode()}\n{FOOT}"


def blob_of(
    *,
    magic: bytes = b"SSHSIG",
    version: int = 1,
    key: bytes = string(b"ssh-ed25519") + string(M1.key),
    space: bytes = b"git",
    reserved: bytes = b"",
    hashed: bytes = b"sha512",
    signature: bytes | None = None,
    rest: bytes = b"",
) -> bytes:
    """Return the bytes of a signature over ``hello``, with fields as given."""
    raw = M1.secret.sign(message_to_sign(b"hello", "git"))
    signed = string(b"ssh-ed25519") + string(raw) if signature is None else signature
    fields = (key, space, reserved, hashed, signed)
    return magic + version.to_bytes(4, "big") + b"".join(map(string, fields)) + rest


@given(st.binary(max_size=200), st.sampled_from(["git", "handsoff-parcel", "x y", "é"]))
def test_a_signature_names_the_key_that_made_it(message: bytes, namespace: str) -> None:
    assert signer(M1.sign(message, namespace), namespace, message) == M1.key
    assert signer(M2.sign(message, namespace), namespace, message) == M2.key


def test_a_signature_for_another_purpose_does_not_count() -> None:
    for namespace in ("handsoff-parcel", "", "gi", "git ", "Git", "git\0"):
        assert signer(SIGNED, namespace, b"hello") is None
    assert signer(wrapped(blob_of(space=b"handsoff-card")), "handsoff-card", b"hello") is None
    assert signer(wrapped(blob_of()), "git", b"hello") == M1.key


def test_a_signature_over_another_message_does_not_count() -> None:
    for message in (b"", b"hello ", b"Hello", b"hello\n"):
        assert signer(SIGNED, "git", message) is None


def test_a_signature_under_another_key_does_not_count() -> None:
    other = string(b"ssh-ed25519") + string(M2.key)
    assert signer(wrapped(blob_of(key=other)), "git", b"hello") is None


@pytest.mark.parametrize("key", [b"", b"\0" * 31, b"\0" * 33, b"\0" * 32, b"\xff" * 32])
def test_no_key_of_a_wrong_size_or_of_no_strength_counts(key: bytes) -> None:
    blob = blob_of(key=string(b"ssh-ed25519") + string(key))
    assert signer(wrapped(blob), "git", b"hello") is None


@pytest.mark.parametrize("size", [0, 1, 63, 65, 128])
def test_no_signature_of_a_wrong_size_counts(size: int) -> None:
    blob = blob_of(signature=string(b"ssh-ed25519") + string(b"s" * size))
    assert signer(wrapped(blob), "git", b"hello") is None


@pytest.mark.parametrize(
    ("blob", "what"),
    [
        (b"", "wrong magic or version"),
        (blob_of(magic=b"SSHSIH"), "wrong magic or version"),
        (blob_of(version=2), "wrong magic or version"),
        (blob_of(version=0), "wrong magic or version"),
        (blob_of(reserved=b"x"), "sha512 is expected"),
        (blob_of(hashed=b"sha256"), "sha512 is expected"),
        (blob_of(hashed=b""), "sha512 is expected"),
        (blob_of(key=string(b"ssh-rsa") + string(M1.key)), "not an Ed25519 key"),
        (blob_of(key=string(b"ssh-ed25519")), "not an Ed25519 key"),
        (blob_of(key=string(b"ssh-ed25519") + string(M1.key) * 2), "not an Ed25519 key"),
        (blob_of(key=b""), "not an Ed25519 key"),
        (blob_of(signature=string(b"ssh-dss") + string(b"s" * 64)), "not an Ed25519 key"),
        (blob_of(signature=b"s" * 64), "cut short"),
        (blob_of(rest=string(b"more")), "wrong number of fields"),
        (blob_of(rest=b"\0"), "cut short"),
        (blob_of() + blob_of(), "cut short"),
        (blob_of()[:-1], "cut short"),
        (b"SSHSIG\0\0\0\1" + b"\xff\xff\xff\xff", "cut short"),
    ],
)
def test_a_blob_that_is_no_signature_of_one_key_is_damaged(blob: bytes, what: str) -> None:
    with pytest.raises(DamagedError, match=what):
        signer(wrapped(blob), "git", b"hello")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        HEAD,
        FOOT,
        f"{HEAD}\n{FOOT}",
        SIGNED + SIGNED,
        f"{SIGNED}\n{SIGNED}",
        SIGNED.replace(FOOT, ""),
        SIGNED.replace(HEAD, "-----BEGIN PGP SIGNATURE-----"),
        SIGNED.replace("U1NIU0lH", "SSHSIG"),
        SIGNED.replace("\n", "\r\n"),
        " " + SIGNED,
        SIGNED + " ",
        SIGNED.replace("=", ""),
        f"{HEAD}\n@@@@\n{FOOT}",
        f"{HEAD}\né\n{FOOT}",
        f"{HEAD}\n\udcff\n{FOOT}",
        f"{HEAD}\n\N{FULLWIDTH LATIN CAPITAL LETTER A}AAA\n{FOOT}",
        f"{HEAD}\n{'A' * 4096}\n{FOOT}",
    ],
    ids=range(19),
)
def test_a_text_that_is_no_armored_signature_is_damaged(text: str) -> None:
    with pytest.raises(DamagedError, match="not an SSH signature"):
        signer(text, "git", b"hello")


@given(st.text(max_size=300) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_any_text_is_damaged_and_nothing_worse(text: str) -> None:
    for armored in (text, f"{HEAD}\n{text}\n{FOOT}"):
        with pytest.raises(DamagedError):
            signer(armored, "git", b"hello")


@given(st.binary(max_size=300))
def test_any_bytes_within_the_armor_name_nobody(data: bytes) -> None:
    for blob in (data, b"SSHSIG\0\0\0\1" + data):
        try:
            assert signer(wrapped(blob), "git", b"hello") is None
        except DamagedError as error:
            assert "not an" in str(error)


@given(st.integers(0, 10_000), st.integers(0, 7))
def test_no_bit_of_a_signature_can_be_turned(at: int, bit: int) -> None:
    blob = bytearray(blob_of())
    blob[at % len(blob)] ^= 1 << bit
    try:
        assert signer(wrapped(bytes(blob)), "git", b"hello") is None
    except DamagedError as error:
        assert "not an" in str(error)


@given(st.integers(0, 400))
def test_a_signature_that_is_cut_anywhere_is_damaged(end: int) -> None:
    for cut in (SIGNED[: min(end, len(SIGNED) - 1)], wrapped(blob_of()[: end % len(blob_of())])):
        with pytest.raises(DamagedError):
            signer(cut, "git", b"hello")


def test_the_armor_is_the_one_that_openssh_writes() -> None:
    lines = SIGNED.split("\n")
    assert (lines[0], lines[-1]) == (HEAD, FOOT)
    assert max(map(len, lines[1:-1])) == 70
    assert b64decode("".join(lines[1:-1])) == blob_of()
    assert signer(SIGNED + "\n", "git", b"hello") == M1.key
    assert armor(M1.key, "git", b"s" * 64).isascii()


def test_ssh_keygen_agrees_about_the_key_and_the_signature(tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_text(openssh_public(M1.key) + "\n")
    (tmp_path / "allowed").write_text(f"m1 {openssh_public(M1.key)}\n")
    (tmp_path / "sig").write_text(M1.sign(b"hello", "handsoff-parcel") + "\n")

    def verified(namespace: str, message: bytes) -> bool:
        done = subprocess.run(
            ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "m1", "-n", namespace, "-s",
             "sig"],
            cwd=tmp_path, input=message, capture_output=True, check=False,
        )  # fmt: skip
        return done.returncode == 0

    assert verified("handsoff-parcel", b"hello")
    assert not verified("git", b"hello")
    assert not verified("handsoff-parcel", b"hell0")
    listed = subprocess.run(
        ["ssh-keygen", "-lf", "key.pub"], cwd=tmp_path, capture_output=True, check=True
    )
    assert listed.stdout.split()[1].decode() == fingerprint(M1.key)
