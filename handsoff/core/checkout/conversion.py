"""What git changes between a file on disk and its object: which attributes and settings matter.

Source: gitattributes(5) and git-config(1). Only the decision is here; the bytes are converted by
git itself (``edge/git/convert.py``).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

_ENCRYPTS: Final = re.compile(
    r"crypt|cipher|secret|vault|strongbox|blackbox|sops|openssl|gpg|pgp|\br?age\b|\baes|\benc\b",
    re.IGNORECASE,
)
_TEXT: Final = ("text", "crlf", "eol")
_OFF: Final = ("unset", "unspecified")


class Kind(Enum):
    """Who converts a file."""

    NOBODY = "nobody"
    GIT = "git itself: line ends, ident, or an encoding"
    FILTER = "a program of the user's"
    SECRET = "a program that encrypts"  # noqa: S105 - no password
    BROKEN = "a program that is required, and that nobody has named"


@dataclass(frozen=True)
class Settings:
    """The configuration of one clone, as far as it decides about conversions."""

    autocrlf: str = ""
    eol: str = ""
    filters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By name of the filter: what ``clean``, ``smudge``, ``process`` and ``required`` say."""

    @property
    def converts_all(self) -> bool:
        """Whether files without any attribute are converted too."""
        return self.autocrlf in ("input", "true")

    @property
    def encrypts(self) -> bool:
        """Whether there is a filter that encrypts, for whichever files."""
        return any(any(_commands(d)) and _is_secret(name, d) for name, d in self.filters.items())

    @property
    def misses_a_command(self) -> bool:
        """Whether a filter is required that has no command."""
        return any(map(_is_broken, self.filters.values()))

    @property
    def gives_crlf(self) -> bool:
        """Whether a text file may get CRLF on disk without an attribute that says so."""
        return self.autocrlf == "true" or self.eol == "crlf"


def _commands(driver: Mapping[str, str]) -> list[str]:
    return [driver.get(what, "") for what in ("clean", "smudge", "process")]


def _is_secret(name: str, driver: Mapping[str, str]) -> bool:
    return any(map(_ENCRYPTS.search, (name, *_commands(driver))))


def _is_broken(driver: Mapping[str, str]) -> bool:
    is_required = driver.get("required", "").lower() in ("true", "yes", "on", "1")
    return is_required and not any(_commands(driver))


def settings_of(config: Mapping[str, list[str]]) -> Settings:
    """Return what ``config`` (keys as git prints them, values in order) says of conversions."""
    filters: dict[str, dict[str, str]] = {}
    for key, values in config.items():
        if key.startswith("filter."):
            name, _, what = key.removeprefix("filter.").rpartition(".")
            filters.setdefault(name, {})[what] = values[-1]
    autocrlf = config.get("core.autocrlf", ["false"])[-1].lower()
    if autocrlf in ("", "yes", "on", "1"):
        autocrlf = "true"
    return Settings(autocrlf, config.get("core.eol", [""])[-1].lower(), filters)


def kind_of(attributes: Mapping[str, str], settings: Settings) -> Kind:
    """Return who converts a file with these attributes in a clone with these settings."""
    name = attributes.get("filter", "unspecified")
    driver = settings.filters.get(name)
    if driver is not None and name not in _OFF:
        if any(_commands(driver)):
            return Kind.SECRET if _is_secret(name, driver) else Kind.FILTER
        if _is_broken(driver):
            return Kind.BROKEN
    if attributes.get("ident", "unset") == "set" or "working-tree-encoding" in attributes:
        return Kind.GIT
    # crlf is the old name, and is asked only where text says nothing
    if attributes.get("text", attributes.get("crlf")) == "unset":
        return Kind.NOBODY
    says = any(attributes.get(name, "unset") not in _OFF for name in _TEXT)
    return Kind.GIT if says or settings.converts_all else Kind.NOBODY


def may_differ(data: bytes, attributes: Mapping[str, str], settings: Settings) -> bool:
    """Say whether git's own conversions may make other bytes of ``data``, either way."""
    if "working-tree-encoding" in attributes or b"\r" in data:
        return True
    if attributes.get("ident") == "set" and b"$Id" in data:
        return True
    gives_crlf = attributes.get("eol") == "crlf" or settings.gives_crlf
    return gives_crlf and attributes.get("eol") != "lf" and b"\n" in data
