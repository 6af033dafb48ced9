"""The scanner: what the engine and our rules find together, alone and side by side."""

import bz2
import gzip
import importlib
import io
import lzma
import random
import stat
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handsoff.core.guard.packed import ROOM, contents
from handsoff.core.guard.views import PIECE
from handsoff.edge import scan
from handsoff.edge.scan import BATCH, BUILT_IN, Hit, Scanner
from tests.kit.planted import LOOK_ALIKES, PLANTED


@pytest.fixture(scope="module")
def scanner(rules: Path) -> Scanner:
    return Scanner(rules)


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Scanner]:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    yield Scanner(tmp_path / "rules")


def planted(seed: int) -> list[tuple[int, bytes]]:
    rng = random.Random(seed)
    return list(enumerate(plant(rng) for plant in PLANTED.values()))


def missed(hits: list[Hit]) -> list[str]:
    found = {hit.key for hit in hits}
    return [name for at, name in enumerate(PLANTED) if at not in found]


def test_the_engine_is_named(scanner: Scanner) -> None:
    assert scanner.engine.startswith("kingfisher 1.")
    assert scanner.complete


def test_every_planted_kind_is_found_when_all_lie_together(scanner: Scanner) -> None:
    assert len(PLANTED) >= 30
    assert missed(scanner.scan(planted(1))) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_kind_is_found_alone(scanner: Scanner, name: str) -> None:
    data = PLANTED[name](random.Random(2))
    hits = scanner.scan([(7, data)])
    assert {hit.key for hit in hits} == {7}


@pytest.mark.parametrize("at", [0, PIECE - 20, PIECE, PIECE + 65_530, 2 * PIECE + 5])
def test_a_secret_in_a_large_file_is_found_once_and_whole(scanner: Scanner, at: int) -> None:
    token = b"ghp_" + bytes(random.Random(5).choices(b"abcdefghKLMNOPQR0123456", k=36))
    noise = random.Random(6).randbytes(2 * PIECE + 200_000)
    hits = scanner.scan([(1, noise[:at] + b"\n" + token + b"\n" + noise[at:])])
    assert [(hit.key, hit.secret) for hit in hits] == [(1, token)]


