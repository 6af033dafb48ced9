"""The pre-push hook: put where git will run it, without taking anybody else's away.

Two cases. Where git runs hooks from the clone's own folder, ours is written there, and one that
was there before is renamed and goes on running after ours. Where ``core.hooksPath`` names
another folder (in the worktree, or shared by all repositories of the user), nothing is written
into that: the clone gets a folder of its own with a dispatcher for each hook, and
``core.hooksPath`` of the clone names it. The dispatcher looks up what was configured before
each time it runs, so a later change is followed.

Source: githooks(5). Linked worktrees share the hooks of their clone.
"""

import itertools
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import handsoff
from handsoff.edge import files, keys
from handsoff.edge.git import command
from handsoff.edge.git.repo import Checkout, encode

MARK: Final = "# handsoff hook, written by: handsoff init"
OURS: Final = "pre-push"
_KEPT: Final = "pre-push.before-handsoff"
_BEFORE: Final = "handsoff.hooksPath"
_STDERR: Final = 2

_NAMES: Final = (
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit",
    "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge",
    "pre-auto-gc", "post-rewrite", "sendemail-validate", "p4-changelist",
    "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit", "pre-receive", "update",
    "post-receive", "post-update",
)  # fmt: skip
_ONLY_IF_THERE: Final = ("push-to-checkout", "proc-receive", "reference-transaction",
                         "post-index-change")  # fmt: skip
"""Hooks that change what git does by being there at all, or that run too often for nothing."""

_CHECK: Final = r"""
import sys
root = sys.argv.pop(1)
if root not in sys.path:
    sys.path.insert(0, root)
try:
    from handsoff.prepush import main
except ImportError as error:
    print(f"handsoff: the pre-push check cannot run: {error}", file=sys.stderr)
    sys.exit(70)
sys.exit(main(sys.argv[1:]))
"""

_SCRIPT: Final = r"""#!/bin/sh
{mark}
# Asks the record who may push, then runs the hook that was here before, with the same words.
given=$(cat; echo .)
{home}python={python}
root={root}
check={check}
code=70
if [ -x "$python" ]; then
    printf %s "${{given%.}}" | "$python" -E -P -c "$check" "$root" "$@"
    code=$?
else
    echo "handsoff: the pre-push check cannot run: there is no $python any more" >&2
fi
if [ "$code" -eq 70 ]; then
    echo "hint: install handsoff again and type 'handsoff init' here; or remove $0" >&2
fi
[ "$code" -eq 0 ] || exit 1
{before}
[ -x "$kept" ] || exit 0
printf %s "${{given%.}}" 2>/dev/null | "$kept" "$@"
"""

_LOOK_UP: Final = r"""was=$(git config --type=path --get {key} ||
    git config --global --includes --type=path --get core.hooksPath 2>/dev/null ||
    git config --system --includes --type=path --get core.hooksPath 2>/dev/null ||
    echo {own})"""

_DISPATCHER: Final = r"""#!/bin/sh
{mark}
# Runs the hook of this name in the folder that git would take hooks from without handsoff.
{look_up}
[ -x "$was/{name}" ] || exit 0
exec "$was/{name}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Hook:
    """Our hook as it is installed; ``done`` says what this run changed."""

    path: Path
    done: list[str] = field(default_factory=list)


def install(checkout: Checkout) -> Hook:
    """Put our hook where git runs it; a second time changes nothing."""
    with files.saying(f"cannot install the pre-push hook in {checkout.common_dir}"):
        value, scope = _hooks_path(checkout)
        own = checkout.common_dir / "hooks"
        if value is None and not own.is_symlink():
            return _into_folder(own)
        # a link leads out of the clone, often into the worktree: not a place to write to either
        return _redirect(checkout, own if value is None else value, scope)


def is_installed(checkout: Checkout) -> bool:
    """Say whether the pre-push hook that git would run now is ours."""
    value, _ = _hooks_path(checkout)
    folder = checkout.common_dir / "hooks" if value is None else Path(value).expanduser()
    return _is_ours(checkout.top / folder / OURS)


def run_users(checkout: Checkout, remote: str, url: str, lines: str) -> int:
    """Run the pre-push hook that git would run without handsoff, as git does; return its code.

    What it prints goes to the user's terminal, beside our own talk and never into our data.
    """
    hook = _users(checkout)
    if hook is None or not (hook.is_file() and os.access(hook, os.X_OK)):
        return 0
    with files.saying(f"cannot run {hook}"):
        done = subprocess.run(
            command.words(hook, remote, url),
            cwd=checkout.top,
            input=encode(lines),
            stdout=_STDERR,
            check=False,
        )
    return done.returncode


def _users(checkout: Checkout) -> Path | None:
    """Return where the user's own pre-push hook is, if there is one."""
    value, _ = _hooks_path(checkout)
    folder = checkout.common_dir / "hooks" if value is None else Path(value).expanduser()
    hook = checkout.top / folder / OURS
    if not _is_ours(hook):
        return hook
    if hook.parent == checkout.store_dir / "hooks":
        return _folder_before(checkout) / OURS
    return hook.with_name(_kept_by(hook))


