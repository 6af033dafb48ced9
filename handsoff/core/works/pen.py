"""Writing entries: one after the other on the same record, to be pushed together.

    pen = Pen(record=record, by=me, sign=sign, now=now)
    pen = pen.caught().saved(page=..., envelope=...).offered(Recipient(machine=m2))
    # write every draft's tree and commit, push pen.record.git_tip, expecting record.git_tip

Rule of the room: an entry is read back by the same code that reads what others wrote. What
the rules refuse is not signed: HeldError where another machine carries the work,
RefusedError for the rest.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from handsoff.core import loose
from handsoff.core.chain import Draft, Sign, compose
from handsoff.core.works.entry import encode_event, page_tree, seconds, time_of, tree_for
from handsoff.core.works.holding import clamp
from handsoff.core.works.lease import (
    HOLD,
    OFFER,
    Caught,
    Closed,
    Dropped,
    Event,
    Offered,
    Pushed,
    Recipient,
    Refusal,
    Saved,
    State,
    Why,
    Withdrawn,
    advance,
)
from handsoff.core.works.record import Record
from handsoff.errors import HeldError, RefusedError, TrustError


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """A record that ``by`` is adding to; ``drafts`` were written and are not pushed yet."""

    record: Record
    by: str
    sign: Sign
    now: datetime
    drafts: tuple[Draft, ...] = ()

    @property
    def at(self) -> datetime:
        """The time that the next entry will have: now, but never before its predecessor."""
        return clamp(self.now, time_of(self.record.at) if self.record.at else None)

    def caught(self, *, hold: timedelta = HOLD, lapsed: bool = False) -> "Pen":
        """Catch the work. ``lapsed``: the hold was seen to run out, whatever the clocks say."""
        at, lease = self.at, self.record.lease
        if lapsed and lease.until is not None:
            at = max(at, lease.until)
        found = lease.as_of(at).found()
        return self.write(Caught(**self._here(at), found=found, hold=hold))

    def saved(
        self, *, page: str = "", envelope: str = "", parcel: str = "", hold: timedelta = HOLD
    ) -> "Pen":
        """Put down the next revision."""
        here = self._here()
        return self.write(Saved(**here, page=page, envelope=envelope, parcel=parcel, hold=hold))

    def pushed(self, branch: str, *, old: str, new: str) -> "Pen":
        """Say that ``branch`` moves in the same push."""
        return self.write(Pushed(**self._here(), branch=branch, old=old, new=new))

    def offered(
        self,
        to: Recipient,
        *,
        parcel: str = "",
        route: str = "",
        within: timedelta = OFFER,
    ) -> "Pen":
        """Offer the last revision."""
        saved = self.record.saved
        return self.write(
            Offered(
                **self._here(),
                to=to,
                deadline=self.at + within,
                parcel=parcel,
                envelope=saved.envelope if saved else "",
                route=route,
            )
        )

    def withdrawn(self, *, hold: timedelta = HOLD) -> "Pen":
        """Take the offer back."""
        return self.write(Withdrawn(**self._here(), hold=hold))

    def dropped(self, reason: str, *, blocked: bool = False) -> "Pen":
        """Stop, and let anyone go on."""
        return self.write(Dropped(**self._here(), reason=reason, blocked=blocked))

    def closed(self, outcome: str) -> "Pen":
        """End the work: merged or abandoned."""
        return self.write(Closed(**self._here(), outcome=outcome))

    def holding(self, *, hold: timedelta = HOLD) -> "Pen":
        """Return a pen that holds the work: this one, or one that catches it first.

        A free or closed work is caught; so is one that this machine let lapse or dropped
        and that nobody caught since. Anything else is refused, and so is a blocked work: whoever
        goes on with that says so by a catch.
        """
        lease, work = self.record.lease.as_of(self.at), self.record.work
        if lease.state is State.HELD and lease.carrier == self.by:
            return self
        roster = self.record.roster
        mine = lease.state is State.OFFERED and lease.carrier == self.by
        if mine and lease.to and not lease.to.admits(self.by, roster.person_of(self.by)):
            raise RefusedError(
                f"{work} is offered to {roster.named_text(lease.to.shown())} already",
                hint="handsoff withdraw takes the offer back; else it ends at its deadline",
            )
        if lease.state is State.DROPPED and lease.blocked:
            quoted = lease.reason
            raise RefusedError(
                f"{work} is blocked: {quoted}",
                hint=f"to go on with it all the same: handsoff catch {loose.quoted(work)}",
            )
        if lease.state is State.DROPPED and lease.carrier != self.by:
            name = self.record.roster.name_of(lease.carrier)
            raise RefusedError(
                f"{name} carried {self.record.work} last, and nobody has caught it since",
                hint=f"handsoff catch {loose.quoted(self.record.work)}",
            )
        return self.caught(hold=hold)

    def write(self, event: Event) -> "Pen":
        """Return the pen after an entry about ``event``; raise if the rules refuse it."""
        record, roster = self.record, self.record.roster
        if roster.member(self.by) is None:
            raise TrustError(f"{roster.name_of(self.by)} is not in the roster")
        lease = advance(record.lease, event, roster.person_of)
        if isinstance(lease, Refusal):
            raise _refused(roster.named_text(lease.reason), lease.why)
        body = {
            **encode_event(event),
            "repo": roster.founding,
            "roster": roster.tip,
            "work": record.work,
            "seq": record.seq + 1,
            "prev": record.tip,
        }
        oid, data = compose(
            _subject(record, event),
            body,
            parent=record.git_tip,
            tree=tree_for(event),
            name=roster.name_of(self.by),
            machine=self.by,
            at=seconds(event.at),
            sign=self.sign,
        )
        after = record.extend([(oid, data)])
        if not after.entries[-1].good:
            raise RefusedError(after.entries[-1].reason)
        tree = page_tree(event.page if isinstance(event, Saved) else "")
        draft = Draft(oid=oid, data=data, tree=tree)
        return replace(self, record=after, drafts=(*self.drafts, draft))

    def _here(self, at: datetime | None = None) -> dict[str, Any]:
        lease = self.record.lease
        return {
            "by": self.by,
            "at": at or self.at,
            "leg": lease.leg,
            "revision": lease.revision,
        }


def _refused(reason: str, why: Why) -> RefusedError | HeldError:
    kind = HeldError if why is Why.HELD else RefusedError
    return kind(reason, hint="handsoff status tells where it stands")


def _subject(record: Record, event: Event) -> str:
    """Return a line for ``git log``; odd bytes in the name of a work are spelled out."""
    work = record.work.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    work = "".join(c if c.isprintable() else "?" for c in work)[:120]
    name = record.roster.name_of(event.by)
    done = type(event).__name__.lower()
    return f"{name} {done} {work}{_detail(record, event)}"


def _detail(record: Record, event: Event) -> str:
    match event:
        case Saved(revision=revision):
            return f": r{revision + 1}"
        case Offered(to=to):
            return f" to {record.roster.named_text(to.shown())}"
        case Caught(leg=leg):
            return f": leg {leg + 1}"
        case _:
            return ""
