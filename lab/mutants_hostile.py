"""Mutants of what keeps a hostile parcel small, and of what is told when it comes from others."""

from typing import Final

TESTS: Final = {
    "parcels/bounds": ["parcels/test_bounds"],
    "parcels/autorun": ["parcels/test_autorun"],
    "canon": ["test_canon"],
    "ids": ["remote/test_refs"],
    "checkout/paths": ["checkout/test_paths"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "parcels/bounds": [
        ("deltas pass", "if number in _DELTAS:", "if False:"),
        ("a header may say anything", "if size > limit:", "if False:"),
        ("large commits and trees pass", "if length > _LIMITS.get(kind, limit):", "if False:"),
        ("an object may be longer than it says", "if left < 0 or not", "if not"),
        ("an object may be shorter than it says", "        if left:\n", "        if False:\n"),
        ("a pack may go on after its end", "if self._next(1):", "if False:"),
        ("git sees what is not measured", "_passed(self._held[: self._at])", "_passed(self._held)"),
        ("a manifest may say anything", "if said > room:", "if False:"),
        ("who says nothing may do anything", "_UNSAID + _RATIO * pack_size)", "room)"),
        ("what shrinks well is small", "_SAID + _RATIO * pack_size\n", "_SAID\n"),
    ],
    "parcels/autorun": [
        ("the top alone", '(?:.*/)?(?:{path})', '(?:{path})'),
        ("one spelling alone", "re.IGNORECASE | re.DOTALL", "re.DOTALL"),
        ("what goes is told", "if change.new is not None else None", "if True else None"),
    ],
    "canon": [("a million lists", "_nested(body) > MOST_NESTED", "False")],
    "checkout/paths": [
        ("a folder may have a .git", r"(?!\.git|git~|", r"(?!git~|"),
        ("a folder may lead upwards", r"|\.{1,2}(?:[\0/]|\Z))[", ")["),
        ("a path may be as long as it likes", "len(path) <= PATH_LIMIT and ", ""),
        ("a path may be as deep as it likes", ' and path.count(b"/") < DEPTH_LIMIT', ""),
        ("a backslash is harmless", r"0-\[\]-~]", "0-~]"),
        ("a folder is a file", "|160000)", "|160000|40000)"),
        ("a mode may be any", "(?:100644|", "(?:100664|100644|"),
        ("a name alone lies at the top", 'b"/" not in pattern[:-1] or not place', "not place"),
        ("a wildcard is a name", "not _WILD.search(part)", "True"),
        ("what is taken back leads somewhere", 'if pattern.startswith(b"!"):', "if False:"),
    ],
    "ids": [("names that are no text", 'component.encode("utf-8", "surrogateescape")',
             'component.encode("utf-8")')],
}  # fmt: skip
