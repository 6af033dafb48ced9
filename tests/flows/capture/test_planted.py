"""What others may have put where handsoff looks: links, names that read as options, old parcels."""

import ast
import os
from dataclasses import replace
from pathlib import Path

import pytest

from handsoff.core.checkout.trees import Leaf, graft
from handsoff.core.objects import LINK
from handsoff.edge.git.sinks import Storing
from handsoff.edge.ssh.ssh import dial
from handsoff.errors import TrustError
from tests.kit.forger import Forger
from tests.kit.machines import git
from tests.kit.monday import WORK, Monday, send
from tests.kit.running import at_home, inside, refused

ROOT = Path(__file__).resolve().parents[3] / "handsoff"


def test_a_page_that_is_a_link_is_written_as_one_and_never_read_through(
    monday: Monday, tmp_path: Path
) -> None:
    forger = Forger.at(monday, tmp_path)
    secret = tmp_path / "id_ed25519"
    secret.write_text("## Next\n\na private key\n")
    leaf = Leaf(LINK, forger.store.write("blob", os.fsencode(secret)))
    put = Storing(forger.store).put
    tree = graft(forger.store.tree, forger.honest.work_tree, {b".wip/HANDOFF.md": leaf},
                 lambda data: put("tree", data, b"", ""))  # fmt: skip
    file = forger.offer(replace(forger.honest, work_tree=tree))
    inside(monday.m2, "receive", file).ok()
    caught = inside(monday.m2, "catch", WORK, "--json").ok()
    assert (monday.m2.top / ".wip/HANDOFF.md").readlink() == secret
    assert "private" not in caught.out + caught.err
    refused(inside(monday.m2, "page"), 8, "a link")
    refused(inside(monday.m2, "send", "m3", "--to-file", tmp_path / "on"), 8, "a link")
    assert not (tmp_path / "on").exists()


