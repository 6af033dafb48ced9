"""Hooks put into the text of an agent's settings, and taken out again to the same bytes.

Both agents keep hooks alike: ``{"hooks": {EVENT: [GROUP, ...]}}``, and a group is
``{"matcher": TEXT, "hooks": [HANDLER, ...]}``. Ours is the last group of each event: Codex knows
a hook that its user trusts by its place, so that none of theirs may move.

Rule of the room: only insertions and their removal, so that what is there keeps its bytes. To
know at the removal which lists and objects were made for ours, and which stood there empty:
ours begin with a blank after the bracket, and what goes into one that was empty stands right
behind its bracket. Who formats the file anew loses that, and no more than an empty object.

Sources: the two agents' documents on hooks; core/README.md, "Settings of agents".
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from handsoff.core.settings import jsonspans
from handsoff.core.settings.jsonlayout import FRESH, Style, beside, indent_of, spell, style_of
from handsoff.core.settings.jsonspans import Node
from handsoff.errors import UnfitError

HOOKS: Final = "hooks"
BOM: Final = "\ufeff"

Group = Mapping[str, Any]
IsOurs = Callable[[Any], bool]
"""Whether a handler, as it stands there, is one of ours, of this or an older form."""


@dataclass(frozen=True, slots=True)
class Found:
    """A handler of ours, and its place: event, number of the group, number in the group."""

    event: str
    group: int
    index: int
    value: Any
    """The whole group."""


def installed(text: str | None, name: str, is_ours: IsOurs) -> list[Found]:
    """Return the handlers of ours that stand in ``text``, in order."""
    if text is None:
        return []
    body = text.removeprefix(BOM)
    found = []
    for event, number, group, ours in _groups(body, _root(body, name), name, is_ours):
        found += [Found(event, number, n, jsonspans.value(body, group)) for n in ours]
    return found


def install(text: str | None, name: str, wanted: Mapping[str, Group], is_ours: IsOurs) -> str:
    """Return ``text`` with a group for each event, once; None is a file that is not there."""
    if text is None:
        return spell({HOOKS: {event: [group] for event, group in wanted.items()}}, FRESH) + "\n"
    mark, body = text[: text.startswith(BOM)], text.removeprefix(BOM)
    body = _freed(body, name, wanted, is_ours)
    for event, group in wanted.items():
        body = _put(body, name, event, group, is_ours)
    return mark + _put_events(body, name, wanted)


def uninstall(text: str | None, name: str, is_ours: IsOurs) -> str | None:
    """Return ``text`` without ours; None if nothing but ours was ever in it."""
    if text is None:
        return None
    mark, body = text[: text.startswith(BOM)], text.removeprefix(BOM)
    root = _root(body, name)
    found = _groups(body, root, name, is_ours)
    left = _without(body, root, [_handlers(group)[n] for *_, group, ours in found for n in ours])
    return None if left is None else mark + left


# --- reading


def _root(body: str, name: str) -> Node:
    if not body.strip(" \t\r\n"):
        raise UnfitError(f"{name} is empty, and so no JSON", hint=f"rm {shlex.quote(name)}")
    root = jsonspans.read(body, name)
    if not root.is_object:
        raise _other(body, root, name, "the whole", "an object")
    return root


def _groups(
    body: str, root: Node, name: str, is_ours: IsOurs
) -> list[tuple[str, int, Node, list[int]]]:
    """Return each group with handlers of ours: event, number, group, numbers of those handlers."""
    hooks = root.get(HOOKS)
    if hooks is None:
        return []
    if not hooks.is_object:
        raise _other(body, hooks, name, f'"{HOOKS}"', "an object")
    found = []
    for event in hooks.children or ():
        if hooks.get(str(event.key)) is not event or not event.is_list:
            continue  # no reader sees the first of two of one name
        for number, group in enumerate(event.children or ()):
            ours = [n for n, h in enumerate(_handlers(group)) if is_ours(jsonspans.value(body, h))]
            if ours:
                found.append((str(event.key), number, group, ours))
    return found


def _handlers(group: Node) -> Sequence[Node]:
    inner = group.get(HOOKS)
    return inner.children or () if inner is not None and inner.is_list else ()


def _other(body: str, node: Node, name: str, what: str, wanted: str) -> UnfitError:
    at = jsonspans.line(body, node.start)
    return UnfitError(
        f"{name}: line {at}: {what} is not {wanted}",
        hint="nothing was changed; the agent cannot read that either: mend it, and try again",
    )


# --- what is there and must go


def _freed(body: str, name: str, wanted: Mapping[str, Group], is_ours: IsOurs) -> str:
    """Return ``body`` with at most one group of ours for each event, and no other of ours.

    That one stays, whatever it says: ``_put`` gives it the right words where it stands, so that
    no group of theirs moves.
    """
    root = _root(body, name)
    stays, stale = set[str](), list[Node]()
    for event, _, group, ours in _groups(body, root, name, is_ours):
        if len(ours) == len(_handlers(group)) and event in wanted and event not in stays:
            stays.add(event)
        else:
            stale += [_handlers(group)[n] for n in ours]
    return _without(body, root, stale) or "{}"


def _without(body: str, root: Node, doomed: Sequence[Node]) -> str | None:
    """Return ``body`` without these handlers and what was made for them; None if that is all."""
    cuts: list[tuple[int, int]] = []
    if _falls(body, root, frozenset(doomed), cuts):
        return None
    for start, end in sorted(cuts, reverse=True):
        body = body[:start] + body[end:]
    return body


def _falls(body: str, node: Node, doomed: frozenset[Node], cuts: list[tuple[int, int]]) -> bool:
    """Say whether ``node`` goes as a whole; if not, note what is cut out of it."""
    if node in doomed or _is_group_of(node, doomed):
        return True
    if not any(node.start < d.start and d.end < node.end for d in doomed):
        return False
    children, inner = node.children or (), list[tuple[int, int]]()
    falls = [_falls(body, child, doomed, inner) for child in children]
    for number, child in enumerate(children):
        if falls[number] and child.children and child.key in _keys(children[:number]):
            # it stays empty: without it a reader would see an earlier one of that name
            inner.append((child.start + 1, child.children[-1].end))
            falls[number] = False
    if all(falls) and _is_made(body, node):
        return True
    if all(falls):
        cuts.append((node.start + 1, children[-1].end))
        return False
    cuts += inner
    stays = None  # the last one so far that stays
    for number, child in enumerate(children):
        if not falls[number]:
            stays = child
        elif stays is None:
            cuts.append((child.head, children[number + 1].head))
        else:
            cuts.append((children[number - 1].end, child.end))
    return False


def _keys(members: Sequence[Node]) -> set[str]:
    return {member.key for member in members if member.key is not None}


def _is_made(body: str, node: Node) -> bool:
    """Say whether a list or object was made by us: a blank stands behind its bracket."""
    return body[node.start + 1] in " \t\r\n"


def _is_group_of(node: Node, doomed: frozenset[Node]) -> bool:
    """Say whether ``node`` is a group of nothing but handlers that go."""
    handlers = _handlers(node)
    return bool(handlers) and all(handler in doomed for handler in handlers)


# --- what is put there


def _put(body: str, name: str, event: str, group: Group, is_ours: IsOurs) -> str:
    """Return ``body`` with ``group`` among those of ``event``, if it has a list of such."""
    root = _root(body, name)
    hooks = root.get(HOOKS)
    groups = hooks.get(event) if hooks is not None else None
    if groups is None:
        return body
    if not groups.is_list:
        raise _other(body, groups, name, f'"{event}"', "a list")
    style = style_of(body, root)
    for known, _, there, _ in _groups(body, root, name, is_ours):
        if known == event:
            same = jsonspans.value(body, there) == group
            return body if same else _replace(body, there, style, group)
    return _add(body, groups, style, [("", group)])


def _put_events(body: str, name: str, wanted: Mapping[str, Group]) -> str:
    """Return ``body`` with the events that it lacks, each with its one group."""
    root = _root(body, name)
    style = style_of(body, root)
    hooks = root.get(HOOKS)
    if hooks is None:
        fresh = {event: [group] for event, group in wanted.items()}
        return _add(body, root, style, [(_key(HOOKS, style), fresh)])
    lacks = [(_key(e, style), [group]) for e, group in wanted.items() if hooks.get(e) is None]
    return _add(body, hooks, style, lacks) if lacks else body


def _replace(body: str, node: Node, style: Style, value: Any) -> str:
    spelled = spell(value, beside(body, node.head, style), indent_of(body, node.head))
    return body[: node.start] + spelled + body[node.end :]


def _add(body: str, where: Node, style: Style, items: Sequence[tuple[str, Any]]) -> str:
    """Return ``body`` with these, each behind its label, at the end of the list or object."""
    if not where.children:
        at, comma = where.start + 1, ""
        local, indent = style, indent_of(body, where.start) + style.unit
        gap = style.newline + indent if style.newline else style.comma[1:]
    else:
        at, comma, near = where.children[-1].end, ",", where.children[-1].head
        local, indent = beside(body, near, style), indent_of(body, near)
        gap = local.newline + indent if local.newline else local.comma[1:]
        comma += gap
    spelled = [label + spell(item, local, indent) for label, item in items]
    return body[:at] + comma + f",{gap}".join(spelled) + body[at:]


def _key(key: str, style: Style) -> str:
    return json.dumps(key) + style.colon
