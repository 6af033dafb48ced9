"""Mutants of the pages: who may see them, and what is drawn."""

from typing import Final

TESTS: Final = {
    "shown/visiting": ["shown/test_visiting"],
    "audit/legs": ["audit/test_legs"],
    "shown/timescale": ["audit/test_legs"],
    "shown/differences": ["audit/test_legs"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "shown/visiting": [
        ("any method", 'visit.method not in ("GET", "HEAD") and not posts', "False"),
        ("any name in Host", "list(visit.hosts) != [self.host]", "False"),
        ("one right Host among others", "list(visit.hosts) != [self.host]",
         "self.host not in visit.hosts"),
        ("another origin", "not allowed.issuperset(visit.origins)", "False"),
        ("another site", "any(site not in _OURS for site in visit.sites)", "False"),
        ("any form from nowhere", 'posts and list(visit.sites) == ["same-origin"]', "posts"),
        ("another port of this computer is ours", '{"none", "same-origin"}',
         '{"none", "same-origin", "same-site"}'),
        ("a form from nowhere", "posts and not visit.origins and not visit.sites", "False"),
        ("no cookie needed", "return None if self.knows(visit.cookies) else No.KEY", "return None"),
        ("looking uses up the key", '"prefetch" in purpose', "False"),
        ("a key for ever", "now >= self.until", "False"),
        ("a key that is used up opens", 'key="", sessions=', "sessions="),
        ("any key", "not _same(key, self.key)", "False"),
        ("a new key throws everybody out", "key=key, until=now + VALID",
         "key=key, until=now + VALID, sessions=()"),
    ],
    "audit/legs": [
        ("leases never run out", "lease.until is not None else end", "False else end"),
        ("blocked is dropped", "if lease.blocked:", "if False:"),
        ("saves of all legs", "saves.count(leg.number)", "len(saves)"),
    ],
    "shown/timescale": [
        ("waiting to scale", "min(length, _SHARE * whole)", "length"),
        ("labels on top of each other", "place - found[-1][0] >= _APART", "True"),
    ],
    "shown/differences": [
        ("any length is compared", "max(len(before), len(after)) > LINES", "False"),
    ],
}  # fmt: skip
