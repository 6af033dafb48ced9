"""The story that the tour plays: Monday, 4 p.m., a task half done on m1, and m2 goes on with it.

Texts and lines for a shell only; see core/tour/tour.py for what they mean. What a step says in
``why`` or in a fact must be so: a fact that cannot be checked is not told.
"""

from typing import Final

from handsoff.core.tour.tour import Compares, Ends, Fact, Starts, Step, Types, Writes
from handsoff.core.tour.toy import BACK, MONDAY, PAGE, STAYS, TOKEN, WORK

_ADDRESS: Final = r"(?P<at>127\.0\.0\.1:\d+)"
_CODE: Final = r"(?P<code>\d+-[a-z]+-[a-z]+)"
_REFS: Final = "refs/wip/lease/*:refs/remotes/wip/lease/*"
_RECORD: Final = "refs/remotes/wip/lease/feat%2Fcny-rounding"
_TIP: Final = f"$(git ls-remote origin refs/heads/{WORK} | cut -f1)"
_UNTOUCHED: Final = f'test "{_TIP}" = "$(git rev-parse origin/{WORK})"'
_LISTED: Final = "listed=$(git ls-remote origin 'refs/wip/lease/*')"
_AWAY: Final = f'{_LISTED} && test -z "$listed"'

TRUST: Final = Step(
    "Two machines that trust each other",
    (
        "Each machine makes keys of its own. One shows a code, on the other one it is typed.",
        "People compare the four words on both screens; --yes is for scripts such as this one.",
        "Two machines on one network find each other, without --bind and --at.",
    ),
    (
        Starts(
            "m2", "handsoff pair --name m2 --bind 127.0.0.1",
            rf"(?s){_CODE}\n.*{_ADDRESS}\n.*\n",
        ),
        Types("m1", "handsoff pair {code} --name m1 --at {at} --yes"),
        Ends("m2"),
    ),
    (
        Fact(
            "each machine has its own secret keys, and they are not the same",
            "m1",
            "test -s ~/handsoff/signing.key && "
            "! cmp -s ~/handsoff/signing.key ~/../m2/handsoff/signing.key",
        ),
        Fact(
            "the roster, the signed list of who is in, lies on the git remote, beside the branches",
            "m1",
            "git ls-remote --exit-code origin refs/wip/roster && ! git branch -a | grep -q roster",
        ),
    ),
)  # fmt: skip

MIDDLE: Final = Step(
    "Monday, 4 p.m.: the task on m1 is half done",
    (
        "Two commits are not pushed. One change is staged (settled), another is not (a try).",
        "Git moves commits only: a push would leave all the rest of this behind.",
    ),
    (
        *MONDAY,
        Types("m1", "git status --short --branch"),
        Types("m1", "git stash list"),
        Types("m1", "git ls-files --others --ignored --exclude-standard"),
        Types("m1", "cat .wip/notes.md .wip/carry"),
    ),
    (
        Fact(
            "two commits that the remote has never seen",
            "m1",
            'test "$(git rev-list --count @{u}..)" = 2',
        ),
        Fact(
            "src/rounding.py is staged, src/legacy_round.py removed, the test changed only on disk",
            "m1",
            'test "$(git diff --cached --name-only | xargs)" = '
            '"src/legacy_round.py src/rounding.py" && '
            'test "$(git diff --name-only)" = tests/test_rounding.py',
        ),
        Fact(
            ".wip/notes.md is ignored by git, and named in .wip/carry, so it will travel",
            "m1",
            "git check-ignore -q .wip/notes.md && grep -qx .wip/notes.md .wip/carry",
        ),
        Fact(
            ".env.local (a token) and cache/ are ignored too: they shall stay here",
            "m1",
            "git check-ignore -q .env.local && git check-ignore -q cache/rates.bin",
        ),
    ),
)

PAGE_STEP: Final = Step(
    "One page for what git cannot know",
    (
        "What comes next, what was tried in vain, what to leave alone: one page, by hand.",
        "The template alone is refused: a hand-over without its reasons is half a hand-over.",
    ),
    (
        Types("m1", "handsoff page --no-edit"),
        Types("m1", "handsoff send m2 --dry-run", 3),
        Writes("m1", ".wip/HANDOFF.md", PAGE, "m1 fills it in, in an editor"),
        Types("m1", "cat .wip/HANDOFF.md"),
    ),
    (Fact("nothing of the work is on the remote yet", "m1", _AWAY),),
)

DRY: Final = Step(
    "What would travel, before anything does",
    ("With --dry-run, send tells what it would take along and what it would leave behind.",),
    (Types("m1", "handsoff send m2 --dry-run"),),
    (Fact("still nothing of the work is on the remote", "m1", _AWAY),),
)

GUARD: Final = Step(
    "A secret does not travel",
    (
        "Somebody left a token in a test fixture. The guard reads all that would leave.",
        "It names the file and the kind of secret, and refuses all of it: nothing is sent.",
    ),
    (
        Writes(
            "m1", "tests/fixture.py", f'TOKEN = "{TOKEN}"\n',
            "m1 writes a token into tests/fixture.py",
        ),
        Types("m1", "handsoff send m2 --via remote", 3),
        Types("m1", "rm tests/fixture.py"),
    ),
    (Fact("nothing of the work is on the remote", "m1", _AWAY),),
)  # fmt: skip

