"""How fast is a record read: verified whole, and from what was kept of it?

Run from the repository root: python lab/bench_record.py [ENTRIES [ROUNDS]]. Builds one record
with real keys, then verifies all of it (parse, canonical JSON, Ed25519, every rule), and reads it
from the cache that a clone keeps. Prints the best of the rounds; fails if 1,000 entries would
take 2 seconds or more.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from handsoff.core.works.cache import from_cache, to_cache
from handsoff.core.works.lease import Recipient
from handsoff.core.works.record import Record, read_record
from tests.kit.signing import M1, M2, Machine, empty, pairs, roster

WORK = "feat/x"
LIMIT = 2.0
"""Seconds that 1,000 entries may take."""


def chain(entries: int) -> list[tuple[str, bytes]]:
    """Return a record in which two machines take turns: caught, saved, offered."""
    pen = M1.pen(empty(WORK)).caught()
    turns: tuple[Machine, Machine] = (M2, M1)
    while len(pen.drafts) < entries:
        pen = pen.saved(page="a" * 40, envelope="b" * 40)
        pen = pen.offered(Recipient(machine=turns[0].id))
        other = turns[0].pen(pen.record).caught()
        pen = type(pen)(
            record=other.record, by=other.by, sign=other.sign, now=pen.now,
            drafts=(*pen.drafts, *other.drafts),
        )  # fmt: skip
        turns = (turns[1], turns[0])
    return pairs(*pen.drafts[:entries])


def best(rounds: int, work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of several rounds."""
    took = []
    for _ in range(rounds):
        begun = perf_counter()
        work()
        took.append(perf_counter() - begun)
    return min(took)


def main() -> None:
    """Print both rates; fail if the first is too slow."""
    entries, rounds = (int(word) for word in (*sys.argv[1:], *("1000", "5")[len(sys.argv) - 1 :]))
    commits = chain(entries)
    record = read_record(commits, roster(), WORK)
    assert len(record.good) == entries, "the bench writes what is void"
    kept = to_cache(record)

    def from_kept() -> Record:
        read = from_cache(kept, roster(), WORK)
        assert read is not None
        return read

    whole = best(rounds, lambda: read_record(commits, roster(), WORK))
    cached = best(rounds, from_kept)
    size = sum(len(data) for _, data in commits)
    print(f"{entries:,} entries, {size:,} bytes, best of {rounds}")
    print(f"verified whole   {whole:8.3f} s   {entries / whole:12,.0f} entries/s")
    print(f"from the cache   {cached:8.5f} s   {entries / cached:12,.0f} entries/s")
    sys.exit(whole * 1000 / entries >= LIMIT)


if __name__ == "__main__":
    main()
