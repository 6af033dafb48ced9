"""Mutants of transcripts: who may have one, what a list names, what becomes of what is here."""

from typing import Final

TESTS: Final = {
    "transcripts/baggage": ["transcripts/test_baggage"],
    "transcripts/installing": ["transcripts/test_installing"],
    "transcripts/whereabouts": ["transcripts/test_whereabouts"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "transcripts/baggage": [
        ("anybody gets a transcript", "if mine is not None and mine == theirs:", "if True:"),
        ("nobody is everybody's person", "if mine is not None and mine == theirs:",
         "if mine == theirs:"),
        ("an offer takes one along", 'if verb != "send" or receivers != 1:', "if receivers != 1:"),
        ("several get one", 'if verb != "send" or receivers != 1:', 'if verb != "send":'),
        ("two transcripts", 'if mains != [fields["main"]]:', 'if fields["main"] not in mains:'),
        ("files of other sessions", "or belongs(agent, name) != session:", "or False:"),
        ("files of other projects", "if problem or elsewhere or", "if problem or"),
        ("names that fold", "if len({*folded}) != len(folded):", "if False:"),
        ("more than fits", "if sum(file.size for file in every) > LIMIT:", "if False:"),
        ("pieces that are too long", "all(0 < size <= LONGEST for size in sizes)", "True"),
        ("pieces that are no file", "len(sizes) == len(pieces)", "True"),
        ("pieces twice", "if len({*trees}) != len(trees) or", "if"),
    ],
    "transcripts/installing": [
        ("a fork is an extension", "OTHER: Verdict.FORK", "OTHER: Verdict.EXTENSION"),
        ("half a fork", "return dict.fromkeys(verdicts, Verdict.FORK)", "pass"),
        ("what has grown here is replaced", "goes_on = of_main in (Verdict.NEW, Verdict.EXTENSION)",
         "goes_on = True"),
        ("one spelling alone", "and there.line(mine) != yours", ""),
        ("a torn line is whole", "self._end = written[len(mine) :]", 'self._end = b""'),
    ],
    "transcripts/whereabouts": [
        ("any last line is a marker", 'tail.endswith(b"\\n" + line)', "tail.endswith(line)"),
        ("tool results are rewritten", "and not aside", ""),
        ("codex has it twice", "if len(here) > 1:", "if False:"),
        ("compressed or not", 'if there and there.endswith(".zst") !=', "if False and there !="),
        ("a rollout has one place as well", "if session.agent == CODEX:\n        there",
         "if False:\n        there"),
        ("doubled for another folder", "in here if name != place", "in here if False"),
        ("in its own way", "for name in here if name != place", "for name in here"),
    ],
}  # fmt: skip
