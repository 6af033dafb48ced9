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
    open_to: str = ""
    """Who may catch it: a machine, "*" for all, "" for nobody."""
    offered: bool = False
    leg: int = 0

    def take(self, body: dict[str, Any]) -> str:
        """Take one entry; return what the rules have against it."""
        kind, by = body["kind"], body["by"]
        if body["leg"] != self.leg:
            return f"made on leg {body['leg']}, this is leg {self.leg}"
        if kind == "Caught":
            if self.holder and self.open_to not in ("*", by):
                return f"{by} caught what was not there for it"
            self.holder, self.open_to, self.leg = by, "", self.leg + 1
        elif by != self.holder or (self.open_to and not self.offered):
            return f"{by} wrote {kind} and was not the holder"
        elif self.offered != (kind == "Withdrawn") and kind != "Dropped":
            return f"{kind} of an offer" if self.offered else "withdrawn what was not offered"
        elif kind == "Offered":
            self.open_to = body["to"].get("machine") or "*"
        elif kind in ("Withdrawn", "Dropped"):
            self.open_to = "*" if kind == "Dropped" else ""
        self.offered = kind == "Offered"
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
    if holder != "m2" or fold.open_to:
        wrong.append(f"the record ends with {holder} as the holder")
    return wrong
