"""The branches of the remote, compared: which is the main one, and which has which commit.

Rule of the room: answers come from objects fetched into the private folder; no ref is written. In
a shallow clone what is cut off counts as not there, so a work stays.
"""

from collections.abc import Collection
from datetime import UTC, datetime

from handsoff.core.remote.refs import HEADS
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import decode
from handsoff.errors import UsageError


def main_branch(shared: Shared) -> str:
    """Return the branch that the remote's HEAD names; UsageError if it names none."""
    done = shared.run("ls-remote", "--symref", "--", shared.url, "HEAD")
    for line in decode(done.stdout).splitlines():
        target, _, name = line.removeprefix("ref: ").partition("\t")
        if name == "HEAD" and target.startswith(HEADS):
            return target.removeprefix(HEADS)
    raise UsageError(
        f"the remote {shared.name} names no main branch",
        hint="say which one works are merged into: --branch NAME",
    )


def merged_at(shared: Shared, tip: str, into: str) -> datetime | None:
    """Return since when the branch that stands at ``into`` has had ``tip``; None if it has not.

    That is the date of the oldest commit on its first-parent line that has ``tip`` behind it.
    """
    if not shared.has(tip) or shared.run("merge-base", "--is-ancestor", tip, into).returncode:
        return None
    span = (into, f"^{tip}")
    line = decode(shared.run("rev-list", "--first-parent", *span).stdout).split()
    after = set(decode(shared.run("rev-list", "--ancestry-path", *span).stdout).split())
    having = [oid for oid in line if oid in after]
    first = having[-1] if having else tip
    found = shared.run("log", "-1", "--no-show-signature", "--format=%ct", first)
    return datetime.fromtimestamp(int(found.stdout), UTC)


def reaches(shared: Shared, tips: Collection[str], commit: str) -> bool | None:
    """Say whether one of ``tips`` has ``commit`` behind it; None if that cannot be told here.

    So it is where a tip is not here, or where a shallow clone cuts its history off.
    """
    kinds = shared.kinds(dict.fromkeys((commit, *tips)))
    here = [tip for tip in tips if kinds.get(tip) == "commit"]
    if here and kinds.get(commit) == "commit":
        given = "".join(f"{line}\n" for line in (commit, *(f"^{tip}" for tip in here)))
        left = shared.run("rev-list", "--max-count=1", "--stdin", given=given.encode())
        if left.returncode == 0 and not left.stdout:
            return True
    if len(here) < len(tips):
        return None
    cut = shared.checkout.shallow
    given = "".join(f"{tip}\n" for tip in here)
    words = ("rev-list", "--max-parents=0", "--stdin")
    begins = decode(shared.run(*words, given=given.encode()).stdout).split() if cut and here else ()
    return False if cut.isdisjoint(begins) else None
