"""What a verb says that was done before, and what it says of an entry that waits for the remote."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from handsoff.flows.sending.plan import Sent

RECORD: Final = "the remote does not answer: the record waits here, and is sent at the next contact"
UNCONFIRMED: Final = (
    "the remote has not confirmed it yet: handsoff status says when it has, or who won"
)


def before(result: "Sent", work: str) -> Iterator[str]:
    """Yield what to say of a hand-over, an offer or a save that an earlier run made."""
    if result.verb == "save":
        yield f"{work} was saved already (r{result.revision}); nothing was sent again"
    else:
        to = result.to
        yield f"{work} is offered to {to} already (r{result.revision}); nothing was sent again"
