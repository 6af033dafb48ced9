"""A shell line cut into the commands that it runs, as far as reading it can tell.

Quotes, here-documents, substitutions, subshells and ``cd`` are understood, and comments and what is
only data are not taken for commands. Variables, globs and functions are not worked out: a word has
them as they are written. It never raises, whatever it is given, and a hook can afford its imports.

Sources: POSIX Shell Command Language (2.2 quoting, 2.6 expansions, 2.7 redirection, 2.9 commands);
about_Quoting_Rules and about_Operators for the little of PowerShell.
"""

import re

_DEEPEST = 24
_FARTHEST = 64  # changes of the folder that are followed, one upon the other: the latest
_RUN = re.compile(r"[^\s;&|()<>'\"\\`$]+")
_RUN_QUOTED = re.compile(r"[^\"\\`$]+")
_RUN_WINDOWS = re.compile(r"[^\s;&|(){}<>'\"`$]+")
_BRACED = re.compile(r"\{(?:[^{}\"\\]|\\.|\"(?:[^\"\\]|\\.)*+\")*+\}", re.DOTALL)
_ANSI = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t"}
_BREAKS = " \t\r\n;&|()<>"
_GOES = frozenset({"cd", "pushd", "chdir", "set-location", "sl"})


class Command:
    """One simple command: its words without quotes, where it runs, and what it is given."""

    __slots__ = ("cd", "given", "source", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.cd: tuple[str, ...] = ()
        """The folders that were changed to before it, in order, as written."""
        self.given = ""
        """Its here-document or here-string."""
        self.source: Command | None = None
        """The command whose output it reads."""


def commands(text: str, *, windows: bool = False, cd: tuple[str, ...] = ()) -> list[Command]:
    """Return the commands of a shell line, those of substitutions and subshells too, in order."""
    reader = _Reader(text, windows=windows)
    reader.cd = cd
    while reader.at < len(text):
        reader.read_list("")
    return reader.found


class _Reader:
    def __init__(self, text: str, *, windows: bool, depth: int = 0) -> None:
        self.text = text
        self.windows = windows
        self.escape = "`" if windows else "\\"
        self.depth = depth
        self.at = 0
        self.cd: tuple[str, ...] = ()
        self.sums = False  # whether this may be ((1 << 2)), without here-documents
        self.found: list[Command] = []
        # here-documents that begin on the next line: of whom, delimiter, quoted, tabs cut off
        self.waiting: list[tuple[Command, str, bool, bool]] = []

    def read_list(self, closing: str) -> None:
        """Read commands up to ``closing``, or to the end."""
        command = Command()
        while self.at < len(self.text):
            c = self.text[self.at]
            if c in " \t\r":
                self.at += 1
            elif c == self.escape and self.text[self.at + 1 : self.at + 2] == "\n":
                self.at += 2
            elif c == closing or c in "\n;&|)" or (self.windows and c in "{}"):
                command = self._end(command, c)
                if c == closing:
                    return
            elif c == "(":
                self._subshell(command)
                command = Command()
            elif c in "<>":
                self._redirect(command)
            elif c == "#":
                self._until("\n")
                self.at -= 1
            else:
                command.words.append(self._word())
        self._done(command)

    def _end(self, command: Command, c: str) -> Command:
        """End a command at the operator ``c``; return the next, which may read its output."""
        self.at += 1
        pipe = c == "|" and self.text[self.at : self.at + 1] != "|"
        if c == "&" and self.text[self.at : self.at + 1] == ">":
            return command  # &>file
        self._done(command)
        if c == "\n":
            self._documents()
        after = Command()
        after.source = command if pipe and command.words else None
        return after

    def _done(self, command: Command) -> None:
        if not command.words:
            return
        command.cd = self.cd
        self.found.append(command)
        if command.words[0].lower() in _GOES:
            operands = [word for word in command.words[1:] if not word.startswith("-")]
            self.cd = (*self.cd[1 - _FARTHEST :], operands[0] if operands else "-")

    def _subshell(self, command: Command) -> None:
        array = bool(command.words) and command.words[-1].endswith("=")
        self._done(command)
        self.at += 1
        if not array:
            self._nested()
            return
        while self.at < len(self.text):  # x=(words): nothing runs but what is substituted
            c = self.text[self.at]
            self.at += c in _BREAKS
            if c == ")":
                return
            self._word()

    def _nested(self) -> None:
        """Read up to the bracket that closes; where that is too deep, read on as if it were not."""
        if self.depth >= _DEEPEST:
            return
        self.depth += 1
        here, sums = self.cd, self.sums
        self.sums = sums or self.text.startswith("(", self.at)
        self.read_list(")")
        self.cd, self.sums = here, sums
        self.depth -= 1

    def _redirect(self, command: Command) -> None:
        text, at = self.text, self.at
        if text.startswith(("<(", ">("), at):
            self.at += 2
            self._nested()
            command.words.append("$()")
        elif text.startswith("<<<", at):
            self.at += 3
            self._blanks()
            command.given = self._word()
        elif text.startswith("<<", at) and not self.sums:
            self.at += 2
            tabs = text.startswith("-", self.at)
            self.at += tabs
            self._blanks()
            start = self.at
            name = self._word()
            quoted = any(c in "'\"\\" for c in text[start : self.at])
            self.waiting.append((command, name, quoted, tabs))
        else:
            if command.words and command.words[-1].isdigit() and text[at - 1 : at].isdigit():
                command.words.pop()
            while self.at < len(text) and text[self.at] in "<>&|":
                self.at += 1
            self._blanks()
            self._word()

    def _blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _documents(self) -> None:
        """Take the here-documents that begin here."""
        for command, name, quoted, tabs in self.waiting:
            lines = []
            while self.at < len(self.text):
                line = self._until("\n")
                line = line.lstrip("\t") if tabs else line
                if line.rstrip("\r") == name:
                    break
                lines.append(line)
            command.given = "\n".join(lines)
            if not quoted:
                self._inside(command.given)
        self.waiting = []

    def _inside(self, text: str, *, script: bool = False) -> None:
        """Read the substitutions in ``text``, or all of it as a script of its own."""
        if self.depth >= _DEEPEST:
            return
        reader = _Reader(text, windows=self.windows, depth=self.depth + 1)
        reader.cd = self.cd
        while reader.at < len(text):
            if script:
                reader.read_list("")
            else:
                reader._quoted("")
        self.found += reader.found

    def _word(self) -> str:
        parts: list[str] = []
        run = _RUN_WINDOWS if self.windows else _RUN
        breaks = _BREAKS + "{}" if self.windows else _BREAKS
        while self.at < len(self.text) and self.text[self.at] not in breaks:
            match = run.match(self.text, self.at)
            if match:
                parts.append(match[0])
                self.at = match.end()
            else:
                parts.append(self._special())
        return "".join(parts)

    def _special(self) -> str:
        """Read what begins with a quote, an escape or a dollar."""
        c = self.text[self.at]
        self.at += 1
        if c == "'":
            return self._until("'")
        if c == '"':
            return self._quoted('"')
        if c == "$":
            return self._dollar()
        if c == self.escape:
            after = self.text[self.at : self.at + 1]
            self.at += 1
            return "" if after == "\n" else after
        if c == "`":
            return self._backtick()
        return c

    def _until(self, mark: str) -> str:
        start, found = self.at, self.text.find(mark, self.at)
        self.at = (len(self.text) if found < 0 else found) + 1
        return self.text[start : self.at - 1]

    def _quoted(self, closing: str) -> str:
        """Read on inside double quotes, or ("") to the end of a here-document."""
        parts: list[str] = []
        while self.at < len(self.text):
            match = _RUN_QUOTED.match(self.text, self.at)
            if match:
                parts.append(match[0])
                self.at = match.end()
                continue
            c = self.text[self.at]
            self.at += 1
            if c == closing:
                break
            if c == self.escape:
                parts.append(self._escaped(c))
            elif c == "$" and self.text.startswith("(", self.at):
                parts.append(self._dollar())
            elif c == "`":
                parts.append(self._backtick())
            else:
                parts.append(c)
        return "".join(parts)

    def _escaped(self, escape: str) -> str:
        after = self.text[self.at : self.at + 1]
        self.at += 1
        if after == "\n":
            return ""
        return after if after in '$`"\\' or self.windows else escape + after

    def _backtick(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "`":
            self.at += 2 if self.text[self.at] == "\\" else 1
        inner = self.text[start : self.at]
        self.at += 1
        self._inside(re.sub(r"\\([\\`$])", r"\1", inner), script=True)
        return "$()"

    def _dollar(self) -> str:
        after = self.text[self.at : self.at + 1]
        if after == "(":
            self.at += 1
            self._nested()
            return "$()"
        if after == "'" and not self.windows:
            return self._ansi()
        if after == '"':
            self.at += 1
            return self._quoted('"')
        if after == "{" and (match := _BRACED.match(self.text, self.at)):
            self.at = match.end()
            self._inside(match[0])  # ${x:-$(command)}
            return "$" + match[0]
        return "$"

    def _ansi(self) -> str:
        r"""Read ``$'...'``, in which ``\x67`` is a letter."""
        self.at += 1
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += 2 if self.text[self.at] == "\\" else 1
        inner = self.text[start : self.at]
        self.at += 1
        return _ANSI.sub(_ansi_letter, inner)


def _ansi_letter(match: "re.Match[str]") -> str:
    if hexed := match[1] or match[2]:
        return chr(int(hexed, 16))
    return chr(int(match[3], 8) & 0xFF) if match[3] else _LETTERS.get(match[4], match[4])
