"""Sessions of agents that travel with a work: which, as far as they had grown, read and packed."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from handsoff.core import canon
from handsoff.core.guard import guard
from handsoff.core.objects import FILE, TREE, TreeEntry, encode_tree, oid_of
from handsoff.core.sizes import spell_size
from handsoff.core.transcripts import baggage
from handsoff.core.transcripts.baggage import Baggage, File, Packed
from handsoff.core.transcripts.sessions import CLAUDE
from handsoff.core.transcripts.whereabouts import is_lines
from handsoff.edge.agents import agents
from handsoff.edge.agents.agents import Session
from handsoff.edge.agents.transcripts import Extent
from handsoff.edge.git.pack import PackWriter, Piece
from handsoff.errors import RefusedError
from handsoff.flows.capture.guarding import Guarding
from handsoff.flows.desk import Desk, View
from handsoff.flows.sending.plan import Aim
from handsoff.flows.sending.proofreading import OVERLAP, Label, Proofreader
from handsoff.flows.sending.wishes import Wishes

_COMPRESSED: Final = "compressed, so that nobody can look into it"


def refuse_strangers(desk: Desk, view: View, aim: Aim, wishes: Wishes) -> str:
    """Raise RefusedError unless a transcript may go where ``wishes`` send it; nothing is read.

    Returns what is not known yet: a dry run does not ask who answers at a place for ssh.
    """
    if not wishes.transcript:
        return ""
    if wishes.verb == "send" and wishes.dry_run and aim.machine is None:
        return f"whose machine {wishes.to} is was not asked: a transcript goes only to your own"
    to = aim.machine
    mine = view.roster.person_of(desk.machine.id)
    problem = baggage.sending_problem(
        wishes.verb, len(aim.receivers), mine, to.person if to is not None else None
    )
    if problem:
        raise RefusedError(
            problem, hint="for other people there is the page; leave --transcript out"
        )
    return ""


@dataclass(frozen=True)
class Looked:
    """A session as it was when it was looked at: what it grows by from then on stays."""

    session: Session
    files: tuple[tuple[str, Extent], ...]
    """Names below the agent's home, the transcript first."""

    @property
    def size(self) -> int:
        """How many bytes travel."""
        return sum(extent.size for _, extent in self.files)

    @property
    def shown(self) -> dict[str, str | int]:
        """What is told of it."""
        session = self.session
        return {
            "agent": session.agent, "id": session.id, "version": session.version,
            "prompt": session.prompt, "files": len(self.files), "size": self.size,
        }  # fmt: skip

    def label(self, name: str) -> Label:
        """Return what one of its files is called in a finding."""
        session = self.session
        inside = name.partition(session.id)[2].lstrip("/")
        more = "" if name == self.files[0][0] else f", {inside or name}"
        said = f"{guard.TRANSCRIPT}{session.agent}"
        return Label(
            f"{said} {session.id[:8]}{more}", f"{said} {session.id}{more}",
            is_lines(name),
        )  # fmt: skip


@dataclass(frozen=True)
class Chosen:
    """The sessions that are to travel."""

    mode: str
    top: str
    spellings: tuple[str, ...]
    sessions: tuple[Looked, ...]

    @property
    def shown(self) -> tuple[dict[str, str | int], ...]:
        """What is told of them."""
        return tuple(one.shown for one in self.sessions)

    def mark(self) -> str:
        """Return what says whether the same was sent before: of the bytes as they are here."""
        known = [self.mode, *map(_mark, self.sessions)]
        return hashlib.sha256(canon.encode({"sessions": known})).hexdigest()


def _mark(looked: Looked) -> list[object]:
    files = []
    for name, extent in looked.files:
        digest = hashlib.sha256()
        for chunk in extent.read():
            digest.update(chunk)
        files.append([name, extent.size, digest.hexdigest()])
    return [looked.session.agent, looked.session.id, sorted(files)]


def choose(desk: Desk, wishes: Wishes, environ: Mapping[str, str]) -> Chosen | None:
    """Return the sessions of this checkout that are to travel, None if none are wanted.

    RefusedError where there are none, where one of them goes on, or where one cannot be rewritten.
    """
    if not wishes.transcript:
        return None
    top = desk.checkout.top
    spellings = agents.spellings_of(top, environ)
    found = agents.find_sessions(top, spellings, environ)
    if not found:
        looked_in = " and ".join(str(home) for home in agents.homes(environ).values())
        raise RefusedError(
            f"no session of an agent in {top} was found in {looked_in}",
            hint="handsoff sessions lists what there is; leave --transcript out to send the rest",
        )
    picked = [found[n] for n in baggage.chosen([one.id for one in found], wishes.sessions)]
    for session in picked:
        _refuse_unfit(session, wishes)
    real = os.path.realpath(top)
    spelled = tuple(dict.fromkeys(name for name in (str(top), *spellings) if name != real))
    looked = tuple(_look(session) for session in picked)
    total = sum(one.size for one in looked)
    if total > baggage.LIMIT:
        raise RefusedError(
            f"the transcripts have {spell_size(total)}, and {spell_size(baggage.LIMIT)} is the "
            "most", hint="choose some of them: --session ID",
        )  # fmt: skip
    return Chosen(wishes.transcript, real, spelled, looked)


