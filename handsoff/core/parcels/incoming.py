"""What an arriving state may not ask of a receiver, though git would do it.

The sender is in the roster, and may have gone bad: what stands in a rebase's files is believed by
the next ``git rebase --continue`` or ``--abort`` of whoever catches it.
"""

import re
from typing import Final

from handsoff.core.checkout import paths
from handsoff.core.checkout.operation import Operation, branch_of, moved_in
from handsoff.core.checkout.state import State
from handsoff.core.plain import plain
from handsoff.errors import DamagedError, RefusedError

_APPLY: Final = re.compile(
    rb"(?:\s*'?(?:-C\d+|-p\d+|--whitespace=[a-z-]+|--(?:ignore-space-change|ignore-whitespace|reject)"
    rb"|--(?:include|exclude|directory)=[^'\s]*)'?)*\s*"
)
_STRATEGY: Final = re.compile(rb"(?:ort|recursive|resolve|octopus|ours|subtree)?\s*")
_OPTIONS: Final = {
    b"rebase-apply/apply-opt": _APPLY,
    b"rebase-merge/strategy": _STRATEGY,
    b"rebase-apply/strategy": _STRATEGY,
}
_CHOICE: Final = re.compile(rb"(?m)^\s*strategy\s*=\s*(\S*)")


def check_state(state: State) -> None:
    """Raise RefusedError or DamagedError if ``state`` may not arrive, whoever sends it."""
    problem = problem_of(state.operation, state.work)
    if problem:
        raise RefusedError(f"the parcel {problem}", hint="its sender has to end that first")
    if not state.detached and state.tip != state.head:
        raise DamagedError("the parcel has two commits for one branch")
    refs = {name.encode("utf-8", "surrogateescape") for name, _ in state.operation.refs}
    if any(parent in refs for name in refs for parent in paths.parents(name)):
        raise DamagedError("the parcel has a ref where another one needs a folder")
    listed = (*state.special, *state.resolved)
    others = (*state.empty_folders, *state.raw, *state.stale, *(path for path, _ in state.modes))
    for path in (*(entry.path for entry in listed), *others):
        paths.check_path(path)


def problem_of(operation: Operation, work: str) -> str:
    """Return why an operation cannot travel as part of ``work``, or ""."""
    files = dict(operation.files)
    branch = branch_of(files)
    if branch not in (None, work):
        return f"has an operation of another branch in progress: {plain(branch or '')}"
    if moved_in(operation):
        return f"has a rebase that also moves the branch {plain(moved_in(operation)[0])}"
    for name, allowed in _OPTIONS.items():
        if not allowed.fullmatch(files.get(name, b"")):
            return f"has options in {name.decode()} that handsoff does not carry"
    chosen = _CHOICE.findall(files.get(b"sequencer/opts", b""))
    if not all(map(_STRATEGY.fullmatch, chosen)):
        return "has options in sequencer/opts that handsoff does not carry"
    return ""
