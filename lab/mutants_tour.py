"""Mutants of the tour: what it says must be so."""

from typing import Final

TESTS: Final = {"tour/tour": ["tour/test_tour"]}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "tour/tour": [
        ("a file that is only on the first", "first.files.keys() | second", "second"),
        ("a file that is only on the second", " | second.files.keys()", ""),
        ("what was to stay is gone", " | stays.keys()", ""),
        ("what was to stay travelled", "(None if stays else here)", "here"),
        ("git says otherwise", "verdict), here == there", "verdict), True"),
        ("one that is as it should be is enough", "all(good", "any(good"),
        ("braces of a shell are values", "m[1], m[0])", 'm[1], "")'),
    ],
}
