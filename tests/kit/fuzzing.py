"""Every parser of what comes from elsewhere, with valid inputs to begin from: ``TARGETS``.

A target takes bytes and returns, or raises an error of ours; anything else is a bug. Valid inputs
are changed in a few places: bytes flipped, cut, doubled and moved; in JSON, values replaced by odd
ones and spelled canonically again; in entries of a chain besides signed anew, so that what
the signature protects is reached too. A new parser is one line in ``TARGETS``.
"""

import io
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final
from unicodedata import category

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from handsoff.core import canon, ids, objects, plain, sshwire, times  # fmt: skip
from handsoff.core.chain import compose, open_link
from handsoff.core.checkout import envelope, index, lfs, operation, paths  # fmt: skip
from handsoff.core.checkout.operation import Operation
from handsoff.core.checkout.state import (
    NO_TIME,
    BranchConfig,
    LeftBehind,
    Sparse,
    StashEntry,
    State,
)
from handsoff.core.guard import guard  # fmt: skip
from handsoff.core.machines import cards, codes, pairtalk  # fmt: skip
from handsoff.core.machines.admission import read_roster
from handsoff.core.objects import EMPTY_TREE, oid_of
from handsoff.core.pages import outline, page  # fmt: skip
from handsoff.core.parcels import autorun, bounds, manifest  # fmt: skip
from handsoff.core.parcels.incoming import check_state
from handsoff.core.reach import address, destination, discovery, interfaces, sshtalk  # fmt: skip
from handsoff.core.remote import pushcert, refs  # fmt: skip
from handsoff.core.remote.archive import Archive
from handsoff.core.talk import frames, messages  # fmt: skip
from handsoff.core.talk.exchange import Exchange, Role
from handsoff.core.transcripts import baggage  # fmt: skip
from handsoff.core.works import luggage  # fmt: skip
from handsoff.core.works.notes import Notes
from handsoff.core.works.record import read_record
from handsoff.errors import HandsoffError
from tests.core.parcels.test_bounds import pack, packed
from tests.core.transcripts.test_baggage import ALL as BAGGAGE
from tests.kit.signing import M1, M2, START, empty, roster
from tests.vectors.messages import every_message

A: Final = "a" * 40
AT: Final = int(START.timestamp())
_EACH: Final = 25
"""Inputs that one example of Hypothesis is drawn out to: to draw costs more than to try."""


@dataclass(frozen=True)
class Target:
    """One parser: what it is called, valid inputs, and what is done with bytes."""

    name: str
    seeds: Sequence[bytes]
    run: Callable[[bytes], object]
    json: bool = False
    """Whether values of the document are changed, too."""
    resigned: bool = False
    """Whether a changed body is signed again, as one entry of a chain."""


def _entry(data: bytes) -> tuple[str, bytes]:
    return oid_of("commit", data), data


def _resigned(body: bytes) -> bytes:
    """Return an entry by m1 with this body, signed by m1; what is no object stays as it is."""
    try:
        fields = json.loads(body)
        at = fields["at"] if isinstance(fields.get("at"), int) else AT
        before = fields.get("prev") if ids.is_oid(fields.get("prev")) else None
        return compose(
            "fuzzed", fields, parent=before, tree=EMPTY_TREE, name="m1", machine=M1.id, at=at,
            sign=M1.sign,
        )[1]  # fmt: skip
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return body


def _body(data: bytes) -> bytes:
    return objects.parse_commit(data).message.encode().split(b"\n")[2]


