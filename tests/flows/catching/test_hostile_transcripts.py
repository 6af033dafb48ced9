"""Transcripts that a member made by hand: what they may not write is refused before the catch."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from handsoff.core.objects import FILE, LINK, TREE, TreeEntry, encode_tree
from handsoff.core.transcripts import baggage
from handsoff.core.transcripts.baggage import Baggage, File
from handsoff.edge.git.objects import Objects
from tests.core.transcripts.test_baggage import MAIN, SESSION
from tests.kit.forger import Forger
from tests.kit.monday import WORK, Monday, build
from tests.kit.monday import copy as copy_of
from tests.kit.running import inside, refused
from tests.kit.sessions import claude_home, with_agents

BODY = b'{"cwd":"/w"}\n'
GOOD = replace(MAIN, size=len(BODY), sha256=hashlib.sha256(BODY).hexdigest())


def tree(
    store: Objects, listed: Baggage | bytes, pieces: dict[bytes, tuple[int, bytes]], **more: Any
) -> str:
    """Return a tree of transcripts as somebody may have made it."""
    body = baggage.encode(listed) if isinstance(listed, Baggage) else listed
    blobs = [TreeEntry(n, mode, store.write("blob", data)) for n, (mode, data) in pieces.items()]
    below = store.write("tree", encode_tree(blobs))
    entries = [
        TreeEntry(b"list", FILE, store.write("blob", body)),
        TreeEntry(b"00000", TREE, below),
    ]
    entries += [TreeEntry(name.encode(), TREE, below) for name in more]
    return store.write("tree", encode_tree(entries))


def of(*files: File, **changes: Any) -> Baggage:
    return Baggage("rewrite", (replace(SESSION, files=files or (GOOD,), **changes),))


PIECES = {b"00000000": (FILE, BODY)}


def test_lists_and_pieces_that_do_not_fit_are_refused(monday: Monday, tmp_path: Path) -> None:
    forger = Forger.at(monday, tmp_path)
    before = monday.untouched()
    outside = replace(GOOD, name="../../.bashrc")
    large = replace(GOOD, size=len(BODY) + 1)
    cases: list[tuple[Baggage | bytes, dict[bytes, tuple[int, bytes]], int, str]] = [
        (of(outside), PIECES, 3, "may not bring the file ../../.bashrc"),
        (of(project="-x"), PIECES, 3, "may not bring the file"),
        (of(large), PIECES, 9, "the pieces of the transcript"),
        (of(replace(GOOD, sha256="b" * 64)), PIECES, 9, "is not what it should be"),
        (of(), {b"00000000": (LINK, BODY)}, 9, "the pieces of the transcript"),
        (of(), {b"00000001": (FILE, BODY)}, 9, "the pieces of the transcript"),
        (of(replace(GOOD, pieces="00007")), PIECES, 9, "not those of their list"),
        (b"{}", PIECES, 9, "the list of transcripts is malformed"),
        (b'{"mode":"raw","sessions":[]}', PIECES, 9, "not those of their list"),
    ]
    for listed, pieces, code, said in cases:
        file = forger.parcel(forger.honest, transcript=tree(forger.store, listed, pieces))
        refused(inside(monday.m2, "receive", file), code, said, "nothing of it was kept")
    assert monday.untouched() == before
    # what was refused is in the way of nothing: what may come comes
    m2 = with_agents(monday.m2)
    file = forger.offer(forger.honest, transcript=tree(forger.store, of(), PIECES))
    inside(m2, "receive", file).ok()
    (told,) = inside(m2, "catch", WORK, "--json").ok().json["transcripts"]
    assert told["result"] == "new"
    assert SESSION.id in told["resume"]


def test_a_transcript_of_somebody_else_is_never_installed(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    build(made, m2="bo")
    monday = copy_of(made, tmp_path / "monday")
    m2 = with_agents(monday.m2)
    # neither by who would send it, whatever is typed ...
    words = ("send", "m2", "--transcript", "raw", "--redact", "--live-ok", "--session", "all")
    ran = inside(with_agents(monday.m1), *words, "--to-file", tmp_path / "x")
    refused(ran, 3, "only between machines of one person", "bo's", "there is the page")
    # ... nor by who gets it, whoever made it
    forger = Forger.at(monday, tmp_path)
    file = forger.offer(forger.honest, transcript=tree(forger.store, of(), PIECES))
    inside(m2, "receive", file).ok()
    done = inside(m2, "catch", WORK).ok()
    assert "warning: the transcript of claude 0a1b2c3d: not installed" in done.err
    assert not claude_home(m2).exists()
