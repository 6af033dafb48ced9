"""Lines of transcripts (being written; the interface is that of the agreement)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from handsoff.core.pathmap import PathMap


@dataclass(frozen=True, slots=True)
class Text:
    """A decoded string or key of a line; ``opaque``: must not be changed."""

    value: str
    opaque: bool


class Lines:
    def __init__(self, mapping: PathMap) -> None:
        raise NotImplementedError

    def line(self, raw: bytes) -> bytes:
        raise NotImplementedError


def rewrite(
    chunks: Iterable[bytes],
    mapping: PathMap,
    *,
    too_long: Callable[[int], None] | None = None,
    lossy: Callable[[bytes], None] | None = None,
) -> Iterator[bytes]:
    """``lossy`` is called with each line (as written) from which the inverse does not come back."""
    raise NotImplementedError


def strings(raw: bytes) -> Iterator[Text]:
    raise NotImplementedError


def redact(raw: bytes, secrets: Mapping[str, str]) -> bytes:
    raise NotImplementedError


def has_image(raw: bytes) -> bool:
    raise NotImplementedError
