"""The sentences of handsoff in another language: recognised when they are finished, then said anew.

A catalogue has templates: "{carrier} carries {work} since {since}", and what each is in the other
language, with the same names in braces. A finished line is laid against the templates, and what
stands for a name is looked at in the same way, since it may be a sentence itself; a single word is
not, since it may be anybody's name. Of the readings
that fit, the one that leaves least unexplained is taken, and of these the one with most words of
its own. What nobody knows stays as it is: a page, a path, a name.

So no rule, no error and no entry of a record knows of languages, and what is written for programs
is English by itself. A template is found in a line from left to right, without trying again, and
the readings of a line are few: no text, whoever wrote it, takes long.

Source: gettext's manual, "Preparing Strings" (whole sentences, named values).
"""

import re
from collections.abc import Mapping
from itertools import islice
from operator import itemgetter
from string import Formatter
from typing import Final

DEPTH: Final = 4
"""How deep sentences stand in sentences."""
LONGEST: Final = 4000
"""Characters of a line that is looked at."""
READINGS: Final = 8
"""Templates that fit a line, of which the best is taken."""

SIGNS: Final = ("; ", ": ", ", ")
"""What stands between sentences that are put together, the one that parts most first."""
PARTS: Final = 16

CONTEXT: Final = "\x04"
"""Between a context and its word, as in an MO file."""

_EDGES: Final = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)
_LETTERS: Final = re.compile(r"[^\W\d_]")


class Template:
    """One sentence with names for its values."""

    __slots__ = ("literals", "longest", "names", "weight")

    def __init__(self, text: str) -> None:
        """Take ``text`` apart; ValueError if it is no format string (PEP 3101)."""
        parts = list(Formatter().parse(text))
        self.names = tuple(name for _, name, _, _ in parts if name is not None)
        self.literals = tuple(literal for literal, _, _, _ in parts)
        if len(self.literals) == len(self.names):
            self.literals += ("",)
        self.longest = max(self.literals, key=len)
        # what begins with words of its own goes first: "hint: {what}" frames any sentence
        self.weight = (bool(self.literals[0]), sum(map(len, self.literals)), -len(self.names))

    def read(self, line: str) -> dict[str, str] | None:
        """Return what stands in ``line`` for each name, None if it is another sentence."""
        first, *rest = self.literals
        if self.longest not in line or not line.startswith(first):
            return None
        if not rest:
            return {} if line == first else None
        found: dict[str, str] = {}
        at, end = len(first), len(line) - len(rest[-1])
        for number, (name, literal) in enumerate(zip(self.names, rest, strict=True)):
            last = number == len(rest) - 1
            stop = (end if line.endswith(literal) else -1) if last else line.find(literal, at + 1)
            if stop <= at or stop > end or found.setdefault(name, line[at:stop]) != line[at:stop]:
                return None
            at = stop + len(literal)
        return found


class Phrases:
    """A catalogue at work."""

    def __init__(self, catalogue: Mapping[str, str]) -> None:
        """Take the templates of ``catalogue`` that have words, by what they are elsewhere."""
        self._known = {one: other for one, other in catalogue.items() if one and other}
        kept = [(Template(one), other) for one, other in self._known.items()]
        with_names = [(t, o) for t, o in kept if t.names and _LETTERS.search("".join(t.literals))]
        self._templates = sorted(with_names, key=lambda pair: pair[0].weight, reverse=True)

    def say(self, text: str) -> str:
        """Return ``text``, each of its lines as the other language has it."""
        return "\n".join(self._line(line, DEPTH)[0] for line in text.split("\n"))

    def told(self, template: str, values: Mapping[str, str]) -> str:
        """Return the sentence of ``template`` with these values, which may be some themselves."""
        return self._told(values, self._known.get(template, template), DEPTH)[0]

    def word(self, context: str, word: str) -> str:
        """Return a word that means something in its context only, such as the state "held"."""
        return self._known.get(f"{context}{CONTEXT}{word}", word)

    def _line(self, line: str, depth: int) -> tuple[str, int]:
        """Return what becomes of ``line``, and how many of its characters nobody knew."""
        edges = _EDGES.fullmatch(line)
        assert edges is not None  # it matches anything
        before, said, after = edges.groups()
        if depth < DEPTH and " " not in said:
            return line, len(said)  # the name of a machine or a branch, also if it is "held"
        if said in self._known:
            return f"{before}{self._known[said]}{after}", 0
        if not said or not depth or len(said) > LONGEST:
            return line, len(said)
        fitting = ((t.read(said), other) for t, other in self._templates)
        known = islice(((v, other) for v, other in fitting if v is not None), READINGS)
        told = [self._told(values, other, depth) for values, other in known]
        best, left = min(told, key=itemgetter(1)) if told else self._apart(said, depth)
        return f"{before}{best}{after}", left

    def _apart(self, said: str, depth: int) -> tuple[str, int]:
        """Return what is no sentence as those it may be put together from: ``path: why; why``."""
        for sign in SIGNS:
            parts = said.split(sign)
            if 1 < len(parts) <= PARTS:
                told = [self._line(part, depth - 1) for part in parts]
                if any(text != part for part, (text, _) in zip(parts, told, strict=True)):
                    return sign.join(text for text, _ in told), sum(left for _, left in told)
        return said, len(said)

    def _told(self, values: Mapping[str, str], other: str, depth: int) -> tuple[str, int]:
        said = {name: self._line(value, depth - 1) for name, value in values.items()}
        texts = {name: text for name, (text, _) in said.items()}
        return other.format_map(texts), sum(left for _, left in said.values())


def language(environment: Mapping[str, str]) -> str:
    """Return "zh_CN" or "en": HANDSOFF_LANG, else the locale (locale(7): LC_ALL goes first)."""
    names = ("HANDSOFF_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    wanted = next((environment[name] for name in names if environment.get(name)), "")
    return "zh_CN" if re.match(r"zh(?![a-z])", wanted.lower()) else "en"
