"""Mutants of what goes into agents' settings, and of the rules for a team."""

from typing import Final

TESTS: Final = {
    "settings/jsonspans": ["settings/test_jsonspans", "settings/test_settings_text"],
    "settings/jsonlayout": ["settings/test_settings_text"],
    "settings/settings_text": ["settings/test_settings_text"],
    "settings/adapters": ["settings/test_adapters"],
    "settings/team_rules": ["settings/test_team_rules"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "settings/jsonspans": [
        ("the first of two keys counts", "return found[-1] if found", "return found[0] if found"),
        (
            "a comma may end a list",
            "if self.text.startswith(closing, at):\n                    raise",
            "if False:\n                    raise",
        ),
        ("what follows does not matter", "if end != len(self.text):", "if False:"),
        ("no nesting is too deep", "if depth > DEEPEST:", "if False:"),
        ("a comment is a riddle", "elif _COMMENT.match(self.text, at):", "elif False:"),
        ("lines end in a line feed only", '"\\r\\n|\\n|\\r", text[:at]', '"\\n", text[:at]'),
    ],
    "settings/jsonlayout": [
        ("one line becomes many", 'return Style("", "", comma, colon)', "return FRESH"),
        ("CRLF becomes LF", "return Style(newline[0], unit", 'return Style("\\n", unit'),
        ("tabs become blanks", "Style(newline[0], unit,", 'Style(newline[0], "  ",'),
        (
            "a neighbour is not looked at",
            "return style if _starts_line(body, at)",
            "return style if True",
        ),
        ("tight ones get blanks", 'tight = body[first.start - 1] == ":"', "tight = False"),
    ],
    "settings/settings_text": [
        (
            "a mark of the file is lost",
            "return None if left is None else mark + left",
            "return left",
        ),
        (
            "ours is made anew in place of theirs",
            "if len(ours) == len(_handlers(group)) and event in wanted",
            "if event in wanted",
        ),
        ("two of ours stay", "and event not in stays:", ":"),
        ("what was made for ours stays", "if all(falls) and _is_made(body, node):", "if False:"),
        (
            "what stood empty goes, too",
            'return body[node.start + 1] in " \\t\\r\\n"',
            "return True",
        ),
        (
            "a comma stays behind",
            "cuts.append((children[number - 1].end, child.end))",
            "cuts.append((child.head, child.end))",
        ),
        (
            "the first goes with its bracket",
            "cuts.append((child.head, children[number + 1].head))",
            "cuts.append((node.start, children[number + 1].head))",
        ),
        (
            "a group of ours stays",
            "if node in doomed or _is_group_of(node, doomed):",
            "if node in doomed:",
        ),
        (
            "a mixed group goes",
            "all(handler in doomed for handler in handlers)",
            "any(handler in doomed for handler in handlers)",
        ),
        ("each run adds one more", "return body if same else _replace(", "return _add("),
        ("a string is a list", "if not groups.is_list:", "if False:"),
        ("a list is an object", "if not hooks.is_object:", "if False:"),
        ("hooks are always made", "if hooks is None:\n        fresh", "if True:\n        fresh"),
    ],
    "settings/adapters": [
        (
            "any program that ends so is ours",
            "_PROGRAMS.fullmatch(re.split",
            "re.search(PROGRAM, re.split",
        ),
        ("words of a command are programs", "program_of(command))[-1]", "command)[-1]"),
        ("a place is not quoted", "{shlex.quote(program)} {agent}", "{program} {agent}"),
        (
            "a hook that lacks is no matter",
            "return found == [group]",
            "return not found or found == [group]",
        ),
        ("one too many is no matter", "return found == [group]", "return group in found"),
        (
            "trust without a hash",
            'if not isinstance(state.get("trusted_hash"), str):',
            "if not state:",
        ),
        ("a changed hook is trusted", 'state["trusted_hash"] == trust_hash(found)', "True"),
        ("switched off is on", 'if state.get("enabled") is False:', "if False:"),
        ("the way to the file is ours", "facts.trusted_as or facts.file", "facts.file"),
        ("a plugin that is off is on", "if on is True and", "if"),
        ("any plugin is ours", 'name.partition("@")[0] == PLUGIN', "True"),
        ("who has no agent is told", "if not facts.there:", "if False:"),
        (
            "untrusted is a trifle",
            "found.append(problem(topic, said, TRUST_IT))",
            "found.append(note(topic, said, TRUST_IT))",
        ),
        ("a project is trusted anyway", 'get("trust_level") != "trusted"', 'get("x") == "trusted"'),
    ],
    "settings/team_rules": [
        ("marks may be in any order", '== ["begin", "end"]', '!= ["begin"]'),
        (
            "CRLF becomes LF",
            'return f"{BEGIN}\\n{RULES}{END}".replace("\\n", newline)',
            'return f"{BEGIN}\\n{RULES}{END}"',
        ),
        ("an end of line stays", "before = before.removesuffix(newline)", "pass"),
        ("an end of line of theirs goes", "if not after:  #", "if True:  #"),
        (
            "a block is put beside",
            "if place is not None:\n        return text[: place[0]] + _block",
            "if False:\n        return text[: place[0]] + _block",
        ),
    ],
}
