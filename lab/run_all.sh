#!/usr/bin/env bash
# run_all.sh: hand Monday's state over in six ways, compare both ends, and print one table; then
# try again what once lost work, or should be refused, and print each answer.
#
# Writes lab/out/. Ends with 0 only if rows D, E and F are the same as machine 1 in everything
# but .env.local and the cache, no review was triggered, and each attempt ended as it should.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
program
scratch
rm -rf "$OUT"
mkdir -p "$OUT"
FAILED=0

size_of() { find "$@" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'; }
reviews() { wc -l <"$1/remote.git/reviews.log"; }
see() { at "$1" "$2" python3 "$LAB/compare.py" look .; }

# --- the ways: each takes ROOT, and adds to MOVED the bytes that did not go through the remote ---
a_push() {
    at "$1" m1 git push -q
    at "$1" m2 git fetch -q
    at "$1" m2 git switch -q "$BRANCH"
}

b_wip_commit() {
    at "$1" m1 git add -A
    at "$1" m1 git commit -q -m "WIP handoff"
    at "$1" m1 git push -q
    at "$1" m2 git fetch -q
    at "$1" m2 git switch -q "$BRANCH"
    at "$1" m2 git reset -q HEAD~1
}

c_copy() {
    rm -rf "$1/m2"
    cp -a "$1/m1" "$1/m2"
    MOVED=$(size_of "$1/m2")
}

# direct ROOT TO: m1 sends straight to a listener of TO; the bytes go through a counting relay.
direct() {
    local root=$1 to=$2 listener relay rc=0
    rm -f "$root/listen" "$root/relay"
    at "$root" "$to" "$HANDSOFF" listen --bind 127.0.0.1 --port 0 --once \
        --address-file "$root/listen" >>"$root/$to.log" 2>&1 &
    listener=$!
    wait_for "$root/listen" "$listener" || {
        say "lab: the listener did not start"
        cat "$root/$to.log" >&2
        return 1
    }
    python3 "$LAB/relay.py" "$(cat "$root/listen")" "$root/relay" "$root/count" &
    relay=$!
    wait_for "$root/relay" "$relay"
    at "$root" m1 "$HANDSOFF" send "$to" --at "$(cat "$root/relay")" || rc=$?
    kill "$relay" "$listener" 2>/dev/null || true
    wait "$relay" "$listener" 2>/dev/null || true
    MOVED=$(cat "$root/count")
    return "$rc"
}

d_direct() {
    direct "$1" m2
    at "$1" m2 "$HANDSOFF" catch "$BRANCH"
}

e_remote() {
    at "$1" m1 "$HANDSOFF" send m2 --via remote
    at "$1" m2 "$HANDSOFF" catch "$BRANCH"
}

f_file() {
    at "$1" m1 "$HANDSOFF" send m2 --to-file "$1/stick.handsoff"
    MOVED=$(size_of "$1/stick.handsoff")
    at "$1" m2 "$HANDSOFF" receive "$1/stick.handsoff"
    at "$1" m2 "$HANDSOFF" catch "$BRANCH"
}

# way LABEL FUNCTION: build, hand over, compare; one row to ways.jsonl.
way() {
    local label=$1 step=$2 root=$SCRATCH/$2 log=$OUT/$2.txt held
    bash "$LAB/build.sh" "$root"
    case $step in [def]_*)
        write_page "$root" m1
        enroll "$root" m1 m2
        ;;
    esac
    see "$root" m1 >"$OUT/$step.before.json"
    held=$(size_of "$root/remote.git/objects")
    MOVED=0
    if ! "$step" "$root" >"$log" 2>&1; then
        say "lab: way $label failed:"
        tail -n 5 "$log" >&2
        FAILED=1
    fi
    see "$root" m2 >"$OUT/$step.after.json"
    MOVED=$((MOVED + $(size_of "$root/remote.git/objects") - held))
    python3 "$LAB/compare.py" row "$label" "$OUT/$step.before.json" "$OUT/$step.after.json" \
        "$MOVED" "$(reviews "$root")" >>"$OUT/ways.jsonl"
    see "$root" m1 | cmp -s - "$OUT/$step.before.json" || case $step in
        b_*) ;;
        *) say "lab: way $label changed machine 1" && FAILED=1 ;;
    esac
}

# report OK LABEL CODE FILE: say how an attempt ended, with the first thing that FILE says.
report() {
    local answer
    answer=$(grep -m 1 -A 1 '^handsoff:.*:$' "$4" | sed 's/^ */ /' | tr -d '\n' || true)
    [ -n "$answer" ] || answer=$(grep -m 1 '^handsoff:' "$4" || grep -v '^ ' "$4" | tail -n 1 || true)
    printf '%-4s %-52s exit %s\n' "$1" "$2" "$3" | tee -a "$OUT/attempts.txt"
    if [ -n "$answer" ]; then
        printf '       %s\n' "$(sed 's/^ *//' <<<"$answer" | cut -c 1-92)" | tee -a "$OUT/attempts.txt"
    fi
    { printf '\n== %s: exit %s\n' "$2" "$3" && cat "$4"; } >>"$OUT/attempts-in-full.txt"
    python3 -c '
import json, sys
verdict, what, code, answer = sys.argv[1:]
print(json.dumps({"what": what, "as expected": verdict == "ok", "exit": int(code), "answer": answer}))
' "$1" "$2" "$3" "$answer" >>"$OUT/attempts.jsonl"
    [ "$1" = ok ] || FAILED=1
}

