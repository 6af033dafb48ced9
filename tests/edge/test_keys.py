"""A machine's keys: private, whole, its own, and the same after a restart."""

import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from handsoff.core.sshwire import signer
from handsoff.edge import keys
from handsoff.errors import DamagedError, TrustError, UnfitError, UsageError


def test_a_machine_is_the_same_when_it_is_loaded_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert keys.load(home) is None
    made = keys.create(home, "m1", "lin")
    loaded = keys.need(home)
    for read in (made, loaded):
        assert (read.name, read.person, read.home) == ("m1", "lin", home)
        assert (read.id, read.fingerprint) == (made.id, made.fingerprint)
        assert (read.public_key, read.seed, read.sealing, read.age_key) == (
            made.public_key,
            made.seed,
            made.sealing,
            made.age_key,
        )
    assert made.age_key.startswith("age1")
    assert made.sealing.startswith("AGE-SECRET-KEY-1")
    assert signer(made.sign(b"x", "git"), "git", b"x") == made.public_key


def test_nobody_else_can_read_the_keys_and_no_repr_shows_them(tmp_path: Path) -> None:
    made = keys.create(tmp_path / "home", "m1", "lin")
    assert (tmp_path / "home").stat().st_mode & 0o077 == 0
    for path in (tmp_path / "home").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    assert "SECRET" not in repr(made)


def test_two_machines_share_no_key(tmp_path: Path) -> None:
    one, two = (keys.create(tmp_path / name, "m", "lin") for name in ("a", "b"))
    assert len({one.id, two.id, one.sealing, two.sealing}) == 4


def test_openssh_reads_the_key_that_we_write(tmp_path: Path) -> None:
    made = keys.create(tmp_path, "m1", "lin")
    done = subprocess.run(
        ["ssh-keygen", "-lf", str(tmp_path / "signing.key")], capture_output=True, check=True
    )
    assert done.stdout.split()[1].decode() == made.fingerprint


@pytest.mark.parametrize("name", ["signing.key", "sealing.key"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_key_that_others_may_touch_is_not_used(tmp_path: Path, name: str, mode: int) -> None:
    keys.create(tmp_path, "m1", "lin")
    (tmp_path / name).chmod(mode)
    with pytest.raises(TrustError, match=f"others can read .*{name}") as caught:
        keys.load(tmp_path)
    assert "chmod 600" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("signing.key", None),
        ("sealing.key", None),
        ("sealing.key", b"\xff"),
        *[("signing.key", data) for data in (b"", b"\xff", b"[]")],
        *[("machine.json", data) for data in (b"", b"\xff", b"[]", b'{"name": "m1"}', b"{}")],
    ],
)
def test_keys_that_are_missing_or_no_keys_are_damaged(
    tmp_path: Path, name: str, data: bytes | None
) -> None:
    keys.create(tmp_path, "m1", "lin")
    if data is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(DamagedError):
        keys.load(tmp_path)


def test_a_key_of_another_kind_is_not_used(tmp_path: Path) -> None:
    keys.create(tmp_path, "m1", "lin")
    other = generate_private_key(SECP256R1())
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    (tmp_path / "signing.key").write_bytes(pem)
    with pytest.raises(TrustError, match="is not an Ed25519 key"):
        keys.load(tmp_path)


def test_keys_without_a_card_are_no_machine_yet(tmp_path: Path) -> None:
    keys.create(tmp_path, "m1", "lin")
    (tmp_path / "machine.json").unlink()
    assert keys.load(tmp_path) is None
    with pytest.raises(UsageError, match="this machine has no name yet") as caught:
        keys.need(tmp_path)
    assert "handsoff init" in str(caught.value.hint)


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(UnfitError, match="is no folder"):
        keys.create(tmp_path / "f", "m1", "lin")


def test_the_home_is_the_one_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keys.home_folder() == Path.home() / ".local" / "share" / "handsoff"
    monkeypatch.setenv("HANDSOFF_HOME", str(tmp_path / "here"))
    assert keys.home_folder() == tmp_path / "here"


def test_a_home_that_is_another_place_in_each_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HANDSOFF_HOME", "here/home")
    with pytest.raises(UsageError, match="HANDSOFF_HOME is here/home") as refused:
        keys.home_folder()
    assert f"HANDSOFF_HOME={tmp_path}/here/home" in (refused.value.hint or "")
