"""Mutants of what hooks of agents see in a shell line, decide, say and start."""

from typing import Final

TESTS: Final = {
    "shellwords": ["test_shellwords"],
    "runners": ["test_shellwords"],
    "deeds": ["test_shellwords"],
    "deed": ["test_shellwords"],
    "quickjson": ["test_quickjson"],
    "tools": ["test_hooking", "test_shellwords"],
    "standing": ["test_hooking"],
    "hooking": ["test_hooking"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "shellwords": [
        ("comments run", 'elif c == "#":', 'elif c == "\\0":'),
        ("a subshell keeps where it went", "        self.cd = here\n", ""),
        ("arrays run", "        if array:", "        if False:"),
        (
            "a here-document runs",
            'command.given = "\\n".join(lines)\n            if not quoted:',
            'command.given = "\\n".join(lines)\n            if True:',
        ),
        ("what a here-document runs is not seen", "if not quoted:", "if False:"),
        ("tabs stay", 'line.lstrip("\\t") if tabs else line', "line"),
        ("single quotes are read", '            return self._until("\'")', '            return ""'),
        ("backticks are data", "        self._inside(re.sub(", "        str(re.sub("),
        ("a line that goes on is cut", 'return "" if after == "\\n" else after', "return after"),
        ("spelled-out letters stay", "return _ANSI.sub(_ansi_letter, inner)", "return inner"),
        (
            "a number before > is a word",
            "                command.words.pop()\n",
            "                pass\n",
        ),
        ("defaults are not read", "            self._inside(match[0])  #", "            #"),
        ("depth has no end", "_DEEPEST = 24", "_DEEPEST = 10**9"),
    ],
    "runners": [
        ("keywords are programs", "        if first in _BEFORE:", "        if False:"),
        ("variables are programs", "elif _is_assigned(first):", "elif False:"),
        ("command -v runs it", '{"-v", "-V"} & options.keys()', "False"),
        (
            "options are programs",
            '            value = words[at] if at < len(words) else ""\n'
            '        elif word.startswith("-S")',
            '            at -= 1\n        elif word.startswith("-S")',
        ),
        ("only the bare name", 'word.replace("\\\\", "/").rpartition("/")[2].lower()', "word"),
    ],
    "deeds": [
        ("no push", 'if verb in ("push", "send-pack"):', 'if verb in ("send-pack",):'),
        ("-C is nowhere", '        if name == "-C":', '        if name == "-c ":'),
        (
            "aliases of the line",
            "        if name in _GIT_VALUED and not equals:",
            "        if False:",
        ),
        ("a dry run is refused", 'word.startswith("--dr")', "False"),
        ("flags in clusters", '_has_flag(word, "n")', 'word == "-n"'),
        ("the value of -o is a flag", 'word.partition("o")[0]', "word"),
        ("all is none", 'word in ("--all", "--mirror", "--branches")', "False"),
        ("names have their prefix", ".removeprefix(_HEADS)", ""),
        ("a plus is a name", '    refspec = refspec.removeprefix("+")\n', ""),
        ("pull requests pass", 'plain[:1] == ["pr"]', 'plain[:1] == ["x"]'),
        ("shells read no words", 'if word == "--command" or', "if False and"),
        (
            "shells read no input",
            "    said = command.given\n    source",
            '    said = ""\n    source',
        ),
        ("talk into a shell is talk", "in _SPOKEN:", "in ():"),
    ],
    "deed": [("files keep their names", '"*** Move to",', "")],
    "quickjson": [
        ("what follows is nothing", "if text[end:].strip(_BLANKS):", "if False:"),
        ("blanks before it are wrong", "len(text.lstrip(_BLANKS))", "len(text)"),
        ("a mark of order is wrong", '.removeprefix("\\ufeff")', ""),
    ],
    "tools": [
        ("each line is harmless", 'return "gh" in said and "pr" in said', "return False"),
        ("quotes hide a push", "line.translate(_QUOTES).lower()", "line.lower()"),
        ("letters hide a push", """if "$'" in line or any""", "if any"),
        ("notebooks pass", '"NotebookEdit"', '"notebookedit"'),
        ("words of older programs pass", "isinstance(found, list)", "isinstance(found, bytes)"),
    ],
    "standing": [
        ("time stands still", "now >= self.until", "now > 10**12"),
        ("a lapse changes nothing", '"may_push_then" if self.lapsed else "may_push"', '"may_push"'),
        ("who says nothing refuses", "allowed is False", "not allowed"),
        (
            "what is closed is elsewhere",
            'entry.get("may_push_then"',
            'self.state == "closed" or (\n            "x"',
        ),
        ("offers run on", "if until and self._now >= until:", "if False:"),
        ("a revision is news", '"leg"), entry.get("to")]', '"revision"), entry.get("to")]'),
        ("our own lapse is a warning", 'and not self.entry.get("last_here"):', ":"),
        ("drops of others before this leg", "elif not (self.ours and found):", "elif True:"),
        (
            "words are not quoted for a shell",
            'f"`handsoff catch {work}` makes',
            'f"`handsoff catch` makes',
        ),
        (
            "escapes pass",
            'why = plain(str(drop.get("reason", "")), limit=200)',
            'why = str(drop.get("reason", ""))',
        ),
    ],
    "hooking": [
        ("edits are always refused", '(kind == "edit" and standing.edits != "deny")', "False"),
        ("nothing is refused", "if not standing.elsewhere or", "if True or"),
        ("warnings for all", 'and standing.edits == "warn"', ""),
        ("told again and again", "told == standing.key or", "False or"),
        ("told though nothing matters", "(told is None and not", "(False and not"),
        ("others save", "if standing.ours and every else", "if every else"),
        ("never is at once", "if standing.ours and every else", "if standing.ours else"),
        ("notes on nothing", "if not standing.known or", "if"),
        ("each compaction is a start", 'in ("startup", "resume")', "not in ()"),
        (
            "the page here counts elsewhere",
            "page is not None and not standing.elsewhere",
            "page is not None",
        ),
        ("as many offers as there are", "lines += standing.offers[:2]", "lines += standing.offers"),
        (
            "a codex that is not there",
            '"permissionDecision": "deny",',
            '"permissionDecision": "ask",',
        ),
    ],
}
