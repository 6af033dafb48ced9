"""The states of a checkout whose hand-over is killed: what is done to Monday's before it starts.

Each is made by lines of sh in m1 and in m2, with plain git and at a fixed time.
"""

import os
from dataclasses import dataclass
from typing import Final

from machines import Lab

DATE: Final = "2026-01-05T16:30:00Z"


@dataclass(frozen=True)
class State:
    """What is done to Monday's machines, and how the operation in progress is ended."""

    m1: str = ""
    m2: str = ""
    end: str = ""
    """Lines that go on with the operation to its end; both machines must come to the same."""
    unlike: frozenset[bytes] = frozenset()
    """Files that git sees in another way where the filter of m1 is not set."""
    send: tuple[str, ...] = ()
    """What is typed after ``send m2``."""

    def make(self, lab: Lab) -> None:
        """Leave the machines of ``lab``, which are Monday's, in this state."""
        for machine, lines in (("m1", self.m1), ("m2", self.m2)):
            shell(lab, machine, "set -e\n" + lines)


def shell(lab: Lab, machine: str, lines: str) -> str:
    """Run ``lines`` in a checkout, with an editor that changes nothing; return what they print."""
    env = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE, "GIT_EDITOR": "true"}
    return os.fsdecode(lab.run(machine, "sh", "-c", lines, env=env).stdout)


_REBASE_M1: Final = r"""
git stash push -q
git switch -q -c theirs main
echo 'PLACES = {"GBP": 2}' >src/places.py
git add src/places.py
git commit -q -m "places: begin with GBP"
git switch -q feat/cny-rounding
git stash pop -q --index
# stops at the first pick, with "onto" in refs/rewritten and the edits of Monday in the autostash
git rebase -q -i -r --autostash theirs >/dev/null 2>&1 && exit 1
test -f .git/rebase-merge/autostash
git rev-parse -q --verify refs/rewritten/onto >/dev/null
echo 'half done' >>src/places.py
echo '# unstaged, in the middle of the rebase' >>src/rounding.py
echo '# staged, in the middle of the rebase' >>.env.example
git add .env.example
"""
_REBASE_M2: Final = r"""
git switch -q feat/cny-rounding
echo 'of m2 alone' >>README.md
git stash push -q -m 'a stash of m2'
"""
_REBASE_END: Final = r"""
for n in 1 2 3 4 5 6; do
    if git ls-files -u | grep -q .; then
        echo "PLACES = {'GBP': $n}" >src/places.py
        git add src/places.py
    fi
    git commit -q -a -m "of pick $n" >/dev/null 2>&1
    git rebase --continue >/dev/null 2>&1 && break
done
git branch --show-current
git status --porcelain
git stash list --format=%gs | grep -v 'a stash of m2'
git log --format='%T %B'
git for-each-ref refs/rewritten
"""

_MIXED_M1: Final = r"""
git add -A
git commit -q -m "toy: what there was on Monday"
git config filter.lossy.clean "sed -e /^#out/d"
mkdir -p docs deep/in deep/out vendor
printf '*.txt text\n*.bat text eol=crlf\n*.nb filter=lossy\n' >.gitattributes
printf 'one\r\ntwo\r\n' >docs/dos.bat
printf 'one\ntwo\n' >docs/mixed.txt
printf 'in\n#out 1\n' >docs/book.nb
printf 'in\n' >docs/plain.nb
echo secret >docs/private
echo fixed >docs/fixed
echo in >deep/in/file
echo out >deep/out/file
printf '[submodule "lib"]\n\tpath = vendor/lib\n\turl = https://lib.invalid/lib\n' >.gitmodules
git add .
git update-index --add --cacheinfo 160000,0123456789012345678901234567890123456789,vendor/lib
git commit -q -m "toy: conversions, modes, a submodule"
mkdir -p vendor/lib
git sparse-checkout set --cone docs src tests vendor
printf 'one\r\ntwo\r\nthree\r\n' >docs/dos.bat
git add docs/dos.bat
printf 'one\r\ntwo\nthree\r\n' >docs/mixed.txt
printf 'in\n#out 2\nmore\n' >docs/book.nb
printf 'new\n#out 3\n' >docs/new.nb
git add docs/new.nb
printf 'new\n#out 4\n' >docs/new.nb
chmod 600 docs/private
chmod 444 docs/fixed
mkdir docs/empty
"""
_MIXED_M2: Final = "chmod 600 README.md; chmod 700 tools/run-tests\n"

# One session of Claude Code with a subagent; nobody has written to it for a while.
_SESSION_M1: Final = r"""
id=5d0c7a52-9b1e-4f7a-8f10-0e5f3c1a2b3c
place=$HOME/.claude/projects/$(printf %s "$PWD" | tr -c a-zA-Z0-9 -)
mkdir -p "$place/$id/subagents"
say() {
    printf '{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user",'
    printf '"content":"%s"},"uuid":"aa","cwd":"%s","sessionId":"%s",' "$1" "$PWD" "$id"
    printf '"version":"2.1.332","gitBranch":"feat/cny-rounding"}\n'
}
{ say "round in $PWD/src/places.py"; say "and test it"; } >"$place/$id.jsonl"
say "look for $HOME/.claude too" >"$place/$id/subagents/agent-a.jsonl"
find "$HOME/.claude" -type f -exec touch -d '1 hour ago' {} +
"""

STATES: Final = {
    "monday": State(),
    "session": State(_SESSION_M1, send=("--transcript", "rewrite")),
    "rebase": State(_REBASE_M1, _REBASE_M2, _REBASE_END),
    "mixed": State(
        _MIXED_M1, _MIXED_M2, unlike=frozenset({b"docs/book.nb", b"docs/plain.nb", b"docs/new.nb"})
    ),
}
