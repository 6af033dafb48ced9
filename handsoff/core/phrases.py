"""The sentences of handsoff in another language: recognised when they are finished, then said anew.

A catalogue has templates: "{carrier} carries {work} since {since}", and what each is in the other
language, with the same names in braces. A finished line is laid against the templates, and what
stands for a name is looked at in the same way, since it may be a sentence itself, or one of the
words that have this name for a context, such as a ``{state}``; any other single word is left alone,
since it may be somebody's name. Of the readings that fit, the one that leaves least unexplained is
taken, and of these the one with most words of its own. What nobody knows stays as it is: a page, a
path, a name.

A reason or a note is made of words as our sentences are. So that no piece of it is taken for one of
ours it is ``Said``, or the value ``quoted`` of a sentence: such text stands as it was written.

So no rule, no error and no entry of a record knows of languages, and what is written for programs
is English by itself. A template is found in a line from left to right, without trying again, and
the readings of a line are few, as are the looks at what stands in it: no text, whoever wrote it,
takes long.

Source: gettext's manual, "Preparing Strings" (whole sentences, named values).
"""

import re
from collections.abc import Mapping
from itertools import islice
from operator import itemgetter
from string import Formatter
from typing import Final

LONGEST: Final = 4000
"""Characters of a line that is looked at."""

_DEPTH: Final = 4
"""How deep sentences stand in sentences."""

_LETTERS: Final = 6
"""A template with fewer signs of its own could stand in anybody's words."""

_READINGS: Final = 8
"""Templates that fit a line, of which the best is taken."""

_LOOKS: Final = 400
"""Lines and parts of them that are looked at for one line; what is left then stays as it is."""

SIGNS: Final = ("; ", ": ", ", ")
"""What stands between sentences that are put together, the one that parts most first."""

_PARTS: Final = 16
"""Sentences that one line is put together from, at most."""

QUOTED: Final = "quoted"
"""The name of a value that is somebody's own words, whatever they say."""
CONTEXT: Final = "\x04"
"""Between a context and its word, as in an MO file."""

