"""A record worth looking at: works in every state, pages with several revisions, a hostile one.

Used by the tests of the pages, and by the lab, which looks at them in a browser.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from handsoff.core.works import notes
from handsoff.core.works.lease import Recipient
from handsoff.core.works.notes import Notes
from handsoff.core.works.pen import Pen
from handsoff.core.works.record import Record
from handsoff.edge import clock
from handsoff.edge.git.moves import Move, Outcome
from tests.kit.machines import Machine, World, store

WORK: Final = "feat/cny-rounding"
ODD: Final = "fix/<b>50%</b>-off?&x=1"
PAGES: Final = (
    """# Handoff

work: feat/cny-rounding

## True now
- `per_currency()` rounds half up for CNY.
- Two commits are not pushed yet.

## Next
1. Keep zero decimals for JPY in `per_currency()`.
2. Run the tests in `tests/test_rounding.py`.

Done when: all 14 cases of the table pass.

## Tried and failed
HALF_EVEN for every currency: finance sends invoice 2019-0042 back, it is *one cent off*.

## Do not touch
The places table in `src/places.py`: finance signed it off.

## References
- secret: vault:billing/finance-api
""",
    """# Handoff

work: feat/cny-rounding

## True now
- `per_currency()` rounds half up for CNY, and keeps zero decimals for JPY.
- Everything is pushed.

## Next
1. Run the tests in `tests/test_rounding.py` on Windows too.
2. Ask finance for a look at invoice 2019-0042.

Done when: all 14 cases of the table pass, and finance has said yes.

## Tried and failed
HALF_EVEN for every currency: finance sends invoice 2019-0042 back, it is *one cent off*.

A table of places as a CSV file: nobody kept it up to date.

| currency | places | rounds |
|---|---|---|
| CNY | 2 | half up |
| JPY | 0 | half up |

## Do not touch
The places table in `src/places.py`: finance signed it off.

```python
PLACES = {"CNY": 2, "JPY": 0}
```
""",
)
HOSTILE: Final = (
    "# Handoff\n\n<script>document.title='owned'</script></style>"
    "<style>body{display:none}</style>\n\n"
    "## Next\n[click](javascript:alert(1)) ![x](https://evil.example/x.png) <https://evil.example>\n"
    "<img src=x onerror=alert(1)> &#x202e;abc \u202edcba\u202c \x1b[31mred\x1b[0m\n\n"
    "```\"onload=alert(1)\n</code></pre><script>alert(2)</script>\n```\n\n"
    "## Tried and failed\n{{ 7*7 }} {% raw %}\n\n## Do not touch\n</main></body></html>\n"
)  # fmt: skip


class Desks:
    """Several machines that write to records in one place, and push all of it at once."""

    def __init__(self, *machines: Machine) -> None:
        self.desk = machines[0].desk()
        self.keys = {machine.name: machine.member() for machine in machines}
        self.roster = self.desk.fresh_roster()
        self.store = store(self.desk)
        self.moves: list[Move] = []

    def pen(self, name: str, pen: Pen | str, now: datetime) -> Pen:
        """Give the pen to a machine; a new one for a work that nobody has written about."""
        record = Record(roster=self.roster, work=pen) if isinstance(pen, str) else pen.record
        drafts = () if isinstance(pen, str) else pen.drafts
        own = self.keys[name]
        return Pen(record=record, by=own.id, sign=own.sign, now=now, drafts=drafts)

    def saved(self, pen: Pen, text: str = PAGES[0], parcel: str = "5" * 32) -> Pen:
        """Save a page."""
        blob = self.store.write("blob", text.encode())
        return pen.saved(page=blob, envelope="1" * 40, parcel=parcel)

    def done(self, pen: Pen) -> None:
        """Keep what was written for the push."""
        self.store.write_drafts(pen.drafts)
        ref = self.desk.shared.record_ref(pen.record.work)
        self.moves.append(Move(ref, pen.record.git_tip or "", ""))

    def say(self, name: str, pen: Pen, text: str, *refused: str) -> None:
        """Note something on a work, and then be refused something, for these reasons."""
        own, work, seen = self.keys[name], pen.record.work, pen.record.git_tip or ""
        read = Notes(roster=self.roster, work=work, machine=own.id)
        at = int(self.desk.now.timestamp())
        drafts = [notes.noted(read, text, saw=seen, at=at, sign=own.sign)]
        for reason in refused:
            read = read.extend([(drafts[-1].oid, drafts[-1].data)])
            drafts.append(
                notes.refused(
                    read, tried="Saved", leg=1, revision=1, reason=reason, winner="", saw=seen,
                    at=at, sign=own.sign,
                )
            )  # fmt: skip
        self.store.write_drafts(drafts)
        self.moves.append(Move(self.desk.shared.notes_ref(work, own.id), drafts[-1].oid, ""))

    def push(self) -> None:
        """Put all of it on the remote."""
        assert self.desk.shared.push(*self.moves) is Outcome.MOVED


def worth_seeing(world: World) -> list[Machine]:
    """Return m1 and m2 of lin, and m3 of wang, with works in every state between them."""
    machines = [world.machine(name) for name in ("m1", "m2", "m3")]
    world.enrol(*machines, m3="wang")
    desks, now, hour = Desks(*machines), clock.now(), timedelta(hours=1)
    m1 = Recipient(machine=desks.keys["m1"].id)
    _rounding(desks, now)
    pen = desks.saved(desks.pen("m2", "fix/login-loop", now - hour).caught())
    desks.done(pen.offered(m1, parcel="6" * 32, route="remote"))
    pen = desks.saved(desks.pen("m3", "ops/move-ci-to-arm", now - 3 * hour).caught())
    reason = "the runners are not ours to change; ask ops"
    desks.done(pen.dropped(reason=reason, blocked=True))
    desks.done(desks.saved(desks.pen("m3", "docs/手册-交接", now - 30 * hour).caught()))
    pen = desks.saved(desks.pen("m1", "feat/export-csv", now - 50 * hour).caught())
    desks.done(pen.closed(outcome="merged"))
    pen = desks.saved(desks.pen("m3", ODD, now - hour / 4).caught(), HOSTILE)
    desks.done(pen)
    desks.say("m3", pen, "<script>alert('note')</script> \x1b[2J\u202egnp.exe")
    desks.push()
    return machines


def _rounding(desks: Desks, now: datetime) -> None:
    """Hand a work to and fro, with a night between."""
    minute, evening = timedelta(minutes=1), now - timedelta(hours=17)

    def at(pen: Pen, time: datetime) -> Pen:
        return replace(pen, now=time)

    m2 = Recipient(machine=desks.keys["m2"].id)
    pen = desks.pen("m1", WORK, evening).caught()
    pen = desks.saved(at(pen, evening + 22 * minute), parcel="")
    pen = desks.saved(at(pen, evening + 41 * minute))
    pen = at(pen, evening + 42 * minute).offered(m2, route="remote", parcel="5" * 32)
    pen = desks.pen("m2", pen, now - 80 * minute).caught()
    pen = at(pen, now - 64 * minute).pushed(WORK, old="2" * 40, new="3" * 40)
    pen = desks.saved(at(pen, now - 52 * minute), PAGES[1])
    pen = at(pen, now - 44 * minute).offered(Recipient(), route="remote", parcel="5" * 32)
    pen = desks.pen("m1", pen, now - 30 * minute).caught()
    pen = desks.saved(at(pen, now - 8 * minute), PAGES[1].replace("14", "15"), parcel="")
    desks.done(pen)
    said = "the Windows runner is slow today: give it ten minutes"
    desks.say("m2", pen, said, "m1 carries this work, not m2")
