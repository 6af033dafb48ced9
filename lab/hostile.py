"""Parcels that a member made to hurt: is each refused, soon, in little memory, and writes nothing?

    hostile.py [--only WORD] [--large]

Each parcel is signed and sealed as it should be, and taken by ``handsoff receive`` in a process of
its own: bombs (zeros, deltas, trees, names, depth, lists, manifests, headers of age), and each
hostile tree of ``tests/kit/poison.py``. Prints for each how it ended, the seconds, and the largest
memory of any process. ``--large`` adds what is large and honest, which must arrive: 100,000 files,
and one of 1 GB. Ends with 1 if a hostile one was taken, anything was written where the
canaries stand, one took over 10 s or 300 MB, or an honest one did not arrive. Run it with
a Python that has what the tests need.
"""

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from isal import isal_zlib

from handsoff.core.objects import (
    FILE,
    TREE,
    Commit,
    TreeEntry,
    encode_commit,
    encode_tree,
    oid_of,
)
from handsoff.edge.git import snapshot
from handsoff.edge.git.pack import pack_object
from handsoff.edge.git.sinks import Storing
from tests.kit import machines
from tests.kit.forger import Forger
from tests.kit.monday import WORK, Monday, build, copy
from tests.kit.parcels import put_together
from tests.kit.poison import REFUSED, Poison, write

