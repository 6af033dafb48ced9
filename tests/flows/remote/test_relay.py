"""By way of the remote: the parcel rests there sealed, and no branch moves."""

import signal
from pathlib import Path

import pytest

from handsoff.flows.remote import relay
from tests.kit.compare import look, untouched
from tests.kit.machines import git
from tests.kit.monday import WORK, Monday
from tests.kit.running import background, inside, refused


def parcel_refs(monday: Monday) -> list[str]:
    return [*monday.remote.refs("refs/wip/snap")]


def test_a_work_waits_on_the_remote_for_a_machine_that_is_off(monday: Monday) -> None:
    travels, before = monday.travels, untouched(monday.m1.top)
    branches = monday.remote.refs("refs/heads")
    told = inside(monday.m1, "send", "m2", "--via", "remote", "--json").ok().json
    assert told["route"] == {"name": "remote", "why": "asked for"}
    assert untouched(monday.m1.top) == before
    assert parcel_refs(monday) == [f"refs/wip/snap/feat%2Fcny/{told['parcel']}"]
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels
    assert monday.remote.refs("refs/heads") == branches


def test_without_an_address_the_remote_is_the_way(monday: Monday) -> None:
    told = inside(monday.m1, "send", "m2", "--json").ok().json
    assert told["route"] == {"name": "remote", "why": "no address of m2 is known"}


def test_nothing_on_the_remote_can_be_read_by_others(monday: Monday) -> None:
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    (ref,) = parcel_refs(monday)
    for blob in git(monday.remote.path, "ls-tree", "-r", "--name-only", ref).splitlines():
        body = monday.m1.run("git", "cat-file", "blob", f"{ref}:{blob}", cwd=monday.remote.path)
        assert body.out.startswith("age-encryption.org/v1\n")
    assert inside(monday.m3, "catch", WORK).code == 4


def test_a_parcel_in_several_pieces_is_put_together(
    monday: Monday, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "PIECE", 1000)
    travels = monday.travels
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    (ref,) = parcel_refs(monday)
    assert len(git(monday.remote.path, "ls-tree", ref).splitlines()) > 3
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels


def replace_parcel(monday: Monday, blob: bytes, name: str = "00000", mode: str = "100644") -> None:
    """Let the ref of the only parcel name a commit with one piece, ``blob``."""
    path, (ref,) = monday.remote.path, parcel_refs(monday)
    file = path / "piece"
    file.write_bytes(blob)
    oid = git(path, "hash-object", "-w", str(file))
    tree = git(path, "mktree", "--missing", given=f"{mode} blob {oid}\t{name}\n")
    commit = git(
        path, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-m", "x", tree
    )  # fmt: skip
    git(path, "update-ref", ref, commit)


@pytest.mark.parametrize(
    ("blob", "code", "part"),
    [(b"", 9, "cut short or was changed"), (b"junk" * 1000, 9, "not a parcel of handsoff")],
)
def test_a_parcel_that_was_changed_on_the_remote_is_refused(
    monday: Monday, blob: bytes, code: int, part: str
) -> None:
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    replace_parcel(monday, blob)
    before = monday.untouched()
    refused(inside(monday.m2, "catch", WORK), code, part)
    assert monday.untouched() == before
    assert not [*(monday.m2.home / "incoming").iterdir()]


def test_a_parcel_of_other_things_than_files_is_refused(monday: Monday) -> None:
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    replace_parcel(monday, b"somewhere", mode="120000")
    before = monday.untouched()
    refused(inside(monday.m2, "catch", WORK), 9, "is not one of handsoff's")
    assert monday.untouched() == before


def test_a_parcel_that_went_from_the_remote_is_asked_for_as_a_file(
    monday: Monday, tmp_path: Path
) -> None:
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    (ref,) = parcel_refs(monday)
    git(monday.remote.path, "update-ref", "-d", ref)
    before = monday.untouched()
    refused(
        inside(monday.m2, "catch", WORK),
        6,
        "neither here nor on the remote",
        "on m1: handsoff save",
    )
    assert monday.untouched() == before


def test_a_catch_killed_once_the_parcel_was_kept_leaves_nothing_when_it_is_made_again(
    monday: Monday,
) -> None:
    travels, incoming = monday.travels, monday.m2.home / "incoming"
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    with background(monday.m2, "catch", WORK, HANDSOFF_KILL_AT="listen.keep.after") as running:
        assert running.process.wait() == -signal.SIGKILL
    assert sorted(path.suffix for path in incoming.iterdir()) == [".open", ".part"]
    inside(monday.m2, "catch", WORK).ok()
    assert look(monday.m2.top) == travels
    assert not [*incoming.iterdir()]