_EDGES: Final = re.compile(r"([\s,;:]*)(.*?)([\s,;:]*)", re.DOTALL)
_GLUED: Final = re.compile(r"[,;:]| \(|$")
"""Where the second of two values begins that stand side by side: at a sign of its own."""
_COUNTED: Final = re.compile(r"\d[\d:. -]*(?: \w+)?")
"""A number, a size or a time: what is no name and nobody's words."""
_NUMBERS: Final = frozenset({"n", "many"})
"""Names of values that are numbers, so that ``{many} commits`` is not "a few commits"."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_WIDE: Final = re.compile("[\u2e80-\u9fff\uff00-\uffef]")
"""CJK letters and punctuation, between which no blank stands."""


class Said(str):
    """Text that its reader gets as it is: said already, or the words of somebody."""

    __slots__ = ()


class Template:
    """One sentence with names for its values."""

    __slots__ = ("is_weak", "literals", "longest", "names", "weight")

    def __init__(self, text: str) -> None:
        """Take ``text`` apart; ValueError if it is no format string (PEP 3101)."""
        parts = list(Formatter().parse(text))
        self.names = tuple(name for _, name, _, _ in parts if name is not None)
        self.literals = tuple(literal for literal, _, _, _ in parts)
        if len(self.literals) == len(self.names):
            self.literals += ("",)
        self.longest = max(self.literals, key=len)
        # what frames any sentence goes first: "hint: {what}"
        is_frame = self.literals[0].endswith(": ")
        self.weight = (is_frame, sum(map(len, self.literals)))
        # "{name} of {person}" is in every second sentence: it has to fit without a rest
        self.is_weak = not is_frame and len("".join("".join(self.literals).split())) < _LETTERS

    def read(self, line: str) -> dict[str, str] | None:
        """Return what stands in ``line`` for each name, None if it is another sentence."""
        if self.longest not in line or not line.startswith(self.literals[0]):
            return None
        found: dict[str, str] = {}
        at = len(self.literals[0])
        for number, name in enumerate(self.names):
            stop = self._stop(line, number, at)
            value = line[at:stop]
            if stop < at or found.setdefault(name, value) != value:
                return None
            if name in _NUMBERS and not value.isdecimal():
                return None
            at = stop + len(self.literals[number + 1])
        return found

    def _stop(self, line: str, number: int, at: int) -> int:
        """Return where the value ends that begins at ``at``, -1 if it cannot stand there."""
        before, after = self.literals[number], self.literals[number + 1]
        # what is glued to a word brings its own comma, and may be missing: "on {name}{why}"
        least = 0 if (before or number) and not before.endswith(" ") else 1
        if number == len(self.names) - 1:
            stop = len(line) - len(after)
            return stop if stop >= at + least and line.endswith(after) else -1
        if after:
            return line.find(after, at + least)
        glued = _GLUED.search(line, at + least)
        return glued.start() if glued is not None else -1


class _Looks:
    """What was found in one line so far, and how much more may be looked at."""

    __slots__ = ("found", "left")

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], tuple[str, int]] = {}
        self.left = _LOOKS


class Phrases:
    """A catalogue at work."""

    def __init__(self, catalogue: Mapping[str, str]) -> None:
        """Take the templates of ``catalogue`` that have words, by what they are elsewhere."""
        self._known = {one: other for one, other in catalogue.items() if one and other}
        kept = [(Template(one), other) for one, other in self._known.items()]
        with_names = [(t, o) for t, o in kept if t.names and _LETTER.search("".join(t.literals))]
        self._templates = sorted(with_names, key=lambda pair: pair[0].weight, reverse=True)

    def say(self, text: str) -> str:
        """Return ``text``, each of its lines as the other language has it."""
        if isinstance(text, Said):
            return text
        return "\n".join(self._line(line, _DEPTH, _Looks())[0] for line in text.split("\n"))

    def told(self, template: str, values: Mapping[str, str]) -> str:
        """Return the sentence of ``template`` with these values, which may be some themselves."""
        return self._told(values, self._known.get(template, template), _DEPTH, _Looks())[0]

    def word(self, context: str, word: str) -> str:
        """Return a word that means something in its context only, such as the state "held"."""
        return self._known.get(f"{context}{CONTEXT}{word}", word)

    def _line(self, line: str, depth: int, looks: _Looks) -> tuple[str, int]:
        """Return what becomes of ``line``, and how many of its characters nobody knew."""
        if (line, depth) not in looks.found:
            if not looks.left:
                return line, len(line)
            looks.left -= 1
            looks.found[line, depth] = self._looked(line, depth, looks)
        return looks.found[line, depth]

    def _looked(self, line: str, depth: int, looks: _Looks) -> tuple[str, int]:
        edges = _EDGES.fullmatch(line)
        assert edges is not None  # it matches anything
        before, said, after = edges.groups()
        if not said or not depth or len(said) > LONGEST or (depth < _DEPTH and " " not in said):
            return line, len(said)  # a single word may be anybody's name, also if it is "held"
        if said in self._known:
            best, left = self._known[said], 0
        else:
            fitting = ((self._read(t, said), other) for t, other in self._templates)
            known = islice(((v, other) for v, other in fitting if v is not None), _READINGS)
            told = [self._told(values, other, depth, looks) for values, other in known]
            best, left = min([*told, self._apart(said, depth, looks)], key=itemgetter(1))
        if best != said:
            before, after = self.word("sign", before), self.word("sign", after)
        return f"{before}{best}{after}", left

    def _read(self, template: Template, said: str) -> dict[str, str] | None:
        values = template.read(said)
        if values is None or not template.is_weak:
            return values
        return values if all(self._is_name(value) for value in values.values()) else None

    def _is_name(self, value: str) -> bool:
        return " " not in value or value in self._known or bool(_COUNTED.fullmatch(value))

    def _apart(self, said: str, depth: int, looks: _Looks) -> tuple[str, int]:
        """Return what is no sentence as those it may be put together from: ``path: why; why``."""
        best = said, len(said)
        for sign in SIGNS:
            for parts in (said.split(sign), said.split(sign, 1)):
                if 1 < len(parts) <= _PARTS:
                    told = [self._line(part, depth - 1, looks) for part in parts]
                    left = sum(left for _, left in told)
                    if left < best[1] and parts != [text for text, _ in told]:
                        best = self._together([text for text, _ in told], sign), left
        return best

    def _together(self, parts: list[str], sign: str) -> str:
        said = parts[0]
        for part in parts[1:]:
            # between two texts of others the sign is a part of them
            is_said = _WIDE.match(said[-1:]) or _WIDE.match(part[:1])
            said += (self.word("sign", sign) if is_said else sign) + part
        return said

    def _told(
        self, values: Mapping[str, str], other: str, depth: int, looks: _Looks
    ) -> tuple[str, int]:
        """Return ``other`` with its values, and how many characters of them nobody knew."""
        said, left = "", 0
        for literal, name, _, _ in Formatter().parse(other):
            said = _joined(said, literal)
            if name is not None:
                value = values[name]
                if isinstance(value, Said) or name == QUOTED:
                    said = _joined(said, value)
                    continue
                word = self.word(name, value)  # what a value is called says what words it may be
                text, unknown = (word, 0) if word != value else self._line(value, depth - 1, looks)
                said, left = _joined(said, text), left + unknown
        return said, left


def _joined(one: str, other: str) -> str:
    """Return two texts as one, without the blank that parts Latin letters from Chinese ones."""
    if one.endswith(" ") and _WIDE.match(one[-2:-1]) and _WIDE.match(other):
        return one[:-1] + other
    if other.startswith(" ") and _WIDE.match(one[-1:]) and _WIDE.match(other[1:]):
        return one + other[1:]
    return one + other


def language(environment: Mapping[str, str]) -> str:
    """Return "zh_CN" or "en": HANDSOFF_LANG, else the locale (locale(7): LC_ALL goes first)."""
    names = ("HANDSOFF_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    wanted = next((environment[name] for name in names if environment.get(name)), "")
    return "zh_CN" if re.match(r"zh(?![a-z])", wanted.lower()) else "en"