def zipped(*members: tuple[str, bytes]) -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                archive.writestr(name, data)
        return file.getvalue()


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress, bz2.compress, lzma.compress,
        lambda data: gzip.compress(b"first\n") + gzip.compress(data),
        lambda data: zipped(("a.txt", b"first\n"), ("b/c.txt", data)),
        lambda data: zipped(("logs/a.gz", gzip.compress(data))),
    ],
)  # fmt: skip
def test_a_secret_that_lies_compressed_is_found(
    scanner: Scanner, pack: Callable[[bytes], bytes]
) -> None:
    token = b"ghp_" + bytes(random.Random(5).choices(b"abcdefghKLMNOPQR0123456", k=36))
    packed = pack(b"a line\n" * 50 + b"token: " + token + b"\n")
    assert token not in packed
    assert [(hit.key, hit.secret) for hit in scanner.scan([(4, packed)])] == [(4, token)]
    assert scanner.scan([(4, packed[: len(packed) // 2])]) == []
    assert scanner.scan([(4, pack(b"a line\n" * 90))]) == []


def test_a_bomb_is_unpacked_as_far_as_there_is_room(scanner: Scanner) -> None:
    bomb = gzip.compress(bytes(3 * ROOM), 9)
    for data in (bomb, zipped(*((f"{n}", bytes(ROOM)) for n in range(4)))):
        assert sum(map(len, contents(data))) <= ROOM
    assert scanner.scan([(1, zipped(("bomb.gz", bomb)))]) == []


def test_no_look_alike_is_found_alone_or_together(scanner: Scanner) -> None:
    assert len(LOOK_ALIKES) >= 12
    for seed in range(3):
        rng = random.Random(seed)
        items = list(enumerate(plant(rng) for plant in LOOK_ALIKES.values()))
        assert scanner.scan(items) == []
        assert [hit for item in items for hit in scanner.scan([item])] == []


def test_one_secret_is_one_hit_with_its_bytes(scanner: Scanner) -> None:
    token = b"gh" + b"p_" + b"Zq7" * 12
    assert scanner.scan([(3, b"T = '" + token + b"'\n")]) == [Hit(3, "GitHub token", token)]
    assert scanner.scan([(3, b"T = '" + token + b"'\n" + token)]) == [Hit(3, "GitHub token", token)]


def test_one_secret_among_many_small_objects_is_told_from_its_neighbours(scanner: Scanner) -> None:
    items = [(n, b"line %d of nothing much\n" % n * 40) for n in range(4000)]
    items[2345] = (2345, PLANTED["github classic"](random.Random(3)))
    assert [hit.key for hit in scanner.scan(items)] == [2345]


def test_secrets_at_the_borders_of_neighbours_are_all_found(scanner: Scanner) -> None:
    tokens = [PLANTED["npm"](random.Random(seed)).strip() for seed in range(300)]
    assert {hit.key for hit in scanner.scan(list(enumerate(tokens)))} == set(range(300))


def test_a_secret_is_not_put_together_from_two_objects(scanner: Scanner) -> None:
    token = PLANTED["github oauth"](random.Random(4))[2:-1]
    assert scanner.scan([(0, token[:20]), (1, token[20:])]) == []


def test_a_large_object_is_scanned_to_its_end(scanner: Scanner) -> None:
    filler = b"some words that mean nothing at all\n" * (3 * BATCH // 36)
    secret = PLANTED["github classic"](random.Random(5))
    assert {hit.key for hit in scanner.scan([(0, b"a\n"), (1, filler + secret), (2, b"b\n")])} == {
        1
    }


def test_a_wide_neighbour_does_not_hide_a_secret(scanner: Scanner) -> None:
    wide = "nothing here\n".encode("utf-16")
    secret = PLANTED["aws key id alone"](random.Random(6))
    for items in ([(0, wide), (1, secret)], [(0, secret), (1, wide)]):
        assert len(scanner.scan(items)) == 1


def test_a_comment_does_not_switch_a_finding_off(scanner: Scanner) -> None:
    data = PLANTED["github classic"](random.Random(7)).rstrip() + b"  # kingfisher:ignore\n"
    assert scanner.scan([(0, data)])


def test_a_name_is_scanned_like_any_bytes(scanner: Scanner) -> None:
    name = "café/".encode() + b"gh" + b"p_" + b"Zq7" * 12 + b".txt"
    assert [hit.kind for hit in scanner.scan([(0, name)])] == ["GitHub token"]


def test_nothing_to_scan_gives_nothing(scanner: Scanner) -> None:
    assert scanner.scan([]) == []
    assert scanner.scan([(0, b""), (1, b"\0"), (2, b"\xff\xfe")]) == []


def test_threads_may_scan_at_once(scanner: Scanner) -> None:
    results: dict[int, list[str]] = {}

    def run(seed: int) -> None:
        results[seed] = missed(scanner.scan(planted(seed)))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: [], 1: [], 2: [], 3: []}


def test_the_rules_rest_in_the_folder_given_and_are_private(scanner: Scanner, rules: Path) -> None:
    assert scanner.complete
    kinds = {path.suffix for path in rules.iterdir()}
    assert kinds == {".yml", ".vscdb"}
    assert stat.S_IMODE(rules.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in rules.iterdir())


def test_a_second_scanner_uses_the_compiled_rules(scanner: Scanner, rules: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in rules.iterdir()}
    scan._engine.cache_clear()
    assert Scanner(rules).complete
    assert {path: path.stat().st_mtime_ns for path in rules.iterdir()} == before


def test_without_the_engine_our_rules_go_on_and_say_so(without_engine: Scanner) -> None:
    assert without_engine.engine.startswith(BUILT_IN)
    assert not without_engine.complete
    assert missed(without_engine.scan(planted(1))) == []


def test_a_folder_that_cannot_be_used_leaves_our_rules(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_bytes(b"")
    scanner = Scanner(in_the_way / "rules")
    assert scanner.engine.startswith(BUILT_IN)
    assert scanner.scan([(0, PLANTED["npm"](random.Random(8)))])


def test_what_checks_secrets_over_the_network_is_never_named() -> None:
    source = Path(str(importlib.import_module("handsoff.edge.scan").__file__)).read_text()
    assert "Validator" not in source
    assert "Revoker" not in source
