"""Git LFS pointers: what stands in git in place of a large file, and where its content is kept.

Source: the Git LFS specification, version 1 (docs/spec.md of git-lfs).
"""

import re
from typing import Final, NamedTuple

LIMIT: Final = 1024
"""Bytes that a pointer has at most."""

_POINTER: Final = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-\d-[^\n]+\n)*"
    rb"oid sha256:([0-9a-f]{64})\nsize (\d{1,18})\n"
)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Pointer(NamedTuple):
    """The SHA-256 of a content, in hex, and its size in bytes."""

    digest: str
    size: int


def parse_pointer(data: bytes) -> Pointer | None:
    """Return the pointer that ``data`` is, or None."""
    match = _POINTER.fullmatch(data) if len(data) <= LIMIT else None
    return Pointer(match[1].decode(), int(match[2])) if match else None


def is_digest(name: str) -> bool:
    """Say whether ``name`` is a digest as a pointer has it."""
    return _DIGEST.fullmatch(name) is not None


def place_of(digest: str) -> str:
    """Return where a content is kept, below the folder ``lfs/objects``."""
    return f"{digest[:2]}/{digest[2:4]}/{digest}"
