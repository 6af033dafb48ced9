"""Names and their spellings: one work has one place on the remote, and no other has it."""

import hashlib
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handsoff.core import ids
from handsoff.core.sshwire import openssh_public
from handsoff.errors import DamagedError, UsageError
from tests.kit.plumbing import line, raw, repository
from tests.kit.signing import M1, M2

ODD = [
    "a", "A", "feat/x", "feat", "feat/x/y", "feat%2Fx", "feat%2fx", "feat%252Fx", ".", "..", "...",
    ".a", "a.", "a..b", "a...b", "a.lock", "a.lock/b", ".lock", "..lock", "lock", "a.LOCK", "@",
    "@{", "a@{b", "HEAD", "-", "-f", "--delete", "a b", " ", "a~1", "~", "a^", "a:b", "a?b", "a*",
    "a[b", "a\\b", "a\tb", "a\nb", "\n", "\x7f", "\x01", "é", "中文", "feature/中文", "\udcff",
    "a\udc80/b", "+a", "=", ",", "(a)", "!", "%", "%%", "%%%", "a%%b", "%2", "//", "/", "a/", "/a",
    "'", '"', "$(id)", "`id`", ";", "&", "|", "<", ">", "#", "{}", "\N{GRINNING FACE}",
    "x" * 199, "x" * 200, "x" * 201, "x" * 250, "/" * 66, "/" * 67, "é" * 33, "é" * 34,
    "x" * 199 + ".", "x" * 165 + "/y" * 40, "x" * 164 + "%%" + "0" * 32, "." * 200, "a.lock" * 40,
]  # fmt: skip
TEXT = st.text(
    st.one_of(
        st.sampled_from("ab./%~^:?*[\\@{}lock -+=,!()\n\x7f\udc80\udcff"),
        st.characters(exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=90,
)
NAMES = st.one_of(TEXT, TEXT.map(lambda text: text * 5), st.sampled_from(ODD))


@given(NAMES)
def test_a_component_leads_back_to_its_work_unless_it_was_cut(work: str) -> None:
    component = ids.work_component(work)
    assert len(component) <= ids.COMPONENT_LIMIT
    assert component.isascii()
    assert "/" not in component
    assert ids.work_of(component) == (None if "%%" in component else work)


@given(st.lists(NAMES, min_size=2, max_size=12, unique=True))
def test_two_works_never_share_a_component(works: list[str]) -> None:
    assert len({ids.work_component(work) for work in works}) == len(works)


def test_long_works_that_begin_alike_are_told_apart() -> None:
    works = ["x" * 300 + end for end in ("", "a", "b", "/a", "%")]
    components = {ids.work_component(work) for work in works}
    assert len(components) == len(works)
    assert {len(c) for c in components} == {ids.COMPONENT_LIMIT}
    assert len({c[:160] for c in components}) == 1


@given(TEXT)
def test_only_a_component_that_is_ours_is_read_as_a_work(text: str) -> None:
    work = ids.work_of(text.encode("utf-8", "surrogateescape").decode("latin-1"))
    assert work is None or ids.work_component(work).isascii()


@pytest.mark.parametrize("text", ["", "feat%2fx", "%41", "a%", "a%2", "é", "a b", "a/b", "%%" * 9])
def test_a_second_spelling_of_a_work_is_not_read(text: str) -> None:
    assert ids.work_of(text) is None


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("ids") / "bare.git", "--bare")


def put_refs(bare: Path, refs: list[str]) -> None:
    """Make all ``refs`` in one run of git, which judges each name and every pair of them."""
    tree = line(bare, "hash-object", "-w", "-t", "tree", "--stdin")
    commit = line(bare, "commit-tree", "-m", "x", tree)
    raw(
        bare, "update-ref", "--stdin",
        given="".join(f"create {ref} {commit}\n" for ref in refs).encode(),
    )  # fmt: skip
    listed = line(bare, "for-each-ref", "--format=%(refname)").splitlines()
    assert sorted(listed) == sorted(refs)
    raw(
        bare, "update-ref", "--stdin", given="".join(f"delete {ref}\n" for ref in refs).encode()
    )  # fmt: skip


def test_git_takes_the_ref_of_every_odd_work_all_at_once(bare: Path) -> None:
    put_refs(bare, [f"refs/wip/lease/{ids.work_component(work)}" for work in ODD])
    put_refs(bare, [f"refs/wip/snap/{ids.work_component(work)}/{'0' * 32}" for work in ODD])


@settings(max_examples=6, deadline=None)
@given(st.sets(NAMES, min_size=100, max_size=300))
def test_git_takes_the_refs_of_any_works_all_at_once(bare: Path, works: set[str]) -> None:
    put_refs(bare, [f"refs/wip/lease/{ids.work_component(work)}" for work in works])


@pytest.mark.parametrize("work", ODD)
def test_a_ref_of_an_odd_work_has_the_format_of_one(bare: Path, work: str) -> None:
    component = ids.work_component(work)
    forbidden = set(" ~^:?*[\\\x7f") | {chr(n) for n in range(32)}
    assert not forbidden & set(component)
    assert ".." not in component
    assert "@{" not in component
    assert not component.startswith(".")
    assert not component.endswith((".", ".lock"))


@pytest.mark.parametrize("text", ["m1", "M1", "a", "9", "lin", "a.b-c_d", "x" * 63, "anyone2"])
def test_a_plain_word_can_name_a_machine(text: str) -> None:
    assert ids.check_name(text) == text


@pytest.mark.parametrize(
    "text",
    ["", ".a", "-a", "_a", "a b", "a/b", "é", "a\n", "x" * 64, "all", "Anyone", "REMOTE", "mine",
     "a\0", "a:b", "\u0661"],
)  # fmt: skip
def test_what_is_no_plain_word_or_means_something_else_names_nobody(text: str) -> None:
    with pytest.raises(UsageError, match="cannot name a person") as caught:
        ids.check_name(text, "person")
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "a" * 39, "a" * 41, "A" * 40, "g" * 40, "a" * 40 + "\n",
                                  None, 7, b"a" * 40, ["a" * 40]])  # fmt: skip
def test_an_object_id_is_forty_small_hex_digits(text: object) -> None:
    assert ids.is_oid("0123456789" * 4)
    assert not ids.is_oid(text)
    with pytest.raises(DamagedError, match="the base is not an object id"):
        ids.check_oid(text, "the base")
    assert ids.check_oid("b" * 40, "the base") == "b" * 40


@pytest.mark.parametrize("text", ["", "a" * 31, "A" * 32, "g" * 32, "a" * 32 + "\n", 7, None])
def test_a_parcel_id_is_thirty_two_small_hex_digits(text: object) -> None:
    assert ids.is_parcel_id("0f" * 16)
    assert not ids.is_parcel_id(text)


@pytest.mark.parametrize("text", ["", "a" * 25, "A" * 26, "1" * 26, "a" * 26 + "\n", 7, {}])
def test_a_machine_id_is_twenty_six_base32_letters(text: object) -> None:
    assert ids.is_machine_id(M1.id)
    assert not ids.is_machine_id(text)


def test_the_id_and_the_fingerprint_of_a_machine_come_from_its_key() -> None:
    assert M1.id != M2.id
    assert ids.machine_id(M1.key) == M1.id
    blob = openssh_public(M1.key).split()[1]
    digest = hashlib.sha256(b64decode(blob)).digest()
    assert ids.fingerprint(M1.key).startswith("SHA256:")
    assert ids.fingerprint(M1.key)[7:].rstrip("=") == (b64encode(digest).decode().rstrip("="))
