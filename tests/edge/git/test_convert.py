"""Git's own conversions, run aside: what they make of a file, and nothing of the clone touched."""

from pathlib import Path

import pytest

from handsoff.core.checkout.conversion import Kind
from handsoff.core.checkout.index import Entry
from handsoff.core.checkout.trees import Leaf
from handsoff.core.objects import FILE, oid_of
from handsoff.edge.git.convert import Rules, converter, rules_of, without_programs
from tests.kit.checkout import Here
from tests.kit.compare import untouched

ODD = b'd\n\xff/"q\xff\n.txt'
CRLF, LF = b"a\r\nb\r\n", b"a\nb\n"


def blob(data: bytes) -> str:
    return oid_of("blob", data)


def rules(here: Here, *wanted: bytes, known: tuple[bytes, ...] = (b".gitattributes",)) -> Rules:
    found = rules_of(here.checkout, wanted, known)
    assert found is not None
    return found


def test_a_clone_in_which_nothing_is_converted_is_not_asked(here: Here) -> None:
    assert rules_of(here.checkout, [b"f"], here.look().entries.paths) is None
    here.git("config", "core.autocrlf", "false")
    assert rules_of(here.checkout, [b"f"], []) is None


@pytest.mark.parametrize("place", ["clone", "user", "home"])
def test_attributes_outside_the_checkout_count(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if place == "clone":
        here.write(".git/info/attributes", "* text\n")
    elif place == "user":
        here.git("config", "core.attributesFile", str(here.write("../attributes", "* text\n")))
    else:
        (tmp_path / "git").mkdir()
        (tmp_path / "git" / "attributes").write_text("* text\n")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert rules(here, b"f", known=()).kind(b"f") is Kind.GIT


def test_rules_are_those_of_git_for_any_name(here: Here) -> None:
    here.write(".gitattributes", "*.txt text\n*.bin filter=tidy\n")
    here.write(ODD.rpartition(b"/")[0] + b"/.gitattributes", "*.bin -text -filter\n")
    here.git("config", "filter.tidy.clean", "cat")
    inner = ODD.rpartition(b"/")[0] + b"/x.bin"
    found = rules(here, ODD, b"a.bin", inner, b"none")
    kinds = [found.kind(path) for path in (ODD, b"a.bin", inner, b"none", b"not asked")]
    assert kinds == [Kind.GIT, Kind.FILTER, Kind.NOBODY, Kind.NOBODY, Kind.NOBODY]
    assert found.may_differ(ODD, CRLF)
    assert not found.may_differ(ODD, LF)


def test_rules_may_be_read_from_another_folder_and_then_only_there(
    here: Here, tmp_path: Path
) -> None:
    here.write(".gitattributes", "* text\n")
    here.git("add", ".gitattributes")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".gitattributes").write_text("f text\n")
    found = rules_of(here.checkout, [b"f", b"g"], [b".gitattributes"], tmp_path / "other")
    assert found is not None
    assert (found.kind(b"f"), found.kind(b"g")) == (Kind.GIT, Kind.NOBODY)


def test_files_are_cleaned_as_the_index_has_them_and_smudged_as_a_checkout_would(
    here: Here,
) -> None:
    here.write(".gitattributes", "*.txt text=auto eol=crlf\n")
    here.write(ODD, CRLF)
    here.write("old.txt", CRLF)
    old = here.git("hash-object", "-w", "--no-filters", "old.txt")
    entries = [Entry(ODD, FILE, ""), Entry(b"old.txt", FILE, old)]
    before = untouched(here.top)
    with converter(here.checkout) as git:
        made = git.clean(entries, programs=False)
        assert made == {ODD: blob(LF), b"old.txt": blob(CRLF)}  # it was committed so
        back = git.smudge({path: Leaf(FILE, oid) for path, oid in made.items()})
        assert back == {path: Leaf(FILE, blob(CRLF)) for path in made}
        assert git.smudged(ODD) == CRLF
        assert git.smudged(b"none") == b""
        assert git.smudge({}) == {}
    assert untouched(here.top) == before


def test_what_git_cannot_clean_is_left_out_and_the_rest_is_not(here: Here) -> None:
    here.write(".gitattributes", "*.u16 working-tree-encoding=UTF-16\n*.txt text\n")
    here.write("bad.u16", b"odd")
    here.write("a.txt", CRLF)
    with converter(here.checkout) as git:
        entries = [Entry(name, FILE, "") for name in (b"a.txt", b"bad.u16", b"gone.txt")]
        assert git.clean(entries, programs=False) == {b"a.txt": blob(LF)}
        assert git.clean([], programs=False) == {}


def test_safecrlf_does_not_stop_it(here: Here) -> None:
    here.git("config", "core.safecrlf", "true")
    here.git("config", "core.autocrlf", "true")
    here.write("mixed", b"a\r\nb\n")
    with converter(here.checkout) as git:
        assert git.clean([Entry(b"mixed", FILE, "")], programs=False) == {b"mixed": blob(LF)}


@pytest.mark.parametrize("name", ["evil", "a=b", "a.b", "A b\\c"])
def test_programs_run_only_where_they_are_to(here: Here, name: str) -> None:
    marker = here.top.parent / "ran"
    for what in ("clean", "smudge"):
        here.git("config", f"filter.{name}.{what}", f"touch '{marker}'; tr a-z A-Z")
    here.git("config", f"filter.{name}.required", "true")
    here.write(".gitattributes", f'"?" filter={name}\n' if " " not in name else "? text\n")
    entry = Entry(b"f", FILE, "")
    with converter(here.checkout) as git:
        assert git.clean([entry], programs=False) == {b"f": blob(b"f\n")}
        git.smudge({b"f": Leaf(FILE, here.git("rev-parse", "HEAD:f"))})
        here.checkout.git(*without_programs(here.checkout), "add", "-n", "f")
        assert not marker.exists()
        if " " not in name:  # which no attribute can name
            assert git.clean([entry], programs=True) == {b"f": blob(b"F\n")}
            assert marker.exists()


def test_the_scratch_folder_is_gone_afterwards_whatever_happens(here: Here) -> None:
    with pytest.raises(KeyboardInterrupt), converter(here.checkout) as git:
        assert git.objects.is_dir()
        raise KeyboardInterrupt
    assert list(here.checkout.own_dir.glob("convert-*")) == []
