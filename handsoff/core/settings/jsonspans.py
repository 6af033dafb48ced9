r"""Where each value of a JSON text stands, so that a text can be changed and all else of it kept.

Rule of the room: a text in, spans out. What is read here is somebody's settings file, which
other programs read too: it is never written anew from its values, since that would lose its
blanks, its order, its doubled keys and the spelling of its numbers.

Source: RFC 8259. Stricter readers than ours exist; whatever ``read`` takes, they take, too.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from handsoff.errors import UnfitError

DEEPEST: Final = 100
"""Lists and objects within each other; a settings file has five."""

_LONG_NUMBER: Final = 100
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"')
_SCALAR: Final = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_COMMENT: Final = re.compile(r"//|/\*|#")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A value, and where it stands: ``text[start:end]``.

    For a member of an object ``begin`` is where its key begins; else it is ``start``.
    """

    start: int
    end: int
    begin: int = -1
    key: str | None = None
    children: tuple["Node", ...] | None = None
    """What an object or a list holds, in order; None for any other value."""
    is_object: bool = False

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return self.children is not None and not self.is_object

    @property
    def head(self) -> int:
        """Where it begins, with its key."""
        return self.start if self.key is None else self.begin

    def get(self, key: str) -> "Node | None":
        """Return the member of that key that counts: of several, readers take the last."""
        found = [child for child in self.children or () if child.key == key and self.is_object]
        return found[-1] if found else None


def read(text: str, name: str) -> Node:
    """Return the value that ``text`` spells; UnfitError, which names the line, if it is no JSON."""
    return _Reader(text, name).document()


def value(text: str, node: Node) -> Any:
    """Return what stands there."""
    return json.loads(text[node.start : node.end], parse_int=_number)


def line(text: str, at: int) -> int:
    """Return the number of the line in which a place is."""
    return len(re.findall("\r\n|\n|\r", text[:at])) + 1


def _number(spelled: str) -> int | float:
    # Python refuses to read an integer of thousands of digits; nobody compares one
    return int(spelled) if len(spelled) < _LONG_NUMBER else float(spelled)


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name

    def document(self) -> Node:
        node = self._value(self._skip(0), 0)
        end = self._skip(node.end)
        if end != len(self.text):
            raise self._wrong(end, "something after the end")
        return node

    def _value(self, at: int, depth: int, begin: int = -1, key: str | None = None) -> Node:
        if depth > DEEPEST:
            raise self._wrong(at, f"over {DEEPEST} lists and objects within each other")
        opening = self.text[at : at + 1]
        if opening and opening in "{[":
            children, end = self._inside(at, depth, is_object=opening == "{")
            return Node(at, end, begin, key, children, opening == "{")
        found = (_STRING if opening == '"' else _SCALAR).match(self.text, at)
        if not found:
            raise self._wrong(at, "no value that JSON knows")
        return Node(at, found.end(), begin, key)

    def _inside(self, at: int, depth: int, *, is_object: bool) -> tuple[tuple[Node, ...], int]:
        closing, found = "}" if is_object else "]", list[Node]()
        at = self._skip(at + 1)
        while not self.text.startswith(closing, at):
            if found:
                at = self._skip(self._mark(at, ","))
                if self.text.startswith(closing, at):
                    raise self._wrong(at, f"a comma before {closing}")
            found.append(self._member(at, depth) if is_object else self._value(at, depth + 1))
            at = self._skip(found[-1].end)
        return tuple(found), at + 1

    def _member(self, at: int, depth: int) -> Node:
        key = _STRING.match(self.text, at)
        if not key:
            raise self._wrong(at, "no key in double quotes")
        after = self._skip(self._mark(self._skip(key.end()), ":"))
        return self._value(after, depth + 1, at, json.loads(key[0]))

    def _mark(self, at: int, mark: str) -> int:
        if not self.text.startswith(mark, at):
            raise self._wrong(at, f"no {mark} where one must be")
        return at + 1

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        assert found  # it matches nothing, too
        return found.end()

    def _wrong(self, at: int, what: str) -> UnfitError:
        if at >= len(self.text):
            what = "the end before its time"
        elif _COMMENT.match(self.text, at):
            what = "a comment, which JSON does not have"
        return UnfitError(
            f"{self.name} is no JSON: line {line(self.text, at)}: {what}",
            hint="nothing was changed; mend that line, or move the file away, and try again",
        )
