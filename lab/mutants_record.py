"""Mutants of lease, roster and record."""

from typing import Final

TESTS: Final = {
    "chain": ["test_chain", "works/test_hostile_chains"],
    "works/lease": ["works/test_lease", "works/test_hostile_chains", "works/test_lease_model"],
    "works/holding": ["works/test_holding"],
    "machines/cards": ["machines/test_cards"],
    "machines/roster": ["machines/test_roster"],
    "machines/admission": ["machines/test_roster"],
    "parcels/manifest": ["parcels/test_manifest"],
    "machines/rotation": ["machines/test_rotation"],
    "works/entry": ["works/test_record", "works/test_hostile_chains", "works/test_pen"],
    "works/record": [
        "works/test_record",
        "works/test_pen",
        "audit/test_strayed",
        "works/test_hostile_chains",
        "works/test_record_model",
    ],
    "works/pen": ["works/test_pen"],
    "works/cache": ["works/test_pen"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "chain": [
        ("two signatures pass", "if len(commit.signatures) > 1:", "if False:"),
        ("a signature that does not hold", "    if key is None:", "    if key == b'':"),
        ("a second spelling passes", "if folded != lines[1:-1] or", "if False and"),
        ("merges pass", "if len(commit.parents) > 1:", "if False:"),
        ("further headers pass", "if commit.others:", "if False:"),
        ("headers in any order", "if encode_commit(commit) != data:", "if False:"),
        ("any size", "if len(data) > limit:", "if False:"),
        ("in the name of others", 'if body["by"] != signed_by:', "if False:"),
        ("any author", "or shown[1] != signed_by:", "or False:"),
        ("any committer", "if commit.committer != commit.author or", "if"),
        ("the commit's own time", 'if shown[2] != str(body["at"]):', "if False:"),
        ("any subject", "or not subject.isprintable():", "or False:"),
        ("bytes of another id", 'if oid_of("commit", data) != oid:', "if False:"),
        ("a chain with gaps", "(parents[0] if parents else None) != after:", "False:"),
        ("a rewind is ahead", "if seen[-1] in found:", "if found[-1] in seen:"),
        ("a deletion is the same", "return Tips.DELETED", "return Tips.SAME"),
    ],
    "works/lease": [
        ("no leg check", "if event.leg != lease.leg:", "if False:"),
        ("no revision check", "if event.revision != lease.revision:", "if False:"),
        (
            "no carrier check",
            "if event.by != lease.carrier:\n        return",
            "if False:\n        return",
        ),
        ("no running out", "lease = lease.as_of(event.at)", "pass"),
        ("runs out a second late", "now < self.until:", "now <= self.until:"),
        ("offers are for anyone", "if lease.to is not None and", "if False and"),
        ("a person is one machine", "person.casefold() == self.person.casefold()", "False"),
        ("a catch keeps the leg", "leg=lease.leg + 1", "leg=lease.leg"),
        ("a catch may lie", "if event.found != lease.found():", "if False:"),
        (
            "held work can be caught",
            "Saved: State.HELD,",
            "Saved: State.HELD,\n        Caught: State.HELD,",
        ),
        (
            "an offer can be saved on",
            "Withdrawn: State.HELD,",
            "Withdrawn: State.HELD,\n        Saved: State.HELD,",
        ),
        ("closed is for ever", "State.CLOSED: {Caught: State.HELD},", "State.CLOSED: {},"),
        ("a save keeps the revision", "revision = lease.revision + 1", "revision = lease.revision"),
        (
            "a save keeps the end",
            "revision=revision, until=at + hold, length=hold",
            "revision=revision",
        ),
        ("offers that have run out", "if deadline <= at:", "if False:"),
        ("offers for years", "if deadline - at > LONGEST:", "if False:"),
        (
            "a lapse forgets the carrier",
            'until=None, to=None, reason=""',
            'until=None, to=None, carrier=""',
        ),
    ],
    "works/holding": [
        ("anyone may push", "if lease.carrier != machine:", "if False:"),
        (
            "the offerer may push",
            "if lease.state is State.OFFERED:\n        said",
            "if False:\n        said",
        ),
        ("no notice", "return Verdict(allowed=True, notice=said)", "return Verdict(allowed=True)"),
        ("closed works stay guarded", "(State.FREE, State.CLOSED)", "(State.FREE,)"),
        ("an offer is for everybody", "and to.admits(machine, person)", ""),
        ("an offer is for who made it", 'machine not in ("", lease.carrier)', "True"),
        ("who offers carries no more", "(State.HELD, State.OFFERED)", "(State.HELD,)"),
        ("times go back", "max(now, before)", "now"),
        ("signed times do not count", "and not contradicted", ""),
        ("nothing is waited out", "or waited >= lease.length", ""),
    ],
    "machines/cards": [
        ("a card by any key", "canon.encode(inner)) != key:", "canon.encode(inner)) is None:"),
        ("any age key", 'or not _AGE_KEY.fullmatch(inner["age_key"])', ""),
    ],
    "machines/roster": [
        ("anyone's person", "if theirs and by not in {m.id for m in theirs}:", "if False:"),
        ("names twice", "if roster.named(card.name):", "if False:"),
        ("keys twice", "if card.id in roster.everyone:", "if False:"),
        (
            "the revoked sign on",
            "return [m for m in self.everyone.values() if m.revoked is None]",
            "return list(self.everyone.values())",
        ),
        ("any namespace", '"git,handsoff-*"', '"*"'),
    ],
    "machines/admission": [
        (
            "a stranger's entries",
            "if signer is None:\n        return Word.UNKNOWN",
            "if signer is None:\n        return Word.SIGNED",
        ),
        ("a revoked machine's entries", "if signer.revoked is None else Word.REVOKED", ""),
        ("any founding", "if read.pinned not in (None, link.oid):", "if False:"),
        ("another's card", "if card.id != link.by:", "if False:"),
        ("replays", 'if (body["prev"], body["seq"]) != expected[1:]:', "if False:"),
        ("another roster", 'if body["roster"] != expected[0]:', "if False:"),
        ("backdated", "if link.at < roster.at:", "if False:"),
        ("with files", "if link.tree != EMPTY_TREE:", "if False:"),
        ("nobody is left", "if len(roster.members()) == 1:", "if False:"),
    ],
    "parcels/manifest": [
        ("any parcel of the revoked", "(e.by, e.parcel, e.envelope) == want", "e.by == want[0]"),
        ("a parcel of anybody's", "(e.by, e.parcel, e.envelope) == want", "want[1] == e.parcel"),
    ],
    "machines/rotation": [
        ("another name or person", "(card.name, card.person) != (mine.name, mine.person)", "False"),
        ("old names twice", "while wanted.casefold() in taken:", "while False:"),
        ("whoever was thrown out", "was.revoked.by == old", "True"),
        ("the old keys stay", "return renamed, admitted, revoked", "return renamed, admitted"),
    ],
    "works/entry": [
        ("further fields", "if body.keys() != _CHAIN | _EVENT | own:", "if False:"),
        (
            "any hold",
            "if type(length) is not int or not 0 < length <= LONGEST.total_seconds():",
            "if False:",
        ),
        (
            "any tree",
            'return oid_of("tree", page_tree(page)) if page else EMPTY_TREE',
            "return EMPTY_TREE",
        ),
    ],
    "works/record": [
        *(
            (f"no check of {name}", f"    _{name},\n", "")
            for name in ("repository", "work", "predecessor", "time", "roster", "tree", "offer")
        ),
        ("no check of sequence", "    _sequence,\n", ""),
        ("an older roster", "if under < record.under:", "if False:"),
        ("admitted afterwards", "admitted > under:", "admitted < 0:"),
        (
            "no tip of revocation",
            "not in signer.revoked.tips or signer.id in record.passed",
            "not in signer.revoked.tips",
        ),
        (
            "revoked from the start",
            "return record.work not in signer.revoked.tips or",
            "return True or",
        ),
        ("under the roster that revoked it", "if under >= signer.revoked.seq:", "if False:"),
        ("offers of old states", "if entry.event.envelope != record.saved.envelope:", "if False:"),
        ("the table is not asked", "if isinstance(lease, Refusal):", "if False:"),
        ("what was pushed before it was closed", "record.lease.state is State.CLOSED:", "False:"),
        ("each word about a branch", "if e.branch != event.branch), event)", "), event)"),
        ("void entries move the tip", "prev == record.tip", "prev == (record.git_tip or '')"),
    ],
    "works/pen": [
        ("writes what is void", "if not after.entries[-1].good:", "if False:"),
        ("signs what is refused", "if isinstance(lease, Refusal):", "if False:"),
        (
            "takes what others dropped",
            "if lease.state is State.DROPPED and lease.carrier != self.by:",
            "if False:",
        ),
        ("signs before the end", "at = max(at, lease.until)", "pass"),
    ],
    "works/cache": [
        (
            "a cache of any roster",
            '"format", "repo", "roster", "work", "behind"',
            '"format", "repo", "repo", "work", "behind"',
        )
    ],
}  # fmt: skip
