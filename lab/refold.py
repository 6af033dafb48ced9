"""The record of a work read once more, without handsoff: who holds it, and is every entry signed?

Stock git fetches it and verifies each signature; the rules are a few lines of our own.
"""

import json
from dataclasses import dataclass
from typing import Any

from machines import Lab

LEASE = "refs/wip/lease/feat%2Fcny-rounding"


@dataclass
class Fold:
    """Who holds the work after each entry: the rules once more, in a few lines."""

    holder: str = ""
    offered_to: str = ""
    leg: int = 0

    def take(self, body: dict[str, Any]) -> str:
        """Take one entry; return what the rules have against it."""
        kind, by = body["kind"], body["by"]
        if body["leg"] != self.leg:
            return f"made on leg {body['leg']}, this is leg {self.leg}"
        if kind == "Caught":
            if self.holder and by != self.offered_to:
                return f"{by} caught what was not offered to it"
            self.holder, self.offered_to, self.leg = by, "", self.leg + 1
        elif by != self.holder or self.offered_to:
            return f"{by} wrote {kind} and was not the holder"
        elif kind == "Offered":
            self.offered_to = body["to"]["machine"]
        return ""


def has_record(lab: Lab) -> bool:
    """Say whether the remote has a record of the work."""
    return bool(lab.git("m1", "ls-remote", "origin", LEASE).strip())


def record_faults(lab: Lab) -> list[str]:
    """Return what is wrong with the record on the remote, read without handsoff."""
    wrong = []
    allowed = lab.root / "allowed-signers"
    allowed.write_bytes(lab.handsoff("m2", "roster", "--allowed-signers").stdout)
    lab.git("m2", "fetch", "-q", "origin", f"{LEASE}:refs/lab/lease")
    ids = {m["id"]: m["name"] for m in lab.told("m2", "roster")["members"]}
    fold = Fold()
    for oid in lab.git("m2", "rev-list", "--reverse", "refs/lab/lease").split():
        check = ("-c", f"gpg.ssh.allowedSignersFile={allowed}", "verify-commit", oid)
        if lab.run("m2", "git", *check, check=False).returncode:
            wrong.append(f"git cannot verify entry {oid[:10]}")
        body = json.loads(lab.git("m2", "log", "-1", "--format=%B", oid).split("\n\n", 1)[1])
        if said := fold.take(body):
            wrong.append(f"entry {oid[:10]}: {said}")
    lab.git("m2", "update-ref", "-d", "refs/lab/lease")
    holder = ids.get(fold.holder, "nobody")
    if holder != "m2" or fold.offered_to:
        wrong.append(f"the record ends with {holder} as the holder")
    return wrong
