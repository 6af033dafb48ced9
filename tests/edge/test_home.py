"""What a machine keeps beside its keys, and what of it is still true."""

from dataclasses import replace
from pathlib import Path

import pytest

from handsoff.core.parcels import manifest
from handsoff.edge.home import MANIFEST, Home, cache_folder
from handsoff.errors import DamagedError
from tests.core.parcels.test_manifest import GOOD


def put(home: Home, parcel: str, at: int) -> Path:
    folder = home.inbox / parcel
    folder.mkdir()
    (folder / MANIFEST).write_bytes(manifest.encode(replace(GOOD, parcel=parcel, at=at)))
    return folder


def test_a_clone_is_remembered_once_and_under_its_last_repository(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.folder.mkdir()
    assert home.clones() == []
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    for _ in range(2):
        home.remember_clone("a" * 40, tmp_path / "one")
        home.remember_clone("a" * 40, tmp_path / "two")
        home.remember_clone("b" * 40, tmp_path / "three")
    assert home.clones("a" * 40) == [tmp_path / "one", tmp_path / "two"]
    assert len(home.clones()) == 3
    home.remember_clone("b" * 40, tmp_path / "one")
    assert home.clones("a" * 40) == [tmp_path / "two"]
    assert home.clones("b" * 40) == [tmp_path / "three", tmp_path / "one"]
    assert home.clones("c" * 40) == []
    (tmp_path / "two").rmdir()
    assert home.clones("a" * 40) == []
    home.remember_clone("a" * 40, tmp_path / ("x" * 300))  # stands for what cannot be looked at
    assert home.clones("a" * 40) == []


def test_an_address_is_remembered_until_another_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.address_of("m") is None
    home.remember_address("m", "10.0.0.1:22")
    home.remember_address("n", "10.0.0.2:22")
    home.remember_address("m", "10.0.0.3:22")
    before = (tmp_path / "addresses.json").stat().st_ino
    home.remember_address("m", "10.0.0.3:22")
    assert (tmp_path / "addresses.json").stat().st_ino == before
    assert (home.address_of("m"), home.address_of("n")) == ("10.0.0.3:22", "10.0.0.2:22")


def test_parcels_come_oldest_first_and_only_verified_ones(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.parcels() == []
    put(home, "a" * 32, 3)
    put(home, "b" * 32, 1)
    put(home, "c" * 32, 3)
    (home.inbox / ("d" * 32)).mkdir()
    (home.inbox / "notes").mkdir()
    (home.inbox / "notes" / MANIFEST).write_text("not ours")
    assert [p.manifest.parcel[0] for p in home.parcels()] == ["b", "a", "c"]
    found = home.parcel("a" * 32)
    assert found is not None
    assert found.objects == home.inbox / ("a" * 32) / "objects"
    found.remove()
    found.remove()
    assert home.parcel("a" * 32) is None


@pytest.mark.parametrize("parcel", ["", ".", "..", "../inbox", "a" * 31, "a" * 32 + "/..", "/etc"])
def test_an_id_that_is_none_names_no_parcel(tmp_path: Path, parcel: str) -> None:
    home = Home(tmp_path)
    put(home, "a" * 32, 1)
    assert home.parcel(parcel) is None


def test_a_parcel_whose_manifest_was_changed_is_damaged(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (put(home, "a" * 32, 1) / MANIFEST).write_text("{}")
    with pytest.raises(DamagedError):
        home.parcel("a" * 32)


def test_the_folders_of_a_home_are_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for folder in (home.incoming, home.inbox):
        assert folder.is_dir()
        assert folder.stat().st_mode & 0o077 == 0
    assert cache_folder().name == "handsoff"
