"""How fast transcripts are rewritten, on one core: where few lines have a path, and where all do.

Run from the repository root: python lab/bench_transcript.py [--mb 128]

A transcript of made-up turns in the shape that Claude Code writes (prompts, tool calls, outputs of
many lines, some thinking), in chunks of 1 MiB, through ``rewrite`` of
``core/transcripts/transcript.py``. Few: one line in 200 names the checkout. All: each line does,
in ``cwd`` and mostly in what it says. MB are 10^6 bytes, seconds are of the processor, of this
process. Exit code 1 if few runs under 60 MB/s, or all under 10.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from handsoff.core.transcripts.pathmap import PathMap
from handsoff.core.transcripts.transcript import rewrite

OLD, NEW = "/home/me/work/ledger", "/Users/li/src/ledger copy"
PROJECT, NEW_PROJECT = "-home-me-work-ledger", "-Users-li-src-ledger-copy"
PAIRS = [
    (OLD, NEW),
    (
        f"/home/me/.claude/projects/{PROJECT}",
        f"/Users/li/.claude/projects/{NEW_PROJECT}",
    ),
    ("/home/me/.claude", "/Users/li/.claude"),
]
LEAST = {"few": 60.0, "all": 10.0}
CHUNK = 1 << 20
WORDS = [
    "the",
    "round",
    "of",
    "a",
    "sum",
    "is",
    "half",
    "up",
    "where",
    "test",
    "fails",
    "def",
    "return",
    "value",
    "in",
    "line",
    "import",
]


def turn(rng: random.Random, number: int, top: str) -> dict[str, object]:
    """Return one line: a prompt, a call, an output or an answer."""
    said = " ".join(rng.choices(WORDS, k=40))
    output = "\n".join(
        f"{top}/src/m{rng.randrange(99)}.py:{i}: {' '.join(rng.choices(WORDS, k=8))}"
        if i % 8 == 0
        else "    " + " ".join(rng.choices(WORDS, k=9))
        for i in range(rng.randrange(5, 60))
    )
    kinds: list[tuple[str, list[dict[str, object]]]] = [
        ("user", [{"type": "text", "text": said}]),
        (
            "assistant",
            [
                {"type": "thinking", "thinking": f"{said} {top}", "signature": "c2ln" * 90},
                {"type": "tool_use", "id": f"toolu_{number}", "name": "Read",
                 "input": {"file_path": f"{top}/src/m.py"}},
            ],
        ),
        ("user", [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": output}]),
        ("assistant", [{"type": "text", "text": said * 3}]),
    ]  # fmt: skip
    kind, content = kinds[number % 4]
    return {
        "parentUuid": f"{number - 1:032x}", "isSidechain": False, "type": kind,
        "message": {"role": kind, "content": content}, "uuid": f"{number:032x}",
        "timestamp": "2026-03-02T10:00:00.000Z", "userType": "external", "entrypoint": "cli",
        "cwd": top, "sessionId": "8c1f0e7a-1b2c-4d3e-8f90-a1b2c3d4e5f6", "version": "2.1.332",
        "gitBranch": "main",
    }  # fmt: skip


def transcript(case: str, size: int) -> bytes:
    """Return about ``size`` bytes of lines."""
    rng = random.Random(1)
    elsewhere = "/opt/other/place"
    lines = [
        json.dumps(
            turn(rng, n, OLD if case == "all" or n % 200 == 0 else elsewhere),
            separators=(",", ":"),
            ensure_ascii=False,
        ).encode()
        + b"\n"
        for n in range(4000)
    ]
    once = b"".join(lines)
    return once * max(1, size // len(once))


def chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), CHUNK):
        yield body[start : start + CHUNK]


def main() -> None:
    """Print a line for each case; fail if one is too slow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=int, default=128)
    wanted = parser.parse_args()
    mapping = PathMap.of(PAIRS)
    slow = False
    for case, least in LEAST.items():
        body = transcript(case, wanted.mb * 10**6)
        begun = time.process_time()
        size = sum(map(len, rewrite(chunks(body), mapping)))
        seconds = time.process_time() - begun
        speed = len(body) / 1e6 / seconds
        slow |= speed < least
        print(
            f"{case:4} {len(body) / 1e6:7.1f} MB in, {size / 1e6:7.1f} MB out, {seconds:6.2f} s,"
            f" {speed:7.1f} MB/s (at least {least:.0f})"
        )
    sys.exit(slow)


if __name__ == "__main__":
    main()
