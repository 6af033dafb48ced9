"""Sealing: the same bytes come out, for the right machine, whole, or nothing does."""

import hashlib
import io
from pathlib import Path

import pyrage
import pytest

from handsoff.core.parcels.manifest import LIMIT, MAGIC
from handsoff.edge import keys, seal
from handsoff.edge.keys import Machine
from handsoff.errors import DamagedError, TrustError, UnfitError

PACK = bytes(range(256)) * 1024
SIGNATURE = "-----BEGIN SSH SIGNATURE-----\nx\n-----END SSH SIGNATURE-----"


@pytest.fixture
def m1(tmp_path: Path) -> Machine:
    return keys.create(tmp_path / "m1", "m1", "lin")


@pytest.fixture
def m2(tmp_path: Path) -> Machine:
    return keys.create(tmp_path / "m2", "m2", "lin")


def sealed(tmp_path: Path, *receivers: Machine, pack: bytes = PACK) -> Path:
    path = tmp_path / "parcel"
    seal.seal(path, io.BytesIO(pack), b'{"a":1}', SIGNATURE, [m.age_key for m in receivers])
    return path


def encrypted(tmp_path: Path, machine: Machine, data: bytes) -> Path:
    """Return an age file that holds any bytes."""
    path = tmp_path / "parcel"
    path.write_bytes(pyrage.encrypt(data, [pyrage.x25519.Recipient.from_str(machine.age_key)]))
    return path


@pytest.mark.parametrize("pack", [b"", b"x", PACK, b"y" * ((1 << 20) + 1)])
def test_what_was_sealed_comes_out_for_each_receiver(
    tmp_path: Path, m1: Machine, m2: Machine, pack: bytes
) -> None:
    path = sealed(tmp_path, m1, m2, pack=pack)
    for machine in (m1, m2):
        staging = tmp_path / "staging"
        opened = seal.unseal(path, staging, machine.sealing)
        assert (opened.manifest, opened.signature) == (b'{"a":1}', SIGNATURE)
        assert staging.read_bytes() == MAGIC + pack
        assert opened.pack_size == len(pack)
        assert seal.digest(staging, len(MAGIC)) == hashlib.sha256(pack).hexdigest()
        assert staging.stat().st_mode & 0o077 == 0


def test_the_file_is_private_measured_and_shows_nothing(tmp_path: Path, m1: Machine) -> None:
    path = tmp_path / "parcel"
    made = seal.seal(path, io.BytesIO(b"secret" * 99), b"manifest", SIGNATURE, [m1.age_key])
    data = path.read_bytes()
    assert (made.size, made.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert made.sha256 == seal.digest(path)
    assert path.stat().st_mode & 0o077 == 0
    assert not [word for word in (b"secret", b"manifest", MAGIC, b"SSH") if word in data]


def test_a_parcel_for_others_is_a_matter_of_trust(tmp_path: Path, m1: Machine, m2: Machine) -> None:
    with pytest.raises(TrustError, match="sealed to other machines"):
        seal.unseal(sealed(tmp_path, m1), tmp_path / "staging", m2.sealing)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.9, 0.9999])
def test_a_parcel_that_is_cut_is_damaged(tmp_path: Path, m1: Machine, share: float) -> None:
    path = sealed(tmp_path, m1)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(DamagedError) as caught:
        seal.unseal(path, tmp_path / "staging", m1.sealing)
    assert caught.value.hint == "have it sent again"


@pytest.mark.parametrize("share", [0.0005, 0.3, 0.6, 0.9999])
def test_a_parcel_with_a_turned_bit_is_damaged(tmp_path: Path, m1: Machine, share: float) -> None:
    path = sealed(tmp_path, m1)
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 1
    path.write_bytes(data)
    with pytest.raises((DamagedError, TrustError)):
        seal.unseal(path, tmp_path / "staging", m1.sealing)


