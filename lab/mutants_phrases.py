"""Mutants of what is said in another language."""

from typing import Final

TESTS: Final = {"phrases": ["test_phrases"]}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "phrases": [
        ("a name is a sentence", '(depth < _DEPTH and " " not in said)', "False"),
        ("any words are a name", "return values if all(", "return values if True or all("),
        ("numbers are words", "if name in _NUMBERS and not value.isdecimal():", "if False:"),
        ("one value may be two", "found.setdefault(name, value) != value", "False"),
        ("what is glued is there", "least = 0 if", "least = 1 if"),
        ("a reading is as good as another", "key=itemgetter(1))", "key=str)"),
        ("a long line is read", "or len(said) > LONGEST", ""),
        ("looks have no end", "looks.left -= 1", "pass"),
        ("the sign of others is ours", "if is_said else sign", "if True else sign"),
        ("the locale goes first", '("HANDSOFF_LANG", "LC_ALL"', '("LC_ALL", "HANDSOFF_LANG"'),
    ],
}  # fmt: skip
