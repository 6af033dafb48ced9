"""What a state becomes on this machine: the same bytes, but for what git converts another way here.

A state has tracked files as git keeps them, unless a checkout would not bring their bytes back
(``State.raw``). Where this clone converts (line ends above all), such a file arrives as a fresh
checkout here would write it. No program of the user's runs on what was received.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from handsoff.core.checkout import paths
from handsoff.core.checkout.conversion import Kind, settings_of
from handsoff.core.checkout.state import LeftBehind, State
from handsoff.core.checkout.trees import Change, Leaf, composed, differences, leaf_at
from handsoff.core.loose import quoted
from handsoff.core.objects import EMPTY_TREE, EXECUTABLE, FILE, GITLINK
from handsoff.edge.git import clone, compared
from handsoff.edge.git.convert import OURS, Rules, attributes_among, converter, rules_of
from handsoff.edge.git.look import Look
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import Checkout
from handsoff.edge.git.snapshot import Snapshot
from handsoff.edge.steps import step
from handsoff.errors import UnfitError


@dataclass(frozen=True)
class Between:
    """What is between a checkout and a state, whose trees are large: each is read once for it."""

    index: list[Change]
    """From the index here to that of the state."""
    beside: list[Change]
    """From the index of the state to its files."""
    files: list[Change]
    """From the files here to those of the state."""


def between(checkout: Checkout, seen: Snapshot, target: State, objects: Objects) -> Between:
    """Return what is between a checkout as it was ``seen`` and ``target``."""
    read, here = seen.reader(objects), seen.state
    pairs = (here.index_tree, target.index_tree), (target.index_tree, target.work_tree)
    if objects.has(here.index_tree):
        index, beside = compared.changes(checkout, pairs, *objects.folders)
    else:  # it was hashed, and is kept nowhere
        index, beside = (list(differences(read, *pair)) for pair in pairs)
    files = composed(differences(read, here.work_tree, here.index_tree), composed(index, beside))
    return Between(index, beside, files)


@dataclass(frozen=True)
class Local:
    """What is to be written on this machine to reach a state."""

    changes: list[Change]
    """From what is on disk to what will be, byte for byte."""
    between: Between
    here: Mapping[bytes, Leaf] = field(default_factory=dict)
    """What will be on disk where that is not what the state has."""
    kept: Mapping[bytes, Leaf] = field(default_factory=dict)
    """What the state has there."""
    told: tuple[LeftBehind, ...] = ()
    """What a person has to do by hand for some files."""


@dataclass(frozen=True)
class Localizer:
    """Makes the changes of one restore local. ``objects`` reads the state, ``store`` keeps."""

    checkout: Checkout
    objects: Objects
    store: Objects
    target: State
    look: Look
    between: Between

    @cached_property
    def _raw(self) -> frozenset[bytes]:
        return frozenset(self.target.raw)

    @cached_property
    def _untracked(self) -> set[bytes]:
        """Files of the target that its index does not have."""
        outside = {change.path for change in self.between.beside if change.old is None}
        return outside.difference(entry.path for entry in self.target.special)

    def localize(self, seen: Snapshot, changes: Iterable[Change]) -> Local:
        """Return what ``changes``, from the state of ``seen`` to the target, are on this disk.

        UnfitError if a filter that this clone requires has no command.
        """
        wanted = {change.path: change for change in changes}
        for path in self._raw.symmetric_difference(seen.state.raw):
            leaf = leaf_at(self.objects.tree, self.target.work_tree, path)
            wanted.setdefault(path, Change(path, leaf, leaf))
        self._bring(wanted.values())
        with self._rules(wanted) as (rules, attributes):
            if rules is None:
                return Local(list(_real(seen, wanted.values(), {})), self.between)
            here = self._converted(rules, attributes, wanted.values())
        here |= self._unchanged(rules, seen, wanted.values())
        kept = {path: leaf for path, c in wanted.items() if (leaf := c.new) and path in here}
        told = self._told(rules, wanted.values())
        changes = list(_real(seen, wanted.values(), here))
        return Local(changes, self.between, here, kept, tuple(told))

    @contextmanager
    def _rules(self, wanted: dict[bytes, Change]) -> Iterator[tuple[Rules | None, Path]]:
        """Give the rules as the target's own attributes make them, and a folder with those.

        If the attributes change, every tracked file is looked at: ``wanted`` then has them all.
        """
        # not in the index here, or another way: attributes may be on disk already, where an
        # earlier run was cut short
        others = (change.path for change in (*self.between.index, *self.between.beside))
        fresh = [*wanted, *others]
        paths_there = {*self.look.entries.paths, *fresh}
        if attributes_among(fresh):
            for change in differences(self.objects.tree, EMPTY_TREE, self.target.work_tree):
                same = Change(change.path, change.new, change.new)
                wanted.setdefault(change.path, same)
            self._bring(wanted.values())
        with _attributes(self.checkout, self.objects, self.target, paths_there) as (folder, found):
            rules = rules_of(self.checkout, wanted.keys(), found, folder)
            if rules is not None:
                _refuse_broken(rules, wanted)
            yield rules, folder

    def _bring(self, wanted: Iterable[Change]) -> None:
        """Fetch the files that a partial clone was only promised, all at once."""
        if self.checkout.promisor is not None:
            leaves = (c.new for c in wanted if c.new is not None and c.new.mode != GITLINK)
            absent = {leaf.oid for leaf in leaves if not self.objects.has(leaf.oid)}
            clone.fetch_promised(self.checkout, sorted(absent))

    def _converted(
        self, rules: Rules, attributes: Path, wanted: Iterable[Change]
    ) -> dict[bytes, Leaf]:
        leaves = {
            change.path: change.new
            for change in wanted
            if change.new is not None
            and change.new.mode in (FILE, EXECUTABLE)
            and change.path not in self._raw
            and change.path not in self._untracked
            and self._is_gits(rules, change.path, change.new)
        }
        with converter(self.checkout, *self.objects.folders) as git:
            found = git.smudge(leaves, attributes)
            here = {path: leaf for path, leaf in found.items() if leaf != leaves[path]}
            for path in here:
                step("catch.apply.convert.before")
                self.store.write("blob", git.smudged(path))
        return here

    def _unchanged(
        self, rules: Rules, seen: Snapshot, wanted: Iterable[Change]
    ) -> Iterator[tuple[bytes, Leaf]]:
        """Yield the files that a filter of this clone has made of the very object that arrives.

        The sender had only the object: it has no such filter, or left a large file where it was.
        """
        for path, _, leaf in wanted:
            made = rules.kind(path) in (Kind.FILTER, Kind.SECRET) and path not in self.look.suspects
            same = [Leaf(entry.mode, entry.oid) for entry in self.look.entries.of(path)] == [leaf]
            on_disk = seen.on_disk(path, leaf)
            if leaf and on_disk and made and same and path not in self._raw:
                yield path, on_disk

    def _is_gits(self, rules: Rules, path: bytes, leaf: Leaf) -> bool:
        return rules.kind(path) is Kind.GIT and rules.may_differ(path, self.objects.blob(leaf.oid))

    def _told(self, rules: Rules, wanted: Iterable[Change]) -> Iterator[LeftBehind]:
        for change in wanted:
            path, is_new = change.path, change.new is not None and change.new != change.old
            if is_new and path not in self._raw and rules.kind(path) in (Kind.SECRET, Kind.FILTER):
                shown = paths.shown(path)
                why = f"as git has it, no filter was run: git checkout -- {quoted(shown)}"
                if rules.kind(path) is Kind.SECRET:
                    why = (
                        f"encrypted, as git has it; to decrypt it: git checkout -- {quoted(shown)}"
                    )
                yield LeftBehind(path, why)


def _real(
    seen: Snapshot, wanted: Collection[Change], here: Mapping[bytes, Leaf]
) -> Iterator[Change]:
    """Yield the changes that are to be made on disk, with what is really there now."""
    for change in wanted:
        if change.path in seen.filtered.secret and change.old == change.new:
            continue  # decrypted or not: nothing of it changes
        old = seen.on_disk(change.path, change.old)
        new = here.get(change.path, change.new)
        if old != new:
            yield Change(change.path, old, new)


@contextmanager
def _attributes(
    checkout: Checkout, objects: Objects, target: State, known: Iterable[bytes]
) -> Iterator[tuple[Path, list[bytes]]]:
    """Give a folder with the target's ``.gitattributes``, as far as they are among ``known``.

    One that is not on disk counts as the index has it.
    """
    present = []
    ours = {e.path: Leaf(e.mode, e.oid) for e in target.special if e.stage == OURS}
    with checkout.scratch() as folder:
        for path in attributes_among(known):
            if attributes_among(paths.parents(path)):
                continue  # nobody's, and in the way of those above
            trees = (target.work_tree, target.index_tree)  # where git looks, in this order
            leaves = (*(leaf_at(objects.tree, tree, path) for tree in trees), ours.get(path))
            leaf = next((f for f in leaves if f and f.mode in (FILE, EXECUTABLE)), None)
            if leaf is not None:  # git follows no link here
                place = folder / os.fsdecode(path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(objects.blob(leaf.oid))
                present.append(path)
        yield folder, present


def check_filters(checkout: Checkout, objects: Objects, target: State) -> None:
    """Raise UnfitError if git in this clone could not work with files of ``target``."""
    if not settings_of(checkout.config).misses_a_command:
        return
    found = differences(objects.tree, EMPTY_TREE, target.work_tree)
    known = [change.path for change in found]
    with _attributes(checkout, objects, target, known) as (folder, attributes):
        rules = rules_of(checkout, known, attributes, folder)
        if rules is not None:
            _refuse_broken(rules, known)


def _refuse_broken(rules: Rules, wanted: Iterable[bytes]) -> None:
    for path in wanted:
        if rules.kind(path) is Kind.BROKEN:
            name = rules.attributes[path]["filter"]
            raise UnfitError(
                f"git requires the filter {name} for {paths.shown(path)}, and it has no command",
                hint=f"install it and set filter.{name}.clean and .smudge in this clone",
            )