def test_bytes_after_the_end_are_damage(tmp_path: Path, m1: Machine) -> None:
    path = sealed(tmp_path, m1)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(DamagedError):
        seal.unseal(path, tmp_path / "staging", m1.sealing)


def length(size: int) -> bytes:
    return size.to_bytes(4, "big")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "not a parcel"),
        (b"x", "not a parcel"),
        (MAGIC, "not a parcel"),
        (MAGIC[:-1] + b"x" + bytes(99), "not a parcel"),
        (MAGIC + bytes(7), "not a parcel"),
        (b"handsoff-parcel-2\n" + bytes(99), "not a parcel"),
        (MAGIC + length(1) + length(0), "trailer is malformed"),
        (MAGIC + b"abc" + length(2) + length(2), "trailer is malformed"),
        (MAGIC + length(0xFFFFFFFF) + length(0xFFFFFFFF), "trailer is malformed"),
        (MAGIC + bytes(LIMIT + 1) + length(LIMIT + 1) + length(0), "trailer is malformed"),
        (MAGIC + bytes(5000) + length(0) + length(4097), "trailer is malformed"),
        (MAGIC + b"{}\xff" + length(2) + length(1), "signature is malformed"),
    ],
    ids=range(12),
)
def test_what_is_inside_must_be_a_parcel(
    tmp_path: Path, m1: Machine, data: bytes, what: str
) -> None:
    with pytest.raises(DamagedError, match=what):
        seal.unseal(encrypted(tmp_path, m1, data), tmp_path / "staging", m1.sealing)


def test_an_empty_parcel_is_one(tmp_path: Path, m1: Machine) -> None:
    path = encrypted(tmp_path, m1, MAGIC + bytes(8))
    opened = seal.unseal(path, tmp_path / "staging", m1.sealing)
    assert (opened.pack_size, opened.manifest, opened.signature) == (0, b"", "")


def test_a_parcel_that_cannot_be_written_leaves_nothing(tmp_path: Path, m1: Machine) -> None:
    with pytest.raises(UnfitError, match="cannot write the parcel"):
        seal.seal(tmp_path / "no" / "p", io.BytesIO(), b"", SIGNATURE, [m1.age_key])


def test_the_pack_is_sealed_from_its_start_wherever_it_stood(tmp_path: Path, m1: Machine) -> None:
    pack = io.BytesIO(PACK)
    pack.seek(100)
    seal.seal(tmp_path / "p", pack, b"m", SIGNATURE, [m1.age_key])
    opened = seal.unseal(tmp_path / "p", tmp_path / "staging", m1.sealing)
    assert opened.pack_size == len(PACK)


def test_a_header_without_an_end_is_not_read_into_memory(
    tmp_path: Path, m1: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, _, rest = sealed(tmp_path, m1).read_bytes().partition(b"\n")
    stanza = b"-> X25519 " + b"A" * 43 + b"\n" + b"A" * 43 + b"\n"
    (tmp_path / "parcel").write_bytes(line + b"\n" + stanza * 2000 + rest)
    monkeypatch.setattr(pyrage, "decrypt_io", lambda *_: pytest.fail("it was read"))
    with pytest.raises(DamagedError, match="not a parcel"):
        seal.unseal(tmp_path / "parcel", tmp_path / "staging", m1.sealing)


@pytest.mark.parametrize("data", [b"m2.lan", b"-----BEGIN AGE ENCRYPTED FILE-----"])
def test_a_file_that_never_was_a_parcel_is_called_none(
    tmp_path: Path, m1: Machine, data: bytes
) -> None:
    (tmp_path / "notes.txt").write_bytes(data)
    with pytest.raises(DamagedError, match="not a parcel of handsoff"):
        seal.unseal(tmp_path / "notes.txt", tmp_path / "staging", m1.sealing)


def test_a_parcel_for_very_many_receivers_is_opened(tmp_path: Path, m1: Machine) -> None:
    path = sealed(tmp_path, *[m1] * 1000)
    assert seal.unseal(path, tmp_path / "staging", m1.sealing).pack_size == len(PACK)
