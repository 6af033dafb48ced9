"""The sentences that handsoff says to people, collected from its source for the catalogues.

    python lab/phrases.py          # handsoff.pot and every handsoff.po brought up to date, .mo made

A sentence stands in the source as an ordinary literal or f-string. Its template is what gettext
calls a msgid: the text with a name in braces for each value, made from the expression that stands
there, so `f"{plain(work)} has no r{n}"` is "{work} has no r{n}". Where a value may be one of two
texts, each of these is a template of its own.
"""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import typer
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from jinja2.ext import GETTEXT_FUNCTIONS, babel_extract

from handsoff.cli.app import app
from handsoff.core.audit.findings import Grade
from handsoff.core.chain import Word
from handsoff.core.pages.headings import Section
from handsoff.core.phrases import SIGNS
from handsoff.core.tour.toy import STAYS
from handsoff.core.works.entry import KINDS, OUTCOMES
from handsoff.core.works.lease import How, State

LOCALE = Path("handsoff/locale")
DOMAIN = "handsoff"

_NOT_PEOPLE = {
    "cli/manpage.py", "cli/shape.py", "core/guard/patterns.py", "core/hooks/hooking.py",
    "core/hooks/standing.py", "core/machines/words.py", "core/settings/team_rules.py",
    "core/shell/shellwords.py", "core/tour/toy.py", "edge/git/command.py", "edge/agents/hooklog.py",
    "edge/janitor.py", "edge/ssh/openssh.py", "hook.py",
}  # fmt: skip
"""What programs and agents read, and words that are none of ours."""
_SAID = {"say", "show", "confirm", "Finding", "Problem"}
_NOT_SAID = {
    "compile", "encode", "endswith", "fullmatch", "getenv", "git", "match", "removeprefix",
    "removesuffix", "run", "search", "split", "startswith", "strip", "Path", "TypeVar",
}  # fmt: skip
_TYPER = (
    "Usage", "Arguments", "Options", "Commands", "Show this message and exit.", "required",
    "default: {value}", "env var: {name}", "Missing command.", "no such command {name}.",
    "no such command {name}", "no such option: {name}", "missing argument {name}",
    "missing option {name}", "option {name} does not take a value",
    "option {name} requires an argument", "got unexpected extra argument(s) ({words})",
    "invalid value for {name}: {said}", "{value} is not in the range {range}",
    "no such command {name}. Did you mean {names}?",
    "Input should be a valid integer, unable to parse string as an integer",
    "Input should be less than or equal to {most}",
    "no such option: {name} (Possible options: {names})",
    "Input should be greater than or equal to {least}", "did you mean {names}?",
)  # fmt: skip
"""What Typer says (typer/core.py, typer/_click/exceptions.py), as cli/app.py passes it on."""
_MADE = (
    *(f"{{n}} {unit}" for unit in ("days", "hours", "minutes", "seconds")),
    "{many} machines", "1 machine", "{many} entries", "1 entry", "{many} things", "1 thing",
    "{many} parcels", "1 parcel", "{many} rosters", "1 roster", "{many} files", "1 file",
    "version {numbers}", "clean", "until {until}", "also: {rest}", "shows {seen}", "a rebase",
    "a merge", "a revert", "a bisect", "a cherry-pick", "{counts}; {size}", "from {by} ({how})",
    "{what} {detail}", "{kind}: {why}", "blocked: {quoted}", "{what} (line {line})", "({text})",
    "{line}: {standing}", "{mark} {topic}: {said}", "{agent}: {words}", "founding {founding}",
    "{row}  (this machine)", "connection refused", "no route to host", "network is unreachable",
    "handsoff send, or save", "no known address", "anyone of {name}",
)  # fmt: skip
"""What is put together from words."""
_ADAPTERS = (
    "installed", "not installed", "stale", "program not found", "not trusted", "switched off",
    "changed since trusted", "hooks are off",
)  # fmt: skip
_VALUES = (
    ("to", "anyone"), ("said", "says"), ("said", "would say"), ("fate", "stays"),
    *(("outcome", outcome) for outcome in sorted(OUTCOMES)),
    *(("verdict", said) for said in (*STAYS.values(), "same", "NOT THE SAME")),
    ("verdict", "NOT AS IT SHOULD BE"),
    *(("adapter", state) for state in _ADAPTERS), ("blocked", "blocked"), ("blocked", "dropped"),
)  # fmt: skip
"""Single words in a sentence, each with the name that it stands for."""
_HEADS = (
    "work", "is", "carrier", "since (UTC)", "at", "entries", "when (UTC)", "leg", "rev", "who",
    "what",
)  # fmt: skip
_PHASE = re.compile(r"\.(?:phase|tell)\(\s*\"([a-z ]+)\"")
_WORDS = re.compile(r"[A-Za-z]{2,}")
_CODE = re.compile(r"[\\^|]|\$\S|\(\?|%[sd]|-----|refs/|^[a-z0-9_.-]+$|^--?[a-z]|\n\n\n")


