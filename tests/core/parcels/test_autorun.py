"""Files that run by themselves: each kind that is known is told, and others are not."""

import pytest

from handsoff.core.checkout.trees import Change, Leaf
from handsoff.core.objects import EXECUTABLE, FILE
from handsoff.core.parcels import autorun
from handsoff.core.parcels.autorun import Found, arriving, kind_of

TOLD = {
    "a shell that enters the folder": [".envrc", "a/b/.envrc", ".mise.toml", "mise.toml", ".nvmrc"],
    "the editor": [".vscode/tasks.json", "app/.vscode/settings.json", "x.code-workspace",
                   ".idea/workspace.xml", ".devcontainer/devcontainer.json", ".devcontainer.json",
                   ".exrc", ".dir-locals.el", ".editorconfig", ".zed/tasks.json"],
    "an agent": [".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/x.sh",
                 ".mcp.json", ".cursor/mcp.json", ".codex/config.toml", ".aider.conf.yml"],
    "an agent, as instructions": ["AGENTS.md", "pkg/CLAUDE.md", "CLAUDE.local.md", ".cursorrules",
                                  ".github/copilot-instructions.md", ".clinerules/01.md"],
    "hooks at a commit": [".husky/pre-commit", ".pre-commit-config.yaml", "lefthook.yml",
                          ".lefthook-local.yaml", ".githooks/pre-push", ".lintstagedrc.json"],
    "git": [".gitattributes", "src/.gitattributes", ".gitmodules", ".lfsconfig",
            ".git-blame-ignore-revs"],
    "tests, or Python as it starts": ["conftest.py", "tests/conftest.py", "sitecustomize.py",
                                      "lib/evil.pth", "pytest.ini", "tox.ini"],
    "an install or a build": ["package.json", "web/package.json", ".npmrc", "setup.py", "build.rs",
                              "pyproject.toml", ".cargo/config.toml", ".yarnrc.yml", "gradlew"],
    "the server, at a push": [".github/workflows/ci.yml", ".gitlab-ci.yml", "Jenkinsfile"],
}  # fmt: skip
QUIET = [
    "Makefile", "envrc", ".envrc.md", "src/tasks.json", "claude/settings.json", "README.md",
    "docs/agents.md.txt", "mypackage.json", "package.json.bak", "testconftest.py", "a.vscode",
    ".vscode", ".gitignore", ".wip/HANDOFF.md", "husky/x", "main.py", "pth", ".github/CODEOWNERS",
]  # fmt: skip


def change(path: str, old: Leaf | None, new: Leaf | None) -> Change:
    return Change(path.encode(), old, new)


@pytest.mark.parametrize(("what", "path"), [(w, p) for w, paths in TOLD.items() for p in paths])
def test_each_known_kind_is_told_with_what_runs_it_also_in_another_case(
    what: str, path: str
) -> None:
    assert kind_of(path.encode()) == what
    assert kind_of(path.upper().encode()) == what, "a file system may fold it into the name"
    assert kind_of(b"odd\xff\n/" + path.encode()) == what


@pytest.mark.parametrize("path", QUIET)
def test_what_only_looks_like_one_is_not_told(path: str) -> None:
    assert kind_of(path.encode()) is None


def test_every_kind_has_a_file_that_shows_it() -> None:
    paths = [p.encode() for paths in TOLD.values() for p in paths]
    more = b".simple-git-hooks.json Gemfile .travis.yml".split()
    assert [k for k in autorun.KINDS if not any(map(k.path.fullmatch, [*paths, *more]))] == []


def test_new_changed_and_newly_executable_files_are_told_and_removed_ones_are_not() -> None:
    one, other, run = Leaf(FILE, "1" * 40), Leaf(FILE, "2" * 40), Leaf(EXECUTABLE, "1" * 40)
    changes = [
        change(".envrc", None, one), change(".husky/pre-commit", one, run),
        change("conftest.py", one, other), change("package.json", one, None),
        change("src/main.py", None, one),
    ]  # fmt: skip
    assert arriving(changes) == [
        Found(b".envrc", "a shell that enters the folder"),
        Found(b".husky/pre-commit", "hooks at a commit"),
        Found(b"conftest.py", "tests, or Python as it starts"),
    ]
    assert arriving([]) == []


def test_a_path_made_to_be_slow_is_not() -> None:
    assert kind_of(b"a/" * 127 + b".gradle" * 500 + b"x") is None
