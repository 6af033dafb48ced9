"""Mutants of the ssh route: what a destination is, what ssh's words mean, which way is taken."""

from typing import Final

TESTS: Final = {
    "destination": ["test_destination"],
    "sshtalk": ["test_sshtalk"],
    "routes": ["test_routes"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "destination": [
        ("a host may start with a dash", '_HOST: Final = re.compile(r"[A-Za-z0-9_]',
         '_HOST: Final = re.compile(r"[A-Za-z0-9_-]'),
        ("a user may start with a dash", '_USER: Final = re.compile(r"[A-Za-z0-9_]',
         '_USER: Final = re.compile(r"[A-Za-z0-9_-]'),
        ("a user may expand", "[A-Za-z0-9._+-]{0,63}", "[A-Za-z0-9._+%-]{0,63}"),
        ("a user may be nobody", "(not at or _USER.fullmatch(user))", "True"),
        ("no mark before the place", '(*port, "--", f', "(*port, f"),
        ("the port is lost", '() if self.port is None else ("-p", str(self.port))', "()"),
        ("ports are any number", "0 < int(port) <= _LAST_PORT", "True"),
        ("an address may end in a port", 'if ":" in before:', "if False:"),
        ("a program may be an option", 'if command.startswith("-"):', "if False:"),
        ("a program may be two lines", "_CONTROL.search(command) or", ""),
        ("a program may be two words",
         "return word if _PLAIN_WORD.fullmatch(word) else", "return word if True else"),
        ("quotes do not nest", 'word.replace("\'", "\'\\\\\'\'")', "word"),
        ("home stays shut", 'start = home[0] if home else ""', 'start = ""'),
        ("every name is an alias", 'tuple("" if word == name else word', "tuple(word"),
    ],
    "sshtalk": [
        ("noise has no bound", "if len(noise) > NOISE:", "if False:"),
        ("a changed key is an unknown one", "if _CHANGED in text:", "if False:"),
        ("an unknown host is out of reach", 'if _UNKNOWN in text and (', "if False and ("),
        ("who is shut out tries again", "if any(word in text for word in _DENIED):", "if False:"),
        ("words of others reach the terminal",
         "return plain(line, limit=300).strip()", "return line.strip()"),
        ("an older program is a usage error",
         'if code == _USAGE and "stdio" in said:', "if False:"),
        ("what is missing there only failed", "if code in _NO_PROGRAM or", "if False or"),
        ("codes of handsoff mean nothing",
         "_BY_CODE.get(code, UnreachableError)", "UnreachableError"),
        ("a killed ssh was handsoff",
         "if code == SSH_FAILED or code < 0:", "if code == SSH_FAILED:"),
    ],
    "routes": [
        ("the remote does not stand in", '"remote")\n\n\ndef', ")\n\n\ndef"),
        ("ssh comes first", 'for way in ("direct", "ssh")', 'for way in ("ssh", "direct")'),
        ("a place by hand is a hint", "return (named,)", 'return (named, "remote")'),
        ("any route takes any place", 'if via not in ("auto", named):', "if False:"),
        ("a machine may be a place", "if is_machine:", "if False:"),
        ("an alias need not be asked for",
         'return None if via == "auto" else False', 'return via == "auto"'),
    ],
}  # fmt: skip
