"""Mutants of what a file on disk is to git, where modes may mean nothing, and of joined ways."""

from typing import Final

TESTS: Final = {"checkout/trees": ["checkout/test_trees"]}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "checkout/trees": [
        ("bits count though they mean nothing", "not self.bits and both", "False and both"),
        ("bits never count", "not self.bits and both", "both"),
        ("a link is a file without bits", "both == {FILE, EXECUTABLE}",
         "both <= {FILE, EXECUTABLE, LINK}"),
        ("a file is no link", "not self.links and (", "False and ("),
        ("each file is a link", "not self.links and (", "("),
        ("what the index has is there", "Leaf(indexed.mode, found.oid)", "indexed"),
        ("a way begins where its second half does", "before.old if before else old", "old"),
        ("a way there and back is one", "if change.old != change.new)", ")"),
    ],
}  # fmt: skip