_PEN = M1.pen(empty()).caught().saved(page=A, envelope=A, parcel="c" * 32)
_DRAFTS = [draft.data for draft in _PEN.drafts]
_STATE = State(
    work="feat/x", head=A, head_time=NO_TIME, index_tree=A, special=(), work_tree=A,
    stash=(StashEntry(A, "WIP", "x <y> 1 +0000"),), branch=BranchConfig("=", "refs/heads/x", ()),
    empty_folders=(b"empty",), left_behind=(LeftBehind(b"big\xff", "too large"),), tip=A,
    detached=False,
    operation=Operation(files=((b"MERGE_HEAD", b"a" * 40),), refs=(("refs/bisect/bad", A),)),
    raw=(b"crlf",), modes=((b"run", 0o700),), sparse=Sparse(b"/*\n", (("index.sparse", "true"),)),
    resolved=(), stale=(b"old",), lfs=(),
)  # fmt: skip
_LISTS = envelope.lists_of(_STATE)
_MANIFEST = manifest.Manifest(
    parcel="c" * 32, sender=M1.id, receivers=(M2.id,), repository=A, roots=(), work="feat/x",
    leg=3, revision=7, record=A, chain=A, envelope=A, bases=(A,), pack_size=123,
    pack_sha256="9" * 64, counts={"files": 3}, waivers=("x",), at=AT,
)  # fmt: skip
_PAGE = (
    page.template("feat/x") + "\n## Next\n\n1. Do it.\n\nsecret: vault:a/b\n\n```\ncode\n```\n"
    "## 下一步\n- [ ] 做\n<!-- hint -->\n## Tried and failed\nTODO\n"
).encode()
_CERT = f"certificate version 0.1\npusher x 1 +0000\npushee h\nnonce n\n\n{A} {A} refs/heads/x\n"
_COMMIT = objects.encode_commit(
    objects.Commit(A, (A,), "L <l> 1 +0000", "L <l> 1 +0000", "m\n", (M1.sign(b"x", "git"),))
)
_TREE = objects.encode_tree([
    objects.TreeEntry(b"a", objects.FILE, A), objects.TreeEntry(b"d", objects.TREE, A),
])  # fmt: skip
_SPECIAL = index.encode_special(
    [index.Entry(b"a", objects.FILE, A, 2), index.Entry(b"b", objects.FILE, A, 3)]
)
_INDEX = index.encode([index.encode_entry(index.Entry(b"a/b", objects.FILE, A))])
_TALK = [frames.encode(messages.encode(message)) for message in every_message()]


def _exchange(role: Role) -> Callable[[bytes], object]:
    def run(data: bytes) -> object:
        exchange = Exchange(role)
        if role is Role.SENDER:
            exchange.send(messages.Hello((1,), "m1", "x"))
        heard: list[object] = []
        for at in range(0, len(data), 97):
            heard += exchange.receive(data[at : at + 97])
            if exchange.due is not None and exchange.due[0] is role and exchange.may_refuse:
                exchange.send(messages.Refuse("unfit", "no"))
                break
        return heard

    return run


def _decoder(data: bytes) -> None:
    decoder = frames.Decoder()
    decoder.feed(data)
    while decoder.next_frame() is not None:
        pass


def _list_of(name: bytes) -> Callable[[bytes], object]:
    bound = envelope.Bound(A, NO_TIME, A, A)

    def run(data: bytes) -> None:
        check_state(
            envelope.decode_lists({**_LISTS, name: data}, dict(_STATE.operation.files), bound)
        )

    return run


def _operation(data: bytes) -> None:
    names = [b"rebase-merge/git-rebase-todo", b"sequencer/todo", b"rebase-merge/head-name",
             b"MERGE_HEAD", b"rebase-apply/apply-opt", b"sequencer/opts"]  # fmt: skip
    found = Operation(files=tuple((name, data) for name in names))
    for name in names:
        operation.ids_in(name, data)
    for read in (operation.commands_in, operation.moved_in, operation.kind_of):
        read(found)
    operation.labels_in(dict(found.files))
    operation.may_be_written(data)
    with suppress(HandsoffError):
        check_state(replace(_STATE, operation=found))


