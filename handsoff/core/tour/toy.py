"""The toy of the tour: a small repository, and a task in it that is half done. Texts only."""

from typing import Final

from handsoff.core.tour.tour import Act, Hidden, Writes

WORK: Final = "feat/cny-rounding"
STAYS: Final = {".env.local": "stays: a secret", "cache/rates.bin": "stays: ignored"}

_ROUNDING: Final = '''"""Round an amount to the places of its currency."""

from decimal import ROUND_HALF_EVEN, Decimal


def round_amount(amount: Decimal, places: int) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
'''
_MORE: Final = """

def per_currency(amount: Decimal, currency: str) -> Decimal:
    from src.places import PLACES

    return round_amount(amount, PLACES[currency])
"""
_TEST: Final = """from decimal import Decimal

from src.rounding import round_amount


def test_a_half_is_rounded():
    assert round_amount(Decimal("0.125"), 2) == Decimal("0.12")
"""
_LEGACY: Final = '''"""The old way, in floats; nothing imports it any more."""


def legacy_round(amount: float) -> float:
    return round(amount * 100) / 100
'''
_CASES: Final = "amount,currency,expected\n1.005,CNY,1.01\n2.675,CNY,2.68\n99.5,JPY,100\n"
_MONEY: Final = "from decimal import ROUND_HALF_UP, Context\n\nMONEY = Context(prec=28)\n"
_IGNORED: Final = "__pycache__/\n/cache/\n.env*\n"
_NOTE: Final = (
    "with HALF_EVEN everywhere, invoice 2019-0042 is off by one cent and finance rejects it\n"
)

_PAGE: Final = """# Handoff

## Next
{next}

## Tried and failed
HALF_EVEN for every currency: finance sends invoice 2019-0042 back, it is one cent off.

## Do not touch
The places table in src/places.py: finance signed it off.
"""
PAGE: Final = _PAGE.format(
    next="Keep zero decimals for JPY in per_currency(), then run tests/test_rounding.py."
)
BACK: Final = _PAGE.format(
    next="Review the rounding of JPY in src/rounding.py, then open the pull request."
)


def _places(places: str) -> Writes:
    return Writes("m1", "src/places.py", f"PLACES = {places}\n")


FIRST: Final[tuple[Act, ...]] = (
    Hidden("m1", "git clone -q {remote} toy"),
    Writes("m1", ".gitignore", _IGNORED),
    Writes("m1", "src/rounding.py", _ROUNDING),
    Writes("m1", "src/legacy_round.py", _LEGACY),
    Writes("m1", "tests/test_rounding.py", _TEST),
    Hidden(
        "m1",
        "git add -A && git commit -q -m 'toy: round amounts, half to even' && "
        "git push -q -u origin main",
    ),
    Hidden("m2", "git clone -q {remote} toy"),
)
"""What both have before the story begins."""

MONDAY: Final[tuple[Act, ...]] = (
    Hidden("m1", f"git switch -q -c {WORK}"),
    _places('{"EUR": 2, "USD": 2}'),
    Hidden("m1", "git add -A && git commit -q -m 'rounding: start a table of places'"),
    Hidden("m1", f"git push -q -u origin {WORK}"),
    Hidden("m2", "git fetch -q"),
    _places('{"CNY": 2, "EUR": 2, "JPY": 0, "USD": 2}'),
    Hidden("m1", "git commit -q -a -m 'rounding: add CNY and JPY to the table'"),
    Writes("m1", "src/rounding.py", _ROUNDING + _MORE),
    Hidden("m1", "git commit -q -a -m 'rounding: per_currency()'"),
    Writes("m1", "src/bankers.py", 'BANKERS = {"0.125": "0.12", "0.135": "0.14"}\n'),
    Hidden("m1", "git add -A && git stash push -q -m 'experiment: a bankers-rounding table'"),
    Writes("m1", "src/rounding.py", (_ROUNDING + _MORE).replace("HALF_EVEN", "HALF_UP")),
    Hidden("m1", "git add src/rounding.py && git rm -q src/legacy_round.py"),
    Writes("m1", "tests/test_rounding.py", _TEST.replace('0.12")\n', '0.13")\n')),
    Writes("m1", "src/money_ctx.py", _MONEY),
    Writes("m1", "tests/data/cny_cases.csv", _CASES),
    Writes("m1", ".wip/notes.md", _NOTE),
    Writes("m1", ".wip/carry", ".wip/notes.md\n"),
    Writes("m1", ".env.local", "INVOICE_API_TOKEN=not-a-real-token\n"),
    Hidden("m1", "mkdir cache && head -c 300000 /dev/urandom >cache/rates.bin"),
)
"""Monday, 4 p.m."""

# put together here, so that no scanner trips over this file
TOKEN: Final = "_".join(("ghp", "Zq7Rt2" * 6))
