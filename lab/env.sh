#!/usr/bin/env bash
# What every script of the lab stands on. Source it, or run it: it then prints the path of the
# `handsoff` program the lab uses.
#
#   HANDSOFF=/path/to/handsoff   use that program; else lab/.venv is made from this checkout
#   KEEP=1                       keep the temporary folder and say where it is
#
# A machine of the lab is a name (m1) under one folder: a checkout ROOT/m1, a home ROOT/home/m1
# with its own git config, and its keys in ROOT/home/m1/handsoff. Nothing of the user's is read.
set -euo pipefail

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(dirname "$LAB")
OUT=$LAB/out
BRANCH=feat/cny-rounding

say() { printf '%s\n' "$*" >&2; }

# Print a python3 that has venv. The system's comes first: one that lies in root's home cannot be
# run by the cases that are tried as nobody.
a_python() {
    local python
    for python in /usr/bin/python3 python3; do
        if "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$python"
            return
        fi
    done
    say "lab: no python3 (3.11 or later) with venv: apt-get install python3-venv"
    return 1
}

# Set HANDSOFF to a program that runs, making lab/.venv the first time and after pyproject.toml
# changed. The install is editable, so it always runs what lies in this checkout.
program() {
    if [ -z "${HANDSOFF:-}" ]; then
        HANDSOFF=$LAB/.venv/bin/handsoff
        (
            flock 9
            wanted=$(sha256sum "$TOP/pyproject.toml")
            if [ ! -x "$HANDSOFF" ] || [ "$(cat "$LAB/.venv/made-from" 2>/dev/null)" != "$wanted" ]; then
                say "lab: making lab/.venv"
                rm -rf "$LAB/.venv"
                "$(a_python)" -m venv "$LAB/.venv"
                # with what the tests need: half of the lab stands on tests/kit
                "$LAB/.venv/bin/pip" install -q --disable-pip-version-check -e "$TOP[dev]" >&2
                "$LAB/.venv/bin/python" -m compileall -q "$TOP/handsoff" || true
                printf '%s' "$wanted" >"$LAB/.venv/made-from"
            fi
        ) 9>"${TMPDIR:-/tmp}/handsoff-lab-venv-$(id -u).lock"
    fi
    "$HANDSOFF" --version >/dev/null || {
        say "lab: $HANDSOFF does not run"
        exit 1
    }
    export HANDSOFF
}

# Make a temporary folder, its path in SCRATCH, that goes when the script ends.
scratch() {
    SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/handsoff-lab.XXXXXX")
    # The machines of one run share what can be made again: the compiled rules of the scanner.
    export CACHE=$SCRATCH/cache
    trap 'sweep' EXIT
}

# End the children that still run, and remove the scratch folder.
sweep() {
    local child
    for child in $(jobs -p); do kill "$child" 2>/dev/null || true; done
    wait 2>/dev/null || true
    if [ -n "${KEEP:-}" ]; then say "lab: kept $SCRATCH"; else rm -rf "$SCRATCH"; fi
}

# on ROOT MACHINE COMMAND...: run it as that machine, in an environment of its own.
on() {
    local root=$1 machine=$2 home=$1/home/$2
    shift 2
    env -i PATH="$PATH" HOME="$home" LANG=C.UTF-8 TZ=UTC HANDSOFF_MDNS=off TMPDIR="${TMPDIR:-/tmp}" \
        GIT_CONFIG_GLOBAL="$home/.gitconfig" GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 \
        HANDSOFF_HOME="$home/handsoff" XDG_CACHE_HOME="${CACHE:-$home/.cache}" "$@"
}

# at ROOT MACHINE COMMAND...: the same, in that machine's checkout.
at() {
    local root=$1 machine=$2
    shift 2
    (cd "$root/$machine" && on "$root" "$machine" "$@")
}

# Make the home of a machine: the git config it would have.
make_home() {
    local root=$1 machine=$2 home=$1/home/$2
    mkdir -p "$home/handsoff"
    chmod 700 "$home/handsoff"
    cat >"$home/.gitconfig" <<CONFIG
[user]
    name = Dev $machine
    email = $machine@lab.invalid
[init]
    defaultBranch = main
[gc]
    auto = 0
[maintenance]
    auto = false
CONFIG
}

# enroll ROOT MACHINE...: the first founds the roster and admits the others, which join.
enroll() {
    local root=$1 first=$2 machine founding
    shift 2
    at "$root" "$first" "$HANDSOFF" init --name "$first" --person lin >>"$root/enroll.log" 2>&1
    founding=$(at "$root" "$first" "$HANDSOFF" roster --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["founding"])')
    for machine in "$@"; do
        on "$root" "$machine" "$HANDSOFF" card --name "$machine" --person lin >"$root/$machine.card"
        at "$root" "$first" "$HANDSOFF" admit "$root/$machine.card" --yes >>"$root/enroll.log" 2>&1
        at "$root" "$machine" "$HANDSOFF" init --name "$machine" --person lin --trust "$founding" \
            >>"$root/enroll.log" 2>&1
    done
}

# write_page ROOT MACHINE: fill in the page as a carrier would.
write_page() {
    mkdir -p "$1/$2/.wip"
    cat >"$1/$2/.wip/HANDOFF.md" <<'PAGE'
# Handoff

## Next
Keep zero decimals for JPY in per_currency(), then run the tests in tests/test_rounding.py.

## Tried and failed
HALF_EVEN for every currency: finance sends invoice 2019-0042 back, it is one cent off.

## Do not touch
The places table in src/places.py: finance signed it off.
PAGE
}

# wait_for FILE PID [SECONDS]: until FILE has something in it; fails if PID ends before.
wait_for() {
    local file=$1 pid=$2 tries=$((${3:-30} * 20))
    while [ ! -s "$file" ]; do
        kill -0 "$pid" 2>/dev/null || return 1
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.05
    done
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    program
    printf '%s\n' "$HANDSOFF"
fi
