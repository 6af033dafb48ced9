#!/usr/bin/env bash
# race.sh [N]: machine 1 hands the same work over twice, almost at once; N rounds (default 5).
#
# First from two clones that share machine 1's key, so that no lock on the disk can decide: one
# to m2, one to m3, the second pausing for two seconds after it read the record. Exactly one may
# succeed; the other must end with 5 or 4 and name the winner's receiver; the record must name one
# receiver. Then 20 pushes of the record, prepared by the product's own code from the same old
# tip, are let go at once (race_pushes.py): one may succeed. Ends with 0 only if all did so.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
N=${1:-5}
PREPARED=${PREPARED:-20}
program
scratch
mkdir -p "$OUT"
: >"$OUT/race.txt"
ROOT=$SCRATCH/race
bash "$LAB/build.sh" "$ROOT"
enroll "$ROOT" m1 m2 m3

# The other clone on machine 1: the same keys, another folder.
on "$ROOT" m1 git clone -q -b "$BRANCH" "$ROOT/remote.git" "$ROOT/m1-other"
# from CLONE COMMAND...: run it as machine 1 in that clone.
from() {
    local clone=$1
    shift
    (cd "$ROOT/$clone" && on "$ROOT" m1 "$@")
}
FOUNDING=$(from m1 "$HANDSOFF" roster --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["founding"])')
from m1-other "$HANDSOFF" init --name m1 --trust "$FOUNDING" >>"$ROOT/enroll.log" 2>&1
write_page "$ROOT" m1
write_page "$ROOT" m1-other
echo '# the same task, from the other window' >>"$ROOT/m1-other/src/places.py"

# offered_to WORK: whom the last entry of the record on the remote names; read without handsoff.
offered_to() {
    from m1 "$HANDSOFF" roster --json >"$ROOT/roster.json"
    git -C "$ROOT/remote.git" log -1 --format=%B "refs/wip/lease/$1" |
        python3 -c '
import json, sys
roster = json.load(open(sys.argv[1]))
names = {member["id"]: member["name"] for member in roster["members"]}
entry = json.loads(sys.stdin.read().split("\n\n", 1)[1])
print(names[entry["to"]["machine"]] if entry["kind"] == "Offered" else entry["kind"])
' "$ROOT/roster.json"
}

lost=0
stale=0
for round in $(seq "$N"); do
    work=race-$round
    from m1 git switch -q -c "$work"
    from m1-other git switch -q -c "$work"
    from m1-other env HANDSOFF_PAUSE_AT=send.record.read.after:2 "$HANDSOFF" send m3 --via remote \
        >"$ROOT/second.txt" 2>&1 </dev/null &
    second=$!
    first_code=0
    second_code=0
    from m1 "$HANDSOFF" send m2 --via remote >"$ROOT/first.txt" 2>&1 </dev/null || first_code=$?
    wait "$second" || second_code=$?

    winner=none loser=none loser_code=0
    if [ "$first_code" -eq 0 ]; then winner=m2 loser=second loser_code=$second_code; fi
    if [ "$second_code" -eq 0 ]; then winner=m3 loser=first loser_code=$first_code; fi
    named=$(offered_to "$work")
    verdict=ok
    [ "$winner" != none ] && [ "$named" = "$winner" ] || verdict=BAD
    case $loser_code in 4 | 5) ;; *) verdict=BAD ;; esac
    grep -q "^handsoff:.*$winner" "$ROOT/$loser.txt" 2>/dev/null || verdict=BAD
    [ "$verdict" = ok ] || lost=$((lost + 1))
    [ "$loser_code" -ne 5 ] || stale=$((stale + 1))
    said=$(grep -h '^handsoff:' "$ROOT/$loser.txt" | head -n 1 || true)
    printf '%-4s round %-3s to m2: exit %s  to m3: exit %s  record: %s\n       %s\n' "$verdict" \
        "$round" "$first_code" "$second_code" "$named" "$(cut -c 1-91 <<<"$said")" |
        tee -a "$OUT/race.txt"
done
printf '%s of %s rounds had exactly one winner; in %s the loser had read the old record\n' \
    $((N - lost)) "$N" "$stale" | tee -a "$OUT/race.txt"

# The product's own code runs under the interpreter that its program was installed for.
PYTHON=${PYTHON:-$(dirname "$HANDSOFF")/python}
prepared=0
on "$ROOT" m1 "$PYTHON" "$LAB/race_pushes.py" "$N" "$PREPARED" "$ROOT/m1" "$ROOT/m1-other" |
    tee -a "$OUT/race.txt" || prepared=1
[ "$lost" -eq 0 ] && [ "$prepared" -eq 0 ]
