#!/usr/bin/env bash
# build.sh DIR: the toy repository and Monday's state, 4 p.m., in the empty or new folder DIR.
#
#   DIR/remote.git   bare; its post-receive hook writes a line to reviews.log for each push to
#                    refs/heads/*, as machines 4 and 5 would start a review
#   DIR/m1           feat/cny-rounding, half done: see below
#   DIR/m2, DIR/m3   clean clones on main
#   DIR/home/NAME    a home for each machine
#
# Dates and random bytes are fixed: two builds have the same commit ids. Needs git and python3.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"

[ $# -eq 1 ] || {
    say "usage: build.sh DIR"
    exit 2
}
mkdir -p "$1"
ROOT=$(cd "$1" && pwd)
[ -z "$(ls -A "$ROOT")" ] || {
    say "build.sh: $ROOT is not empty"
    exit 2
}

minute=0
# Run git on m1; each call is a minute later than the one before.
m1() {
    minute=$((minute + 1))
    local when
    when="2026-01-05T15:$(printf %02d "$minute"):00Z"
    at "$ROOT" m1 env GIT_AUTHOR_DATE="$when" GIT_COMMITTER_DATE="$when" git "$@"
}

# put FILE: write standard input to a file of m1's checkout.
put() {
    mkdir -p "$(dirname "$ROOT/m1/$1")"
    cat >"$ROOT/m1/$1"
}

for machine in m1 m2 m3; do make_home "$ROOT" "$machine"; done
on "$ROOT" m1 git init -q --bare "$ROOT/remote.git"
cat >"$ROOT/remote.git/hooks/post-receive" <<'HOOK'
#!/bin/sh
while read -r old new ref; do
    case $ref in refs/heads/*) echo "review of $ref at $new" >>reviews.log ;; esac
done
HOOK
chmod +x "$ROOT/remote.git/hooks/post-receive"

# --- what everybody has: main -----------------------------------------------------------------
on "$ROOT" m1 git clone -q "$ROOT/remote.git" "$ROOT/m1" 2>/dev/null
m1 config wip.machine m1
put README.md <<'FILE'
# toy-money

Rounds amounts of money the way each currency wants it.
FILE
put .gitignore <<'FILE'
__pycache__/
/.wip/
/cache/
.env*
!.env.example
FILE
put src/rounding.py <<'FILE'
"""Round an amount to the places of its currency."""

from decimal import ROUND_HALF_EVEN, Decimal


def round_amount(amount: Decimal, places: int) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
FILE
put src/legacy_round.py <<'FILE'
"""The old way, in floats; nothing imports it any more."""


def legacy_round(amount: float) -> float:
    return round(amount * 100) / 100
FILE
put tests/test_rounding.py <<'FILE'
from decimal import Decimal

from src.rounding import round_amount


def test_a_half_goes_to_the_even_neighbour():
    assert round_amount(Decimal("0.125"), 2) == Decimal("0.12")
FILE
put .env.example <<'FILE'
INVOICE_API_TOKEN=
FILE
put tools/run-tests <<'FILE'
#!/bin/sh
exec python3 -m pytest -q tests
FILE
chmod +x "$ROOT/m1/tools/run-tests"
m1 add -A
m1 commit -q -m "toy: round amounts, half to even"
m1 push -q -u origin main

# --- the branch: one commit that was pushed, two that were not ------------------------------
m1 switch -q -c "$BRANCH"
put src/places.py <<'FILE'
PLACES = {"EUR": 2, "USD": 2}
FILE
m1 add -A
m1 commit -q -m "rounding: start a table of places"
m1 push -q -u origin "$BRANCH"
: >"$ROOT/remote.git/reviews.log"

put src/places.py <<'FILE'
PLACES = {"CNY": 2, "EUR": 2, "JPY": 0, "USD": 2}
FILE
m1 commit -q -a -m "rounding: add CNY and JPY to the table"
cat >>"$ROOT/m1/src/rounding.py" <<'FILE'


def per_currency(amount: Decimal, currency: str) -> Decimal:
    from src.places import PLACES

    return round_amount(amount, PLACES[currency])
FILE
m1 commit -q -a -m "rounding: per_currency()"

# --- a stash, then what is staged, unstaged, untracked, deleted and ignored -------------------
put src/bankers.py <<'FILE'
BANKERS = {"0.125": "0.12", "0.135": "0.14"}
FILE
sed -i 's/"CNY": 2/"CNY": 3/' "$ROOT/m1/src/places.py"
m1 add src/bankers.py
m1 stash push -q -m "experiment: a bankers-rounding table"

sed -i 's/ROUND_HALF_EVEN/ROUND_HALF_UP/' "$ROOT/m1/src/rounding.py"
m1 add src/rounding.py
m1 rm -q src/legacy_round.py
sed -i 's/Decimal("0.12")$/Decimal("0.13")/' "$ROOT/m1/tests/test_rounding.py"
put src/money_ctx.py <<'FILE'
from decimal import ROUND_HALF_UP, Context

MONEY = Context(prec=28, rounding=ROUND_HALF_UP)
FILE
put tests/data/cny_cases.csv <<'FILE'
amount,currency,expected
1.005,CNY,1.01
2.675,CNY,2.68
99.5,JPY,100
FILE
put .wip/notes.md <<'FILE'
with HALF_EVEN everywhere, invoice 2019-0042 is off by one cent and finance rejects it
FILE
put .wip/carry <<'FILE'
.wip/notes.md
FILE
put .env.local <<'FILE'
INVOICE_API_TOKEN=not-a-real-token
FILE
mkdir -p "$ROOT/m1/cache"
python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(4).randbytes(3_000_000))' \
    >"$ROOT/m1/cache/rates.bin"

# --- the others -------------------------------------------------------------------------------
for machine in m2 m3; do
    on "$ROOT" "$machine" git clone -q -b main "$ROOT/remote.git" "$ROOT/$machine"
    at "$ROOT" "$machine" git config wip.machine "$machine"
done
