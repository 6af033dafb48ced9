"""Files that git converts go to another machine and come back, and no diff is made of it."""

from dataclasses import dataclass, field

import pytest

from tests.kit.compare import look, untouched
from tests.kit.conversions import commit, over, put, read, shown
from tests.kit.machines import Machine
from tests.kit.monday import STAYS, Monday
from tests.kit.running import inside

LF, CRLF = b"one\ntwo\nthree\n", b"one\r\ntwo\r\nthree\r\n"
MIXED, ALONE = b"one\r\ntwo\nthree\r\n", b"one\rtwo\nthree\r\r\n"
BOM = "one\ntwö\n".encode("utf-16")


@dataclass(frozen=True)
class Case:
    """What is committed on the sender, and how it is left."""

    attributes: bytes = b""
    files: dict[str, bytes] = field(default_factory=dict)
    edits: dict[str, bytes] = field(default_factory=dict)
    """Written after the commit; what is in a folder ``staged`` is added, too."""
    config: tuple[tuple[str, str], ...] = ()
    """Set in both clones before the commit."""
    later: tuple[tuple[str, str], ...] = ()
    """Set in both clones after it."""


_KINDS = {"crlf.txt": CRLF, "lf.txt": LF, "mixed.txt": MIXED, "cr.txt": ALONE,
          "d\n/\udcff.txt": CRLF}  # fmt: skip
_EDITS = {
    "crlf.txt": CRLF + b"more\r\n", "mixed.txt": MIXED + b"more\n", "cr.txt": ALONE + b"\r",
    "staged/crlf.txt": CRLF, "staged/mixed.txt": MIXED, "new.txt": MIXED, "lf.txt": CRLF,
}  # fmt: skip
_WAYS = {
    "auto": b"* text=auto", "crlf": b"*.txt text eol=crlf", "lf": b"*.txt text eol=lf",
    "old": b"*.txt crlf=input", "both": b"*.txt text -crlf", "none": b"*.txt -text",
}  # fmt: skip


def _everywhere(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return ``files`` in a folder for each way to convert them."""
    return {f"{way}/{name}": data for way in _WAYS for name, data in files.items()}


CASES = {
    "attributes": Case(
        b"*.c ident\n*.u16 working-tree-encoding=UTF-16\n",
        {
            **{f"{way}/.gitattributes": line + b"\n" for way, line in _WAYS.items()},
            **_everywhere(_KINDS),
            "a.c": b"/* $Id$ */\n", "b.c": b"/* $Id: old $ */\n", "no.c": b"no\n",
            "a.u16": BOM, "b.u16": BOM,
        },
        {
            **_everywhere(_EDITS),
            "b.c": b"/* $Id: older $ */ more\n", "new.c": b"/* $Id$ */\n",
            "b.u16": BOM + "drei\n".encode("utf-16-le"), "new.u16": BOM, "odd.u16": b"odd",
        },
    ),
    "autocrlf": Case(b"", _KINDS, _EDITS, config=(("core.autocrlf", "true"),)),
    "autocrlf=input and safecrlf": Case(
        b"", {"mixed.txt": LF, "crlf.txt": LF, "lf.txt": LF},
        {"mixed.txt": MIXED, "crlf.txt": CRLF + b"more\r\n", "new.txt": MIXED},
        config=(("core.autocrlf", "input"),), later=(("core.safecrlf", "true"),),
    ),
    "CRLF in the index": Case(
        b"", {"crlf.txt": CRLF, "mixed.txt": MIXED, "same.txt": CRLF},
        {"crlf.txt": CRLF + b"more\r\n", "mixed.txt": MIXED + b"more\r\n"},
        later=(("core.autocrlf", "true"), ("core.safecrlf", "true")),
    ),
    "attributes not committed": Case(
        b"*.txt -text\n", _KINDS, {**_EDITS, ".gitattributes": b"*.txt text eol=crlf\n"},
    ),
    "attributes not tracked": Case(
        b"", {"crlf.txt": CRLF, "lf.txt": LF}, {".gitattributes": b"*.txt text eol=crlf\n"},
    ),
}  # fmt: skip


def prepare(monday: Monday, case: Case) -> tuple[Machine, Machine]:
    """Leave m1 as ``case`` says, in the middle of all else."""
    m1, m2 = monday.m1, monday.m2
    for key, value in case.config:
        m1.git("config", key, value)
        m2.git("config", key, value)
    if case.attributes:
        commit(m1, {".gitattributes": case.attributes})
    commit(m1, case.files)
    for key, value in case.later:
        m1.git("config", key, value)
        m2.git("config", key, value)
    put(m1, case.edits)
    if staged := [name for name in case.edits if "staged/" in name]:
        m1.git("add", "--", *staged)
    return m1, m2


@pytest.mark.parametrize("name", CASES)
def test_where_both_convert_alike_every_byte_goes_there_and_back(monday: Monday, name: str) -> None:
    m1, m2 = prepare(monday, CASES[name])
    home, said = untouched(m1.top), shown(m1)
    over(m1, m2)
    assert untouched(m1.top) == home
    assert look(m2.top) == monday.travels
    assert shown(m2) == said
    some = read(m2, *CASES[name].files)
    put(m2, {name: data + b"m2\r\n" for name, data in some.items() if name.endswith("f.txt")})
    there, at_home = look(m2.top), look(m1.top)
    over(m2, m1)
    assert look(m1.top).without(*STAYS) == there
    inside(m1, "undo").ok()
    assert look(m1.top) == at_home
    assert shown(m1) == said
