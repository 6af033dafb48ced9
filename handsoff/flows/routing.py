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
from handsoff.flows.plan import Aim, Route, Wishes

ROUTES: Final = ("auto", "direct", "remote")


@dataclass
class Routing:
    """The route of one run of ``send``; ``direct`` is the connection, if the route has one."""

    desk: Desk
    wishes: Wishes
    work: str
    route: Route = field(default=Route("", ""), init=False)
    direct: Direct | None = field(default=None, init=False)
    away: bool = field(default=False, init=False)
    """Whether the remote does not answer."""

    def __post_init__(self) -> None:
        roster = self.desk.local_roster()
        to = roster.named(self.wishes.to) if roster and self.wishes.verb == "send" else None
        if to is not None and to.id != self.desk.machine.id:
            self._choose_for(to)

    def choose(self, aim: Aim, *, away: bool) -> None:
        """Settle the route, once, and begin to connect; ``away`` if the remote does not answer."""
        self.away = away
        if self.wishes.verb == "send" and aim.machine is not None:
            self._choose_for(aim.machine)
        else:
            self.route = Route("remote", "for whoever may catch it")

    def _choose_for(self, to: Member) -> None:
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

    def have(self) -> Sequence[str]:
        """Return the commits that the other end has, or can get from the remote.

        Where nobody answers at an address that is only remembered, the remote is taken instead.
        """
        if self.direct is None:
            return self._on_the_remote()
        try:
            have = self.direct.have()
        except UnreachableError as error:
            if self.wishes.at or self.wishes.via == "direct":
                raise
            self.route = Route("remote", f"{self.direct.name} did not answer ({error})")
            self.direct = None
            return self._on_the_remote()
        objects = Objects(self.desk.checkout.common_dir / "objects")
        # with no commit in common by name, the remote is in common: the receiver can ask it
        return have if any(map(objects.has, have)) else self._on_the_remote()

    def _on_the_remote(self) -> Sequence[str]:
        shared = self.desk.shared
        if self.wishes.whole:
            return ()
        if self.away and self.route.name == "file":
            # whoever gets it may reach no remote either, and is sure to have what is old only
            return news.fork_point(self.desk.checkout, shared.name)
        if self.away:
            return news.known_tips(self.desk.checkout, shared.name)
        return news.tips_there(shared)

    def redial(self) -> None:
        """Connect once more, for another try."""
        if self.direct is not None:
            self.direct.close()
            self.direct = self.direct.again()

    @property
    def doubts(self) -> Sequence[str]:
        """What the receiver saw on the remote and it does not show here, once it was told."""
        return self.direct.doubts if self.direct is not None else ()

    def close(self) -> None:
        """Hang up."""
        if self.direct is not None:
            self.direct.close()
