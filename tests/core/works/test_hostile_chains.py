"""Hostile chains: each kind is refused by name, counts for nothing, and jams nothing.

Those that need another roster (revoked, admitted later) are in test_record; what stands in the
place of a record on a real remote is in flows/test_hostile_remote.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from handsoff.core.chain import LATEST, Word
from handsoff.core.objects import (
    EMPTY_TREE,
    EXECUTABLE,
    FILE,
    LINK,
    TREE,
)
from handsoff.core.works.lease import (
    Caught,
    Closed,
    Dropped,
    Found,
    How,
    Pushed,
    Recipient,
    Saved,
    State,
    Withdrawn,
)
from handsoff.core.works.record import Record, read_record
from handsoff.errors import DamagedError
from tests.kit.hostile import (
    ENVELOPE,
    MINUTE,
    OTHER,
    PAGE,
    Cast,
    Kind,
    Raw,
    bare_armor,
    bent,
    borrowed,
    by_other,
    caught,
    dated,
    fields,
    happened,
    identity,
    line,
    moved_header,
    offered,
    other_curve,
    refolded,
    rewritten,
    same_point,
    signed,
    signed_twice,
    subject,
    swap,
    swapped,
    touched,
    tree,
    tree_of,
    unsigned,
    with_signature,
)
from tests.kit.signing import M1, M2, M3, OUTSIDER, START, empty, pairs, roster

DECADE: Final = timedelta(days=3650)
HELD: Final = M1.pen(empty()).caught().saved(page=PAGE, envelope=ENVELOPE).record
HOLLOW: Final = M1.pen(empty()).caught().record
OFFERED: Final = M1.pen(HELD).offered(Recipient(machine=M3.id)).record
NEWER: Final = M1.pen(HELD).saved(envelope=OTHER).record
CARRY_ON: Final = {State.HELD: "saved", State.OFFERED: "withdrawn", State.FREE: "caught"}
PUSHED: Final[dict[str, Any]] = {"branch": "feat/x", "old": OTHER, "new": PAGE}


TREE_SAID: Final = "its tree is not the page and nothing else"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def cast(record: Record = HELD) -> Cast:
    return Cast(record, M1, M2, OUTSIDER)


PAGE_TREE: Final = tree_of((b"page.md", FILE))
VOID: Final = HELD.extend([cast().entry(by=OUTSIDER)])


def verdict(commit: Raw, record: Record, reason: str, word: Word) -> None:
    """Check what is said of a void entry, that it changes nothing, and that the next one lands."""
    after = record.extend([commit])
    said = after.entries[-1]
    assert reason in said.reason
    assert (said.good, said.word) == (False, word)
    assert (after.lease, after.tip, after.seq) == (record.lease, record.tip, record.seq)
    assert after.git_tip == commit[0]
    goes_on = getattr(M1.pen(after), CARRY_ON[record.lease.state])().record
    assert (goes_on.seq, goes_on.entries[-1].good) == (record.seq + 1, True)


UNSIGNED, UNKNOWN, BAD, SIGNED = Word.UNSIGNED, Word.UNKNOWN, Word.BAD, Word.SIGNED
SIGNATURES: Final[dict[str, tuple[Kind, str, Word]]] = {
    "none": (unsigned, "not signed", UNSIGNED),
    "its header in capitals": (touched(swap(b"gpgsig", b"GPGSIG")), "not signed", UNSIGNED),
    "by a stranger": (
        lambda c: c.entry(c.event(by=c.stranger), c.stranger), "unknown signer", UNKNOWN),
    "by a stranger, in the carrier's name": (
        lambda c: c.entry(by=c.stranger), "in the name of", UNKNOWN),
    "by a member, in the carrier's name": (
        lambda c: c.entry(by=c.other), "in the name of", SIGNED),
    "for another namespace": (
        lambda c: signed(c.sound(), c.carrier, "handsoff-card"), "does not hold", BAD),
    "by an ECDSA key": (with_signature(other_curve), "not an Ed25519 key", BAD),
    "of another program": (bare_armor("PGP"), "not an SSH signature", BAD),
    "with another hash": (
        with_signature(lambda blob, _: blob.replace(b"sha512", b"sha256")), "sha512", BAD),
    "with a field too many": (
        with_signature(lambda blob, _: blob + bytes(4)), "wrong number of fields", BAD),
    "cut short": (with_signature(lambda blob, _: blob[:-1]), "cut short", BAD),
    "with its scalar spelled otherwise": (with_signature(same_point), "does not hold", BAD),
    "in one long line": (refolded, "spelled in another way", BAD),
    "of another entry": (borrowed, "does not hold", BAD),
    "two": (signed_twice, "2 signatures, where one is expected", BAD),
    "changed text": (touched(swap(b"forged\n", b"forgot\n")), "does not hold", BAD),
    "its header before the author": (moved_header, "headers in another order", SIGNED),
    "a second one for SHA-256": (
        bent(others=(("gpgsig-sha256", "x"),)), "a header too many: gpgsig-sha256", SIGNED),
    "bytes that are no UTF-8": (touched(swap(b"forged\n", b"forg\xff\n")), "not UTF-8", BAD),
    "no committer": (touched(swap(b"\ncommitter", b"\ncommitted")), "malformed", BAD),
    "100 kB": (fields(parcel="x" * 100_000), "bytes, over the limit of 8192", BAD),
}  # fmt: skip
SHAPES: Final[dict[str, tuple[Kind, str]]] = {
    "a merge": (
        lambda c: signed(replace(c.sound(), parents=(c.record.git_tip or "", OTHER)), c.carrier),
        "a merge of 2 parents"),
    "an encoding": (bent(others=(("encoding", "latin1"),)), "a header too many: encoding"),
    "a tag merged": (bent(others=(("mergetag", "object x"),)), "a header too many: mergetag"),
    "a second author": (bent(others=(("author", "x"),)), "a header too many: author"),
    "another author": (
        identity(lambda who: who.replace(M1.id, M2.id), committer=False), "author and committer"),
    "another author and committer": (
        identity(lambda who: who.replace(M1.id, M2.id)), "author and committer"),
    "another mail": (identity(lambda who: who.replace("handsoff.", "")), "author and committer"),
    "another zone": (identity(lambda who: who.replace("+0000", "+0900")), "author and committer"),
    "zone -0000": (identity(lambda who: who.replace("+0000", "-0000")), "author and committer"),
    "a time of git's that was not signed": (
        identity(lambda who: who.replace(" 18", " 17")), "is not the time that was signed"),
    "a negative time of git's": (
        identity(lambda who: who.replace(" 18", " -18")), "author and committer"),
    "no message": (bent(message=""), "not a subject and one line"),
    "no subject": (rewritten(lambda text: text.removeprefix("forged")), "not one printable line"),
    "no line": (bent(message="forged\n"), "not a subject and one line"),
    "two lines": (rewritten(lambda text: text + "{}\n"), "not a subject and one line"),
    "bytes after the line": (rewritten(lambda text: text + "x"), "not a subject and one line"),
    "no end of line": (rewritten(lambda text: text[:-1]), "not a subject and one line"),
    "lines that end with CR LF": (line(lambda body: body + "\r"), "not canonical JSON"),
    "a subject that moves the cursor": (subject("\x1b[2J"), "not one printable line"),
    "a subject that turns the direction": (subject("\u202e"), "not one printable line"),
    "a NUL in the subject": (subject("\0"), "not one printable line"),
    "a subject of 400 characters": (subject("x" * 400), "not one printable line"),
    "keys twice": (line(swapped('"seq":3', '"seq":3,"seq":3')), "not canonical JSON"),
    "NaN": (line(swapped('"seq":3', '"seq":NaN')), "not canonical JSON"),
    "Infinity": (line(swapped('"seq":3', '"seq":Infinity')), "not canonical JSON"),
    "-Infinity": (line(swapped('"seq":3', '"seq":-Infinity')), "not canonical JSON"),
    "a float": (line(swapped('"seq":3', '"seq":3.0')), "not canonical JSON"),
    "an exponent": (line(swapped('"seq":3', '"seq":3e0')), "not canonical JSON"),
    "minus nothing": (line(swapped('"leg":1', '"leg":-0')), "not canonical JSON"),
    "a number of 5,000 digits": (
        line(swapped('"seq":3', '"seq":' + "9" * 5000)), "not canonical JSON"),
    "lists 2,000 deep": (line(lambda _: "[" * 2000 + "]" * 2000), "not canonical JSON"),
    "objects 1,000 deep": (line(lambda _: '{"a":' * 1000 + "1" + "}" * 1000), "not canonical JSON"),
    "blanks": (line(swapped(":", ": ")), "not canonical JSON"),
    "letters spelled as escapes": (line(swapped("feat", "\\u0066eat")), "not canonical JSON"),
    "a list": (line(lambda _: "[]"), "not canonical JSON"),
    "format 2": (line(swapped('"v":1', '"v":2')), "not an entry of format 1"),
}  # fmt: skip
CLAIMS: Final[dict[str, tuple[Kind, str]]] = {
    "a kind of the roster": (fields(kind="Founded"), "not an entry of a record: Founded"),
    "a kind of nobody": (fields(kind="Seized"), "not an entry of a record: Seized"),
    "a note in the record": (fields(kind="Noted"), "not an entry of a record: Noted"),
    "a field too many": (fields(more=1), "fields that do not belong to Saved: more"),
    "a number of 31 digits": (fields(seq=10**30), "out of turn: number 1000000000"),
    "a leg of 31 digits": (fields(leg=10**30), "a leg or revision that is no number"),
    "dated zero": (lambda c: c.entry(c.event(at=START - (START - EPOCH))), "no time that we"),
    "dated before 1970": (lambda c: c.entry(c.event(at=EPOCH - MINUTE)), "no time that we can"),
    "dated beyond all clocks": (
        lambda c: c.entry(c.event(at=EPOCH + timedelta(seconds=LATEST + 1))), "no time that we"),
    "backdated": (dated(-1), "dated before the entry that it follows"),
    "from another repository": (fields(repo=OTHER), "an entry of another repository"),
    "from another work": (fields(work="feat/y"), "an entry of another work"),
    **{f"work spelled {work!r}": (fields(work=work), "an entry of another work")
       for work in ("Feat/x", "feat//x", "feat/x ", "refs/heads/feat/x", "feat%2Fx", "feat/x\0")},
    "work is no text": (fields(work=["feat/x"]), "work, repo, roster or prev is no text"),
    "a number left out": (fields(seq=4), "out of turn: number 4, where 3 is due"),
    "a number again": (fields(seq=2), "out of turn: number 2, where 3 is due"),
    "on an older entry": (fields(prev=HELD.good[0].oid), "does not follow the last good entry"),
    "under an unknown roster": (fields(roster=OTHER), "made under a roster that is not known"),
    "under an older roster": (
        fields(roster=roster().founding), "made under an older roster than the entry"),
    "of an older leg": (happened(Saved, leg=0), "m1 acted on leg 0; this is leg 1"),
    "of an older revision": (happened(Saved, revision=0), "revision 0; this is revision 1"),
    "a file beside the page": (tree((b"page.md", FILE), (b"x", FILE)), TREE_SAID),
    "no page, where one is named": (fields(tree=EMPTY_TREE), TREE_SAID),
    "the page under another name": (tree((b"PAGE.md", FILE)), TREE_SAID),
    "the page as a program": (tree((b"page.md", EXECUTABLE)), TREE_SAID),
    "the page as a link": (tree((b"page.md", LINK)), TREE_SAID),
    "the page as a folder": (tree((b"page.md", TREE)), TREE_SAID),
    "a page where nothing was saved": (
        lambda c: c.entry(c.event(Dropped, reason=""), tree=PAGE_TREE), TREE_SAID),
    "held for ten years": (happened(Saved, hold=DECADE), "does not read: hold"),
    "held for less than nothing": (happened(Saved, hold=-MINUTE), "does not read: hold"),
    "held for no time": (fields(hold=0), "does not read: hold"),
    "held for true": (fields(hold=True), "does not read: hold"),
    "offered for ten years": (offered(deadline=START + DECADE), "stands over 366 days"),
    "offered until before": (offered(deadline=START - MINUTE), "has run out before it was made"),
    "offered until now": (offered(deadline=START), "has run out before it was made"),
    "offered to a stranger": (
        offered(to=Recipient(machine=OUTSIDER.id)), "to a machine that is not in the roster"),
    "offered to nobody's person": (
        offered(to=Recipient(person="mallory")), "to a person who is not in the roster"),
    "an older state offered": (offered(envelope=OTHER), "another state than the last one saved"),
    "withdrawn without an offer": (happened(Withdrawn), "that is held cannot be withdrawn"),
    "saved by who does not hold it": (by_other(Saved), "m1 carries this work, not m2"),
    "pushed by who does not hold it": (by_other(Pushed, **PUSHED), "m1 carries this work, not m2"),
    "dropped by who does not hold it": (by_other(Dropped, reason=""), "m1 carries this work, not"),
    "closed by who does not hold it": (by_other(Closed, outcome="merged"), "m1 carries this work"),
    "caught while it is held": (by_other(Caught, found=Found(how=How.FREE)), "m1 carries this"),
    "caught on a drop that never was": (
        by_other(Caught, found=Found(how=How.DROP, by=M1.id, since=START)), "m1 carries this work"),
}  # fmt: skip
ELSEWHERE: Final[dict[str, tuple[Record, Kind, str]]] = {
    "an old state named anew": (
        NEWER, happened(Saved, revision=1, envelope=ENVELOPE), "revision 1; this is revision 2"),
    "an old state offered again": (
        NEWER, offered(), "an offer of another state than the last one saved"),
    "the last entry once more": (
        NEWER, lambda c: c.entry(c.event(revision=1), prev=HELD.tip, seq=3), "out of turn"),
    "nothing saved, and offered": (
        HOLLOW, offered(envelope=""), "nothing was saved that could be offered"),
    "on an entry that is void": (
        VOID, lambda c: c.entry(prev=c.record.git_tip), "does not follow the last good entry"),
    "counting one that is void": (VOID, fields(seq=4), "out of turn: number 4, where 3 is due"),
    "caught by one whom it was not offered to": (
        OFFERED, lambda c: c.entry(caught(c), c.other), "this work is offered to m3, not m2"),
    "caught back by who offered it": (
        OFFERED, lambda c: c.entry(caught(c, c.carrier)), "this work is offered to m3, not m1"),
    "saved while it is offered": (OFFERED, happened(Saved), "that is offered cannot be saved"),
    "pushed while it is offered": (
        OFFERED, happened(Pushed, **PUSHED), "that is offered cannot be pushed"),
    "offered a second time": (OFFERED, offered(), "that is offered cannot be offered"),
    "withdrawn by another": (OFFERED, by_other(Withdrawn), "m1 carries this work, not m2"),
    "a catch that lies about what it found": (
        empty(), happened(Caught, found=Found(how=How.LAPSE, by=M2.id, since=START)),
        "caught what it did not find: lapse"),
    "the first entry of another work": (
        empty(), lambda _: pairs(*M1.pen(empty("feat/y")).caught().drafts)[0],
        "an entry of another work"),
    "a save of what nobody caught": (empty(), happened(Saved), "that is free cannot be saved"),
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_that_will_not_do(name: str) -> None:
    kind, reason, word = SIGNATURES[name]
    verdict(kind(cast()), HELD, reason, word)


@pytest.mark.parametrize("name", SHAPES)
def test_a_commit_of_another_shape(name: str) -> None:
    kind, reason = SHAPES[name]
    verdict(kind(cast()), HELD, reason, SIGNED)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_that_the_rules_refuse(name: str) -> None:
    kind, reason = CLAIMS[name]
    verdict(kind(cast()), HELD, reason, SIGNED)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_claim_that_would_do_at_another_time(name: str) -> None:
    record, kind, reason = ELSEWHERE[name]
    verdict(kind(cast(record)), record, reason, SIGNED)


def test_entries_that_are_reordered_cut_out_or_changed_are_no_chain() -> None:
    one, two, three = pairs(*M1.pen(empty()).caught().saved(page=PAGE).saved(page=OTHER).drafts)
    for chain in ([two, one], [one, three], [two, three], [one, one], [one, two, two]):
        with pytest.raises(DamagedError, match="stands on"):
            read_record(chain, roster(), "feat/x")
    with pytest.raises(DamagedError, match="are not its own"):
        read_record([one, (two[0], three[1])], roster(), "feat/x")