def words() -> Iterator[tuple[str, str]]:
    """Yield the single words that are translated, each with its context."""
    yield from (("state", state.value) for state in State)
    yield from (("how", how.value) for how in How)
    yield from (("entry", kind) for kind in (*KINDS, "Noted", "Refused", "void"))
    yield from (("signature", word.value) for word in Word)
    yield from (("grade", grade.value) for grade in Grade)
    yield from (("phase", phase) for phase in sorted(_phases()))
    yield from (("sign", sign) for sign in (*SIGNS, ":"))
    yield from _VALUES
    yield from (("column", head) for head in _HEADS)


def _phases() -> set[str]:
    """Return the names of the phases of a verb, which stand where one begins."""
    paths = Path("handsoff/flows").glob("*.py")
    return {name for path in paths for name in _PHASE.findall(path.read_text())}


class Phrase(NamedTuple):
    """One template, where it stands, and whether it is certainly shown to people."""

    template: str | tuple[str, ...]
    file: str
    line: int
    sure: bool


def phrases(path: Path, file: str) -> Iterator[Phrase]:
    """Yield the templates of one source file."""
    tree = ast.parse(path.read_text())
    yield from _Reader(file).read(tree, sure=False)


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file

    def read(self, node: ast.AST, *, sure: bool) -> Iterator[Phrase]:
        match node:
            case ast.JoinedStr():
                yield from self._told(template_of(node), node, sure=sure)
                for value in node.values:
                    if isinstance(value, ast.FormattedValue):
                        yield from self.read(value.value, sure=sure)
            case ast.Constant(value=str(text)):
                yield from self._told(text, node, sure=sure)
            case _ if not _is_silent(node):
                sure = self._is_said(node, sure=sure)
                for part in ast.iter_child_nodes(node):
                    yield from self.read(part, sure=sure)
            case _:
                pass

    def _is_said(self, node: ast.AST, *, sure: bool) -> bool:
        match node:
            case ast.Call(func=func):
                return sure or _name(func).endswith("Error") or _name(func) in _SAID
            case ast.keyword(arg="hint" | "help" | "epilog" | "said" | "todo"):
                return True
            case ast.Yield():
                return sure or "/cli/" in self._file
            case ast.Compare() | ast.Dict() | ast.Subscript():
                return False
            case _:
                return sure

    def _told(self, template: str, node: ast.expr, *, sure: bool) -> Iterator[Phrase]:
        for part in template.split("\n"):
            text = part.strip(" ,;:") if part.strip() != "" else ""
            words = _WORDS.findall(re.sub(r"\{[^}]*\}", " ", text))
            named = "{" in text and (sure or "/cli/" in self._file)
            enough = " " in text and (len(words) > 1 or named)
            if words and enough and not _CODE.search(text):
                yield Phrase(text, self._file, node.lineno, sure)


def _is_silent(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()):  # a docstring
            return True
        case _:
            return isinstance(node, ast.Call) and _name(node.func) in _NOT_SAID


def template_of(node: ast.JoinedStr) -> str:
    """Return an f-string as a template: each value by a name of its own."""
    parts, taken = [], {}
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(value.value)
            continue
        code = ast.dump(value.value)
        name = next((n for n, c in taken.items() if c == code), "")
        if not name:
            base = _value_name(value.value)
            name, n = base, 2
            while name in taken:
                name, n = f"{base}{n}", n + 1
            taken[name] = code
        parts.append("{" + name + "}")
    return "".join(parts)


