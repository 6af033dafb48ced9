"""How the work of one checkout stands, as it was cached, in the words in which agents are told.

The file may be old, and anybody's who can write into the clone: any field may be missing, or of any
type, and whatever is shown has passed ``plain``. Where it says nothing, nothing is refused.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from handsoff.core.loose import as_number, as_object, quoted
from handsoff.core.plain import cited, plain

_STATES: Final = ("held", "offered", "dropped", "closed")


class Standing:
    """How the work of one checkout stands at ``now``, as it is cached; ``work`` "" if none."""

    def __init__(
        self, state: Mapping[str, Any], work: str, now: int, spell: Callable[[int], str]
    ) -> None:
        entry = as_object(as_object(state.get("works")).get(work))
        waits = state.get("waits")
        self.work = plain(work, limit=200)
        self.entry = entry
        self.waits = [as_object(w) for w in waits] if isinstance(waits, list) else []
        self.settings = as_object(state.get("settings"))
        self.me = _name(state.get("machine"))
        self.until = as_number(entry.get("until"))
        self.lapsed = bool(self.until) and now >= self.until
        is_now = "dropped" if self.lapsed else entry.get("state")
        self.state: str = is_now if is_now in _STATES else "free"
        self.carrier = _name(entry.get("carrier"))
        self._now = now
        self._spell = spell

    @property
    def known(self) -> bool:
        """Whether the work is on the record."""
        return self.state != "free"

    @property
    def elsewhere(self) -> bool:
        """Whether pre-push would refuse this machine, as far as is known here."""
        allowed = self.entry.get("may_push_then" if self.lapsed else "may_push", True)
        return self.known and allowed is False

    @property
    def ours(self) -> bool:
        """Whether this machine carries the work, be it that its time ran out."""
        return self.entry.get("here") is True

    @property
    def edits(self) -> str:
        """What becomes of edits where the work is elsewhere: ``deny``, ``warn`` or ``off``."""
        return str(self.settings.get("edits", "deny"))

    @property
    def who(self) -> str:
        """Who has the work, since when, in one phrase."""
        work, since = self.work, self._since("since")
        carrier = f"this machine ({self.me})" if self.entry.get("last_here") else self.carrier
        leg = f"leg {as_number(self.entry.get('leg'))}, r{as_number(self.entry.get('revision'))}"
        if self.state == "held":
            said = f"{carrier} carries {work} since {since} ({leg})"
        elif self.state == "offered":
            to = plain(str(self.entry.get("to", "")), limit=100)
            whom = f"this machine ({self.me})" if self.entry.get("offered_to_me") else to
            said = f"{carrier} offered {work} to {whom} at {since} ({leg})"
        elif self.state == "dropped":
            said = f"nobody carries {work}: {self._gone(carrier)} ({leg})"
        elif self.state == "closed":
            said = f"{work} was closed at {since}"
        else:
            return f"nobody carries {work}: it is not on the record"
        return said + (", not confirmed by the remote yet" if self.entry.get("provisional") else "")

    @property
    def way(self) -> str:
        """What can be done about a work that is elsewhere."""
        if self.state == "offered" and self.entry.get("last_here"):
            back = f"`handsoff withdraw {quoted(self.work)}`"
            return f"{back} takes the offer back while nobody has caught it"
        if self.state == "dropped" or self.entry.get("offered_to_me"):
            return f"`handsoff catch {quoted(self.work)}` makes this machine the carrier"
        return f"ask {self.carrier} for it (there: `handsoff offer --to {self.me}`)"

    @property
    def offers(self) -> list[str]:
        """The offers that wait here, one phrase each."""
        found = []
        for wait in self.waits:
            until = as_number(wait.get("until"))
            if until and self._now >= until:
                continue
            work = plain(str(wait.get("work", "")), limit=200)
            said = f"{plain(str(wait.get('from', '')), limit=100)} offers {work}"
            said += f" r{as_number(wait.get('revision'))} to this machine"
            said += f" until {self._spell(until)}" if until else ""
            found.append(f"{said}: `handsoff catch {quoted(work)}` takes it")
        return found

    @property
    def key(self) -> str:
        """What an agent is told anew when it has changed."""
        entry = self.entry
        parts = [self.work, self.state, self.carrier, entry.get("leg"), entry.get("to")]
        offers = sorted(f"{w.get('work')}/{w.get('from')}/{w.get('revision')}" for w in self.waits)
        return repr([*parts, *offers])

    @property
    def dropped(self) -> str:
        """What to know of a work whose last carrier stopped without handing it over, or ""."""
        found = as_object(self.entry.get("taken"))
        by = plain(str(found.get("by", "")), limit=100)
        if self.state == "dropped" and not self.entry.get("last_here"):
            by = self.carrier
        elif not (self.ours and found):
            return ""
        return (
            f"contact with {by} was lost: after its last save it may have done more than one step, "
            "so each step of the next action, and any in flight, may be done already; its outcome "
            "is to be checked before a step is repeated (`handsoff history` tells what is known)"
        )

    def _gone(self, carrier: str) -> str:
        drop, since = as_object(self.entry.get("drop")), self._since("since")
        if self.lapsed:
            what = "lease" if self.entry.get("state") == "held" else "offer"
            return f"the {what} of {carrier} ran out at {self._since('until')}"
        did = "blocked" if drop.get("blocked") else "dropped"
        why = str(drop.get("reason", ""))
        return f"{carrier} {did} it at {since}" + (
            f", saying {cited(why, limit=200)}" if why else ""
        )

    def _since(self, name: str) -> str:
        return self._spell(as_number(self.entry.get(name)))


def _name(value: object) -> str:
    return plain(str(as_object(value).get("name", "")), limit=100)
