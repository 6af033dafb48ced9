"""What a state becomes on this machine: attributes of the state, settings of the clone."""

from dataclasses import replace

import pytest

from handsoff.core.checkout.state import State
from handsoff.core.checkout.trees import Change, Leaf, graft
from handsoff.core.objects import EMPTY_TREE, FILE, GITLINK, LINK, oid_of
from handsoff.edge.git.local import Local, Localizer, between, check_filters
from handsoff.edge.git.sinks import Storing
from handsoff.errors import UnfitError
from tests.kit.checkout import Here

CRLF, LF = b"a\r\nb\r\n", b"a\nb\n"
ODD = b"d\n\xff/x\n.txt"


def state_of(here: Here, files: dict[bytes, bytes | Leaf], *untracked: bytes) -> State:
    """Return a state that has ``files`` and no others; those ``untracked`` not in its index."""
    leaves: dict[bytes, Leaf | None] = {
        path: data if isinstance(data, Leaf) else Leaf(FILE, here.objects.write("blob", data))
        for path, data in files.items()
    }

    def tree(wanted: dict[bytes, Leaf | None]) -> str:
        return graft(
            here.objects.tree, EMPTY_TREE, wanted, lambda data: here.objects.write("tree", data)
        )

    tracked = {path: leaf for path, leaf in leaves.items() if path not in untracked}
    honest = here.capture(Storing(here.objects)).state
    return replace(honest, work_tree=tree(leaves), index_tree=tree(tracked), raw=())


def local(here: Here, target: State) -> Local:
    """Return what going to ``target`` is here."""
    look, seen = here.look(), here.capture(Storing(here.objects))
    apart = between(here.checkout, seen, target, here.objects)
    found = Localizer(here.checkout, here.objects, here.objects, target, look, apart)
    return found.localize(seen, apart.files)


def written(here: Here, target: State) -> dict[bytes, bytes]:
    """Return the content that is to be written, by path."""
    changes = local(here, target).changes
    return {c.path: here.objects.blob(c.new.oid) for c in changes if c.new and c.new.mode == FILE}


def test_where_nothing_converts_the_changes_are_those_of_the_state(here: Here) -> None:
    target = state_of(here, {b"a": CRLF, ODD: LF})
    found = local(here, target)
    assert (found.here, found.kept, found.told) == ({}, {}, ())
    assert written(here, target) == {b"a": CRLF, ODD: LF}
    assert {c.path for c in found.changes if c.new is None} >= {b"f", b"dir/g", b"link"}


def test_tracked_files_are_written_as_a_checkout_here_would(here: Here) -> None:
    here.git("config", "core.autocrlf", "true")
    files = {b"a": LF, ODD: LF, b"raw": LF, b"new": LF, b"crlf": CRLF}
    target = replace(state_of(here, dict(files), b"new"), raw=(b"raw",))
    found = local(here, target)
    assert written(here, target) == {**files, b"a": CRLF, ODD: CRLF}
    assert found.here == {path: Leaf(FILE, oid_of("blob", CRLF)) for path in (b"a", ODD)}
    assert found.kept == {path: Leaf(FILE, oid_of("blob", LF)) for path in (b"a", ODD)}


def test_the_attributes_are_those_of_the_state_and_not_those_on_disk(here: Here) -> None:
    here.write(".gitattributes", "* eol=crlf\n")
    here.git("add", ".gitattributes")
    here.git("commit", "-qm", "attributes")
    assert written(here, state_of(here, {b"a.txt": LF})) == {b"a.txt": LF}
    rules = b"*.txt eol=crlf\n"
    inner = ODD.rpartition(b"/")[0] + b"/.gitattributes"
    files = {b".gitattributes": rules, inner: b"*.txt -text\n", b"a.txt": LF, ODD: LF}
    assert written(here, state_of(here, dict(files))) == {**files, b"a.txt": CRLF}


