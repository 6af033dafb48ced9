"""Which way the parcel goes, and the connection to the receiver where there is one.

``auto`` is direct where an address is known, else the remote; it says which, and why. The
connection is begun on what this clone knows of the roster, beside everything else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.roster import Member
from handsoff.edge.git import news
from handsoff.edge.git.objects import Objects
from handsoff.errors import UnreachableError
from handsoff.flows.desk import Desk
from handsoff.flows.direct import Direct
from handsoff.flows.plan import Route, Wishes

ROUTES: Final = ("auto", "direct", "remote")


@dataclass
class Routing:
    """The route of one run of ``send``; ``direct`` is the connection, if the route has one."""

    desk: Desk
    wishes: Wishes
    work: str
    route: Route = field(default=Route("", ""), init=False)
    direct: Direct | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        roster = self.desk.local_roster()
        to = roster.named(self.wishes.to) if roster else None
        if to is not None and to.id != self.desk.machine.id:
            self.choose(to)

    def choose(self, to: Member) -> None:
        """Settle the route to ``to``, once, and begin to connect."""
        if self.route.name:
            return
        address = self.wishes.at or self.desk.home.address_of(to.id)
        if self.wishes.to_file is not None:
            self.route = Route("file", "asked for")
        elif self.wishes.via == "remote":
            self.route = Route("remote", "asked for")
        elif address is None and self.wishes.via == "direct":
            raise UnreachableError(
                f"no address of {to.name} is known", hint=f"handsoff send {to.name} --at HOST:PORT"
            )
        elif address is None:
            self.route = Route("remote", f"no address of {to.name} is known")
        else:
            self.route = Route("direct", f"{to.name} is at {address}")
            if not self.wishes.dry_run:
                self.direct = Direct(self.desk, to, address, self.work)

    def have(self, to: Member) -> Sequence[str]:
        """Return the commits that the other end has, or can get from the remote.

        Where nobody answers at an address that is only remembered, the remote is taken instead.
        """
        if self.direct is None:
            return news.tips_there(self.desk.shared)
        try:
            have = self.direct.have()
        except UnreachableError as error:
            if self.wishes.at or self.wishes.via == "direct":
                raise
            self.route = Route("remote", f"{to.name} did not answer ({error})")
            self.direct = None
            return news.tips_there(self.desk.shared)
        objects = Objects(self.desk.checkout.common_dir / "objects")
        # with no commit in common by name, the remote is in common: the receiver can ask it
        return have if any(map(objects.has, have)) else news.tips_there(self.desk.shared)

    def redial(self, to: Member) -> None:
        """Connect once more, for another try."""
        if self.direct is not None:
            self.direct.close()
            self.direct = Direct(self.desk, to, self.direct.address, self.work)

    def close(self) -> None:
        """Hang up."""
        if self.direct is not None:
            self.direct.close()