SEND: Final = Step(
    "Hand it over, straight to m2",
    (
        "m2 listens, m1 sends: SSH between the two machines' own keys, the parcel sealed inside.",
        "From this moment on m2 alone is the carrier of the work, and the record says so.",
    ),
    (
        Starts("m2", "handsoff listen --once --bind 127.0.0.1", rf"(?s){_ADDRESS}\b.*\n"),
        Types("m1", "handsoff send m2 --at {at}"),
        Ends("m2"),
    ),
    (
        Fact("m1's branch on the remote was not pushed: no review has started", "m1", _UNTOUCHED),
        Fact(
            "m1 is as it was: its two commits, its index and its stash",
            "m1",
            'test "$(git rev-list --count @{u}..) $(git stash list | wc -l | xargs)" = "2 1" && '
            'test "$(git diff --name-only)" = tests/test_rounding.py',
        ),
        Fact("the work's record is on the remote now", "m1", f'{_LISTED} && test -n "$listed"'),
    ),
)

STOPPED: Final = Step(
    "An agent on m1 that did not stop",
    (
        "Agents go on when their person walks away, and two who push lose each other's commits.",
        "The pre-push hook asks the record first: this push is refused, with the way on.",
    ),
    (Types("m1", "git push", 1),),
    (Fact("the branch on the remote is where it was", "m1", _UNTOUCHED),),
)

CATCH: Final = Step(
    "m2 catches the work",
    (
        "The state is restored on m2: commits, index, files, removal, stash, notes, page.",
        "Then the page is printed, for whoever goes on (a person, or an agent) to read first.",
    ),
    (
        Types("m2", f"handsoff catch {WORK}"),
        Types("m2", "git status --short --branch"),
        Types("m2", "cat .wip/notes.md"),
    ),
    (
        Fact("the token stayed on m1: m2 has no .env.local", "m2", "test ! -e .env.local"),
        Fact("nor the cache", "m2", "test ! -e cache"),
        Fact("the stash came along", "m2", "git stash list | grep -q bankers"),
    ),
)

SAME: Final = Step(
    "Both ends, byte for byte",
    (
        "Do not take handsoff's word for it: the tour reads both checkouts by itself.",
        "It shows the first digits of each file's SHA-256, and compares all of them.",
        "Of the index, the status, the stash and the commits it compares what git itself prints.",
    ),
    (Compares("m1", "m2", STAYS),),
)

UNDO: Final = Step(
    "There and back again",
    (
        "A catch can be undone: m2 is then what it was before. Undone twice, the work is back.",
        "The record is not moved by that: m2 carries the work all the while.",
    ),
    (
        Types("m2", "handsoff undo"),
        Types("m2", "git status --short --branch"),
        Types("m2", "handsoff undo"),
        Types("m2", "handsoff status"),
        Compares("m1", "m2", STAYS, brief=True),
    ),
)

BACK_STEP: Final = Step(
    "m2 goes on, and hands it back",
    (
        "m2 commits what was staged, and pushes with plain git: it is the carrier, so it may.",
        "Then it hands the rest back, this time through the git remote: m1 need not listen.",
    ),
    (
        Types("m2", "git commit -q -m 'rounding: half up for CNY'"),
        Types("m2", "git push -q"),
        Writes("m2", ".wip/HANDOFF.md", BACK, "m2 brings the page up to date"),
        Types("m2", "handsoff send m1 --via remote"),
        Types("m1", f"handsoff catch {WORK}"),
        Types("m1", "git log --oneline -4"),
        Compares("m1", "m2", STAYS, brief=True),
    ),
    (
        Fact("m2's commit is on the remote", "m2", f'test "{_TIP}" = "$(git rev-parse HEAD)"'),
        Fact(
            "m1 has it too, and what was not committed is as m2 left it; .env.local is still here",
            "m1",
            f'test "{_TIP}" = "$(git rev-parse HEAD)" && test -e .env.local && '
            'test "$(git diff --name-only)" = tests/test_rounding.py',
        ),
    ),
)

HISTORY: Final = Step(
    "Done, and on the record",
    (
        "m1 commits the rest, pushes, and closes the work: nobody carries it any more.",
        "Each save, offer, catch, drop, note and refusal is an entry, signed by its machine.",
    ),
    (
        Types("m1", "git add -A && git commit -q -m 'rounding: tests for CNY and JPY'"),
        Types("m1", "git push -q"),
        Types("m1", "handsoff close --outcome merged"),
        Types("m1", f"handsoff history {WORK}"),
    ),
    (Fact("all of the branch is on the remote", "m1", f'test "{_TIP}" = "$(git rev-parse HEAD)"'),),
)

STOCK: Final = Step(
    "Verified without handsoff",
    (
        "The record is made of git commits with SSH signatures: stock git verifies them.",
        "The list of keys comes from a machine that you trust; all else is git and ssh-keygen.",
    ),
    (
        Types("m2", "handsoff roster --allowed-signers > ~/signers"),
        Types("m2", f"git fetch -q origin '{_REFS}'"),
        Types("m2", "git config gpg.ssh.allowedSignersFile ~/signers"),
        Types("m2", f"git log -1 --show-signature {_RECORD}"),
        Types("m2", f"git log --format='%G? %GS %h %s' {_RECORD}"),
    ),
    (
        Fact(
            "each entry has a good signature (G) of one of the two machines",
            "m2",
            f'test "$(git log --format=%G? {_RECORD} | sort -u)" = G && '
            f'test "$(git log --format=%GS {_RECORD} | sort -u | wc -l | xargs)" = 2',
        ),
    ),
    needs="ssh-keygen",
)

AUDIT: Final = Step(
    "Audit: is all of it so?",
    (
        "audit verifies the roster, each entry of each record and all notes on the remote.",
        "It ends with 0 only if all is clean, so it can run in CI.",
    ),
    (Types("m1", "handsoff audit"),),
)

STORY: Final[tuple[Step, ...]] = (
    TRUST, MIDDLE, PAGE_STEP, DRY, GUARD, SEND, STOPPED, CATCH, SAME, UNDO, BACK_STEP, HISTORY,
    STOCK, AUDIT,
)  # fmt: skip
