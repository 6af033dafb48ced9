"""A member that makes parcels by hand: of any state, signed and sealed as they should be."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from handsoff.core.checkout.state import State
from handsoff.core.objects import TREE, TreeEntry, encode_commit, encode_tree, parse_tree
from handsoff.core.parcels import bounds
from handsoff.core.works.lease import Recipient
from handsoff.edge.git import restore, snapshot
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.sinks import Storing
from tests.kit.machines import Machine
from tests.kit.monday import WORK, Monday
from tests.kit.operations import shell
from tests.kit.parcels import put_together, take_apart
from tests.kit.running import inside

_TOTALS: Final = (bounds.FILES, bounds.UNPACKED)


@dataclass(frozen=True)
class Forger:
    """m1, which makes parcels for m2 of any state it likes."""

    m1: Machine
    m2: Machine
    folder: Path
    claims: dict[str, Any]
    honest: State
    store: Objects

    @classmethod
    def at(cls, monday: Monday, folder: Path) -> "Forger":
        """Return one that has an honest parcel to begin with."""
        m1, m2 = monday.m1, monday.m2
        m2.git("fetch", "-q")  # else what the parcel builds on comes with it
        file, place = folder / "work.handsoff", folder / "forged.git"
        inside(m1, "send", "m2", "--to-file", file).ok()
        pack, claims = take_apart(file, m2.member())
        m1.run("git", "init", "-q", "--bare", place).ok()
        (place / "objects/info/alternates").write_text(f"{m1.top}/.git/objects\n")
        (folder / "pack").write_bytes(pack)
        shell(place, "git unpack-objects -q <../pack").ok()
        store = Objects(place / "objects", m1.top / ".git/objects")
        return cls(m1, m2, folder, claims, restore.read_state(store, claims["envelope"]), store)

    def parcel(
        self, state: State, *, operation: str = "", transcript: str = "", **more: Any
    ) -> Path:
        """Return a parcel of ``state``, signed and sealed as it should be, with ``more`` claims.

        Of its totals it says nothing, as an older sender does. ``operation`` is a tree that stands
        in place of that of the operation, ``transcript`` one beside the state.
        """
        envelope = snapshot.seal_envelope(state, Storing(self.store), transcript).envelope
        if operation:
            outer = self.store.commit(envelope)
            entries = parse_tree(self.store.tree(outer.tree))
            kept = [entry for entry in entries if entry.name != b"operation"]
            root = encode_tree([*kept, TreeEntry(b"operation", TREE, operation)])
            changed = replace(outer, tree=self.store.write("tree", root))
            envelope = self.store.write("commit", encode_commit(changed))
        tips = "\\n".join([envelope, *(f"^{base}" for base in self.claims["bases"])])
        place, file = self.folder / "forged.git", self.folder / "forged.handsoff"
        whole = "git pack-objects -q --window=0 --no-reuse-delta --revs --stdout"
        shell(place, f"printf '{tips}' | {whole} >../pack").ok()
        pack = (self.folder / "pack").read_bytes()
        digest = hashlib.sha256(pack).hexdigest()
        totals = {name: n for name, n in self.claims["counts"].items() if name not in _TOTALS}
        self.claims.update({
            "envelope": envelope, "pack_size": len(pack), "pack_sha256": digest,
            "counts": totals, **more,
        })  # fmt: skip
        put_together(file, pack, self.claims, by=self.m1.member(), to=self.m2.member())
        return file

    def offer(self, state: State, **more: Any) -> Path:
        """Return a parcel of ``state`` that the record names as the hand-over to m2."""
        file = self.parcel(state, **more)
        parcel, envelope = self.claims["parcel"], self.claims["envelope"]
        page = self.m1.record(WORK).saved
        assert page is not None
        self.m1.writes(
            WORK,
            lambda pen: (
                pen.withdrawn()
                .saved(page=page.page, envelope=envelope, parcel=parcel)
                .offered(Recipient(machine=self.m2.member().id), parcel=parcel, route="file")
            ),
        )
        return file
