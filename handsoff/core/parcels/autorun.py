"""Files that tools run, or obey, by themselves: named at a catch from another person.

Nothing here is refused. Who catches a work of somebody else opens it in an editor, in a shell, in
an agent, and commits in it: each of these reads files of the project and does what they say before
anybody was asked. So whoever catches is told which of them came, or changed.

A ``Makefile`` is not among them: it runs when somebody types ``make``. A ``package.json`` is, as
its ``install`` hooks run with each install of anything; so is ``conftest.py``, which test runners
and editors load to list tests.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from handsoff.core.checkout.trees import Change


class Kind(NamedTuple):
    """Files of one kind: their paths, below any folder, and what happens by itself."""

    path: re.Pattern[bytes]
    what: str


def _kind(path: str, what: str) -> Kind:
    return Kind(re.compile(rf"(?:.*/)?(?:{path})".encode(), re.IGNORECASE | re.DOTALL), what)


_SHELL: Final = "a shell that enters the folder"
_EDITOR: Final = "the editor"
_AGENT: Final = "an agent"
_TOLD: Final = "an agent, as instructions"
_COMMIT: Final = "hooks at a commit"
_TESTS: Final = "tests, or Python as it starts"
_BUILD: Final = "an install or a build"
_SERVER: Final = "the server, at a push"

KINDS: Final = (
    _kind(r"\.envrc|\.autoenv(?:\.zsh)?|\.?mise\.toml|\.mise/.*|\.tool-versions|\.nvmrc", _SHELL),
    _kind(r"\.vscode/.*\.json|.*\.code-workspace|\.idea/.*|\.fleet/.*|\.zed/.*|\.vs/.*", _EDITOR),
    _kind(r"\.n?vimrc|\.exrc|\.nvim\.lua|\.dir-locals(?:-2)?\.el|\.editorconfig", _EDITOR),
    _kind(r"\.devcontainer(?:/.*|\.json)|\.gitpod\.yml", _EDITOR),
    _kind(r"\.(?:claude|cursor|codex|gemini|windsurf|continue|roo)/.*|\.mcp\.json", _AGENT),
    _kind(r"\.aider\.conf\.yml|\.github/(?:prompts|agents|hooks)/.*", _AGENT),
    _kind(r"(?:AGENTS|CLAUDE|GEMINI)(?:\.local|\.override)?\.md|\.(?:cursor|windsurf)rules", _TOLD),
    _kind(r"\.clinerules(?:/.*)?|\.github/(?:copilot-instructions\.md|instructions/.*)", _TOLD),
    _kind(r"\.husky/.*|\.(?:git)?hooks/.*|\.pre-commit-config\.ya?ml|\.overcommit\.yml", _COMMIT),
    _kind(r"\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.lintstagedrc.*", _COMMIT),
    _kind(r"\.simple-git-hooks\.(?:json|c?js)", _COMMIT),
    _kind(r"\.gitattributes|\.gitmodules|\.lfsconfig|\.git-blame-ignore-revs|\.gitconfig", "git"),
    _kind(r"conftest\.py|(?:site|user)customize\.py|.*\.pth|pytest\.ini|tox\.ini", _TESTS),
    _kind(r"noxfile\.py|setup\.py|pyproject\.toml|build\.rs|\.cargo/.*", _BUILD),
    _kind(r"package\.json|\.npmrc|\.yarnrc(?:\.yml)?|\.yarn/.*|\.pnpmfile\.c?js", _BUILD),
    _kind(r"binding\.gyp|Gemfile|\.bundle/config|composer\.json|\.mvn/.*", _BUILD),
    _kind(r"gradlew|gradle/wrapper/.*|.*\.gradle(?:\.kts)?|rust-toolchain(?:\.toml)?", _BUILD),
    _kind(r"\.github/workflows/.*|\.gitlab-ci\.yml|\.circleci/.*|Jenkinsfile", _SERVER),
    _kind(r"azure-pipelines\.yml|\.woodpecker(?:\.yml|/.*)|\.buildkite/.*|\.travis\.yml", _SERVER),
)


class Found(NamedTuple):
    """A file that runs by itself, and by what."""

    path: bytes
    what: str


def kind_of(path: bytes) -> str | None:
    """Return what runs or obeys the file at ``path`` by itself, or None if nothing known does."""
    return next((kind.what for kind in KINDS if kind.path.fullmatch(path)), None)


def arriving(changes: Iterable[Change]) -> list[Found]:
    """Return the files among ``changes`` that are new or other than before, and run by themselves.

    One whose mode alone changed counts too: a hook that may be run now could not be before.
    """
    found = []
    for change in changes:
        what = kind_of(change.path) if change.new is not None else None
        if what is not None:
            found.append(Found(change.path, what))
    return sorted(found)
