"""Which way the parcel goes, and the connection to the receiver where there is one.

``auto`` is direct where the receiver is found, else the remote; it says which, and why. The
connection is begun on what this clone knows of the roster, beside everything else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from handsoff.core.roster import Member
from handsoff.edge.git import news
from handsoff.edge.git.objects import Objects
from handsoff.errors import UnreachableError
from handsoff.flows import finding
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
        if self.wishes.to_file is not None:
            self.route = Route("file", "asked for")
        elif self.wishes.via == "remote":
            self.route = Route("remote", "asked for")
        elif self.wishes.dry_run:
            self._foresee(to)
        else:
            self.route = Route("direct", f"{to.name} is looked for")
            look = finding.LONG_LOOK if self.wishes.via == "direct" else finding.LOOK
            self.direct = Direct(self.desk, to, self.wishes.at, self.work, look=look)

    def _foresee(self, to: Member) -> None:
        """Say which route it would be; nobody is connected to."""
        address = self.wishes.at or finding.foresee(self.desk.home, to)
        if address is not None or self.wishes.via == "direct":
            self.route = Route("direct", f"{to.name} is at {address or 'no known address'}")
        else:
            self.route = Route("remote", f"no address of {to.name} is known")

    def have(self) -> Sequence[str]:
        """Return the commits that the other end has, or can get from the remote.

        Where nobody is found who was not given an address by hand, the remote is taken instead.
        """
        if self.direct is None:
            return self._on_the_remote()
        try:
            have = self.direct.have()
            self.route = Route("direct", f"{self.direct.name} is at {self.direct.address}")
        except UnreachableError as error:
            if self.wishes.at or self.wishes.via == "direct":
                raise
            self.route = Route("remote", str(error))
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