def _names(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for judge in (paths.path_problem, paths.fold, autorun.kind_of):
        judge(data)
    paths.collisions([data, data.swapcase()])
    assert paths.shown(data).isprintable()
    guard.never(data)
    shown = plain.plain(text), plain.plain_block(text)
    bad = {"Cc", "Cf", "Cs", "Co"}
    assert not [c for part in shown for c in part if c not in "\n\t" and category(c) in bad]
    refs.read_ref(text, "refs/wip")
    for room in ("lease", "notes"):
        refs.read_ref(f"refs/wip/{room}/{text}", "refs/wip")
    outline.parts(text)


def _page(data: bytes) -> None:
    read = page.parse(data)
    page.problems(read, "feat/x")
    said = [read.shown, *read.next_steps, read.done_when or "", *read.in_flight, *read.references]
    assert said
    assert "\x1b" not in read.shown


def _signer(data: bytes) -> object:
    return sshwire.signer(data.decode("ascii", "replace"), "git", b"x")


def _typed(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    parsers: list[Callable[[str], object]] = [
        address.parse_address, times.parse_duration, ids.check_name,
    ]  # fmt: skip
    for parse in parsers:
        with suppress(HandsoffError):
            parse(text)


def _found(data: bytes) -> None:
    """Names that mDNS brings, and addresses, destinations and codes that people type."""
    text = data.decode("utf-8", "surrogateescape")
    for kind in (discovery.MACHINES, discovery.PAIRING):
        discovery.is_instance(kind, text)
        discovery.instance_of(kind, text)
    interfaces.may_dial(text, ())
    parsers: list[Callable[[str], object]] = [destination.parse_destination, codes.parse_code]
    for parse in parsers:
        with suppress(HandsoffError):
            parse(text)


def _ssh(data: bytes) -> None:
    """What an ssh, and login scripts at its other end, say before a word of ours."""
    preamble = sshtalk.Preamble()
    for at in range(0, len(data), 50):
        preamble.feed(data[at : at + 50])
    lines = data.decode("utf-8", "replace").splitlines()
    for code in (255, 127, 2, 7, 0, -9):
        said = sshtalk.explain("h", code, lines, "handsoff")
        assert "\x1b" not in f"{said}{said.hint}"


def _chain(data: bytes) -> None:
    one = [_entry(data)]
    open_link(*one[0])
    note = Notes(roster=roster(), work="feat/x", machine=M1.id)
    readers: list[Callable[[], object]] = [
        lambda: read_record([_entry(_DRAFTS[0]), *one], roster(), "feat/x"),
        lambda: read_record(one, roster(), "feat/x"),
        lambda: _PEN.record.extend(one),
        lambda: Archive(roster=roster()).extend(one),
        lambda: note.extend(one),
        lambda: read_roster(one, None),
    ]
    for read in readers:
        with suppress(HandsoffError):
            read()


_HI = {**pairtalk.spell(pairtalk.Hi(b"A" + bytes(32)))}
_SAID = [
    b"motd\n" + sshtalk.GREETING + b"x", b"Permission denied (publickey).\n",
    b"handsoff: no clone\nhint: y\n", b"bash: handsoff: command not found\n",
]  # fmt: skip
_CLAIMS = {
    "kind": "claims", "card": M1.card().as_dict(), "trusts": "", "sees": "", "away": False,
    "member": False, "roots": ["c" * 40],
}  # fmt: skip
_BODIES = [_body(data) for data in _DRAFTS]

TARGETS: Final[tuple[Target, ...]] = (
    Target("frames", _TALK, _decoder),
    Target("messages", [messages.encode(m) for m in every_message()], messages.decode, json=True),
    Target("exchange, sender", [b"".join(_TALK[:1] + _TALK[3:4] + _TALK[7:9])],
           _exchange(Role.SENDER)),
    Target("exchange, receiver", [b"".join(_TALK[:2] + _TALK[6:7] + _TALK[9:10])],
           _exchange(Role.RECEIVER)),
    Target("transcripts", [baggage.encode(BAGGAGE)], baggage.decode, json=True),
    Target("manifest", [manifest.encode(_MANIFEST)], manifest.decode, json=True),
    Target("chain, bytes", _DRAFTS, _chain),
    Target("chain, signed anew", _BODIES, _chain, json=True, resigned=True),
    Target("cards", [cards.encode_card(M1.card())], cards.parse_card),
    Target("cards as values", [cards.encode_card(M1.card()).strip()],
           lambda data: cards.read_card(canon.decode(data)), json=True),
    Target("pairing", [canon.encode(said) for said in (_HI, _CLAIMS)],
           lambda data: pairtalk.read(canon.decode(data)), json=True),
    Target("found and typed",
           [b"a" * 26 + b".local.", b"7-orbit-lamp", b"ssh://me@h:22", b"fe80::1%2"], _found),
    Target("words of ssh", _SAID, _ssh),
    Target("page", [_PAGE], _page),
    *(Target(f"list {name.decode()}", [data], _list_of(name), json=data.startswith(b"{"))
      for name, data in _LISTS.items()),
    Target("index entries", [_SPECIAL], index.decode_special),
    Target("index file", [_INDEX], index.read_index),
    Target("operation", [b"pick aaaa x\nexec rm\nlabel y\nupdate-ref refs/heads/z\n", A.encode()],
           _operation),
    Target("signatures", [M1.sign(b"x", "git").encode()], _signer),
    Target("canonical JSON", [*_BODIES, manifest.encode(_MANIFEST)], canon.decode),
    Target("what people type", [b"h:1", b"[::1%eth0]:22", b"4h30m", b"m1"], _typed),
    Target("certificates", [f"{_CERT}{M1.sign(_CERT.encode(), 'git')}\n".encode()],
           lambda data: pushcert.read_certificate(data, nonce="n", status="OK")),
    Target("luggage", [luggage.pack([_entry(_DRAFTS[0])], [("blob", b"page")])], luggage.unpack),
    Target("trees", [_TREE], objects.parse_tree),
    Target("commits", [_COMMIT, *_DRAFTS], objects.parse_commit),
    Target("pointers", [b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"1" * 64 +
                        b"\nsize 5\n"], lfs.parse_pointer),
    Target("packs", [pack(packed(b"x" * 50), packed(b"", kind=2))],
           lambda data: bounds.measure(io.BytesIO(data).read, 1 << 20)),
    Target("names", ["feat/x%2F\u202e".encode(), b"a/.git\xff\x1b[1m", b"refs/wip/lease/x"],
           _names),
    Target("carry list", [b"*.log\n!x\n/home/m/co/y\n"],
           lambda data: paths.check_carry(data, b"/home/m/co")),
)  # fmt: skip

ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 1 << 37, (1 << 37) + 1, 1 << 63, -(1 << 63), 10**30, "", "x", "\0",
    "\ud800", "\udcff", "\u202e\x1b]52;", "a" * 41, "A" * 40, "0" * 40, "../../x", ".git", [], {},
    [[]], [None], {"": {}}, "9" * 5000, [[[[[[]]]]]], ["x"] * 300,
)  # fmt: skip


_GONE: Final = object()
"""Stands for no value at all."""


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value)
        if isinstance(value, list) else ()
    )  # fmt: skip
    return [at, *(place for key, below in inner for place in _places(below, (*at, key)))]


