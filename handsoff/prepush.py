"""The program that git calls before a push, to hear whether this machine may push these branches.

    python -m handsoff.prepush REMOTE URL < lines of "<local ref> <oid> <remote ref> <oid>"

Rules of the room: the record is read live from the shared remote, and what cannot be verified
is refused (this is a seat belt, so it fails closed); other remotes are none of its business.
Nothing slow is imported before git was asked where we are; no SSH library or libgit2 ever.

Source: githooks(5).
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from handsoff.core.plain import plain, plain_block
from handsoff.core.remote.places import is_ours
from handsoff.core.remote.refs import HEADS
from handsoff.edge import tongue
from handsoff.edge.git.caller import pushes_mirror
from handsoff.edge.git.remote import Shared, open_shared
from handsoff.edge.git.repo import Checkout, decode, open_checkout
from handsoff.errors import DamagedError, HandsoffError, HeldError, RefusedError, UsageError

if TYPE_CHECKING:
    from handsoff.flows.desk import Desk

_SCP: Final = re.compile(r"(?:[^/@:]+@)?([^/:]+):(?!//)(.*)")
_PORTS: Final = {"ssh": 22, "https": 443, "http": 80, "git": 9418}
_INTERRUPTED: Final = 130


def main(argv: Sequence[str]) -> int:
    """Judge the push that git describes; the exit code is 0 if it may go on."""
    try:
        name, url = argv
        refs = remote_refs(decode(sys.stdin.buffer.read()))
        for notice in judge(name, url, refs):
            _say(f"handsoff: {notice}")
    except HandsoffError as error:
        _say(f"handsoff: {error}")
        _say(f"hint: {error.hint or 'look at it with: handsoff status'} (nothing was pushed)")
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def remote_refs(lines: str) -> list[str]:
    """Return the refs that are to be moved or deleted on the remote."""
    # the local name is what the user typed, which may have blanks in it
    return [line.rsplit(" ", 3)[2] for line in lines.split("\n") if line.count(" ") > 2]  # noqa: PLR2004


def judge(name: str, url: str, refs: Sequence[str]) -> list[str]:
    """Return what is to be said of a push that may go on; raise for one that may not."""
    checkout = open_checkout()
    shared = open_shared(checkout)
    if name != shared.name and place(url, checkout.top) not in _places(checkout, shared):
        return []
    desk = _desk(checkout)
    if desk is None:
        return []
    _spare_ours(shared, name, refs)
    works = [ref.removeprefix(HEADS) for ref in refs if ref.startswith(HEADS)]
    return _judge_works(desk, works) if works else []


def _spare_ours(shared: Shared, name: str, refs: Sequence[str]) -> None:
    """Refuse a push that would move or delete our refs along with the user's.

    ``git push --mirror`` deletes what is only on the remote, and does not tell a hook so.
    """
    ours = [ref for ref in refs if is_ours(shared.prefix, ref)]
    mirrored = any(ref.startswith("refs/remotes/") for ref in refs)
    if ours:
        said = f"{plain(ours[0])} belongs to handsoff, and no push of yours moves or deletes it"
    elif mirrored or shared.checkout.switch(f"remote.{name}.mirror") or pushes_mirror():
        said = f"a mirror push deletes {shared.prefix} on {shared.name}, and other machines' work"
    else:
        return
    raise RefusedError(said, hint=f"name the branches to push: git push {name} BRANCH")


def place(url: str, top: Path) -> str:
    """Return what two spellings of the same repository have in common: host and path."""
    scp = _SCP.fullmatch(url)
    if "://" not in url and scp is None:
        return _local(top / Path(url).expanduser())
    if scp is not None and "://" not in url:
        return f"{scp[1].lower()}/{_bare(scp[2])}"
    parts = urlsplit(url)
    if parts.scheme == "file":
        return _local(Path(parts.path))
    port = parts.port if parts.port != _PORTS.get(parts.scheme) else None
    return f"{parts.hostname or ''}{f':{port}' if port else ''}/{_bare(parts.path)}"


def _local(path: Path) -> str:
    return "/" + _bare(str(path.resolve()))


def _bare(path: str) -> str:
    return path.strip("/").removesuffix(".git").rstrip("/")


def _places(checkout: Checkout, shared: Shared) -> set[str]:
    """Return all places that the shared remote stands for, to fetch from and to push to."""
    urls: list[str] = []
    for switch in (("--all",), ("--push", "--all")):
        urls += decode(checkout.run("remote", "get-url", *switch, shared.name).stdout).splitlines()
    return {place(url, checkout.top) for url in urls}


def _desk(checkout: Checkout) -> "Desk | None":
    """Return the desk, or None where this clone was never set up."""
    from handsoff.edge import clock, keys  # noqa: PLC0415 - git was asked by now
    from handsoff.edge.home import Home  # noqa: PLC0415
    from handsoff.flows.desk import Desk, pin_of  # noqa: PLC0415

    if pin_of(checkout) is None:
        return None
    folder = keys.home_folder()
    machine = keys.load(folder)
    if machine is None:
        raise UsageError(
            f"which machine is this? there are no keys in {folder}",
            hint="set HANDSOFF_HOME as it was for: handsoff init",
        )
    return Desk(checkout, Home(folder), machine, clock.now())


def _judge_works(desk: "Desk", works: list[str]) -> list[str]:
    from handsoff.core.remote.pushing import way_on  # noqa: PLC0415 - as above
    from handsoff.flows.waiting import judging  # noqa: PLC0415 - git was asked by now

    views = desk.views(works)
    if any(view.record.behind for view in views.values()):
        views = desk.views(works)
    notices = []
    for record in [record for view in views.values() for record in judging(desk, view.record)]:
        work = plain(record.work)
        if record.behind:
            raise DamagedError(
                f"the record of {work} cannot be verified: {plain(record.behind)}",
                hint="try again; if it stays so, ask who wrote to it last",
            )
        verdict = record.may_push(desk.machine.id, desk.now)
        if not verdict.allowed:
            said = record.roster.named_text(verdict.reason)
            raise HeldError(
                f"{work}: {said}; {desk.machine.name} may not push it",
                hint=way_on(record, desk.machine.id, desk.machine.name, desk.now),
            )
        if verdict.notice:
            said = record.roster.named_text(verdict.notice)
            notices.append(f"{work}: {said}; this push passes")
    return notices


def _say(line: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    text = plain_block(tongue.said(line).encode("utf-8", "backslashreplace").decode("utf-8"))
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
