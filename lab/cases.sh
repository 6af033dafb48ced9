#!/usr/bin/env bash
# cases.sh [NAME ...]: hand over states of a checkout that other tools lose, and count verdicts.
#
#   CASES_DIR=DIR   a folder with harness.py, build_states.py and fingerprint.py; the default is
#                   ../shared/cases beside this repository
#   ROUTE=direct    or remote, or file
#   JOBS=N          how many at once
#
# Ends with 0 only if no verdict is a wrong one. The harness calls back `cases.sh --step ...` as
# the machine, in its checkout, with MACHINE_ID and HANDSOFF_HOME set.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
export HANDSOFF_MDNS=off

# --- the steps that the harness runs ----------------------------------------------------------

# If root was started in a checkout of somebody else (an "unprivileged" case), go on as its owner.
as_owner() {
    local owner
    owner=$(stat -c %u .)
    if [ "$(id -u)" -eq 0 ] && [ "$owner" -ne 0 ]; then
        chown -R "$owner:$owner" "$HANDSOFF_HOME" "$2"
        exec setpriv --reuid "$owner" --regid "$owner" --clear-groups \
            bash "$LAB/cases.sh" --step "$@"
    fi
}

# as_other HOME COMMAND...: run a command with the keys and git config of the other machine, and
# without what the case put into this machine's environment.
as_other() {
    local home=$1 name=${1##*/handsoff-} word
    shift
    for word in $(compgen -e | grep '^GIT_'); do
        case $word in GIT_CONFIG_NOSYSTEM | GIT_TERMINAL_PROMPT | GIT_EDITOR) ;; *) unset "$word" ;; esac
    done
    MACHINE_ID=$name HANDSOFF_HOME=$home GIT_CONFIG_GLOBAL=${home%/*}/gitconfig-$name "$@"
}

# The first machine founds the roster and admits the second before that joins. An `init` that is
# refused here (an object format we do not take, say) is not the end: the send will say so again.
step_setup() {
    local other_home=$1 who=${HANDSOFF_HOME##*/handsoff-}
    if [ "$who" = m1 ]; then
        (as_other "$other_home" "$HANDSOFF" card --name m2 --person wang) >"$HANDSOFF_HOME/m2.card"
        "$HANDSOFF" init --name m1 --person lin || return 0
        "$HANDSOFF" admit "$HANDSOFF_HOME/m2.card" --yes || return 0
        "$HANDSOFF" roster --json | python3 -c \
            'import json, sys; print(json.load(sys.stdin)["founding"])' >"$other_home/founding"
    elif [ -s "$HANDSOFF_HOME/founding" ]; then
        "$HANDSOFF" init --name m2 --person wang --trust "$(cat "$HANDSOFF_HOME/founding")" || true
    fi
}

step_send() {
    local other_home=$1 to=$2 there=$3 listener rc=0 address=127.0.0.1:9
    case $ROUTE in
        remote) exec "$HANDSOFF" send "$to" --via remote ;;
        file)
            mkdir -p "$other_home/stick"
            exec "$HANDSOFF" send "$to" --to-file "$other_home/stick/$(date +%s%N).handsoff"
            ;;
    esac
    rm -f "$other_home/address"
    (
        cd "$there"
        as_other "$other_home" exec_listen "$other_home/address"
    ) >>"$other_home/listener.log" 2>&1 </dev/null &
    listener=$!
    if wait_for "$other_home/address" "$listener"; then address=$(cat "$other_home/address"); fi
    "$HANDSOFF" send "$to" --at "$address" || rc=$?
    kill "$listener" 2>/dev/null || true
    wait "$listener" 2>/dev/null || true
    return "$rc"
}

exec_listen() { exec "$HANDSOFF" listen --bind 127.0.0.1 --port 0 --once --address-file "$1"; }

step_take() {
    local branch=$2 parcel
    for parcel in "$HANDSOFF_HOME"/stick/*.handsoff; do
        [ -e "$parcel" ] || continue
        "$HANDSOFF" receive "$parcel" || return $?
        mv "$parcel" "$parcel.received"
    done
    exec "$HANDSOFF" catch "$branch"
}

if [ "${1:-}" = --step ]; then
    shift
    as_owner "$@"
    step=$1
    shift
    "step_$step" "$@"
    exit
fi

# --- the run ------------------------------------------------------------------------------------
CASES_DIR=${CASES_DIR:-$TOP/../shared/cases}
[ -f "$CASES_DIR/harness.py" ] || {
    say "cases.sh: no harness.py in $CASES_DIR; set CASES_DIR"
    exit 2
}
export ROUTE=${ROUTE:-direct}
case $ROUTE in direct | remote | file) ;; *)
    say "cases.sh: ROUTE is direct, remote or file"
    exit 2
    ;;
esac
program
scratch
chmod 755 "$SCRATCH"
# Compile the scanner's rules once, for all cases; some of them run as nobody.
bash "$LAB/build.sh" "$SCRATCH/warm"
write_page "$SCRATCH/warm" m1
enroll "$SCRATCH/warm" m1 m2
at "$SCRATCH/warm" m1 "$HANDSOFF" send m2 --via remote --dry-run >/dev/null 2>&1
export XDG_CACHE_HOME=$CACHE
chmod -R a+rwX "$CACHE"
STEP="bash $(printf %q "$LAB/cases.sh") --step"
PYTHONDONTWRITEBYTECODE=1 python3 "$CASES_DIR/harness.py" --work "$SCRATCH/harness" --adapter cmd \
    --setup "$STEP setup {other_home}" \
    --send "$STEP send {other_home} {to} \$(dirname {home})/{to}" \
    --take "$STEP take {other_home} {branch}" \
    --jobs "${JOBS:-2}" "$@" | sed -u '/^[{} ]/d'

mkdir -p "$OUT"
cp "$SCRATCH/harness/results.json" "$OUT/cases-$ROUTE.json"
cp "$SCRATCH/harness/results.md" "$OUT/cases-$ROUTE.md"
python3 - "$OUT/cases-$ROUTE.json" "$ROUTE" <<'PYTHON'
import collections, json, pathlib, sys
CORE = "index kinds names stash refs size secret carry receiver remote mix".split()
results = json.loads(pathlib.Path(sys.argv[1]).read_text())
parts = {"spine": [], "others": []}
for each in results:
    parts["spine" if each["group"] in CORE else "others"].append(each["verdict"])
print(f"\nroute {sys.argv[2]}; the spine is: {', '.join(CORE)}")
for part, verdicts in parts.items():
    counts = collections.Counter(verdicts).most_common()
    print(f"{part:7} {len(verdicts):4}  " + "  ".join(f"{n} {verdict}" for verdict, n in counts))
sys.exit(any(verdict not in ("OK", "REFUSED") for part in parts.values() for verdict in part))
PYTHON
