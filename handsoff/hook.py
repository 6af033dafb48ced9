"""The program that agents call at events of a session: tells who carries a work, refuses, saves.

    handsoff-hook claude|codex < event.json

Rules of the room: it decides by what is cached (``<store>/state.json``), never asks the network,
and starts no program that it waits for. It fails open: whatever goes wrong it says nothing, ends
with 0, and leaves a line in ``<store>/hook.log``; pre-push is what holds. It must end within 80 ms,
since an agent waits for it before each tool: nothing is imported that an event does not need.

Sources: the hooks references of Claude Code and of Codex. What is said goes to stdout, as JSON.
"""

from __future__ import annotations

import os
import sys

from handsoff.core.hooks import quickjson
from handsoff.core.loose import as_object, as_text
from handsoff.core.shell.tools import deeds_of, is_settled
from handsoff.edge import clock
from handsoff.edge.agents import hooklog
from handsoff.edge.git.place import Place, place_at, place_of

TYPE_CHECKING = False  # importing typing takes 4 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from handsoff.core.hooks.standing import Standing
    from handsoff.core.shell.deed import Deed

AGENTS = ("claude", "codex")
LIMIT = 1024 * 1024
"""Bytes of an event: what is longer is passed by."""

_PAGE_LIMIT = 256 * 1024


def main(argv: Sequence[str] | None = None) -> int:
    """Answer one event; always 0."""
    words = sys.argv[1:] if argv is None else argv
    if hooklog.BACKGROUND in os.environ:
        return 0
    if list(words) in (["--help"], ["-h"]):
        sys.stdout.write(__doc__.partition("Rules")[0].rstrip() + "\n")
        return 0
    try:
        event = _event(sys.stdin.buffer.read(LIMIT + 1))
        if len(words) != 1 or words[0] not in AGENTS:
            raise ValueError(f"which agent? {list(words)!r}: claude or codex")  # noqa: TRY301
        answer = Hook(words[0], event).answer()
        if answer:
            sys.stdout.write(quickjson.dumps(answer) + "\n")
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - whatever it is, the agent goes on
        _log(error, os.getcwd())
    return 0


def _event(data: bytes) -> dict[str, Any]:
    if len(data) > LIMIT:
        raise ValueError(f"an event of over {LIMIT} bytes")
    event = quickjson.loads(data)
    if not isinstance(event, dict):
        raise TypeError("an event that is no JSON object")
    return event


def _log(error: Exception, folder: str) -> None:
    try:
        place = place_of(folder)
        if place is not None and os.path.isdir(place.store):
            said = f"{clock.now().isoformat()} {type(error).__name__}: {str(error)[:500]!r}"
            hooklog.log(place.store, said)
    except Exception:  # noqa: BLE001, S110 - there is nobody left to tell
        pass