@pytest.mark.parametrize("name", ["inbox", "incoming"])
def test_a_link_in_the_place_of_a_folder_of_ours_is_refused(
    monday: Monday, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "work.handsoff"
    inside(monday.m1, "send", "m2", "--to-file", file).ok()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (monday.m2.home / name).symlink_to(theirs)
    refused(inside(monday.m2, "receive", file), 8, "is a link")
    assert [*theirs.iterdir()] == []


def test_a_link_in_the_place_of_the_private_store_or_of_a_file_we_write_is_not_followed(
    monday: Monday, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    kept = theirs / "kept"
    kept.write_text("theirs")
    scratch = monday.m2.top / ".git/handsoff/scratch"
    scratch.symlink_to(theirs)
    addresses = monday.m1.home / "addresses.json"
    addresses.unlink(missing_ok=True)
    addresses.symlink_to(theirs / "absent.json")
    send(monday)
    assert addresses.is_file()
    assert not addresses.is_symlink(), "a link is replaced, not written through"
    inside(monday.m2, "catch", WORK)
    assert [*theirs.iterdir()] == [kept]
    assert kept.read_text() == "theirs"


def test_what_is_ours_is_private_whatever_the_umask_is(monday: Monday, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        send(monday)
        inside(monday.m2, "catch", WORK).ok()
        inside(monday.m2, "init", "--name", "m9", HANDSOFF_HOME=str(tmp_path / "fresh"))
    finally:
        os.umask(before)
    folders = [tmp_path / "fresh", *(m.home / name for m in (monday.m1, monday.m2)
               for name in ("inbox", "incoming")), monday.m2.top / ".git/handsoff"]  # fmt: skip
    files = [*(tmp_path / "fresh").glob("*.key"), *monday.m1.home.glob("*.json")]
    assert len(files) >= 3
    for path in [*(f for f in folders if f.exists()), *files]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_no_plain_text_is_ever_in_a_folder_that_others_share() -> None:
    calls = [
        (path.name, node)
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("tempfile.")
    ]
    assert calls
    assert [name for name, call in calls if "dir" not in {word.arg for word in call.keywords}] == []


@pytest.mark.parametrize(
    "name",
    [
        "--upload-pack=touch {}", "-oProxyCommand=touch {}", "ext::sh -c touch% {}", "-u", "--help",
        "$(touch {})", "; touch {}", "../../x", "@{{-1}}", "HEAD", "x.lock", "-", "\x1b]0;x\x07",
        "ssh://-oProxyCommand=touch%20{}/x",
    ],
)  # fmt: skip
def test_a_name_that_reads_as_an_option_or_a_command_is_a_name(
    monday: Monday, tmp_path: Path, name: str
) -> None:
    trace = tmp_path / "trace"
    hostile = name.format(trace)
    before = monday.untouched()
    for words in (
        ["catch", "--", hostile], ["send", "--to-file", str(tmp_path / "x"), "--", hostile],
        ["send", "m3", "--at", hostile], ["send", "m3", "--via", hostile],
        ["page", "--no-edit", f"--as={hostile}"], ["doctor", f"--of={hostile}", "--keep", "here"],
    ):  # fmt: skip
        said = inside(monday.m2, *words)
        assert "Traceback" not in said.err, words
        assert "\x1b" not in said.out + said.err
    assert not trace.exists()
    assert {k: v for k, v in monday.untouched().items() if k == "refs"} == {"refs": before["refs"]}


@pytest.mark.parametrize("url", ["ext::sh -c 'touch {}'", "ssh://-oProxyCommand=touch {}/x",
                                 "--upload-pack=touch {}"])  # fmt: skip
def test_a_remote_that_is_a_command_is_not_run(monday: Monday, tmp_path: Path, url: str) -> None:
    trace = tmp_path / "trace"
    monday.m2.git("config", "remote.origin.url", url.format(trace))
    for words in (["status"], ["doctor"], ["catch", WORK]):
        assert "Traceback" not in inside(monday.m2, *words).err
    assert not trace.exists()


def test_the_remote_has_no_word_of_the_files_and_no_name_of_one(monday: Monday) -> None:
    listed = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    before = set(git(monday.remote.path, *listed).splitlines())
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    inside(monday.m1, "history", WORK).ok()
    new = sorted(set(git(monday.remote.path, *listed).splitlines()) - before)
    assert len(new) > 3
    raw = monday.m1.run("git", "-C", monday.remote.path, "cat-file", "--batch",
                        given="".join(f"{oid}\n" for oid in new)).ok().out  # fmt: skip
    assert WORK in raw, "whose work it is, is told"
    for word in ("the one sentence", "money", "MONEY", "rounding.py", "notes.md", "not-a-real",
                 "experiment"):  # fmt: skip
        assert word not in raw, word


def test_a_parcel_that_was_caught_once_is_worth_nothing_again(
    monday: Monday, tmp_path: Path
) -> None:
    file = tmp_path / "work.handsoff"
    inside(monday.m1, "send", "m2", "--to-file", file).ok()
    inside(monday.m2, "receive", file).ok()
    inside(monday.m2, "catch", WORK).ok()
    monday.m2.write("src/money.py", "MONEY = 2\n")
    inside(monday.m2, "save").ok()
    replayed = inside(monday.m2, "receive", file)
    again = inside(monday.m2, "catch", WORK)
    assert (replayed.code, again.code) == (0, 0)
    assert (monday.m2.top / "src/money.py").read_text() == "MONEY = 2\n"
    assert monday.carrier == ("held", "m2", 2)


def test_a_machine_that_was_revoked_is_not_let_in(monday: Monday) -> None:
    inside(monday.m1, "roster", "revoke", "m2", "--reason", "lost", "--yes").ok()
    inside(monday.m3, "status").ok()
    with at_home(monday.m3) as there:
        host, _, port = there.address.rpartition(":")
        with pytest.raises(TrustError):
            dial(host, int(port), private_key=monday.m2.member().seed,
                 host_key=monday.m3.member().public_key)  # fmt: skip
