"""Which tracked files travel as git has them, and which as they are on disk."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handsoff.core.checkout.trees import Leaf
from handsoff.core.objects import EXECUTABLE, FILE, oid_of
from handsoff.edge.git.filtered import Filtered, read_filtered, refuse_plaintext
from handsoff.errors import RefusedError
from tests.kit.checkout import Here

CRLF, LF, MIXED = b"a\r\nb\r\n", b"a\nb\n", b"a\r\nb\n"


def blob(data: bytes) -> str:
    return oid_of("blob", data)


def date(path: Path, seconds: int) -> None:
    """Let a file be written some time ago."""
    os.utime(path, (1700000000 + seconds, 1700000000 + seconds))


def filtered(here: Here, *outside: bytes, programs: bool = True) -> Filtered:
    return read_filtered(here.checkout, here.look(), outside, programs=programs)


def commit(here: Here, **files: bytes) -> None:
    """Commit files that are so old that git need not read them to be sure of them."""
    for name, data in files.items():
        date(here.write(name, data), 1)
    here.git("add", "-A")
    here.git("commit", "-qm", "more")


def test_where_nothing_converts_nothing_is_filtered(here: Here) -> None:
    here.write("f", CRLF)
    assert filtered(here) == Filtered()


def test_a_file_that_a_checkout_brings_back_is_lossless_and_any_other_is_raw(here: Here) -> None:
    here.git("config", "core.autocrlf", "true")
    commit(here, same=CRLF, edited=CRLF, mixed=LF, lf=CRLF, run=CRLF)
    here.write("edited", CRLF * 2)
    here.write("mixed", MIXED)
    here.write("lf", LF)
    found = filtered(here, b"outside")
    assert found.lossless.keys() == {b"same", b"edited", b"run"}
    assert found.raw >= {b"mixed", b"lf"}
    assert not found.raw & found.lossless.keys()
    kept = {path: file.kept for path, file in found.lossless.items()}
    assert kept[b"edited"] == Leaf(FILE, blob(LF * 2))
    assert kept[b"run"] == Leaf(EXECUTABLE, blob(LF))
    assert found.lossless[b"edited"].taken.leaf == Leaf(FILE, blob(CRLF * 2))
    assert found.cleaned[b"mixed"] == blob(LF)


@pytest.mark.parametrize("how", ["removed", "sparse", "conflict"])
def test_attributes_that_only_the_index_has_convert_as_well(here: Here, how: str) -> None:
    commit(here, same=LF, edited=LF)
    here.write(".gitattributes", "* text eol=crlf\n")
    here.git("add", ".gitattributes")
    if how == "sparse":
        here.git("commit", "-qm", "attributes")
        here.git("sparse-checkout", "set", "--no-cone", "/*", "!/.gitattributes")
    else:
        (here.top / ".gitattributes").unlink()
    if how == "conflict":
        ours = here.git("rev-parse", ":.gitattributes")
        here.git("rm", "-q", "--cached", "-f", ".gitattributes")
        staged = f"100644 {blob(LF)} 1\t.gitattributes\n100644 {ours} 2\t.gitattributes\n"
        here.git("update-index", "--index-info", given=staged)
    here.write("edited", CRLF * 2)
    found = filtered(here)
    assert b"same" in found.raw
    assert found.lossless.keys() == {b"edited"}
    assert b".gitattributes" not in found.cleaned


def test_the_object_of_a_lossless_file_travels_unless_the_index_has_it(here: Here) -> None:
    here.git("config", "core.autocrlf", "true")
    commit(here, same=CRLF, staged=CRLF, reset=CRLF, edited=CRLF)
    for name in ("staged", "reset", "edited"):
        here.write(name, CRLF * 2 + name.encode())
    here.git("add", "staged", "reset")
    here.git("reset", "-q", "--", "reset")  # its object lies about in the clone
    data = {path: file.data for path, file in filtered(here).lossless.items()}
    assert data == {
        b"same": None, b"staged": None,
        b"reset": LF * 2 + b"reset", b"edited": LF * 2 + b"edited",
    }  # fmt: skip


def test_what_is_no_file_or_is_not_there_is_not_converted(here: Here) -> None:
    here.git("config", "core.autocrlf", "true")
    commit(here, gone=CRLF, linked=CRLF)
    (here.top / "gone").unlink()
    (here.top / "linked").unlink()
    (here.top / "linked").symlink_to("f")
    found = filtered(here)
    assert not {b"gone", b"linked", b"link"} & {*found.lossless, *found.raw}


def test_stages_of_a_conflict_are_no_obstacle(here: Here) -> None:
    here.git("config", "core.autocrlf", "true")
    oid = here.git("hash-object", "-w", "--stdin", given="a\n")
    lines = "".join(f"100644 {oid} {stage}\tf\n" for stage in (1, 2, 3))
    here.git("rm", "-q", "--cached", "f")
    here.git("update-index", "--index-info", given=lines)
    here.write("f", b"<<<<<<<\r\nours\r\n")
    assert filtered(here).lossless[b"f"].data == b"<<<<<<<\nours\n"


def test_all_files_of_a_filter_are_raw_and_asked_only_if_git_does_not_vouch(here: Here) -> None:
    ran = here.top.parent / "ran"
    here.git("config", "filter.up.clean", f"echo x >>{ran}; tr a-z A-Z")
    here.write(".gitattributes", "*.up filter=up\n")
    commit(here, **{"a.up": b"lower", "b.up": b"before"})
    ran.unlink()
    here.write("b.up", "edited")
    found = filtered(here, programs=False)
    assert found.raw == {b"a.up", b"b.up"}
    assert not found.cleaned
    assert not ran.exists()
    found = filtered(here)
    assert found.raw == {b"a.up", b"b.up"}
    assert found.cleaned[b"b.up"] == blob(b"EDITED")
    assert ran.exists()


# --- filters that encrypt ------------------------------------------------------------------------


def encrypting(here: Here) -> None:
    here.git("config", "filter.git-crypt.clean", "tr a-z n-za-m")
    here.git("config", "filter.git-crypt.smudge", "tr a-z n-za-m")
    here.write(".gitattributes", "*.vault filter=git-crypt\n")
    commit(here, **{"a.vault": b"plain\n", "b.vault": b"other\n"})


def test_a_secret_file_is_neither_raw_nor_lossless(here: Here) -> None:
    encrypting(here)
    date(here.top / "a.vault", 2)
    found = filtered(here, b"new.vault")
    assert found.secret == {b"a.vault", b"b.vault"}
    assert found.exposed == {b"new.vault"}
    assert (found.raw, found.lossless) == (frozenset(), {})
    assert found.behind[b"a.vault"] == Leaf(FILE, blob(b"plain\n"))
    with pytest.raises(RefusedError, match=r"new\.vault.* never travels") as caught:
        refuse_plaintext(found.exposed)
    assert caught.value.hint


@pytest.mark.parametrize("hidden", [True, False])
def test_a_changed_secret_is_refused_also_where_git_is_told_not_to_look(
    here: Here, hidden: bool
) -> None:
    encrypting(here)
    if hidden:
        here.git("update-index", "--assume-unchanged", "a.vault")
    here.write("a.vault", "changed\n")
    with pytest.raises(RefusedError, match=r"a\.vault"):
        filtered(here)
    found = filtered(here, programs=False)  # nobody is asked, so it may not be written over
    assert b"a.vault" not in found.behind


def test_a_secret_that_cannot_be_encrypted_is_refused(here: Here) -> None:
    encrypting(here)
    here.git("config", "filter.git-crypt.clean", "false")
    here.git("config", "filter.git-crypt.required", "true")
    here.write("a.vault", "changed\n")
    with pytest.raises(RefusedError, match=r"a\.vault"):
        filtered(here)


def test_a_secret_that_is_still_encrypted_is_as_git_has_it(here: Here) -> None:
    encrypting(here)
    cipher = here.git("show", "HEAD:a.vault") + "\n"
    here.write("a.vault", cipher)
    for programs in (True, False):
        found = filtered(here, programs=programs)
        assert found.behind[b"a.vault"] == Leaf(FILE, blob(cipher.encode()))


def _attributes_go(here: Here) -> None:
    here.write(".gitattributes", b"# none\n")


def _attributes_go_with_a_commit(here: Here) -> None:
    _attributes_go(here)
    here.git("commit", "-qam", "no attributes")


def _attributes_are_removed_from_the_index(here: Here) -> None:
    here.git("rm", "-q", ".gitattributes")


def _others_say_no(here: Here) -> None:
    info = here.top / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_bytes(b"*.txt -text !eol\n*.nb !filter\n")


@pytest.mark.parametrize(
    "change",
    [
        _attributes_go, _attributes_go_with_a_commit, _attributes_are_removed_from_the_index,
        _others_say_no,
    ],
)  # fmt: skip
def test_what_was_converted_by_attributes_that_went_travels_as_it_is_on_disk(
    here: Here, change: Callable[[Here], None]
) -> None:
    here.git("config", "filter.strip.clean", "sed /OUT/d")
    here.write(".gitattributes", b"*.txt text eol=crlf\n*.nb filter=strip\n")
    commit(here, **{"a.txt": CRLF, "b.nb": b"code\nOUT 42\n", "c": LF, "sub/d.txt": CRLF})
    change(here)
    assert filtered(here).raw == {b"a.txt", b"b.nb", b"sub/d.txt"}
    here.git("config", "filter.crypt.clean", "cat")
    with pytest.raises(RefusedError, match=r"a\.txt is not what git has of it, .* encrypts here"):
        filtered(here)
    assert filtered(here, programs=False).raw == {b"a.txt", b"b.nb", b"sub/d.txt"}


def test_a_filter_without_commands_leaves_what_it_made(here: Here) -> None:
    here.write(".gitattributes", b"*.nb filter=strip\n")
    here.git("config", "filter.strip.clean", "sed /OUT/d")
    commit(here, **{"b.nb": b"code\nOUT 42\n", "same.nb": b"code\n"})
    date(here.top / ".gitattributes", 0)
    here.git("config", "--unset", "filter.strip.clean")
    assert filtered(here).raw == {b"b.nb"}


def test_attributes_of_a_folder_count_for_what_is_in_it(here: Here) -> None:
    here.write(".gitattributes", b"*.txt text eol=crlf\n")
    here.write("sub/.gitattributes", b"*.txt text eol=crlf\n")
    commit(here, **{"a.txt": CRLF, "sub/d.txt": CRLF})
    here.write("sub/.gitattributes", b"*.txt -text !eol\n")
    assert filtered(here).raw == {b"sub/d.txt"}


def test_attributes_that_are_not_on_disk_are_those_of_the_index(here: Here) -> None:
    here.write(".gitattributes", b"*.txt text eol=crlf\n")
    commit(here, **{"a.txt": CRLF})
    (here.top / ".gitattributes").unlink()
    found = filtered(here)
    assert set(found.lossless) == {b"a.txt"}
    assert not found.raw


def test_a_file_whose_object_was_only_promised_is_not_asked_about(here: Here) -> None:
    here.write(".gitattributes", b"*.txt -text\n")
    commit(here, **{"a.txt": CRLF})
    oid = blob(CRLF)
    (here.top / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    here.write(".gitattributes", b"# none\n")
    assert not filtered(here).raw
