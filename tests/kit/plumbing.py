"""Git with bytes in and bytes out, and nothing of anybody's configuration."""

import subprocess
from pathlib import Path

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Lin",
    "GIT_AUTHOR_EMAIL": "lin@example.invalid",
    "GIT_COMMITTER_NAME": "Lin",
    "GIT_COMMITTER_EMAIL": "lin@example.invalid",
    "LC_ALL": "C.UTF-8",
}


def raw(cwd: Path, *words: str | bytes, given: bytes = b"", **env: str) -> bytes:
    """Run git, which must succeed, and return all that it prints."""
    done = subprocess.run(
        ["git", *words], cwd=cwd, env={**ENVIRONMENT, **env}, input=given,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def line(cwd: Path, *words: str | bytes, given: bytes = b"", **env: str) -> str:
    """Run git and return the one line that it prints."""
    return raw(cwd, *words, given=given, **env).decode().removesuffix("\n")


def repository(where: Path, *switches: str) -> Path:
    """Make a repository without hooks or templates, and return its folder."""
    where.mkdir(parents=True, exist_ok=True)
    raw(where, "init", "-q", "-b", "main", "--template=", *switches)
    return where
