"""How every verb reads the record of a work, and writes to it: on the remote, or until it answers.

    view = look(desk, work)                 as the remote has it, what waited here having been sent
    done = put(desk, view, pen, name)       the entries of ``pen``, by compare-and-swap

Without the remote the record is as this clone last saw it, with what waits here on top, or what
came along in a parcel; entries then wait (``pending``). Callers hold the lock of the clone.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final

from handsoff.core.chain import Commits
from handsoff.core.works import luggage
from handsoff.core.works.lease import Event
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.edge.git.moves import Move, Outcome
from handsoff.edge.git.objects import Objects, store_of
from handsoff.edge.steps import step
from handsoff.errors import (
    HandsoffError,
    HeldError,
    LostRaceError,
    RefusedError,
    UnreachableError,
)
from handsoff.flows import cached
from handsoff.flows.desk import Desk, View
from handsoff.flows.roster import changes
from handsoff.flows.waiting import Pending, Verb, last_known
from handsoff.flows.works import landing, notebook

_PAGES: Final = 8 << 20
"""Bytes of pages that travel with a record."""


def look(desk: Desk, work: str, *, expect_news: bool = False) -> View:
    """Return what is known of ``work``; what waits here is sent first, of other works as well."""
    try:
        view = desk.view(work, expect_news=expect_news)
    except UnreachableError as error:
        return _last_seen(desk, work, error)
    news: list[str] = []
    with suppress(HandsoffError):
        news += changes.make(desk)
    for other in Pending(desk.checkout).works():
        if other != work:
            with suppress(HandsoffError):  # its own verbs say what is wrong with it
                news += landing.flush(desk, desk.view(other)).news
    with suppress(HandsoffError):
        _flush_notes(desk, view)
    view = landing.flush(desk, view)
    cached.write(desk, view.roster, [work])
    return replace(view, news=(*news, *view.news))


def send_all(desk: Desk) -> list[str]:
    """Send what waits in this clone, if the remote answers; return what became of it."""
    works, wishes = Pending(desk.checkout).works(), changes.waiting(desk)
    noted = [work for work in notebook.unsent(desk.checkout) if work not in works]
    if not works and not wishes and not noted:
        return []
    news: list[str] = []
    with suppress(HandsoffError), desk.checkout.lock():
        desk.live_roster()  # an error here says that the remote does not answer
        with suppress(HandsoffError):
            news += changes.make(desk)
        for work in [*works, *noted]:
            with suppress(HandsoffError):  # what is wrong with one holds up no other
                view = desk.view(work)
                _flush_notes(desk, view)
                news += landing.flush(desk, view).news
                cached.write(desk, view.roster, [work])
    return news


def _flush_notes(desk: Desk, view: View) -> None:
    own = notebook.Notebook(desk, view.roster, view.record.work)
    if own.waits():
        own.write(None, away=False)


def _last_seen(desk: Desk, work: str, error: UnreachableError) -> View:
    """Return the record without the remote: as last seen, and what is known to follow."""
    known = last_known(desk, work)
    if known is None:
        raise error
    view = replace(known, away=str(error))
    for parcel in desk.home.parcels():
        claims = parcel.manifest
        if (claims.repository, claims.work) == (desk.pin, work) and claims.chain:
            came = luggage.unpack(Objects(parcel.objects).blob(claims.chain, luggage.LIMIT))
            view = _with_luggage(desk, view, came)
    return view


def _with_luggage(desk: Desk, view: View, came: luggage.Luggage) -> View:
    """Return the view with the entries that came in a parcel, if they follow from what is known."""
    oids = [oid for oid, _ in came.commits]
    if view.tip and view.tip not in oids:
        return view
    ahead = came.commits[oids.index(view.tip) + 1 if view.tip else 0 :]
    record = view.record.extend(ahead)
    if not ahead or not record.entries[-1].good:
        return view
    objects = store_of(desk.shared)
    for kind, data in came.others:
        objects.write(kind, data)
    for _, data in ahead:
        objects.write("commit", data)
    return replace(view, record=record)


def packed_chain(desk: Desk, view: View, pen: Pen) -> bytes:
    """Return the record, with the drafts of ``pen`` and their pages, as it travels in a parcel.

    Whoever takes it without the remote has no other way to a page: of a record of pages beyond
    measure the latest travel.
    """
    old: Commits = desk.shared.chains.line(view.tip) or []
    whole = [*old, *((draft.oid, draft.data) for draft in pen.drafts)]
    objects = store_of(desk.shared)
    pages: dict[tuple[str, bytes], None] = {}
    room = _PAGES
    for _, data in reversed(whole):
        pages |= dict.fromkeys(page := list(_page_of(objects, data)))
        room -= sum(len(content) for _, content in page)
        if room < 0:
            break
    return luggage.pack(whole, pages)


def _page_of(objects: Objects, data: bytes) -> Iterator[tuple[str, bytes]]:
    oid = data[5:45].decode("ascii")
    if not objects.has(oid):
        return  # the entry came in a parcel without it, from a handsoff that left it to the remote
    tree = objects.tree(oid)
    yield "tree", tree
    if tree:
        yield "blob", objects.blob(tree[-20:].hex())


@dataclass(frozen=True, slots=True)
class Written:
    """How entries were written: on the remote, or here until it answers."""

    record: Record
    landed: bool


def put(
    desk: Desk,
    view: View,
    pen: Pen,
    name: str,
    *,
    parcel: str = "",
    path: str = "",
    where: str = "",
) -> Written:
    """Put the drafts of ``pen`` on the record that ``view`` has; ``name`` is the verb.

    LostRaceError if another machine was faster, which is put on the record too. Without the remote
    they wait, and with them the sealed parcel at ``path``, if it is to be left there.
    """
    store_of(desk.shared).write_drafts(pen.drafts)
    desk.shared.chains.made(pen.drafts)
    work, lease, tip = view.record.work, view.record.lease, pen.record.git_tip or ""
    waits = _has_to_wait(desk, view, tip)
    if waits:
        verb = Verb(
            name=name, at=int(desk.now.timestamp()), leg=lease.leg, revision=lease.revision,
            entries=tuple(draft.oid for draft in pen.drafts), parcel=parcel, path=path,
        )  # fmt: skip
        Pending(desk.checkout).add(work, tip, verb)
    else:
        _push(desk, view, pen, where or name)
        desk.remember(pen.record)
    cached.write(desk, view.roster, [work])
    return Written(pen.record, landed=not waits)


def _has_to_wait(desk: Desk, view: View, tip: str) -> bool:
    """Say whether entries up to ``tip`` cannot go to the remote now.

    RefusedError if others wait here on which they do not stand.
    """
    before = Pending(desk.checkout).of(view.record.work)
    if before is not None and desk.shared.chains.line(tip, before.tip) is None:
        raise RefusedError(
            f"{len(before.verbs)} of {view.record.work} wait here, and the remote has gone on "
            "without them: nothing is put on top of that",
            hint="handsoff pending --send lands what still fits, and refuses the rest",
        )
    return bool(view.away) or before is not None


def _push(desk: Desk, view: View, pen: Pen, where: str) -> None:
    """Move the record on the remote; LostRaceError if another machine was faster."""
    step(f"{where}.record.push.before")
    outcome = desk.shared.push(
        Move(desk.shared.record_ref(view.record.work), pen.record.git_tip or "", view.remote_tip),
        *landing.branches(_events(pen)),
    )
    step(f"{where}.record.push.after")
    if outcome is Outcome.LOST:
        raise lost(desk, pen)


def _events(pen: Pen) -> list[Event]:
    count = len(pen.drafts)
    return [e.entry.event for e in pen.record.entries[-count:] if count and e.entry is not None]


def lost(desk: Desk, pen: Pen) -> LostRaceError:
    """Return the error for a record that another machine moved first, and put it on the record."""
    work = pen.record.work
    view = desk.view(work)
    lease = view.record.lease.as_of(desk.now)
    who = view.roster.name_of(lease.carrier) if lease.carrier else "another machine"
    what = lease.state.value
    if lease.to is not None:
        what += f" to {view.roster.named_text(lease.to.shown())}"
    said = f"{who} was faster with {work}: it is {what} (leg {lease.leg}, r{lease.revision})"
    tried = notebook.tried(_events(pen)[-1:])
    notebook.refuse(desk, view, tried, said)
    return LostRaceError(said, hint="nothing was changed by this command; see: handsoff status")


@contextmanager
def on_the_record(desk: Desk, view: View, kind: str, *, dry_run: bool = False) -> Iterator[None]:
    """Let a refusal of the rules, while an entry of ``kind`` is made, be on the record as well."""
    try:
        yield
    except HeldError as error:
        lease = view.record.lease
        if view.tip and view.roster.member(desk.machine.id) is not None and not dry_run:
            notebook.refuse(desk, view, [(kind, lease.leg, lease.revision)], str(error))
        raise
