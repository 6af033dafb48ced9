"""A small process that starts others, so that their memory can be measured.

A child's peak memory, as the kernel tells it, is never below what its parent had when it was
started. A large program that wants to know asks this one, which is started first and stays
small, in lines of JSON on standard input and output:

    {"argv": [...], "cwd": DIR, "env": {...}, "out": FILE, "err": FILE}    -> {"pid": N}
    {"reap": PID, "patience": SECONDS}      waits that long, then sends SIGTERM, then SIGKILL
        -> {"code": N, "took": SECONDS, "cpu": SECONDS, "peak": BYTES}; "took" since the start
"""

import json
import os
import signal
import sys
import time

LINES = sys.stdin
GRACE = 10.0


def start(asked: dict) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.chdir(asked["cwd"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
        os.execvpe(asked["argv"][0], asked["argv"], asked["env"])
    finally:
        os._exit(127)


def reap(pid: int, patience: float | None, started: float) -> dict:
    """Wait for ``pid``; with no patience given, for ever."""
    until = None if patience is None else time.perf_counter() + patience
    signals = [signal.SIGTERM, signal.SIGKILL]
    while True:
        done, status, usage = os.wait4(pid, 0 if until is None else os.WNOHANG)
        if done:
            break
        if time.perf_counter() >= until:
            os.kill(pid, signals.pop(0))
            until = time.perf_counter() + GRACE if signals else None
        time.sleep(0.01)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "took": time.perf_counter() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
    }


def main() -> None:
    started: dict[int, float] = {}
    for line in LINES:
        asked = json.loads(line)
        if "reap" in asked:
            pid = asked["reap"]
            answer = reap(pid, asked["patience"], started.pop(pid))
        else:
            now = time.perf_counter()
            pid = start(asked)
            started[pid] = now
            answer = {"pid": pid}
        print(json.dumps(answer), flush=True)
    # Whoever asked is gone: what it started goes as well.
    for pid in started:
        os.kill(pid, signal.SIGTERM)


if __name__ == "__main__":
    main()
