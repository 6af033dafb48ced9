"""JSON texts as people and programs leave them: blanks anywhere, keys twice, any layout."""

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

_BLANKS = st.sampled_from(["", "", " ", "\n", "\r\n", "\n    ", "\t", " \n\n\t", "\r"])
_SCALARS = st.one_of(
    st.sampled_from(['"{"', '"a\\"b\\\\"', '"\\ud83d\\ude00 //"', "1e-7", "-0", "1.50", "null"]),
    st.text(max_size=4).map(json.dumps),
    st.integers(-9, 99).map(str),
)  # fmt: skip
_EVENTS = st.sampled_from(["Stop", "PreToolUse", "SessionStart", "Other"])
Pairs = list[tuple[str, Any]]


@dataclass(frozen=True)
class Doc:
    """A text whose root is an object."""

    text: str
    pairs: Pairs

    def values(self, key: str | None) -> list[Any]:
        """Return all values that the root has for ``key``."""
        return [json.loads(spelled) for name, spelled in self.pairs if name == key]


@st.composite
def spelled(draw: st.DrawFn, depth: int = 3) -> str:
    """Return some value as somebody spelled it."""
    kind = draw(st.sampled_from("sol" if depth else "s"))
    if kind == "s":
        return draw(_SCALARS)
    many = draw(st.integers(0, 3))
    if kind == "l":
        return listed(draw, [draw(spelled(depth - 1)) for _ in range(many)])
    return member_text(
        draw, [(draw(st.sampled_from("abc")), draw(spelled(depth - 1))) for _ in range(many)]
    )


def listed(draw: st.DrawFn, items: list[str]) -> str:
    """Return a list of these, laid out anyhow."""
    inner = ",".join(draw(_BLANKS) + item + draw(_BLANKS) for item in items)
    return f"[{inner or draw(_BLANKS)}]"


def member_text(draw: st.DrawFn, pairs: Pairs) -> str:
    """Return an object of these, laid out anyhow."""
    colon = draw(st.sampled_from([":", ": ", " : ", "\n:\n"]))
    inner = ",".join(
        draw(_BLANKS) + json.dumps(key) + colon + value + draw(_BLANKS) for key, value in pairs
    )
    return f"{{{inner or draw(_BLANKS)}}}"


@st.composite
def docs(draw: st.DrawFn) -> Doc:
    """Return some object."""
    pairs = [
        (draw(st.sampled_from("abcd")), draw(spelled())) for _ in range(draw(st.integers(0, 4)))
    ]
    return Doc(draw(_BLANKS) + member_text(draw, pairs) + draw(_BLANKS), pairs)


@st.composite
def settings(draw: st.DrawFn, handlers: st.SearchStrategy[str]) -> str:
    """Return the settings of an agent, with hooks of others (and of ``handlers``) or without."""
    pairs = [
        (draw(st.sampled_from("abc")), draw(spelled(2))) for _ in range(draw(st.integers(0, 2)))
    ]
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2]))):
        events = [(draw(_EVENTS), _groups(draw, handlers)) for _ in range(draw(st.integers(0, 4)))]
        pairs.insert(draw(st.integers(0, len(pairs))), ("hooks", member_text(draw, events)))
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return mark + draw(_BLANKS) + member_text(draw, pairs) + draw(_BLANKS)


def _groups(draw: st.DrawFn, handlers: st.SearchStrategy[str]) -> str:
    groups = []
    for _ in range(draw(st.integers(0, 3))):
        inner = listed(draw, [draw(handlers) for _ in range(draw(st.integers(0, 3)))])
        more = [("matcher", '"Bash"')] if draw(st.booleans()) else []
        groups.append(draw(st.sampled_from([member_text(draw, [*more, ("hooks", inner)]), "null"])))
    return listed(draw, groups)
