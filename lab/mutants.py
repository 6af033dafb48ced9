"""Break the rules of the core, one by one: which tests notice?

Run from the repository root: python lab/mutants.py [WORD ...]. Works on a copy; a WORD
picks the mutants whose name has it. Exit code: how many went unnoticed. What is broken, and which
tests of tests/core should notice, stands in the files mutants_*.py beside this one.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import mutants_adapters
import mutants_agents
import mutants_baggage
import mutants_finding
import mutants_hooks
import mutants_hostile
import mutants_leaving
import mutants_pages
import mutants_pairing
import mutants_phrases
import mutants_record
import mutants_remote
import mutants_ssh
import mutants_tour
import mutants_transcript
import mutants_transfer
import mutants_trees
import mutants_waiting

CORE = Path("handsoff/core")
THOROUGH = "--hypothesis-profile=thorough"  # as many examples as hypothesis has by itself
TESTS: dict[str, list[str]] = {}
MUTANTS: dict[str, list[tuple[str, str, str]]] = {}
"""By module: what is broken, the text that stands there, and what it is replaced with."""
for _part in (
    mutants_agents,
    mutants_baggage,
    mutants_adapters,
    mutants_finding,
    mutants_leaving,
    mutants_hooks,
    mutants_hostile,
    mutants_pages,
    mutants_pairing,
    mutants_record,
    mutants_phrases,
    mutants_remote,
    mutants_ssh,
    mutants_tour,
    mutants_transcript,
    mutants_transfer,
    mutants_trees,
    mutants_waiting,
):
    TESTS |= _part.TESTS
    for _module, _more in _part.MUTANTS.items():
        MUTANTS[_module] = [*MUTANTS.get(_module, []), *_more]


def notices(root: Path, tests: list[str]) -> str:
    """Return the first test file that fails in the tree at ``root``, or nothing."""
    for test in tests:
        file = f"tests/core/{test}.py"
        command = [sys.executable, "-m", "pytest", "-qx", THOROUGH, file]
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
