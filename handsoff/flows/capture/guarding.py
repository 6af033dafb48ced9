"""The guard at work: every object that leaves passes here first, in the threads that pack it."""

from collections.abc import Callable, Collection, Sequence

from handsoff.core.guard import guard
from handsoff.core.guard.guard import Finding
from handsoff.core.guard.views import without_signatures
from handsoff.core.objects import oid_of
from handsoff.core.works import luggage
from handsoff.edge.git.news import NewName
from handsoff.edge.git.pack import Piece
from handsoff.edge.scan import Scanner
from handsoff.errors import RefusedError


class Guarding:
    """Collects findings of ``scanner``'s and of our own."""

    def __init__(
        self, scanner: Scanner, limit: int, allowed: Collection[str] = (), *, redacted: bool = False
    ) -> None:
        self.redacted = redacted
        self.limit = limit
        self.allowed = allowed
        self.scanner = scanner
        self._content: list[tuple[Finding, str]] = []
        """Findings that are no news if the other end has the object; with the object's id."""
        self._names: list[Finding] = []

    def forget(self) -> None:
        """Begin anew, for another capture."""
        self._content.clear()
        self._names.clear()

    def inspect(self, pieces: Sequence[Piece]) -> None:
        """Look at objects about to be packed; called in several threads at once."""
        looked_at = [piece for piece in pieces if piece.kind != "tree" and not piece.judged]
        for hit in self.scanner.scan([(n, _told(p)) for n, p in enumerate(looked_at)]):
            piece = looked_at[hit.key]
            found = guard.finding(piece.path, hit.kind, hit.secret, piece.where)
            self._content.append((found, oid_of(piece.kind, piece.data)))
        for piece in looked_at:
            if piece.kind == "blob" and piece.path not in (b"", luggage.NAME):
                self._judge_file(piece)
        self.inspect_names([NewName(piece.path, piece.where, news=False) for piece in looked_at])

    def _judge_file(self, piece: Piece) -> None:
        found = (
            guard.named(piece.path, piece.where),
            guard.size_finding(piece.path, len(piece.data), self.limit, piece.where),
        )
        for finding in found:
            if finding and piece.data:
                self._content.append((finding, oid_of("blob", piece.data)))
            elif finding:
                self._names.append(finding)

    def inspect_names(self, names: Sequence[NewName]) -> None:
        """Look at names: one may itself be the secret, or may not travel with new content."""
        for name in names:
            found = guard.named(name.path, name.where) if name.news else None
            if found:
                self._names.append(found)
        for hit in self.scanner.scan([(n, name.path) for n, name in enumerate(names)]):
            path, where, _ = names[hit.key]
            self._names.append(guard.finding(path, f"{hit.kind} in a name", hit.secret, where))

    def add(self, findings: Sequence[Finding]) -> None:
        """Take what was found by who looked at ``judged`` pieces."""
        self._names += findings

    def oversize(self, path: bytes, size: int) -> bool:
        """Note a file that is too large, and say whether it may be read and sent all the same."""
        found = guard.size_finding(path, size, self.limit)
        assert found is not None
        self._names.append(found)
        refused, _ = guard.decide([found], self.allowed)
        return not refused

    def judge(self, had: Callable[[], set[str]]) -> list[Finding]:
        """Return the waived findings; RefusedError that lists the others.

        ``had`` is asked only when there is a finding: what the other end has is no news.
        """
        known = had() if self._content else set()
        found = [*self._names, *(f for f, oid in self._content if oid not in known)]
        refused, waived = guard.decide(found, self.allowed)
        if refused:
            lines = guard.render(refused)
            what = "1 thing" if len(refused) == 1 else f"{len(refused)} things"
            raise RefusedError(
                f"{what} must not leave this machine:\n  " + "\n  ".join(lines),
                hint=guard.advice(refused, redacted=self.redacted),
            )
        return waived


def _told(piece: Piece) -> bytes:
    """Return what is to be looked at: of commits and of entries all but their signatures.

    Trap: a signature is random letters, in which any short token is found sooner or later.
    """
    signed = piece.kind == "commit" or piece.path == luggage.NAME
    return without_signatures(piece.data) if signed else piece.data