def _hooks_path(checkout: Checkout) -> tuple[str | None, str]:
    """Return core.hooksPath and where it is set; what a command line sets does not stay."""
    found: tuple[str | None, str] = (None, "default")
    for scope, key, value in checkout.scoped:
        if key == "core.hookspath" and scope != "command":
            found = (value, scope)
    return found


def _into_folder(folder: Path) -> Hook:
    """Install beside the clone's other hooks."""
    folder.mkdir(parents=True, exist_ok=True)
    path, kept, done = folder / OURS, _KEPT, []
    if _is_ours(path):
        kept = _kept_by(path)
    elif os.path.lexists(path):
        kept = _free_name(folder)
        path.rename(folder / kept)
        done.append(f"renamed your pre-push hook to {kept}; it goes on running, after ours")
    if _write(path, _script(f'kept="$(dirname "$0")"/{kept}')):
        done.append(f"installed the pre-push hook in {folder}")
    return Hook(path, done)


def _redirect(checkout: Checkout, value: str | Path, scope: str) -> Hook:
    """Install in a folder of ours, from which all hooks go on to where they were."""
    folder, done = files.ensure_folder(checkout.store_dir / "hooks"), []
    where = "--worktree" if scope == "worktree" else "--local"
    if not _is_our_folder(checkout.top / value):
        if scope in ("local", "worktree"):
            checkout.git("config", where, _BEFORE, str(value))
        done.append(f"your hooks go on running from {value}, by way of {folder}")
    look_up = _LOOK_UP.format(key=_BEFORE, own=shlex.quote(str(checkout.common_dir / "hooks")))
    changed = _write(folder / OURS, _script(f'{look_up}\nkept="$was"/{OURS}'))
    before = _folder_before(checkout)
    for name in (*_NAMES, *_ONLY_IF_THERE):
        if name in _NAMES or (before / name).exists():
            text = _DISPATCHER.format(mark=MARK, look_up=look_up, name=name)
            changed = _write(folder / name, text) or changed
    if str(value) != str(folder):
        checkout.git("config", where, "core.hooksPath", str(folder))
        checkout.forget_config()
        changed = True
    if changed:
        done.append(f"installed the pre-push hook in {folder}, which core.hooksPath now names")
    return Hook(folder / OURS, done)


def _folder_before(checkout: Checkout) -> Path:
    """Return the folder that the dispatcher will look up."""
    for scope in ((_BEFORE,), ("--global", "--includes", "core.hooksPath"),
                  ("--system", "--includes", "core.hooksPath")):  # fmt: skip
        found = checkout.line("config", "--type=path", *scope[:-1], "--get", scope[-1])
        if found is not None:
            return checkout.top / found
    return checkout.common_dir / "hooks"


def _is_ours(path: Path) -> bool:
    return path.is_file() and MARK.encode() in path.read_bytes().splitlines()[1:2]


def _is_our_folder(path: Path) -> bool:
    """Say whether ``path`` is our folder, or was, before the clone went to another place."""
    moved = path.parts[-2:] == ("handsoff", "hooks") and not path.exists()
    return moved or _is_ours(path / OURS)


def _kept_by(path: Path) -> str:
    found = re.search(rf"{re.escape(_KEPT)}[.0-9]*", path.read_text("utf-8", "replace"))
    return found[0] if found else _KEPT


def _free_name(folder: Path) -> str:
    """Return a name that is free. An older one may still be run by whoever renamed our hook."""
    more = (f"{_KEPT}.{number}" for number in itertools.count(2))
    return next(
        name for name in itertools.chain([_KEPT], more) if not os.path.lexists(folder / name)
    )


def _script(before: str) -> str:
    # a terminal that does not set HANDSOFF_HOME must not stop the machine that made this clone
    given = bool(os.environ.get("HANDSOFF_HOME"))
    home = shlex.quote(str(keys.home_folder())) if given else ""
    named = 'export HANDSOFF_HOME="${HANDSOFF_HOME:-$home}"\n'
    return _SCRIPT.format(
        mark=MARK,
        home=f"home={home}\n{named}" if given else "",
        python=shlex.quote(sys.executable),
        root=shlex.quote(str(Path(handsoff.__file__).resolve().parent.parent)),
        check=shlex.quote(_CHECK),
        before=before,
    )


def _write(path: Path, text: str) -> bool:
    """Write a script; False if it was there already."""
    data = text.encode("utf-8", "surrogateescape")
    if path.is_file() and path.read_bytes() == data and os.access(path, os.X_OK):
        return False
    files.write(path, data, mode=0o755)
    return True
