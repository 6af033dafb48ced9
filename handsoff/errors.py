"""Every failure a user of handsoff can meet: one class for each thing to do next.

Any exception that is not a HandsoffError (or KeyboardInterrupt) is a bug in handsoff.

A message is one lower-case phrase without a full stop, saying what is so, with the
values in it. A hint is one line saying what to do about it, if possible a command.
"""

from typing import ClassVar


class HandsoffError(Exception):
    """A failure that handsoff expected and can explain."""

    exit_code: ClassVar[int] = 1
    code: ClassVar[str] = "bug"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(HandsoffError):
    """The command was typed wrong, or in the wrong place. Next: --help."""

    exit_code = 2
    code = "usage"


class RefusedError(HandsoffError):
    """A guard or a rule said no, and nothing was changed. Next: fix what is named."""

    exit_code = 3
    code = "refused"


class HeldError(HandsoffError):
    """Another machine carries this work. Next: ask it, or wait for its offer."""

    exit_code = 4
    code = "held"


class LostRaceError(HandsoffError):
    """Another machine moved the record first. Next: look who won."""

    exit_code = 5
    code = "lost-race"


class UnreachableError(HandsoffError):
    """A machine or the remote did not answer. Next: try again, or another route."""

    exit_code = 6
    code = "unreachable"


class CutError(UnreachableError):
    """A connection was lost on the way. Next: make another, and go on where it stopped."""


class TrustError(HandsoffError):
    """Somebody is not who they should be, or is not let in. Next: look who it is."""

    exit_code = 7
    code = "trust"


class NotLetInError(TrustError):
    """A machine is who it should be, and does not let this one in. Next: be admitted there."""


class UnfitError(HandsoffError):
    """The checkout is not fit: dirty, busy, or in the way. Next: tidy it, or --into."""

    exit_code = 8
    code = "unfit"


class DamagedError(HandsoffError):
    """Bytes that do not verify: cut, changed or out of turn. Next: have them sent again."""

    exit_code = 9
    code = "damaged"


def reason(error: OSError) -> str:
    """Return why the system refused, as the end of a phrase."""
    return (error.strerror or str(error)).lower()
