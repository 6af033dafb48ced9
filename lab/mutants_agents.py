"""Mutants of what is known of agents: whose a session is, what is in it, who is asked to end."""

from typing import Final

TESTS: Final = {
    "sessions": ["test_sessions"],
    "stopping": ["test_stopping"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "sessions": [
        ("letters of any script are kept", "return unit < 0x80 and chr", "return chr"),
        ("one spelling of an accent alone", 'unicodedata.normalize("NFC", text).enc', "text.enc"),
        ("names without end", "if len(name) <= NAME_LIMIT:", "if True:"),
        ("the hash is unsigned", "hashed - (1 << 32) if hashed >> 31 else hashed", "hashed"),
        ("bytes that are no text", 'text.encode("utf-8", "surrogateescape").decode("utf-8", '
         '"replace")', "text"),
        ("a chosen name in the usual home", 'if fits and environ.get("CLAUDE_CONFIG_DIR") else',
         "if fits else"),
        ("a name of a device", " and not _DEVICE.fullmatch(name)", ""),
        ("folders below are not looked for", 'or name.startswith(f"{exact[:NAME_LIMIT]}-")', ""),
        ("names that begin alike", 'f"{exact[:NAME_LIMIT]}-"', 'f"{exact[:NAME_LIMIT]}"'),
        ("a folder beside, called alike", 'top.rstrip("/") + "/"', 'top.rstrip("/")'),
        ("up and away", "posixpath.normpath(", "("),
        ("characters that are none", ' or not _is_spelled(cwd):', ":"),
        ("keys travel", 'endswith((".key", BESIDE))', "endswith(BESIDE)"),
        ("what a killed run left travels", 'endswith((".key", BESIDE))', 'endswith(".key")'),
        ("keys in capitals travel", "name.lower().endswith", "name.endswith"),
        ("any path will do", ' or path_problem(name.encode("utf-8", "surrogateescape")):', ":"),
        ("projects of any name", '_PROJECT: Final = r"[A-Za-z0-9_-]{1,220}"',
         '_PROJECT: Final = r"[^/]+"'),
        ("file-history has folders", r"(?P<past>{_UUID})/[^/\x00", r"(?P<past>{_UUID})/[^\x00"),
        ("rollouts anywhere", "[0-9]{{4}}/[0-9]{{2}}/[0-9]{{2}}|arch", "[0-9/]*|arch"),
        ("whatever is beside is a transcript", 'and name.count("/") == 2', ""),
        ("moved and still here", "[*moved[-1:], *cwds,", "[*cwds,"),
        ("the first move counts", "*moved[-1:]", "*moved[:1]"),
        ("quoted moves count", 'if line.get("type") == "relocated"\n        and', "if"),
        ("the last folder counts", "*cwds, *([torn]", "*cwds[-1:], *([torn]"),
        ("a folder that comes late is none", "if torn else []), *late]", "if torn else [])]"),
        ("what the program says was asked", 'for key in ("isMeta", "isCompactSummary",',
         'for key in ("isCompactSummary",'),
        ("commands were asked", '"" if _MACHINE_MADE.match(text.lstrip()) else text\n\n\ndef _a',
         'text\n\n\ndef _a'),
        ("helpers were asked first", "next(iter(mine), \"\")", '""'),
        ("prompts without end", "plain(prompt.strip(), limit=PROMPT_LIMIT),\n    )",
         "prompt\n    )"),
        ("a later meta counts", '== "session_meta" and not cwd:', '== "session_meta":'),
        ("any folder of a torn line", """if not cwd and b'"session_meta"' in head[:_META]:""",
         "if not cwd:"),
        ("instructions were asked", '"" if _INSTRUCTIONS.match(text.lstrip()) else text', "text"),
        ("deep lines", "except (ValueError, RecursionError):", "except ValueError:"),
    ],
    "stopping": [
        ("asked without being asked", "if asked else Fate.NAMED", ""),
        ("asked while the record waits", "if not stands:", "if False:"),
        ("asked though it works elsewhere", "if not agent.here:", "if False:"),
        ("nobody is known", "if not agent.known:", "if False:"),
        ("the one above is asked at once", "Fate.LAST if agent.above else Fate.NOW", "Fate.NOW"),
    ],
}  # fmt: skip
