"""Which route the parcel takes, and the connection to the receiver where there is one.

It says which, and why; the order is core/reach/routes.py. The connection is begun on what this
clone knows of the roster, beside everything else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from handsoff.core.machines.roster import Member, Roster
from handsoff.core.reach import routes
from handsoff.core.reach.destination import Destination, parse_destination
from handsoff.core.reach.routes import Route
from handsoff.edge.git import news
from handsoff.edge.git.objects import Objects
from handsoff.edge.seal import SealedFile
from handsoff.errors import UnreachableError
from handsoff.flows.desk import Desk
from handsoff.flows.reach import finding
from handsoff.flows.reach.connection import Connection
from handsoff.flows.reach.redialling import Redialling
from handsoff.flows.reach.ways import BySsh, Straight, Way, remembered
from handsoff.flows.sending.aim import aim_at, aim_of, place_of
from handsoff.flows.sending.plan import Aim
from handsoff.flows.sending.wishes import Wishes

T = TypeVar("T")


@dataclass
class Routing:
    """The route of one run of ``send``; ``connection`` is there if the route has one."""

    desk: Desk
    wishes: Wishes
    work: str
    route: Route = field(default=Route("", ""), init=False)
    connection: Connection | None = field(default=None, init=False)
    away: bool = field(default=False, init=False)
    """Whether the remote does not answer."""
    redialling: Redialling = field(default_factory=Redialling)
    offset: int | None = field(default=None, init=False)
    """How many bytes of the parcel the receiver had from an earlier run."""
    _left: list[str] = field(default_factory=list, init=False)
    """The routes that would be tried next."""
    _to: Member | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.wishes.retry is not None:
            self.redialling.length = self.wishes.retry.total_seconds()
        self._routes(())  # what was typed must fit before anything is done
        roster = self.desk.local_roster()
        if roster is not None and self.wishes.verb == "send":
            self._begin(roster)

    def aim(self, roster: Roster) -> Aim:
        """Return whom it is for; who is at a destination of ssh, only that machine can say."""
        place = place_of(self.desk, roster, self.wishes)
        if place is None:
            return aim_of(self.desk, roster, self.wishes)
        self._begin(roster)
        if self.connection is None:
            return aim_at(self.desk, roster, place)
        met = self._patiently(lambda connection: connection.member())
        return aim_of(self.desk, roster, self.wishes, met)

    def choose(self, aim: Aim, *, away: bool) -> None:
        """Settle the route, once, and begin to connect; ``away`` if the remote does not answer."""
        self.away = away
        if self.wishes.verb == "send" and aim.machine is not None:
            self._choose_for(aim.machine)
        elif not self.route.name:
            self.route = Route("remote", "for whoever may catch it")

    def _begin(self, roster: Roster) -> None:
        place, to = place_of(self.desk, roster, self.wishes), roster.named(self.wishes.to)
        if place is not None and not self.route.name:
            self._connect(
                "ssh", f"{place.text} is for ssh", BySsh(self.desk, place, None, self._named)
            )
        elif to is not None and to.id != self.desk.machine.id:
            self._choose_for(to)

    def _choose_for(self, to: Member) -> None:
        if self.route.name:
            return
        self._to = to
        by_ssh = ("ssh",) if self.desk.home.ssh_of(to.id) is not None else ()
        self._left = list(self._routes(("direct", *by_ssh)))
        self._take("")

    def _routes(self, known: Sequence[str]) -> Sequence[str]:
        wishes = self.wishes
        return routes.in_order(
            wishes.via, at=wishes.at, to_file=wishes.to_file is not None, known=known
        )

    def _take(self, why: str) -> None:
        """Take the next route; ``why`` is what came of the one before."""
        assert self._to is not None
        to, name = self._to, self._left.pop(0)
        asked = name in (self.wishes.via, "file")
        if name == "direct" and self.wishes.dry_run:
            self._foresee(to)
        elif name == "direct":
            look = finding.LONG_LOOK if asked else finding.LOOK
            way = Straight(self.desk, to, self.wishes.at, look)
            self._connect(name, "", way)
        elif name == "ssh":
            place = self._destination(to)
            why = "; ".join(filter(None, (f"{to.name} is at {place.text}", why)))
            self._connect(name, why, BySsh(self.desk, place, to, self._named))
        else:
            self.route = Route(name, "asked for" if asked else why)

    def _foresee(self, to: Member) -> None:
        """Say whether it would go direct; nobody is connected to."""
        address = self.wishes.at or finding.foresee(self.desk.home, to)
        if address is None and self._left:
            self._take(f"no address of {to.name} is known")
        else:
            self.route = Route("direct", f"{to.name} is at {address or 'no known address'}")

    def _connect(self, name: str, why: str, way: Way) -> None:
        self.route = Route(name, why or f"{way.where} is looked for")
        if not self.wishes.dry_run:
            self.connection = Connection(self.desk, way, self.work)

    def _destination(self, to: Member) -> Destination:
        if self.wishes.at is not None:
            return parse_destination(self.wishes.at)
        # an alias of the same name is the best guess, and the machine there must be the one
        return remembered(self.desk, to) or parse_destination(to.name)

    @property
    def _named(self) -> str | None:
        return self.wishes.remote_command

    def have(self) -> Sequence[str]:
        """Return the commits that the other end has, or can get from the remote.

        Where nobody answers on a way that is only remembered, the next is taken instead.
        """
        have: Sequence[str] = ()
        while self.connection is not None:
            try:
                have = self._patiently(lambda connection: connection.have())
            except UnreachableError as error:
                if not self._left:
                    raise
                self.connection = None
                self._take(str(error))
            else:
                break
        if self.connection is None:
            return self._on_the_remote()
        if self.route.name == "direct":
            named = f"{self.connection.member().name} is at {self.connection.way.where}"
            self.route = Route("direct", named)
        objects = Objects(self.desk.checkout.objects_dir)
        # with no commit in common by name, the remote is in common: the receiver can ask it
        return have if any(map(objects.has, have)) else self._on_the_remote()

    def _on_the_remote(self) -> Sequence[str]:
        shared = self.desk.shared
        if self.wishes.whole:
            return ()
        if self.away:
            # whoever gets it may reach no remote either, and is sure to have what is old only
            return news.fork_point(self.desk.checkout, shared.name)
        return news.tips_there(shared)

    def deliver(
        self, parcel: str, sealed: SealedFile, manifest: str, progress: Callable[[int], None]
    ) -> None:
        """Send the parcel to the machine, over as many connections as it takes."""

        def accepted(here: int) -> None:
            if self.offset is None:
                self.offset = here
            # what has left us may be in flight for long: what has arrived is progress
            self.redialling.reached(here)

        self._patiently(
            lambda connection: connection.deliver(
                parcel, sealed, manifest, accepted=accepted, progress=progress
            )
        )

    def _patiently(self, work: Callable[[Connection], T]) -> T:
        """Return what ``work`` does with the connection, dialling again where that is lost.

        Where nobody has answered yet, only if the person said how long to try.
        """

        def current() -> Connection:
            assert self.connection is not None, "the route has a connection"
            return self.connection

        def anew() -> None:
            current().drop()
            self.connection = current().again()

        return self.redialling.persist(
            lambda: work(current()),
            met=lambda: current().met,
            anew=anew,
            asked=bool(self.wishes.retry),
        )

    def redial(self) -> None:
        """Connect once more, for another try."""
        if self.connection is not None:
            self.connection.close()
            self.connection = self.connection.again()

    @property
    def doubts(self) -> Sequence[str]:
        """What the receiver saw on the remote and it does not show here, once it was told."""
        return self.connection.doubts if self.connection is not None else ()

    def close(self) -> None:
        """Hang up."""
        if self.connection is not None:
            self.connection.close()