MOST_SECONDS, MOST_MB = 10, 300
WHO = "Lin <lin@example.invalid> 1700000000 +0000"
MB = 1 << 20
MEASURE = (
    "import resource, subprocess, sys; "
    "code = subprocess.run(sys.argv[1:], stdout=2).returncode; "
    "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


def header(kind: int, size: int) -> bytes:
    """Return the header of an object in a pack."""
    head, byte, size = bytearray(), kind << 4 | size & 0x0F, size >> 4
    while size:
        head.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    return bytes([*head, byte])


def zeros(size: int) -> bytes:
    """Return ``size`` zeros, deflated."""
    deflate = isal_zlib.compressobj(3)
    block = bytes(MB)
    return b"".join(deflate.compress(block) for _ in range(size // MB)) + deflate.flush()


def deltas() -> Iterator[bytes]:
    """Yield a blob of 16 MiB of zeros, and a delta that copies it 128 times."""
    base = bytes(16 * MB)
    yield header(3, len(base)) + zlib.compress(base, 9)
    oid = hashlib.sha1(b"blob %d\0" % len(base) + base).digest()
    copying = b"".join(
        bytes([0x80 | 0x07 | 0x70]) + at.to_bytes(3, "little") + (0xFFFF00).to_bytes(3, "little")
        for at in [0] * 129
    )
    delta = length(len(base)) + length(129 * 0xFFFF00) + copying
    yield header(7, len(delta)) + oid + zlib.compress(delta)


def length(number: int) -> bytes:
    """Return a length as a delta has it."""
    parts = [number >> shift & 0x7F | 0x80 for shift in (0, 7, 14, 21, 28)]
    return bytes([*parts[:-1], parts[-1] & 0x7F])


class Bombs:
    """Makes each parcel, from an honest one."""

    def __init__(self, monday: Monday, folder: Path) -> None:
        self.forger = Forger.at(monday, folder)
        self.honest = self.forger.parcel(self.forger.honest)
        self.pack = (folder / "pack").read_bytes()
        self.envelope = self.forger.claims["envelope"]
        self.folder, self.monday = folder, monday
        without = [f"^{base}" for base in self.forger.claims["bases"]]
        place = folder / "forged.git"
        listed = machines.git(place, "rev-list", "--objects", self.envelope, *without)
        self.there = {line[:40] for line in listed.splitlines()}

    def with_objects(self, *objects: bytes, envelope: str = "", **counts: int) -> Path:
        """Return a parcel whose pack has these objects besides, spelled as in a pack."""
        number = int.from_bytes(self.pack[8:12], "big") + len(objects)
        body = self.pack[:8] + number.to_bytes(4, "big") + self.pack[12:-20] + b"".join(objects)
        envelope = envelope or self.envelope
        return self.sealed(body + hashlib.sha1(body).digest(), counts=counts, envelope=envelope)

    def sealed(self, pack: bytes, **changes: Any) -> Path:
        file = self.folder / "bomb.handsoff"
        digest = hashlib.sha256(pack).hexdigest()
        claims = {**self.forger.claims, "pack_size": len(pack), "pack_sha256": digest, **changes}
        m1, m2 = self.monday.m1.member(), self.monday.m2.member()
        put_together(file, pack, claims, by=m1, to=m2)
        return file

    def tree(self, levels: int, width: int) -> str:
        """Return a tree of ``width`` to the ``levels`` files, of one object a level."""
        put = self.forger.store.write
        blob = put("blob", b"x")
        oid = put("tree", encode_tree([TreeEntry(b"f%d" % n, FILE, blob) for n in range(width)]))
        for _ in range(levels - 1):
            inside = [TreeEntry(b"d%d" % n, TREE, oid) for n in range(width)]
            oid = put("tree", encode_tree(inside))
        return oid

    def of_tree(self, oid: str) -> Path:
        honest = self.forger.honest
        return self.forger.parcel(replace(honest, work_tree=oid, index_tree=oid, special=()))

    def poisoned(self, kind: Poison) -> Path:
        """Return a parcel with a tree that git itself would not pack."""
        tree = write(kind, self.forger.store.write)
        state = replace(self.forger.honest, work_tree=tree, index_tree=tree, special=())
        sealed = snapshot.seal_envelope(state, Storing(self.forger.store))
        # git takes no pack that has an object twice
        made = {oid_of(*item): item for item in (*kind.objects(), *sealed.objects)}
        fresh = [pack_object(*item) for oid, item in made.items() if oid not in self.there]
        objects = [packed.head + packed.deflated for packed in fresh]
        return self.with_objects(*objects, envelope=sealed.envelope)

    def chain_of_folders(self, depth: int) -> Path:
        put = self.forger.store.write
        oid, mode = put("blob", b"x"), FILE
        for _ in range(depth):
            oid, mode = put("tree", encode_tree([TreeEntry(b"d", mode, oid)])), TREE
        return self.of_tree(oid)

    def state(self, **changes: Any) -> Path:
        return self.forger.parcel(replace(self.forger.honest, **changes))

    def age_header(self) -> Path:
        sealed = self.honest.read_bytes()
        file = self.folder / "header.handsoff"
        line, _, rest = sealed.partition(b"\n")
        stanza = b"-> X25519 " + b"A" * 43 + b"\n" + b"A" * 43 + b"\n"
        with file.open("wb") as target:
            target.write(line + b"\n")
            for _ in range(300):
                target.write(stanza * (MB // len(stanza)))
            target.write(rest)
        return file

    def all(self) -> Iterator[tuple[str, Callable[[], Path]]]:
        big = 2 << 30
        yield "2 GiB of zeros, unsaid", lambda: self.with_objects(header(3, big) + zeros(big))
        yield (
            "2 GiB of zeros, said",
            lambda: self.with_objects(header(3, big) + zeros(big), unpacked=big + 20_000),
        )
        yield (
            "2 GiB of zeros, called 100 bytes",
            lambda: self.with_objects(header(3, 100) + zeros(big)),
        )
        yield "deltas, 2 GiB", lambda: self.with_objects(*deltas())
        yield (
            "a commit of 512 MiB",
            lambda: self.with_objects(header(1, big // 4) + zeros(big // 4)),
        )
        yield "a tree of 512 MiB", lambda: self.with_objects(header(2, big // 4) + zeros(big // 4))
        parents = tuple(hashlib.sha1(b"%d" % n).hexdigest() for n in range(160_000))
        octopus = encode_commit(Commit("1" * 40, parents, WHO, WHO, "m\n"))
        yield (
            "a commit of 160,000 parents",
            lambda: self.with_objects(header(1, len(octopus)) + zlib.compress(octopus, 1)),
        )
        yield "a tree of 10^10 files", lambda: self.of_tree(self.tree(10, 10))
        yield "a tree of 10^6 files", lambda: self.of_tree(self.tree(2, 1000))
        yield (
            "10^10 files of an operation",
            lambda: self.forger.parcel(self.forger.honest, operation=self.tree(10, 10)),
        )
        yield "3,000 folders deep", lambda: self.chain_of_folders(3000)
        yield (
            "a list of 40 MiB",
            lambda: self.state(raw=tuple(b"%07d/" % n + b"x" * 80 for n in range(500_000))),
        )
        yield "a manifest of 16 MB", lambda: self.sealed(self.pack, waivers=["x" * 100] * 160_000)
        yield "a manifest of brackets", lambda: self.sealed(self.pack, waivers=[[]] * 1_300_000)
        yield "an age header of 300 MB", self.age_header
        for kind in REFUSED:
            yield (
                f"tree: {kind.name[:40]}",
                lambda kind=kind: self.poisoned(kind),  # type: ignore[misc]
            )


def receive(monday: Monday, file: Path) -> tuple[int, str, float, int]:
    """Return exit code, last words, seconds and MB of the largest process of a receive."""
    m2 = monday.m2
    began = time.monotonic()
    with (file.parent / "said").open("w+") as said:
        # the memory of a child begins as that of its parent: so a small one stands between
        process = subprocess.run(
            [sys.executable, "-c", MEASURE, sys.executable, "-m", "handsoff", "receive", file],
            cwd=m2.top, stdout=subprocess.PIPE, stderr=said, check=False,
            env={**os.environ, "HANDSOFF_HOME": str(m2.home), **m2.env},
        )  # fmt: skip
        said.seek(0)
        words = said.read().strip().splitlines() or [""]
    code, peak = map(int, process.stdout.split())
    return code, words[0], time.monotonic() - began, peak // 1024


def attack(bombs: Bombs, only: str) -> int:
    """Try each parcel; return how many did what they should not."""
    monday, bad = bombs.monday, 0
    inbox, incoming = monday.m2.home / "inbox", monday.m2.home / "incoming"
    before = monday.untouched()
    for name, make in bombs.all():
        if only not in name:
            continue
        bombs.forger.claims["parcel"] = hashlib.md5(name.encode()).hexdigest()
        file = make()
        code, said, spent, peak = receive(monday, file)
        left = [p.name for f in (inbox, incoming) if f.exists() for p in f.iterdir()]
        wrong = code not in (3, 7, 8, 9) or spent > MOST_SECONDS or peak > MOST_MB or left
        wrong = wrong or "Traceback" in said
        bad += bool(wrong)
        mark = "WRONG" if wrong else "ok"
        cost = f"{file.stat().st_size:>11} B  exit {code}  {spent:5.1f} s {peak:5} MB"
        print(f"{mark:5} {name:48} {cost}  {said[:90]}", flush=True)
    if monday.untouched() != before:
        bad += 1
        print("WRONG something was written into a checkout")
    return bad


def honest(folder: Path) -> int:
    """Send what is large and honest; return how many did not arrive."""
    bad = 0
    for name, make in (("100,000 files", many_files), ("1 GB in one file", one_file)):
        monday = copy(folder / "template", folder / name.split()[0].replace(",", ""))
        make(monday.m1.top)
        began, file = time.monotonic(), folder / "large.handsoff"
        for machine, *words in (
            (monday.m1, "send", "m2", "--to-file", file, "--max-size", str(2 << 30)),
            (monday.m2, "receive", file), (monday.m2, "catch", WORK),
        ):  # fmt: skip
            at = time.monotonic()
            env = {"HANDSOFF_HOME": str(machine.home), **machine.env}
            done = subprocess.run(
                [sys.executable, "-m", "handsoff", *words], cwd=machine.top, check=False,
                env={**os.environ, **env}, capture_output=True, text=True,
            )  # fmt: skip
            spent = time.monotonic() - at
            print(
                f"      {name:18} {words[0]:8} exit {done.returncode}  {spent:6.1f} s", flush=True
            )
            bad += done.returncode != 0
            if done.returncode:
                print(done.stderr[-500:])
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(
            f"      {name:18} in all {time.monotonic() - began:6.1f} s, largest process {peak} MB"
        )
        file.unlink(missing_ok=True)
    return bad


def many_files(top: Path) -> None:
    for number in range(100_000):
        path = top / f"many/{number // 1000}/{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%d\n" % number)


def one_file(top: Path) -> None:
    with (top / "large.bin").open("wb") as file:
        for _ in range(1000):
            file.write(os.urandom(1_000_000))


def main() -> int:
    """Attack; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="parcels whose name has this word")
    parser.add_argument("--large", action="store_true", help="also send what is large and honest")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        os.environ.update(machines.sealed(folder / "user"))
        (folder / "template").mkdir()
        build(folder / "template")
        (folder / "forge").mkdir()
        bombs = Bombs(copy(folder / "template", folder / "monday"), folder / "forge")
        bad = attack(bombs, given.only)
        bad += honest(folder) if given.large else 0
    print(f"{bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
