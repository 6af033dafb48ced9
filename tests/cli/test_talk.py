"""What is printed is safe to show, also where somebody forgot to see to that."""

import ast
from pathlib import Path

import pytest

from handsoff.cli import talk
from handsoff.errors import DamagedError

ROOT = Path(__file__).resolve().parents[2] / "handsoff"
# the last line before a terminal: these print, and nobody else
PRINT = {
    "cli/talk.py": 2,  # through _safe
    "cli/pairing.py": 1,  # a question of ours
    "cli/render.py": 2,  # progress: names of phases and numbers, all ours
    "cli/listening.py": 3,  # progress of many, and a question, each cleaned there
    "edge/lan/mdns_sockets.py": 1,  # into a pipe of ours, as JSON
    "edge/hooks.py": 1,  # in the text of a hook: why Python could not start
    "__main__.py": 1,  # a word of ours, before anything is loaded
    "hook.py": 2,  # to an agent, as JSON, of what passed core/plain.py; and its own help
    "prepush.py": 1,
    "prereceive.py": 1,
}
# terminal escapes, OSC 52, a carriage return over a line, turned writing, hidden text
ATTACKS = ["\x1b[2J", "\x1b]52;c;aGk=\x07", "ok\rBAD", "\x9b31m", "a\u202eb", "\u2066x", "\u200bx",
           "\U000e0041", "\x08\x08", "\x00", "\ufeff", "\x7f", "\u2028"]  # fmt: skip


def prints(tree: ast.Module) -> int:
    """Return how many places print, write to a standard stream, or let a library do so."""
    found = 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        named = called == "print" or called.endswith((".echo", ".secho"))
        found += named or (called.endswith(".write") and "sys.std" in called)
    return found


def test_nothing_prints_but_the_places_that_make_it_safe() -> None:
    counted = {
        str(path.relative_to(ROOT)): prints(ast.parse(path.read_text()))
        for path in ROOT.rglob("*.py")
    }
    counted["edge/hooks.py"] += (ROOT / "edge/hooks.py").read_text().count("print(")
    expected = {name: number for name, number in PRINT.items() if (ROOT / name).exists()}
    assert {name: number for name, number in counted.items() if number} == expected


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_text_that_nobody_cleaned_reaches_no_terminal_as_it_was(
    attack: str, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.show(f"a page: {attack} end\n\ttab")
    talk.say(f"git said: {attack} end")
    talk.fail(DamagedError(f"x {attack}", hint=f"y {attack}"), as_json=True)
    shown = "".join(capsys.readouterr())
    bad = [c for c in shown if not (c.isprintable() or c in "\n\t")]
    assert bad == []
    assert not {"\u202e", "\u2066", "\u200b", "\ufeff"} & {*shown}
    assert shown.count("end") == 2


def test_names_that_are_no_text_stay_to_be_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    talk.show("caf\udce9 舍入")
    assert capsys.readouterr().out == "caf\\udce9 舍入\n"
