"""Content scanning: the one door to kingfisher-secret-scanner, and our own rules beside it.

The engine takes half a second to start, so it does so in a thread at once, and only ``scan``
waits for it. It is given our own rules too, made coarse (``patterns.GATES``), so that one pass
over many objects joined together says which few are worth a second look; that look decides.
Nothing here touches the network: the engine's validation and revocation are never called.
"""

import hashlib
import json
import threading
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

from handsoff.core.guard import packed, passwords, patterns, views
from handsoff.edge.files import ensure_folder, replacing
from handsoff.errors import HandsoffError

BATCH: Final = 1 << 20
"""Bytes that are scanned in one call; a call for each small object takes twice as long."""

BUILT_IN: Final = "built-in rules only"

_GATE: Final = "handsoff."
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_URI: Final = "credential-uri"
_BETWEEN: Final = b"\n\x1e\n"


def is_warm(folder: Path) -> bool:
    """Say whether compiled rules of the engine rest in ``folder``."""
    return any(folder.glob("*.vscdb"))


def warm(folder: Path) -> bool:
    """Compile the engine's rules into ``folder`` unless some rest there; say whether it was done.

    It takes four seconds, once for a user, which nobody should wait for at the first hand-over.
    """
    if is_warm(folder):
        return False
    return Scanner(folder).complete


class Hit(NamedTuple):
    """Bytes of the item ``key`` that look like a secret, and of what kind."""

    key: int
    kind: str
    secret: bytes


class Scanner:
    """Finds secrets in bytes. Made at once, ready half a second later; safe in many threads."""

    def __init__(self, folder: Path) -> None:
        """Begin to load the rules; ``folder`` is one of ours, where they rest compiled."""
        self._folder = folder
        self._engine: Any = None
        self._name = BUILT_IN
        self._loader = threading.Thread(target=self._load, name="scanner", daemon=True)
        self._loader.start()

    @property
    def engine(self) -> str:
        """What finds secrets: the engine and its version, or ``BUILT_IN`` with the reason."""
        self._loader.join()
        return self._name

    @property
    def complete(self) -> bool:
        """Whether the engine is there; without it the sender must be told so."""
        self._loader.join()
        return self._engine is not None

    def scan(self, items: Sequence[tuple[int, bytes]]) -> list[Hit]:
        """Return what looks like a secret in each of ``items``, a key and its bytes.

        What lies compressed in one is unpacked, a little at a time.
        """
        hits = self._scan(items)
        inner: list[tuple[int, bytes]] = []
        size = 0
        for key, data in items:
            for plain in packed.contents(data):
                inner.append((key, plain))
                size += len(plain)
                if size > BATCH:
                    hits += self._scan(inner)
                    inner.clear()
                    size = 0
        return list(dict.fromkeys([*hits, *self._scan(inner)]))

    def _scan(self, items: Sequence[tuple[int, bytes]]) -> list[Hit]:
        small = [(key, data) for key, data in items if 0 < len(data) <= views.PIECE]
        hits = self._hits(small)
        for key, data in items:
            if len(data) > views.PIECE:
                found = [h for piece in views.pieces(data) for h in self._hits([(key, piece)])]
                hits += _whole(found)
        return hits

    def _hits(self, items: Sequence[tuple[int, bytes]]) -> list[Hit]:
        self._loader.join()
        texts = [(key, text) for key, data in items for text in (data, *views.views(data))]
        if self._engine is None:
            return [Hit(key, *hit) for key, text in texts for hit in _own(text)]
        return [
            Hit(key, *hit)
            for at in sorted(self._suspects([text for _, text in texts]))
            for key, text in [texts[at]]
            for hit in self._look(text)
        ]

    def _load(self) -> None:
        try:
            self._engine, self._name = _engine(ensure_folder(self._folder))
        except (ImportError, OSError, ValueError, RuntimeError, HandsoffError) as error:
            self._name = f"{BUILT_IN} ({type(error).__name__}: {error})"

    def _suspects(self, texts: Sequence[bytes]) -> set[int]:
        """Return the places in ``texts`` of those in which anything matches at all."""
        # the engine guesses the encoding of what it gets: one wide text would hide its neighbours
        alone = {at for at, text in enumerate(texts) if b"\0" in text or text[:2] in _MARKS}
        found = {at for at in alone if self._engine.scan(texts[at])}
        for batch in _batches(texts, without=alone):
            starts = list(accumulate(len(texts[at]) + len(_BETWEEN) for at in batch[:-1]))
            for finding in self._engine.scan(_BETWEEN.join([texts[at] for at in batch])):
                place = finding.location
                # a match over a border may belong to either side
                for offset in (place["start_offset"], place["end_offset"] - 1):
                    found.add(batch[bisect_right(starts, offset)])
        return found

    def _look(self, text: bytes) -> Iterator[tuple[str, bytes]]:
        own = [(hit.kind, hit.secret) for hit in patterns.find(text)]
        theirs: list[tuple[str, bytes]] = []
        for finding in self._engine.scan(text):
            if finding.is_base64_encoded:
                place = finding.location
                own += _in_base64(text[place["start_offset"] : place["end_offset"]])
            if not finding.visible or finding.rule_id.startswith(_GATE):
                continue
            secret = finding.secret.encode("utf-8", "replace")
            if not (_URI in finding.rule_id and passwords.stands_in(secret)):
                theirs.append((_kind(finding.rule_id), secret))
        yield from own
        known = [secret for _, secret in own]
        for kind, secret in theirs:
            # the same bytes under two names would need two waivers
            if not any(secret in other or other in secret for other in known):
                yield kind, secret


