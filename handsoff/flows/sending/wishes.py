"""What a person asked for, of a hand-over; apart from the plan, which takes long to import."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from handsoff.core.guard.guard import DEFAULT_LIMIT
from handsoff.core.works.lease import OFFER


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the person asked for: ``verb`` is send (to a machine), offer (to anybody) or save."""

    to: str = ""
    """A machine; of an offer also a person, or "" for anyone."""
    verb: str = "send"
    hold: timedelta | None = None
    within: timedelta = OFFER
    at: str | None = None
    via: str = "auto"
    remote_command: str | None = None
    """The program of the other machine that ssh is to run."""
    named: str | None = None
    """The name of the work, where HEAD is detached and no branch names it."""
    to_file: Path | None = None
    whole: bool = False
    """Whether all history goes along, for a receiver that may have none of it."""
    retry: timedelta | None = None
    """How long a lost connection is dialled again: None for a little while, 0 for not at all."""
    dry_run: bool = False
    limit: int = DEFAULT_LIMIT
    allow: Collection[str] = ()
    transcript: str = ""
    """How transcripts go along, raw or rewritten there; "" for none."""
    sessions: Sequence[str] = ()
    """Which: ids, beginnings of them, or "all"; the newest if none is named."""
    live_ok: bool = False
    """Whether a session that goes on is taken as far as it is written."""
    redact: bool = False
    """Whether a marker stands in a transcript in place of what must not leave."""