class Hook:
    """One event of an agent."""

    def __init__(self, agent: str, event: Mapping[str, Any]) -> None:
        self.agent = agent
        self.event = event
        self.name = as_text(event.get("hook_event_name"))
        self.session = as_text(event.get("session_id"))[:200]
        self.cwd = as_text(event.get("cwd")) or os.getcwd()
        self.now = clock.seconds()
        self._states: dict[str, Mapping[str, Any]] = {}

    def answer(self) -> dict[str, Any]:
        """Return what is to be printed, nothing if it is empty, having done the rest."""
        place = place_of(self.cwd)
        here = place is not None and os.path.isdir(place.store)
        if place is not None and here:
            self._safely(lambda: self._journal(place.store))
        if self.name == "PreToolUse":
            return self._judge()
        if place is None or not here:
            return {}
        from handsoff.core.hooks.hooking import context  # noqa: PLC0415 - most events end before

        standing = self._standing(place, self._work(place))
        said = ""
        if self.name == "SessionStart":
            said = self._started(place, standing)
        elif self.name == "UserPromptSubmit":
            said = self._changed(place, standing)
        self._safely(lambda: self._do_chores(place, standing))
        return context(self.name, said) if said else {}

    def _safely(self, act: Callable[[], None]) -> None:
        """Do what the answer does not hang on."""
        try:
            act()
        except Exception as error:  # noqa: BLE001 - see the rules of the room
            _log(error, self.cwd)

    def _journal(self, store: str) -> None:
        line = {
            "agent": self.agent,
            "session_id": self.session,
            "transcript_path": as_text(self.event.get("transcript_path")),
            "ppid": os.getppid(),
            "cwd": self.cwd,
            "event": self.name,
            "time": self.now,
        }
        hooklog.journal(store, line)

    def _state(self, place: Place) -> Mapping[str, Any]:
        if place.store not in self._states:
            state = hooklog.read_object(os.path.join(place.store, "state.json"))
            self._states[place.store] = state if state.get("version") == 1 else {}
        return self._states[place.store]

    def _work(self, place: Place) -> str:
        here = hooklog.read_object(os.path.join(place.own, "here.json"))
        return place.head() or as_text(here.get("work"))

    def _standing(self, place: Place, work: str) -> Standing:
        from handsoff.core.hooks.standing import Standing  # noqa: PLC0415 - as below

        return Standing(self._state(place), work, self.now, _spell)

    def _judge(self) -> dict[str, Any]:
        """Refuse what the tool is about to do where the work is elsewhere."""
        warning = ""
        for deed in deeds_of(self.event):
            for place, work in self._works(deed):
                if is_settled(self._state(place), work):
                    continue
                from handsoff.core.hooks import hooking  # noqa: PLC0415 - most events do not come to it

                standing = self._standing(place, work)
                reason = hooking.refusal(deed.kind, standing)
                if reason:
                    return hooking.denial(reason)
                warning = warning or hooking.warning(deed.kind, standing)
        # Codex takes nothing but a denial here
        return {"systemMessage": warning} if warning and self.agent == "claude" else {}

    def _works(self, deed: Deed) -> Iterator[tuple[Place, str]]:
        """Yield the works that a deed is about: those of its places, and those that it names."""
        folder = self._folder(deed)
        if deed.kind == "edit":
            places = [place_of(os.path.join(folder, os.path.expanduser(n))) for n in deed.names]
        elif deed.git_dir and "$" not in deed.git_dir:
            places = [place_at(os.path.join(folder, os.path.expanduser(deed.git_dir)))]
        else:
            places = [place_of(folder)]
        for place in places:
            if place is None or not self._state(place):
                continue
            yield place, self._work(place)
            if deed.kind == "push":
                yield from ((place, name) for name in deed.names)
            if deed.everything:
                known = as_object(self._state(place).get("works"))
                yield from ((place, name) for name in known if place.has_branch(name))

    def _folder(self, deed: Deed) -> str:
        """Return where a deed is done; where that cannot be told, where the session is."""
        folder = self.cwd
        for step in deed.cd:
            if step == "-" or any(c in step for c in "$`*?"):
                return self.cwd
            folder = os.path.join(folder, os.path.expanduser(step))
        return folder if os.path.isdir(folder) else self.cwd

    def _started(self, place: Place, standing: Standing) -> str:
        from handsoff.core.hooks.hooking import started  # noqa: PLC0415 - as above

        said = started(standing, self._page(place, standing))
        self._safely(lambda: hooklog.tell(place.store, self.session, standing.key, self.now))
        return said

    def _changed(self, place: Place, standing: Standing) -> str:
        from handsoff.core.hooks.hooking import changed  # noqa: PLC0415 - as above

        before = hooklog.told(place.store, self.session)
        if before != standing.key:
            self._safely(lambda: hooklog.tell(place.store, self.session, standing.key, self.now))
        return changed(standing, before)

    def _page(self, place: Place, standing: Standing) -> dict[str, Any] | None:
        """Return what the page in the checkout says, where that is the one that counts."""
        path = os.path.join(place.top, ".wip", "HANDOFF.md")
        if standing.elsewhere or os.path.islink(path) or not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            body = file.read(_PAGE_LIMIT + 1)
        from handsoff.core.hooks.telling import told_of  # noqa: PLC0415 - as above
        from handsoff.core.pages.page import parse  # noqa: PLC0415 - 20 ms, once a session
        from handsoff.errors import HandsoffError  # noqa: PLC0415 - as above

        try:
            return told_of(parse(body))
        except HandsoffError:
            return None

    def _do_chores(self, place: Place, standing: Standing) -> None:
        if not place.top:
            return
        from handsoff.core.hooks.hooking import chores  # noqa: PLC0415 - as above

        due = [
            chore
            for chore in chores(self.agent, self.event, standing)
            if hooklog.is_due(place.own, chore.name, chore.every, self.now)
        ]
        commands = [words for chore in due for words in chore.commands]
        if commands:
            home = as_text(self._state(place).get("home"))
            hooklog.start(place.store, place.top, home, commands)


def _spell(seconds: int) -> str:
    from datetime import UTC, datetime  # noqa: PLC0415 - only where something is said

    from handsoff.core.times import moment  # noqa: PLC0415 - as above

    try:
        return moment(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return "a time that no clock shows"  # nothing is let pass for that


if __name__ == "__main__":
    sys.exit(main())