@cache
def _engine(folder: Path) -> tuple[Any, str]:
    """Return the engine, and its name: loaded once for a process, which may send many times."""
    sdk = import_module("kingfisher_sdk")
    rules = sdk.Rules([_own_rules(folder)], cache_dir=folder)
    # a comment beside a secret must not switch the finding off
    policy = sdk.DetectionPolicy(inline_ignores=False, markup_context=False)
    return sdk.Scanner(rules, policy=policy), f"kingfisher {sdk.__version__}"


def _whole(hits: Sequence[Hit]) -> list[Hit]:
    """Return ``hits`` without those that are a part of another, cut short where a piece ends."""
    return [h for h in hits if not any(h.secret in o.secret != h.secret for o in hits)]


def _own(text: bytes) -> Iterator[tuple[str, bytes]]:
    for hit in patterns.find(text):
        yield hit.kind, hit.secret
    yield from _in_base64(text)


def _in_base64(text: bytes) -> list[tuple[str, bytes]]:
    return [(h.kind, h.secret) for plain in views.decoded(text) for h in patterns.find(plain)]


def _batches(texts: Sequence[bytes], *, without: Collection[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for at, text in enumerate(texts):
        if at in without:
            continue
        if batch and size + len(text) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(at)
        size += len(text)
    if batch:
        yield batch


def _own_rules(folder: Path) -> Path:
    rules = [
        {"name": "gate", "id": f"{_GATE}{n}", "pattern": f"({gate})", "min_entropy": 0.0}
        | {"confidence": "high", "examples": []}
        for n, gate in enumerate(patterns.GATES)
    ]
    body = json.dumps({"rules": rules}).encode()  # what is JSON is YAML too
    path = folder / f"rules-{hashlib.sha256(body).hexdigest()[:16]}.yml"
    if not path.exists():
        for old in folder.glob("*.*"):  # what another version of ours compiled
            old.unlink(missing_ok=True)
        with replacing(path) as file:
            file.write(body)
    return path


def _kind(rule_id: str) -> str:
    """Return the engine's name for a kind as words: betterleaks.github-pat.1 -> github pat."""
    words = [word for word in rule_id.split(".") if not word.isdigit()]
    return words[-1].replace("-", " ").replace("_", " ")
