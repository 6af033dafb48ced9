"""What ``--json`` prints, held against the schemas in the package: by every run of every test.

``seen`` has the schemas that a document of this process was held against.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from handsoff.cli.schemas import names, text

ALIASES: Final = {"take": "catch", "roster-admit": "admit"}
seen: set[str] = set()


def check(words: Sequence[str | Path], out: str, code: int) -> None:
    """Fail if what a command printed is not what its schema says."""
    if "--json" not in words or not out:
        return
    name = name_of([str(word) for word in words])
    lines = out.splitlines() if name in ("listen", "web") and code in (0, 130) else [out]
    for line in lines:
        document = json.loads(line)
        failed = isinstance(document, dict) and document.keys() == {"error"}
        _hold("error" if failed or name is None else name, document)


def name_of(words: Sequence[str]) -> str | None:
    """Return the schema of a command, None if there is no such command."""
    known = [ALIASES.get(word, word) for word in ("-".join(words[:2]), words[0])]
    return next((word for word in known if word in names()), None)


def _hold(name: str, document: Any) -> None:
    error = best_match(_validator(name).iter_errors(document))
    assert error is None, f"{name}.json: at {error.json_path}: {error.message}"
    seen.add(name)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(text(name)))
