#!/usr/bin/env bash
# race.sh [N [KIND,...]]: two machines do what only one of them may, almost at once; N rounds
# (default 5) of each KIND:
#
#   send-send    two clones that share machine 1's key, so that no lock on the disk can decide, hand
#                the same work over, one to m2, one to m3
#   catch-catch  m2 and m3 catch what m1 offers to anyone
#   save-catch   m1 saves a work whose lease has run out, and m2 catches it
#
# One of the two, in turn where they are alike, pauses for two seconds after it read the record.
# Exactly one may succeed; the other must end with 5 or 4 and name the winner; the record must end
# with the winner's entry. Then, PREPARED=20 at a time and in ROUNDS rounds (default N of each
# kind), pushes of the record that were prepared by the product's own code from the same old tip
# are let go at once (race_pushes.py): one may succeed. Ends with 0 only if all did so.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
N=${1:-5}
KINDS=${2:-send-send,catch-catch,save-catch}
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
# from CLONE COMMAND...: run it in that clone, as the machine that its name begins with.
from() {
    local clone=$1
    shift
    (cd "$ROOT/$clone" && on "$ROOT" "${clone%-other}" "$@")
}
FOUNDING=$(from m1 "$HANDSOFF" roster --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["founding"])')
from m1-other "$HANDSOFF" init --name m1 --trust "$FOUNDING" >>"$ROOT/enroll.log" 2>&1
write_page "$ROOT" m1
write_page "$ROOT" m1-other
echo '# the same task, from the other window' >>"$ROOT/m1-other/src/places.py"
for clone in m2 m3; do cp -a "$ROOT/$clone" "$ROOT/$clone.clean"; done

# put_back CLONE...: as it was before the first round.
put_back() {
    local clone
    for clone in "$@"; do
        rm -rf "${ROOT:?}/$clone"
        cp -a "$ROOT/$clone.clean" "$ROOT/$clone"
    done
}

# standing WORK: who is named by the last entry of the record on the remote: the one an offer is for,
# else the one who wrote it. Read without handsoff.
standing() {
    from m1 "$HANDSOFF" roster --json >"$ROOT/roster.json"
    git -C "$ROOT/remote.git" log -1 --format=%B "refs/wip/lease/$1" |
        python3 -c '
import json, sys
roster = json.load(open(sys.argv[1]))
names = {member["id"]: member["name"] for member in roster["members"]}
entry = json.loads(sys.stdin.read().split("\n\n", 1)[1])
print(names[entry["to"]["machine"] if entry["kind"] == "Offered" else entry["by"]])
' "$ROOT/roster.json"
}

# contend NAME STEP CLONE WORDS... -- NAME CLONE WORDS...: the first pauses at STEP, the second runs
# meanwhile; NAME is whom the record names if it wins. Sets what the round came to.
contend() {
    local slow=$1 step=$2 clone=$3 words=() quick other pid
    shift 3
    while [ "$1" != -- ]; do words+=("$1") && shift; done
    quick=$2 other=$3
    shift 3
    from "$clone" env HANDSOFF_PAUSE_AT="$step:2" "$HANDSOFF" "${words[@]}" \
        >"$ROOT/$slow.txt" 2>&1 </dev/null &
    pid=$!
    codes[$slow]=0 codes[$quick]=0
    from "$other" "$HANDSOFF" "$@" >"$ROOT/$quick.txt" 2>&1 </dev/null || codes[$quick]=$?
    wait "$pid" || codes[$slow]=$?
    winner=none loser=none
    if [ "${codes[$quick]}" -eq 0 ]; then winner=$quick loser=$slow; fi
    if [ "${codes[$slow]}" -eq 0 ]; then winner=$slow loser=$quick; fi
}

# begin WORDS...: machine 1 brings the work to where a contest begins.
begin() {
    from m1 "$HANDSOFF" "$@" >"$ROOT/begin.txt" 2>&1 </dev/null || {
        cat "$ROOT/begin.txt" >&2
        exit 1
    }
}

# run_round KIND WORK NUMBER: bring the work to where the contest begins, and run it.
run_round() {
    local work=$2 first=m2 second=m3
    from m1 git switch -q -c "$work"
    case $1 in
    send-send)
        from m1-other git switch -q -c "$work"
        contend m3 send.record.read.after m1-other send m3 --via remote -- \
            m2 m1 send m2 --via remote
        ;;
    catch-catch)
        put_back m2 m3
        begin offer --anyone
        if [ $(($3 % 2)) -eq 0 ]; then first=m3 second=m2; fi
        contend $first catch.record.push.before $first catch "$work" -- \
            $second $second catch "$work"
        ;;
    save-catch)
        put_back m2
        begin save --hold 1s
        sleep 1
        echo "# round $3" >>"$ROOT/m1/src/places.py"
        if [ $(($3 % 2)) -eq 0 ]; then
            contend m1 save.record.push.before m1 save --page-only -- m2 m2 catch "$work"
        else
            contend m2 catch.record.push.before m2 catch "$work" -- m1 m1 save --page-only
        fi
        ;;
    esac
}

lost=0
for kind in ${KINDS//,/ }; do
    bad=0 stale=0
    for round in $(seq "$N"); do
        work=race-$kind-$round verdict=ok
        declare -A codes=()
        run_round "$kind" "$work" "$round"
        named=$(standing "$work")
        [ "$winner" != none ] && [ "$named" = "$winner" ] || verdict=BAD
        case ${codes[$loser]:-0} in 4 | 5) ;; *) verdict=BAD ;; esac
        grep -q "^handsoff:.*$winner" "$ROOT/$loser.txt" 2>/dev/null || verdict=BAD
        [ "$verdict" = ok ] || bad=$((bad + 1))
        [ "${codes[$loser]:-0}" -ne 5 ] || stale=$((stale + 1))
        said=$(grep -h '^handsoff:' "$ROOT/$loser.txt" | head -n 1 || true)
        printf '%-4s %s %s:' "$verdict" "$kind" "$round" | tee -a "$OUT/race.txt"
        for name in "${!codes[@]}"; do printf '  %s: exit %s' "$name" "${codes[$name]}"; done |
            tee -a "$OUT/race.txt"
        printf '  record: %s\n       %s\n' "$named" "$(cut -c 1-91 <<<"$said")" |
            tee -a "$OUT/race.txt"
    done
    printf '%s of %s rounds had exactly one winner; in %s the loser had read the old record: %s\n' \
        $((N - bad)) "$N" "$stale" "$kind" | tee -a "$OUT/race.txt"
    lost=$((lost + bad))
done

# The product's own code runs under the interpreter that its program was installed for.
PYTHON=${PYTHON:-$(dirname "$HANDSOFF")/python}
prepared=0
put_back m2 m3
kinds=(${KINDS//,/ })
on "$ROOT" m1 "$PYTHON" "$LAB/race_pushes.py" "${ROUNDS:-$((N * ${#kinds[@]}))}" "$PREPARED" \
    "$KINDS" "$ROOT" m1 m1-other m2 m3 | tee -a "$OUT/race.txt" || prepared=1
[ "$lost" -eq 0 ] && [ "$prepared" -eq 0 ]