def _replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else [*value]
    if new is _GONE and len(at) == 1:
        del copy[at[0]]
    else:
        copy[at[0]] = _replaced(value[at[0]], at[1:], new)
    return copy


def changed_json(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """Return a valid document with one to three values replaced, removed or added."""
    value: Any = json.loads(rng.choice(seeds))
    for _ in range(rng.randint(1, 3)):
        if not isinstance(value, dict | list):
            break
        at, new = rng.choice(_places(value)), rng.choice(ODD)
        if rng.randrange(10) == 0 and isinstance(value, dict):
            value = {**value, rng.choice(["", "more", "v", "at"]): new}
        elif at:
            value = _replaced(value, at, _GONE if rng.randrange(6) == 0 else new)
    return canon.encode(value)


_PIECES: Final = (
    b"\0", b"\xff" * 4, b"\x1b[2J", b"\n", b" ", b"\\", b"/../", b"{", b"]", b'"', b"\r\n", b"%",
    b"999999999999", "\u202e".encode(), b"-----BEGIN SSH SIGNATURE-----\n", b"\x7f\xff\xff\xff",
)  # fmt: skip


def changed_bytes(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """Return valid bytes with one to four places changed; now and then any bytes at all."""
    if rng.randrange(20) == 0:
        return rng.randbytes(rng.randrange(200))
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        end = min(len(data), at + rng.randint(1, 40))
        match rng.randrange(6):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = data[at:end] * rng.randint(1, 3)
            case 3:
                data[at:at] = rng.choice(_PIECES)
            case 4:
                del data[at:]
            case _:
                data[at:end] = rng.randbytes(rng.randrange(8))
    return bytes(data)


def changed(target: Target, rng: Random) -> bytes:
    """Return one changed input for ``target``."""
    if target.resigned:
        return _resigned(changed_json(rng, target.seeds))
    use_json = target.json and rng.randrange(2) == 0
    return (changed_json if use_json else changed_bytes)(rng, target.seeds)


def fuzz(target: Target, inputs: int, number: int = 0) -> int:
    """Give ``target`` that many inputs; return how many it took. Its first bug is raised."""
    tried = 0

    @seed(number)
    @settings(
        max_examples=-(-inputs // _EACH), database=None, deadline=None,
        phases=[Phase.generate], suppress_health_check=[*HealthCheck],
    )  # fmt: skip
    @given(st.integers(0, 2**63))
    def run(start: int) -> None:
        nonlocal tried
        rng = Random(start)
        for _ in range(_EACH):
            data = changed(target, rng)
            tried += 1
            try:
                target.run(data)
            except HandsoffError:
                continue
            except Exception as error:
                error.add_note(f"{target.name}: {data!r}")
                raise

    run()
    return tried


def unchanged(target: Target) -> None:
    """Give ``target`` its seeds as they are: one that it does not take tests nothing."""
    for data in target.seeds:
        target.run(_resigned(data) if target.resigned else data)
