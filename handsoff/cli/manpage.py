"""The man page, handsoff(1), made from the commands as they are, like their help.

Written in the macros of man(7). What people wrote goes through ``_text``: a backslash, or a dot at
the start of a line, would be roff's.
"""

import re
from collections.abc import Iterator
from typing import Final

from handsoff import __version__
from handsoff.cli.shape import Verb, Word

ENVIRONMENT: Final = {
    "HANDSOFF_HOME": "The folder of this machine's keys, card, clones and inbox.",
    "HANDSOFF_LANG": "The language of what is said, en or zh_CN, if not that of the locale.",
    "HANDSOFF_MDNS": "Set to off, nothing is announced or looked for by mDNS.",
    "HANDSOFF_SSH": "The ssh to run, with its options, such as ssh -F FILE.",
    "HANDSOFF_VERB_OPTION": "Any option of a verb, such as HANDSOFF_SEND_AT=HOST:PORT.",
    "MACHINE_ID": "The name that handsoff init gives this machine.",
    "VISUAL, EDITOR": "What handsoff page opens the page with.",
    "CLAUDE_CONFIG_DIR, CODEX_HOME": "Where these agents keep settings and sessions.",
}
FILES: Final = {
    ".wip/HANDOFF.md": "The page of the work in this checkout.",
    ".wip/carry": "Ignored files that travel too, in the syntax of .gitignore.",
    ".git/handsoff/": "What this clone keeps: roster, records as last seen, what waits.",
    "refs/wip/": "On the remote: the roster, the records of works, and sealed parcels.",
}
_SUMMARY: Final = "hand half-finished git work from one machine to another"
_CODE: Final = re.compile(r"(\d+) ([^,.]+)")


def page(root: Verb, epilog: str) -> str:
    """Return the page; ``epilog`` is what the help says of exit codes."""
    return "".join(f"{line}\n" for line in _lines(root, epilog))


def _lines(root: Verb, epilog: str) -> Iterator[str]:
    yield f'.TH HANDSOFF 1 "" "handsoff {__version__}" "User Commands"'
    yield from (".SH NAME", f"handsoff, git\\-handsoff \\- {_SUMMARY}")
    yield ".SH SYNOPSIS"
    for start, name in (("", "handsoff"), (".br", "git handsoff")):
        yield from (start,) * bool(start)
        yield from (f".B {name}", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", _text(root.help), ".SH OPTIONS")
    for option in root.options:
        yield from _option(option)
    yield ".SH COMMANDS"
    for verb in root.all():
        if verb.path and not verb.hidden:
            yield from _verb(verb)
    yield ".SH EXIT STATUS"
    for code, said in _CODE.findall(epilog):
        yield from (".TP", f".B {code}", _text(said))
    for title, told in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        yield f".SH {title}"
        for name, said in told.items():
            yield from (".TP", f".B {_text(name)}", _text(said))
    yield from (
        ".SH SEE ALSO",
        ".BR git (1),",
        ".BR ssh (1),",
        ".BR ssh\\-keygen (1),",
        ".BR age (1)",
    )


def _verb(verb: Verb) -> Iterator[str]:
    asked = [_text(w.metavar) if w.required else f"[{_text(w.metavar)}]" for w in verb.arguments]
    arguments = "".join(rf" \fI{word}\fR" for word in asked)
    yield f".SS \\fBhandsoff {_text(verb.path)}\\fR{arguments}"
    for number, paragraph in enumerate(verb.help.split("\n\n")):
        yield from (".PP",) * bool(number)
        yield _text(paragraph)
    for word in verb.arguments:
        yield from (".TP", f".I {_text(word.metavar)}", _text(word.help))
    for option in verb.options:
        if "--help" not in option.names:
            yield from _option(option)


def _option(option: Word) -> Iterator[str]:
    value = rf" \fI{_text(option.metavar)}\fR" if option.metavar else ""
    yield ".TP"
    yield ", ".join(rf"\fB{_text(name)}\fR{value}" for name in option.names)
    default = f" Default: {option.default}." if option.default else ""
    many = " May be given more than once." if option.many else ""
    yield _text(option.help + default + many)


def _text(words: str) -> str:
    spelled = words.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(
        rf"\&{line}" if line.startswith((".", "'")) else line for line in spelled.split("\n")
    )