# refused CODES LABEL COMMAND...: must end with one of CODES (a pattern) and a line of ours.
refused() {
    local codes=$1 label=$2 rc=0 verdict=BAD
    shift 2
    "$@" >"$SCRATCH/said" 2>&1 </dev/null || rc=$?
    if [[ $rc =~ ^($codes)$ ]] && grep -q '^handsoff:' "$SCRATCH/said"; then verdict=ok; fi
    report "$verdict" "$label" "$rc" "$SCRATCH/said"
}

# works LABEL COMMAND...: must end with 0.
works() {
    local label=$1 rc=0
    shift
    "$@" >"$SCRATCH/said" 2>&1 </dev/null || rc=$?
    report "$([ $rc -eq 0 ] && echo ok || echo BAD)" "$label" "$rc" "$SCRATCH/said"
}

tip() { git -C "$1/remote.git" rev-parse "refs/heads/$BRANCH"; }

# The first mistake of the field report: a receiver that could not push.
plain_push() {
    at "$1" m2 git commit -q -m "m2: what was staged"
    at "$1" m2 git push -q
    [ "$(tip "$1")" = "$(at "$1" m2 git rev-parse HEAD)" ]
}

# What way B loses: m2 goes on from the WIP commit and pushes, m1 did not stop, amends and
# pushes with force. Both use plain git as people do.
lose_with_wip() {
    local root=$1 theirs
    at "$root" m2 git reset -q --hard "origin/$BRANCH"
    at "$root" m2 git commit -q --allow-empty -m "m2: JPY has no decimals"
    at "$root" m2 git push -q
    theirs=$(tip "$root")
    at "$root" m1 git commit -q --amend -m "WIP handoff, once more"
    at "$root" m1 git push -q -f
    echo "the remote has: $(git -C "$root/remote.git" log -3 --format=%s "refs/heads/$BRANCH" |
        paste -sd '/')"
    ! git -C "$root/remote.git" merge-base --is-ancestor "$theirs" "refs/heads/$BRANCH"
}

way "A push the branch" a_push
way "B WIP commit, reset" b_wip_commit
way "C copy the directory" c_copy
way "D handsoff, direct" d_direct
way "E handsoff, via remote" e_remote
way "F handsoff, file" f_file

python3 "$LAB/compare.py" table "$OUT/ways.jsonl" | tee "$OUT/ways.txt"
[ "$(grep -c '^[DEF] .* yes$' "$OUT/ways.txt")" -eq 3 ] || FAILED=1
echo

works "D: m2 commits, and plain git push goes through" plain_push "$SCRATCH/d_direct"
works "B: amend and push -f lose m2's commit silently" lose_with_wip "$SCRATCH/b_wip_commit"

ROOT=$SCRATCH/refusals
bash "$LAB/build.sh" "$ROOT"
enroll "$ROOT" m1 m2 m3
at "$ROOT" m1 "$HANDSOFF" page --no-edit >/dev/null 2>&1
refused 3 "m1 sends, the page is still the template" at "$ROOT" m1 "$HANDSOFF" send m2 --via remote
write_page "$ROOT" m1

head -c 8000000 /dev/zero >"$ROOT/m1/dump.sql"
refused 3 "m1 sends, a database dump of 8 MB lies about" \
    at "$ROOT" m1 "$HANDSOFF" send m2 --via remote
rm "$ROOT/m1/dump.sql"
# Put together here, so that no scanner trips over this file.
printf 'TOKEN = "%s_%s"\n' ghp "$(printf 'Zq7Rt2%.0s' 1 2 3 4 5 6)" >"$ROOT/m1/tests/fixture.py"
refused 3 "m1 sends, a token stands in a fixture" at "$ROOT" m1 "$HANDSOFF" send m2 --via remote
rm "$ROOT/m1/tests/fixture.py"

works "m1 sends to m2" direct "$ROOT" m2
refused 1 "m1 pushes the branch again" at "$ROOT" m1 git push
refused "3|4" "m1 changes its mind: sends to m3" at "$ROOT" m1 "$HANDSOFF" send m3 --via remote
refused "3|4" "m3 tries to catch it" at "$ROOT" m3 "$HANDSOFF" catch "$BRANCH"
works "m2 catches" at "$ROOT" m2 "$HANDSOFF" catch "$BRANCH"
works "m2 commits and pushes" plain_push "$ROOT"
THEIRS=$(tip "$ROOT")
at "$ROOT" m1 git commit -q -a --amend -m "rounding: one more try"
refused 1 "m1 amends and pushes with force" at "$ROOT" m1 git push -f
refused "3|4" "m1 sends to m3, after m2 caught it" \
    at "$ROOT" m1 "$HANDSOFF" send m3 --via remote
refused "3|4" "m3 tries again to catch it" at "$ROOT" m3 "$HANDSOFF" catch "$BRANCH"
works "m2's commit is still on the remote" [ "$(tip "$ROOT")" = "$THEIRS" ]

python3 - "$OUT" <<'PYTHON'
import json, pathlib, sys
out = pathlib.Path(sys.argv[1])
found = {}
for name in ("ways", "attempts"):
    lines = out / f"{name}.jsonl"
    found[name] = [json.loads(line) for line in lines.read_text().splitlines()]
    lines.unlink()
(out / "results.json").write_text(json.dumps(found, indent=1) + "\n")
PYTHON
echo
if [ "$FAILED" -eq 0 ]; then echo "all as it should be; details in lab/out/"; else
    echo "NOT as it should be: see above and lab/out/"
fi
exit "$FAILED"
