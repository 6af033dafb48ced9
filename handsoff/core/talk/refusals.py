"""An error as the other end is told of it, and as it is raised there: of the same class.

Three texts travel: the code of the class, what is so, and what to do. Those that came are another
machine's, so they are made plain here; a code that we do not know, and the other end's own bug, are
refusals to us.
"""

from typing import Final

from handsoff.core.plain import plain
from handsoff.errors import HandsoffError, RefusedError

_BY_CODE: Final = {kind.code: kind for kind in HandsoffError.__subclasses__()}


def told(error: HandsoffError, limit: int) -> tuple[str, str, str]:
    """Return code, message and hint of ``error``, the texts of at most ``limit`` characters."""
    return error.code, plain(str(error), limit=limit), plain(error.hint or "", limit=limit)


def raised(code: str, message: str, hint: str, *, who: str) -> HandsoffError:
    """Return the error that ``who`` told us of."""
    kind = _BY_CODE.get(code, RefusedError)
    said = plain(message) or "no, and gives no reason"
    return kind(f"{who} says: {said}", hint=plain(hint) or None)
