"""Break the rules of lease, roster, record, push and server, one by one: which tests notice?

Run from the repository root: python lab/mutants.py [WORD ...]. Works on a copy; a WORD
picks the mutants whose name has it. Exit code: how many went unnoticed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import mutants_waiting

CORE = Path("handsoff/core")
TESTS = {
    "chain": ["test_chain", "test_hostile_chains"],
    "lease": ["test_lease", "test_hostile_chains", "test_lease_model"],
    "holding": ["test_holding"],
    "cards": ["test_cards"],
    "roster": ["test_roster"],
    "admission": ["test_roster"],
    "manifest": ["test_manifest"],
    "rotation": ["test_rotation"],
    "archive": ["test_archive"],
    "prune": ["test_prune"],
    "entry": ["test_record", "test_hostile_chains", "test_pen"],
    "record": ["test_record", "test_pen", "test_hostile_chains", "test_record_model"],
    "pen": ["test_pen"],
    "cache": ["test_pen"],
    "places": ["test_places"],
    "tips": ["test_tips"],
    "health": ["test_health"],
    "pushing": ["test_pushing"],
    "pushcert": ["test_pushcert"],
    "gate": ["test_gate"],
    "audit": ["test_audit"],
    "upkeep": ["test_audit"],
    "findings": ["test_audit"],
    "refs": ["test_audit"],
}
MUTANTS: dict[str, list[tuple[str, str, str]]] = {
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
    "lease": [
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
    "holding": [
        ("anyone may push", "if lease.carrier != machine:", "if False:"),
        (
            "the offerer may push",
            "if lease.state is State.OFFERED:\n        said",
            "if False:\n        said",
        ),
        ("no notice", "return Verdict(allowed=True, notice=said)", "return Verdict(allowed=True)"),
        ("closed works stay guarded", "(State.FREE, State.CLOSED)", "(State.FREE,)"),
        ("times go back", "max(now, before)", "now"),
        ("signed times do not count", "and not contradicted", ""),
        ("nothing is waited out", "or waited >= lease.length", ""),
    ],
    "cards": [
        ("a card by any key", "canon.encode(inner)) != key:", "canon.encode(inner)) is None:"),
        ("any age key", 'or not _AGE_KEY.fullmatch(inner["age_key"])', ""),
    ],
    "roster": [
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
    "admission": [
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
    "manifest": [
        ("any parcel of the revoked", "(e.by, e.parcel, e.envelope) == want", "e.by == want[0]"),
        ("a parcel of anybody's", "(e.by, e.parcel, e.envelope) == want", "want[1] == e.parcel"),
    ],
    "rotation": [
        ("another name or person", "(card.name, card.person) != (mine.name, mine.person)", "False"),
        ("old names twice", "while wanted.casefold() in taken:", "while False:"),
        ("whoever was thrown out", "was.revoked.by == old", "True"),
        ("the old keys stay", "return renamed, admitted, revoked", "return renamed, admitted"),
    ],
    "archive": [
        *(
            (f"no check of {name}", f"    _{name},\n", "")
            for name in ("shape", "place", "order", "admitted", "no_files")
        ),
        ("any entry", "any(seen in chain for", "any(True for"),
        ("any end", "any(chain[-1] == tip for", "any(True for"),
        ("held works are let go", "return seen.lease.state is State.CLOSED", "return True"),
        ("held by what was seen", "or seen.has_lapsed(now)", "or True"),
        ("not seen whole", "if seen.behind or not", "if not"),
        ("strangers", "return Word.UNKNOWN", "return Word.SIGNED"),
        ("the revoked, after their tip", "signer.id in read.passed or", ""),
        ("the revoked, under later rosters", "under >= signer.revoked.seq", "False"),
        ("an older roster", "if under < read.under:", "if False:"),
    ],
    "prune": [
        *(
            (f"no stay for {name}", f"    _{name},\n", "")
            for name in ("unsound", "pending", "in_hand", "blocked", "trunk")
        ),
        ("merged before it was saved", "merged >= work.event.at:", "True:"),
        ("what is not merged", "if sight.branch and merged is None:", "if False:"),
        ("saved after the merge", "    if sight.branch:\n", "    if False:\n"),
        ("never pushed", "if push is None:", "if push is None and merged:"),
        ("saved after the push", "if push.seq < work.seq:", "if False:"),
        ("pushes of any branch", "if _branch(e) == self.record.work)", "if True)"),
        ("records too soon", "now - lease.since >= keep and", ""),
        ("records from the future", "and not sight.record.ahead(now)", ""),
        ("parcels on their way", "return self.waiting & named", "return self.waiting"),
    ],
    "entry": [
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
    "record": [
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
        ("void entries move the tip", "prev == record.tip", "prev == (record.git_tip or '')"),
    ],
    "pen": [
        ("writes what is void", "if not after.entries[-1].good:", "if False:"),
        ("signs what is refused", "if isinstance(lease, Refusal):", "if False:"),
        (
            "takes what others dropped",
            "if lease.state is State.DROPPED and lease.carrier != self.by:",
            "if False:",
        ),
        ("signs before the end", "at = max(at, lease.until)", "pass"),
    ],
    "pushing": [
        ("a torn push is forgotten", "return Deed.RECORD if torn", "return Deed.NOTHING if torn"),
        ("said twice", "and not meant.is_said_by(said)", ""),
        ("any push is torn", "meant.new == tip and", ""),
        ("a new entry for an old one", "(meant_by(said).old, said.new) == (tip, want)", "False"),
        ("the branch goes anywhere", "(meant_by(said).old, said.new) == (tip, want)", "True"),
        ("what was said on another leg", "and e.leg == record.lease.leg", ""),
        ("what was said first", "here[-1]", "here[0]"),
        ("into the upstream, always", "if default in _BY_UPSTREAM:", "if True:"),
        ("into another remote's", "where != remote or", ""),
    ],
    "pushcert": [
        ("replayed", "if status != _FRESH or not nonce:", "if not nonce:"),
        ("another nonce", 'line.startswith("nonce ")] != [f"nonce {nonce}"]:', "False]:"),
        ("a signature that does not hold", "    if key is None:", "    if key == b'':"),
        ("any signed text", "or not signed.startswith(_HEAD):", "or False:"),
        ("any size", "if len(data) > LIMIT:", "if False:"),
    ],
    "gate": [
        ("any chain is deleted", "(allowed or archived)", "True"),
        ("the roster is deleted", "chains = (Kind.RECORD, Kind.NOTES)", "chains = tuple(Kind)"),
        ("rewinds and forks", "if found not in (Tips.SAME, Tips.AHEAD):", "if False:"),
        ("any commit is a probe", "len(commits) > PROBES or trees != {EMPTY_TREE}", "False"),
        ("any number of entries", "if fresh > ENTRIES:", "if False:"),
        ("void entries", "if not entry.good:", "if False:"),
        ("archived, not closed", "return closed and archive.ends", "return archive.ends"),
        ("closed, not archived", "and archive.ends(name, update.old)", ""),
        ("the past put back", "if not update.old and any(", "if False and any("),
        ("parcels change", "if update.old:", "if False:"),
        ("parcels with a history", "if commit.parents:", "if False:"),
        ("a branch moves without the entry's word", "!= new:", "is None:"),
        ("an entry for any move", "and ends[-1] == new", ""),
        ("an entry from anywhere", "== ends[:-1]", "!= []"),
        ("entries of two machines", "if len({e.by for e in entries}) == 1 else set()", ""),
        ("a certificate for any move", "(update.ref, old, new) in certificate.updates", "True"),
        ("strangers vouch", "if own.roster.member(machine) is not None}", "if machine}"),
        ("anybody vouches", "any(record.may_push(machine, now).allowed for", "any(True for"),
        (
            "old entries are new",
            "self.record.entries[len(self.record.entries) - self.fresh :]",
            "self.record.entries",
        ),
        ("judged by what is not here", "if record.behind:", "if False:"),
    ],
    "cache": [
        (
            "a cache of any roster",
            '"format", "repo", "roster", "work", "behind"',
            '"format", "repo", "repo", "work", "behind"',
        )
    ],
    "places": [
        ("all branches are ours", 'prefix == _HEADS.rstrip("/")', "False"),
        ("tags are ours", 'prefix.split("/")[1] in _TAKEN', "False"),
        ("a second roster elsewhere", "for place in KNOWN if", "for place in () if"),
        ("ours only below the place", '(f"{prefix}/", f"{PREFIX}/")', '(f"{prefix}/",)'),
    ],
    "tips": [
        ("a fork is pushed over", "Mend.PEOPLE if judged is Tips.FORKED", "Mend.PUSH_BACK if True"),
        ("a rewind stands", "if judged is Tips.REWOUND or judged is None:", "if judged is None:"),
        ("a pruned work comes back", "return Mend.NAMED if announced else", "return"),
        ("an older tip is news", "if not theirs or theirs in mine", "if not theirs"),
        ("an unknown tip is old", "if not theirs or theirs in mine", "if True"),
        ("a claim never ends", "claim.tip in chain", "False"),
        ("a claim of any chain", "if not (claim.ref == ref and", "if not (True and"),
        ("the remote was never asked", "replace(claim, asked=True)", "claim"),
        ("claims without end", "or c in same)[-MOST:]", "or c in same)"),
        ("one machine crowds out others", "[-MOST_OF_ONE:]", ""),
    ],
    "health": [
        ("a remote that does not compare", "if probed.swaps is False:", "if False:"),
        ("hidden refs are fine", "if probed.shown is False:", "if False:"),
        ("no atomic push is fine", "if probed.atomic is False:", "if False:"),
        ("another machine's probe", "read[1] == machine and", "True and"),
        ("a probe under way", "int(read[2]) < now - OLD_PROBE", "True"),
        ("any clock", "if ahead <= SKEW:", "if True:"),
    ],
    "audit": [
        ("what was taken back", "if tips in _CONTRADICTS and", "if False and"),
        ("the archive excuses nothing", "return lets_go(", "return False and lets_go("),
        ("the archive excuses all", "return lets_go(", "return True or lets_go("),
        ("notes stay for ever", "return archive.names(f", "return False and archive.names(f"),
        ("notes go unasked", "return archive.names(f", "return True or archive.names(f"),
        ("a void archive", 'list(_void(chain.ref, "", rows))', "[]"),
        ("what is no chain", "if chain.commits is None:", "if chain.commits == ():"),
        ("void entries are fine", "        if row.good:\n", "        if True:\n"),
        ("known ones are found again", "and f.oid in known)", "and False)"),
        ("all are known", "f.what is What.VOID and f.oid in known", "f.what is What.VOID"),
        ("notes of the revoked weigh", "row.word is Word.REVOKED:", "False:"),
        ("behind its roster", "if record.behind:", "if False:"),
        ("parcels are not looked for", "and offer.parcel not in waits:", "and False:"),
        ("parcels of other works", "r.kind is Kind.PARCEL and", "r.kind is Kind.RECORD and"),
        ("any founder", "fingerprint(link.key) == trust:", "True:"),
        ("a name that was cut", "== self.ref.component), \"\")", "!= ''), \"\")"),
        ("stray refs", "if ref.kind is Kind.STRAY:", "if False:"),
        ("probes", "elif ref.kind is Kind.PROBE:", "elif False:"),
        ("parcels of no record", "ref.kind is Kind.PARCEL and there is None:", "False:"),
        ("parcels that nobody named", "ref.last not in named[there.ref.name]:", "False:"),
    ],
    "upkeep": [
        ("offers past their deadline", "if then.how is How.OFFER_LAPSE:", "if False:"),
        ("blocked works", "elif then.blocked:", "elif False:"),
        ("a lapse counts at once", "now - then.since >= OFFER:", "True:"),
        ("no lapse counts", "now - then.since >= OFFER:", "False:"),
        ("a second late", "then.since >= OFFER:", "then.since > OFFER:"),
        ("a little ahead", "> now + SKEW:", "> now:"),
        ("never ahead", "> now + SKEW:", "> now + 10**7 * SKEW:"),
        ("nobody is silent", "if member.name not in heard:", "if False:"),
    ],
    "findings": [
        ("the lightest decides", "for grade in Grade if", "for grade in reversed(Grade) if"),
        ("notes weigh", "Grade.NOTE: 0,", "Grade.NOTE: 3,"),
    ],
    "refs": [
        (
            "any component",
            '["lease", component] if _is_component(component):',
            '["lease", component]:',
        ),
        ("any parcel", "and is_parcel_id(parcel):", "and True:"),
        ("any machine", "and is_machine_id(machine):", "and True:"),
    ],
}  # fmt: skip
TESTS |= mutants_waiting.TESTS
for _module, _more in mutants_waiting.MUTANTS.items():
    MUTANTS[_module] = [*MUTANTS.get(_module, []), *_more]


def notices(root: Path, tests: list[str]) -> str:
    """Return the first test file that fails in the tree at ``root``, or nothing."""
    for test in tests:
        file = f"tests/core/{test}.py"
        command = [sys.executable, "-m", "pytest", "-qx", file]
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(command, cwd=root, env=env, capture_output=True, check=False)
        if run.returncode in (1, 2):  # a test failed, or could not even be collected
            return test
    return ""


def main() -> None:
    """Print one line for each mutant; fail if any goes unnoticed."""
    words = sys.argv[1:]
    unnoticed = 0
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for part in ("handsoff", "tests"):
            shutil.copytree(part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy("pyproject.toml", root)
        for module, mutants in MUTANTS.items():
            rule = root / CORE / f"{module}.py"
            sound = rule.read_text()
            chosen = [
                m for m in mutants if not words or any(w in f"{module}: {m[0]}" for w in words)
            ]
            # tests that fail anyway would notice everything
            assert not chosen or not notices(root, TESTS[module]), f"{module}: unbroken, and fails"
            for name, before, after in chosen:
                title = f"{module}: {name}"
                assert sound.count(before) == 1, title
                rule.write_text(sound.replace(before, after))
                seen_by = notices(root, TESTS[module])
                unnoticed += not seen_by
                print(f"{title:48} {seen_by or 'UNNOTICED'}", flush=True)
            rule.write_text(sound)
    sys.exit(unnoticed)


if __name__ == "__main__":
    main()
