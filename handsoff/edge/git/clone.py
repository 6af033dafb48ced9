"""What a clone lacks by its shape, and how it gets that: history cut off, objects promised.

A shallow clone has commits whose parents it never had. A partial clone lacks objects that its
remote has promised to hand out when they are asked for. Both are whole in git's eyes, so a work
is sent from there and caught there, and the clone stays of the shape that its owner chose.

Traps that this file exists for:

* ``fetch --depth`` also cuts history that was whole, so it is used only for a commit that is not
  here, or not with its history: no branch here leads through that one;
* git fetches a promised object wherever one is read, each over a connection of its own; what is
  needed is therefore listed first and fetched at once, and nothing else is;
* where history was cut, an object that is here says nothing of those below it.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from handsoff.core.remote.places import is_ours
from handsoff.core.remote.refs import HEADS
from handsoff.edge.git.answers import unreachable
from handsoff.edge.git.begun import FETCH
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import Checkout, decode, lines
from handsoff.errors import DamagedError

_UNKNOWN: Final = re.compile(r"not our ref|bad object|no such remote ref|couldn't find remote ref")
_BRANCHES: Final = (f"{HEADS}*",)
_UNADVERTISED: Final = "unadvertised object"


def lacking(checkout: Checkout, commits: Iterable[str]) -> list[str]:
    """Return those of ``commits`` that are not here with all the history that belongs to them."""
    objects = Objects(checkout.objects_dir)
    cut = bool(checkout.shallow)
    return [oid for oid in commits if not objects.has(oid) or (cut and not whole(checkout, oid))]


def whole(checkout: Checkout, commit: str) -> bool:
    """Say whether ``commit``, which is here, is here with all that belongs to it.

    One that no ref reaches may not be: where history was cut, or where git cleans up.
    """
    walk = ("rev-list", "--objects", "--quiet", *local_only(checkout), commit, "--not", "--all")
    return checkout.run(*walk, GIT_NO_LAZY_FETCH="1").returncode == 0


def local_only(checkout: Checkout) -> tuple[str, ...]:
    """Return what keeps a walk of ``checkout`` away from what its remote has, or has promised."""
    return ("--exclude-promisor-objects",) if checkout.promisor else ()


def fetch_commits(shared: Shared, commits: Sequence[str], *, alone: bool = False) -> None:
    """Bring commits of branches into the clone's own objects; no ref of it moves.

    With ``alone`` a shallow clone gets each of them without its history. A commit that the remote
    does not have is not here afterwards; UnreachableError if it does not answer.
    """
    if not commits:
        return
    checkout = shared.checkout
    depth = ("--depth=1",) if alone and checkout.shallow else ()
    done = checkout.run(*FETCH, *depth, "--", shared.name, *commits)
    if _UNADVERTISED in decode(done.stderr):
        # git's protocol of before 2018 (plain SSH often still has it) knows tips of branches only
        tips = sorted(set(branches(shared).values()))
        done = checkout.run(*FETCH, "--", shared.name, *tips)
    if done.returncode and not _UNKNOWN.search(decode(done.stderr)):
        raise unreachable(shared.name, done.stderr)


def questions(shared: Shared) -> list[tuple[str, ...]]:
    """Return what ``branches`` will ask, so that it can be begun before (``Shared.asking``)."""
    return [_BRANCHES] if _are_beside_records(shared) else []


def _are_beside_records(shared: Shared) -> bool:
    return shared.url == shared.name


def branches(shared: Shared) -> dict[str, str]:
    """Return the user's branches that the remote has now, by name, each with its commit."""
    prefix = shared.prefix
    if _are_beside_records(shared):
        found = shared.tips(*_BRANCHES)
    else:
        listed = shared.checkout.run("ls-remote", "--heads", "--", shared.name)
        if listed.returncode:
            raise unreachable(shared.name, listed.stderr)
        told = (line.split("\t", 1) for line in lines(listed.stdout))
        found = {ref: oid for oid, ref in told}
    # git's patterns match the ends of names: refs/original/refs/heads/main is no branch
    heads = {ref: oid for ref, oid in found.items() if ref.startswith(HEADS)}
    return {ref.removeprefix(HEADS): oid for ref, oid in heads.items() if not is_ours(prefix, ref)}


def fetch_trees(checkout: Checkout, commits: Collection[str]) -> None:
    """Bring the trees of ``commits`` that were only promised, at once."""
    if checkout.promisor is None or not commits:
        return
    listed = checkout.git(
        "rev-list", "--objects", "--no-walk", "--no-object-names", "--filter=blob:none",
        "--missing=print", "--stdin", given="".join(f"{oid}\n" for oid in commits).encode(),
        GIT_NO_LAZY_FETCH="1",
    )  # fmt: skip
    absent = [line[1:] for line in lines(listed) if line.startswith("?")]
    fetch_promised(checkout, absent)


def fetch_promised(checkout: Checkout, oids: Iterable[str]) -> None:
    """Bring promised objects, exactly these, over one connection; with a tree those below it.

    UnreachableError if the remote does not answer, DamagedError if it does not have one of them.
    """
    wanted = sorted(set(oids))
    remote = checkout.promisor
    if remote is None or not wanted:
        return
    # spelled as git's own lazy fetch is: what is here must not be named as a reason to leave out
    # what hangs on it
    done = checkout.run(
        "-c", "fetch.negotiationAlgorithm=noop", *FETCH, "--filter=blob:none", "--stdin", remote,
        given="".join(f"{oid}\n" for oid in wanted).encode(),
    )  # fmt: skip
    if done.returncode and not _UNKNOWN.search(decode(done.stderr)):
        raise unreachable(remote, done.stderr)
    objects = Objects(checkout.objects_dir)
    absent = [oid for oid in wanted if not objects.has(oid)]
    if absent:
        raise DamagedError(
            f"the remote {remote} does not hand out {absent[0][:10]}, which this work needs",
            hint="have it sent again from a clone that is not partial",
        )