def _value_name(node: ast.AST) -> str:
    """Return a name for what stands in an f-string: of a call, that of what it is given."""
    found = "value"
    match node:
        case ast.Attribute(value=inner, attr="value"):  # of an Enum
            found = _value_name(inner)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            found = name.strip("_").lower()
        case ast.Call(func=ast.Name(id="len")):
            found = "count"
        case ast.Call(args=[inner, *_]) | ast.Call(func=ast.Attribute(value=inner)):
            found = _value_name(inner)
        case ast.Subscript(value=inner) | ast.Await(value=inner) | ast.BinOp(left=inner):
            found = _value_name(inner)
        case ast.BoolOp(values=[inner, *_]) | ast.IfExp(test=inner) | ast.UnaryOp(operand=inner):
            found = _value_name(inner)
        case ast.Compare(left=inner):
            found = _value_name(inner)
        case _:
            pass
    return found or "value"


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def help_texts() -> Iterator[Phrase]:
    """Yield what --help says of each command."""
    waiting = [typer.main.get_command(app)]
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        texts = [command.help, command.epilog, *(getattr(p, "help", None) for p in command.params)]
        for text in filter(None, texts):
            for paragraph in text.split("\n\n"):
                yield Phrase(" ".join(paragraph.split()), "cli", 0, sure=True)


def page_texts() -> Iterator[Phrase]:
    """Yield what the pages of ``handsoff web`` say; what is counted as one of it and many."""
    for path in sorted(Path("handsoff/web/templates").glob("*.html")):
        with path.open("rb") as source:
            options = {"trimmed": "true", "trim_blocks": "true", "lstrip_blocks": "true"}
            for line, _, text, _ in babel_extract(source, GETTEXT_FUNCTIONS, (), options):
                words = text[:2] if isinstance(text, tuple) else text
                yield Phrase(words, str(path), line, sure=True)


def collected() -> dict[str | tuple[str, ...], Phrase]:
    """Return every template by its text, with the place where it is certainly said, if one."""
    found: dict[str | tuple[str, ...], Phrase] = {}
    paths = sorted(Path("handsoff").rglob("*.py"))
    read = [p for path in paths if str(path.relative_to("handsoff")) not in _NOT_PEOPLE
            for p in phrases(path, str(path))]  # fmt: skip
    typers = [Phrase(text, "typer", 0, sure=True) for text in (*_TYPER, *_MADE)]
    heads = [Phrase(f"## {section.value}", "page", 0, sure=True) for section in Section]
    for phrase in (*read, *help_texts(), *typers, *heads, *page_texts()):
        if phrase.template not in found or (phrase.sure and not found[phrase.template].sure):
            found[phrase.template] = phrase
    return found


_HEADER = {
    "domain": DOMAIN, "project": "handsoff", "version": "0", "fuzzy": False,
    "copyright_holder": "the developers of handsoff", "msgid_bugs_address": "",
    "last_translator": "", "language_team": "",
    "creation_date": datetime(2026, 1, 1, tzinfo=UTC),
    "revision_date": datetime(2026, 1, 1, tzinfo=UTC),
    "header_comment": "# The sentences of handsoff; made by lab/phrases.py from the source.",
}  # fmt: skip
"""The catalogues change with their sentences alone."""


def update() -> None:
    """Bring the catalogues up to date."""
    template = Catalog(**_HEADER)
    for text, phrase in collected().items():
        template.add(text, locations=[(phrase.file, phrase.line)])
    for context, word in words():
        template.add(word, context=context)
    with (LOCALE / f"{DOMAIN}.pot").open("wb") as out:
        write_po(out, template, width=0, no_location=True, omit_header=False)
    for path in sorted(LOCALE.glob(f"*/LC_MESSAGES/{DOMAIN}.po")):
        with path.open("rb") as old:
            catalog = read_po(old, locale=path.parts[-3], domain=DOMAIN)
        catalog.update(template, no_fuzzy_matching=True)
        catalog.obsolete.clear()
        for name, value in _HEADER.items():
            setattr(catalog, name, value)
        with path.open("wb") as out:
            write_po(out, catalog, width=0, no_location=True)
        with path.with_suffix(".mo").open("wb") as out:
            write_mo(out, catalog)


if __name__ == "__main__":
    update()
