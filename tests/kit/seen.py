"""A record worth looking at: works in every state, pages with several revisions, a hostile one.

Used by the tests of the pages, and by the lab, which looks at them in a browser.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from handsoff.core import notes
from handsoff.core.lease import Recipient
from handsoff.core.notes import Notes
from handsoff.core.pen import Pen
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
    "# Handoff\n\n<script>document.title='owned'</script></style><style>body{display:none}</style>\n\n"
    "## Next\n[click](javascript:alert(1)) ![x](https://evil.example/x.png) <https://evil.example>\n"
    "<img src=x onerror=alert(1)> &#x202e;abc \u202edcba\u202c \x1b[31mred\x1b[0m\n\n"
    "```\"onload=alert(1)\n</code></pre><script>alert(2)</script>\n```\n\n"
    "## Tried and failed\n{{ 7*7 }} {% raw %}\n\n## Do not touch\n</main></body></html>\n"
)  # fmt: skip


def page(machine: Machine, text: str) -> str:
    """Put a page into the machine's store, and return its blob."""
    return store(machine.desk()).write("blob", text.encode())


def at(pen: Pen, time: datetime) -> Pen:
    """Go on at another time."""
    return replace(pen, now=time)


def say(machine: Machine, work: str, text: str, tried: str = "") -> None:
    """Note something on the remote, or be refused something."""
    desk, own = machine.desk(), machine.member()
    record = desk.view(work).record
    ref = desk.shared.notes_ref(work, own.id)
    tips = desk.shared.tips(ref)
    desk.shared.bring(tips)
    read = Notes(roster=record.roster, work=work, machine=own.id)
    read = read.extend(desk.shared.chain(tips.get(ref, "")) or [])
    seen, seconds = record.git_tip or "", int(desk.now.timestamp())
    if tried:
        draft = notes.refused(
            read, tried=tried, leg=1, revision=1, reason=text, winner="", saw=seen, at=seconds,
            sign=own.sign,
        )  # fmt: skip
    else:
        draft = notes.noted(read, text, saw=seen, at=seconds, sign=own.sign)
    store(desk).write_drafts([draft])
    assert desk.shared.push(Move(ref, draft.oid, tips.get(ref, ""))) is Outcome.MOVED


def worth_seeing(world: World) -> list[Machine]:
    """Return m1, m2 and m3 of two persons, with works in every state between them."""
    m1, m2, m3 = machines = [world.machine(name) for name in ("m1", "m2", "m3")]
    world.enrol(*machines, m3="wang")
    now = clock.now()
    ids = [machine.member().id for machine in machines]
    _rounding(m1, m2, now)
    hour, parcel = timedelta(hours=1), "5" * 32

    def saved(machine: Machine, pen: Pen, text: str = PAGES[0]) -> Pen:
        return pen.saved(page=page(machine, text), envelope="1" * 40, parcel=parcel)

    m2.writes("fix/login-loop", lambda pen: saved(m2, pen.caught()).offered(
        Recipient(machine=ids[0]), parcel="6" * 32, route="remote"), now - hour)  # fmt: skip
    m3.writes("ops/move-ci-to-arm", lambda pen: saved(m3, pen.caught()).dropped(
        reason="the runners are not ours to change; ask ops", blocked=True), now - 3 * hour)  # fmt: skip
    m3.writes("docs/手册-交接", lambda pen: saved(m3, pen.caught()), now - 30 * hour)
    m1.writes("feat/export-csv", lambda pen: saved(m1, pen.caught()).closed(outcome="merged"),
              now - 50 * hour)  # fmt: skip
    m3.writes(ODD, lambda pen: saved(m3, pen.caught(), HOSTILE), now - hour / 4)
    say(m3, ODD, "<script>alert('note')</script> \x1b[2J\u202egnp.exe")
    return machines


def _rounding(m1: Machine, m2: Machine, now: datetime) -> None:
    """Hand a work to and fro, with a night between."""
    m2_id = m2.member().id
    minute, evening = timedelta(minutes=1), now - timedelta(hours=17)
    parcel = "7" * 32

    def first(pen: Pen) -> Pen:
        pen = pen.caught()
        pen = at(pen, evening + 22 * minute).saved(page=page(m1, PAGES[0]), envelope="1" * 40)
        pen = at(pen, evening + 41 * minute).saved(
            page=page(m1, PAGES[0]), envelope="1" * 40, parcel=parcel
        )
        return at(pen, evening + 42 * minute).offered(Recipient(machine=m2_id), route="remote",
                                                      parcel=parcel)  # fmt: skip

    def second(pen: Pen) -> Pen:
        pen = at(pen.caught(), now - 64 * minute).pushed(WORK, old="2" * 40, new="3" * 40)
        pen = at(pen, now - 52 * minute).saved(page=page(m2, PAGES[1]), envelope="1" * 40)
        return at(pen, now - 44 * minute).offered(Recipient(), route="remote", parcel=parcel)

    def third(pen: Pen) -> Pen:
        pen = at(pen.caught(), now - 8 * minute)
        return pen.saved(page=page(m1, PAGES[1].replace("14", "15")), envelope="1" * 40)

    m1.writes(WORK, first, evening)
    m2.writes(WORK, second, now - 80 * minute)
    m1.writes(WORK, third, now - 30 * minute)
    say(m2, WORK, "the Windows runner is slow today: give it ten minutes")
    say(m2, WORK, "m1 carries this work, not m2", tried="Saved")
