"""Many chains of the remote at once: one question, one fetch, two processes to read them all."""

from collections.abc import Collection, Mapping
from typing import Final

from handsoff.core.chain import parents_of
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import decode

Commits = list[tuple[str, bytes]]

MISSING: Final = "missing"


def listed(shared: Shared) -> dict[str, str]:
    """Return all refs of the remote below our prefix, each with its object id."""
    below = f"{shared.prefix}/"
    # git matches a pattern against the end of a ref, so there may be others
    return {ref: oid for ref, oid in shared.tips(f"{below}*").items() if ref.startswith(below)}


def bring(shared: Shared, tips: Mapping[str, str], known: Collection[str]) -> None:
    """Fetch those of ``tips``, ids by the name of their ref, that are not here yet."""
    kinds = kinds_of(shared, {*tips.values(), *known})
    wanted = [ref for ref, oid in tips.items() if kinds[oid] == MISSING]
    if wanted:
        shared.fetch(wanted, sorted(oid for oid in known if kinds[oid] == "commit"))


def kinds_of(shared: Shared, oids: Collection[str]) -> dict[str, str]:
    """Return what kind each of these objects is: commit, tag, tree, blob or missing."""
    given = "".join(f"{oid}\n" for oid in oids).encode()
    done = shared.run("cat-file", "--batch-check=%(objectname) %(objecttype)", given=given)
    told = (line.split(" ") for line in decode(done.stdout).splitlines())
    found = {words[0]: words[1] for words in told if len(words) > 1}
    return {oid: found.get(oid, MISSING) for oid in oids}


def read(shared: Shared, tips: Collection[str]) -> dict[str, Commits]:
    """Return the chain of commits up to each of ``tips``, oldest first.

    A tip below which something is missing has none, and does not spoil the others.
    """
    oids = _below(shared, tips)
    if oids is None and len(tips) > 1:
        return {oid: chain for tip in tips for oid, chain in read(shared, [tip]).items()}
    every = dict(shared.commits(oids or []))
    return {tip: _up_to(tip, every) for tip in tips if tip in every}


def _below(shared: Shared, tips: Collection[str]) -> list[str] | None:
    given = "".join(f"{oid}\n" for oid in tips).encode()
    done = shared.run("rev-list", "--first-parent", "--stdin", given=given)
    return None if done.returncode else decode(done.stdout).split()


def _up_to(tip: str, every: Mapping[str, bytes]) -> Commits:
    chain: Commits = []
    oid = tip
    while oid in every:
        chain.append((oid, every[oid]))
        parents = parents_of(every[oid])
        oid = parents[0] if parents else ""
    return chain[::-1]