def test_attributes_that_only_the_index_of_the_state_has_count(here: Here) -> None:
    target = state_of(here, {b".gitattributes": b"* eol=crlf\n", b"a": LF})
    without = state_of(here, {b"a": LF})
    target = replace(target, work_tree=without.work_tree)
    here.write(".git/info/attributes", "none text\n")
    here.write(".gitattributes", "*.none text\n")
    here.git("add", ".gitattributes")
    here.git("commit", "-qm", "attributes")
    assert written(here, target) == {b"a": CRLF}


@pytest.mark.parametrize(
    "files",
    [
        {b".gitattributes": Leaf(LINK, "")},
        {b".gitattributes": Leaf(GITLINK, "1" * 40)},
        {b".gitattributes/.gitattributes": b"* eol=crlf\n"},
    ],
)
def test_what_is_no_file_of_attributes_is_not_taken_for_one(
    here: Here, files: dict[bytes, bytes | Leaf]
) -> None:
    link = Leaf(LINK, here.objects.write("blob", b"f"))
    made = {p: link if isinstance(d, Leaf) and d.mode == LINK else d for p, d in files.items()}
    here.write(".git/info/attributes", "none text\n")
    assert written(here, state_of(here, {**made, b"a": LF}))[b"a"] == LF


def test_new_attributes_convert_files_that_nobody_changed(here: Here) -> None:
    target = state_of(here, {b".gitattributes": b"f eol=crlf\n", b"f": b"f\n", b"dir/g": b"g\n"})
    assert written(here, target)[b"f"] == b"f\r\n"
    assert b"dir/g" not in written(here, target)


def test_a_file_that_stops_to_be_raw_is_written_though_its_object_is_the_same(here: Here) -> None:
    here.git("config", "core.autocrlf", "true")
    assert b"f" in here.capture().state.raw  # LF on disk, where a checkout gives CRLF
    files = {b"f": b"f\n", b"dir/g": b"g\n"}
    raw = replace(state_of(here, dict(files)), raw=(b"dir/g", b"f"))
    assert not {b"f", b"dir/g"} & written(here, raw).keys()
    assert written(here, state_of(here, dict(files))) == {b"f": b"f\r\n", b"dir/g": b"g\r\n"}


def test_a_secret_is_written_as_it_is_and_told_of(here: Here) -> None:
    here.git("config", "filter.git-crypt.smudge", "tr a-z n-za-m")
    target = state_of(here, {b".gitattributes": b"*.v filter=git-crypt\n", b"\xff.v": b"nop\n"})
    found = local(here, target)
    assert written(here, target)[b"\xff.v"] == b"nop\n"
    (told,) = found.told
    assert told.path == b"\xff.v"
    assert "git checkout -- '\\xff.v'" in told.reason


def test_a_filter_that_is_required_and_missing_is_named(here: Here) -> None:
    target = state_of(here, {b".gitattributes": b"*.bin filter=tidy\n", b"a\n.bin": b"x"})
    check_filters(here.checkout, here.objects, target)
    here.git("config", "filter.tidy.required", "true")
    for tried in (lambda: check_filters(here.checkout, here.objects, target),
                  lambda: local(here, target)):  # fmt: skip
        with pytest.raises(UnfitError, match="git requires the filter tidy for a") as caught:
            tried()
        assert "filter.tidy.clean" in (caught.value.hint or "")
    check_filters(here.checkout, here.objects, state_of(here, {b"a.bin": b"x"}))
    here.git("config", "filter.tidy.clean", "cat")
    check_filters(here.checkout, here.objects, target)


def test_a_change_that_is_none_on_this_disk_is_left_out(here: Here) -> None:
    here.git("config", "core.autocrlf", "true")
    here.write("f", b"f\r\n")
    seen, look = here.capture(Storing(here.objects)), here.look()
    target = seen.state
    assert b"f" not in target.raw
    apart = between(here.checkout, seen, target, here.objects)
    found = Localizer(here.checkout, here.objects, here.objects, target, look, apart)
    leaf = Leaf(FILE, oid_of("blob", b"f\n"))
    assert found.localize(seen, [Change(b"f", leaf, leaf)]).changes == []
