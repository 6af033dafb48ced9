"""Large files of git-lfs that no server has: their contents travel, in history and index too."""

import hashlib
from pathlib import Path

import pytest

from handsoff.core.checkout.lfs import place_of
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.running import at_home, inside


def keep(machine: Machine, content: bytes) -> str:
    """Put a content where git-lfs keeps it, and return its pointer."""
    digest = hashlib.sha256(content).hexdigest()
    place = kept(machine, content)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"


def kept(machine: Machine, content: bytes) -> Path:
    digest = hashlib.sha256(content).hexdigest()
    return machine.top / ".git" / "lfs" / "objects" / place_of(digest)


@pytest.fixture
def modelling(forked: Monday) -> Monday:
    """Return Monday with a pointer in a pushed commit, in an unpushed one, and staged."""
    m1 = forked.m1
    for content, end in ((b"pushed", "push"), (b"committed", "commit"), (b"staged", "add")):
        m1.write("model.bin", keep(m1, content))
        m1.git("add", "model.bin")
        if end != "add":
            m1.git("commit", "-q", "-m", "model", "--", "model.bin")
        if end == "push":
            m1.git("push", "-q", "--no-verify", "origin", WORK)
    return forked


def test_contents_that_no_server_has_arrive_where_git_lfs_looks(modelling: Monday) -> None:
    m1, m2 = modelling.m1, modelling.m2
    with at_home(m2) as there:
        inside(m1, "send", "m2", "--at", there.address).ok()
    inside(m2, "catch", WORK).ok()
    for content in (b"committed", b"staged"):
        assert kept(m2, content).read_bytes() == content
    assert not kept(m2, b"pushed").exists()


def test_a_content_over_the_limit_is_refused_by_name(modelling: Monday) -> None:
    m1 = modelling.m1
    with at_home(modelling.m2) as there:
        ran = inside(m1, "send", "m2", "--at", there.address, "--max-size", "8")
        assert ran.code == 3
        assert f".git/lfs/{hashlib.sha256(b'committed').hexdigest()}" in ran.err
