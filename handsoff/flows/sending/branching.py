"""The branch that a push moves: its commit, its place on the remote, and what is noted after."""

from dataclasses import dataclass

from handsoff.core.plain import plain
from handsoff.core.remote.pushing import Target, target, tracking_ref
from handsoff.core.remote.refs import HEADS
from handsoff.edge.git import operation
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import Checkout
from handsoff.errors import UnfitError


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch of a work: ``tip`` is to be pushed; ``local`` says that a branch here has it."""

    checkout: Checkout
    shared: Shared
    work: str
    tip: str
    local: bool
    target: Target

    @property
    def ref(self) -> str:
        """The ref on the remote."""
        return HEADS + self.target.branch

    @property
    def source(self) -> str:
        """What git calls that which is pushed."""
        return HEADS + self.work if self.local else "HEAD"

    @property
    def tracking(self) -> str | None:
        """The ref that keeps here where the branch stands on the remote."""
        fetch = self.checkout.config.get(f"remote.{self.shared.name}.fetch", [])
        return tracking_ref(fetch, self.ref)

    @property
    def last_known(self) -> str:
        """Where the branch stands on the remote, as far as this clone knows it; "" if nowhere."""
        kept = self.tracking
        return (self.checkout.commit(kept) or "") if kept is not None else ""

    def count(self, old: str) -> int | None:
        """Return how many commits are new to a remote that has ``old``, None if nobody knows."""
        told = self.shared.run("rev-list", "--count", self.tip, *([f"^{old}"] if old else []))
        return int(told.stdout) if old and not told.returncode else None

    def arrived(self, *, upstream: bool) -> None:
        """Note what ``git push`` notes after one that arrived; ``upstream`` as with its ``-u``."""
        kept = self.tracking
        if kept is not None and self.checkout.commit(kept) != self.tip:
            self.checkout.git("update-ref", "-m", "update by push", kept, self.tip)
        if upstream and self.target.sets_upstream and self.local:
            self.checkout.set_config(f"branch.{self.work}.remote", self.shared.name)
            self.checkout.set_config(f"branch.{self.work}.merge", self.ref)


def branch_of(checkout: Checkout, shared: Shared, work: str) -> Branch:
    """Return the branch of ``work`` in ``checkout``; UnfitError if it has no commit yet."""
    local = work in (checkout.branch(), operation.branch(checkout))
    tip = checkout.commit(HEADS + work if local else "HEAD")
    if tip is None:
        raise UnfitError(f"{plain(work)} has no commit yet", hint="git commit")
    where = checkout.setting(f"branch.{work}.remote")
    ref = checkout.setting(f"branch.{work}.merge")
    upstream = (where, ref) if where is not None and ref is not None else None
    found = target(work, shared.name, upstream=upstream, default=checkout.setting("push.default"))
    return Branch(checkout, shared, work, tip, local, found)
