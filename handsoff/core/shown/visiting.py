"""Who may see the page that a machine serves to itself: the rules, without a server.

The page listens on loopback, where every program of this computer and every site in the browser
can reach it. What keeps them out: the name in ``Host`` is ours to the letter (a site that points
its own name at 127.0.0.1 has another), the browser says that no other origin sent the request
(``Origin``, ``Sec-Fetch-Site``: RFC 6454 and the Fetch Metadata specification of the W3C), and a
cookie that only the one-time key gives.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

VALID: Final = 600.0
"""Seconds that a key can be used."""

_OURS: Final = frozenset({"none", "same-origin"})
"""What a browser says of a request that no other site caused: typed, or from our own page."""

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)
"""What every answer says to the browser."""


class No(Enum):
    """Why a request is turned away, with the status of HTTP that says so."""

    METHOD = 405
    HOST = 421
    ORIGIN = 403
    KEY = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request, as far as the rules look at it; each header with all its values."""

    method: str
    path: str
    hosts: Sequence[str]
    origins: Sequence[str] = ()
    sites: Sequence[str] = ()
    purposes: Sequence[str] = ()
    cookies: Sequence[str] = ()
    """The values of our own cookie."""

    @property
    def only_looks(self) -> bool:
        """Whether nobody has come yet: the browser fetches ahead, or asks what is there."""
        return self.method == "HEAD" or any("prefetch" in purpose for purpose in self.purposes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What opens the page: the key, until when it is good, and the session it gave."""

    host: str
    """Our name and port, as ``Host`` must have it."""
    key: str = field(repr=False)
    until: float
    sessions: tuple[str, ...] = field(default=(), repr=False)

    @property
    def origin(self) -> str:
        """The origin of our own pages."""
        return f"http://{self.host}"

    @property
    def cookie(self) -> str:
        """The name of our cookie: cookies know no ports, so the name does."""
        return f"handsoff-{self.host.rpartition(':')[2]}"

    def judge(self, visit: Visit) -> No | None:
        """Return why ``visit`` is turned away, None if it may pass."""
        posts = visit.method == "POST" and visit.path == SIGN_IN
        if visit.method not in ("GET", "HEAD") and not posts:
            return No.METHOD
        if list(visit.hosts) != [self.host]:
            return No.HOST
        # of a form on a page without a referrer a browser sends "null" (the Fetch standard), and
        # tells by the other header, which no page can set, that it is ours
        hidden = posts and list(visit.sites) == ["same-origin"]
        allowed = {self.origin, "null"} if hidden else {self.origin}
        if not allowed.issuperset(visit.origins):
            return No.ORIGIN
        if any(site not in _OURS for site in visit.sites):
            return No.ORIGIN
        if posts and not visit.origins and not visit.sites:
            return No.ORIGIN
        if visit.path == SIGN_IN or visit.path.startswith(STATIC):
            return None
        return None if self.knows(visit.cookies) else No.KEY

    def knows(self, cookies: Sequence[str]) -> bool:
        """Say whether one of ``cookies`` is a session of ours."""
        return any(_same(cookie, session) for cookie in cookies for session in self.sessions)

    def enter(self, key: str, now: float, session: str) -> "Door | None":
        """Return the door with ``session`` let in and the key used up; None if it is not good."""
        if not self.key or now >= self.until or not _same(key, self.key):
            return None
        return replace(self, key="", sessions=(*self.sessions, session))

    def with_key(self, key: str, now: float) -> "Door":
        """Return the door with another key; who is in stays in."""
        return replace(self, key=key, until=now + VALID)


SIGN_IN: Final = "/sign-in"
STATIC: Final = "/static/"


def _same(given: str, kept: str) -> bool:
    """Compare in a time that does not tell how much is right."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), kept.encode())