def _refuse_unfit(session: Session, wishes: Wishes) -> None:
    name = f"{session.agent} {session.id[:8]}"
    if session.goes_on and not wishes.live_ok:
        who = f"in process {session.live.pid}" if session.live else "by who is not known"
        raise RefusedError(
            f"the session {name} is in use, {who}",
            hint="end it there first; --live-ok takes what it has written so far",
        )
    if session.compressed and wishes.transcript == "rewrite":
        raise RefusedError(
            f"the transcript of {name} is compressed, and is not rewritten so: {session.main}",
            hint="unpack it (zstd -d --rm), or --transcript raw",
        )


def _look(session: Session) -> Looked:
    files = []
    for path in session.files:
        name = session.name(path)
        files.append((name, Extent(path, lines=name.endswith(".jsonl"), live=session.goes_on)))
    return Looked(session, tuple(files))


@dataclass
class Stuffing:
    """Puts the chosen sessions into a pack, each block read by the guard on its way."""

    chosen: Chosen
    guarding: Guarding
    redact: bool
    proof: Proofreader = field(init=False)

    def __post_init__(self) -> None:
        self.proof = Proofreader(self.guarding.scanner)

    def pack(self, writer: PackWriter) -> str:
        """Write all of it; return the id of the tree."""
        if self.redact:
            self._read_through()
        sessions, entries = [], []
        number = 0
        for looked in self.chosen.sessions:
            files = []
            for name, extent in looked.files:
                tree = f"{number:05d}" if extent.size else ""
                file, oids = self._pack_file(writer, looked, name, extent, tree)
                if oids:
                    oid = _tree(writer, [TreeEntry(baggage.piece_name(n), FILE, oid)
                                         for n, oid in enumerate(oids)])  # fmt: skip
                    entries.append(TreeEntry(tree.encode(), TREE, oid))
                    number += 1
                files.append(file)
            sessions.append(self._packed(looked, tuple(files)))
        body = baggage.encode(Baggage(self.chosen.mode, tuple(sessions)))
        baggage.decode(body)  # what a receiver would refuse is refused here
        writer.add([Piece("blob", body, b"", "the list of transcripts")])
        entries.append(TreeEntry(baggage.LIST, FILE, oid_of("blob", body)))
        tree = _tree(writer, entries)
        writer.drain()
        self.guarding.add(self.proof.findings)
        return tree

    @property
    def warnings(self) -> Sequence[str]:
        """What was not looked at."""
        return [f"images in the {name} were not looked at" for name in sorted(self.proof.images)]

    def _read_through(self) -> None:
        """Find all that is to be redacted, wherever it stands again."""
        for looked in self.chosen.sessions:
            for name, extent in looked.files:
                label = looked.label(name)
                for block, first, before in _blocks(extent, label):
                    self.proof.read(block, label, first, before)
        self.proof.will_redact(self.guarding.allowed)

    def _pack_file(
        self, writer: PackWriter, looked: Looked, name: str, extent: Extent, tree: str
    ) -> tuple[File, list[str]]:
        label, digest, size, oids = looked.label(name), hashlib.sha256(), 0, []
        if name.endswith(".zst"):
            self.proof.refuse(label, _COMPRESSED)
        for block, first, before in _blocks(extent, label):
            out = self.proof.redacted(block, label)
            pieces = list(baggage.cut(out))
            for piece in pieces:
                digest.update(piece)
                oids.append(oid_of("blob", piece))
            size += len(out)
            writer.submit(self._job(out, pieces, label, first, before))
        return File(name, size, digest.hexdigest(), extent.mtime, tree), oids

    def _job(
        self, block: bytes, pieces: list[bytes], label: Label, first: int, before: bytes
    ) -> Callable[[], list[Piece]]:
        def run() -> list[Piece]:
            self.proof.read(block, label, first, self.proof.redacted(before, label))
            return [Piece("blob", piece, b"", label.text, judged=True) for piece in pieces]

        return run

    def _packed(self, looked: Looked, files: tuple[File, ...]) -> Packed:
        session, chosen = looked.session, self.chosen
        parts = files[0].name.split("/")
        return Packed(
            agent=session.agent, id=session.id, version=session.version, main=0,
            cwd=session.cwd, top=chosen.top, spellings=chosen.spellings, home=str(session.home),
            platform="posix", project=parts[1] if session.agent == CLAUDE else "", files=files,
        )  # fmt: skip


def _blocks(extent: Extent, label: Label) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield blocks, the number of the first line of each, and what comes just before it."""
    first, before = 1, b""
    for block in baggage.blocks(extent.read()):
        yield block, first, before
        first += block.count(b"\n")
        before = b"" if label.lines else block[-OVERLAP:]


def _tree(writer: PackWriter, entries: list[TreeEntry]) -> str:
    data = encode_tree(entries)
    writer.add([Piece("tree", data, b"", "")])
    return oid_of("tree", data)
