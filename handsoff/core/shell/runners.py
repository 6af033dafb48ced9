"""Which program a command runs in the end: ``sudo -u li env A=1 timeout 5 git push`` runs git.

Sources: the manual pages of the programs in the table; POSIX Shell Command Language, 2.4.
"""

from handsoff.core.shell.shellwords import commands

_MOST = 100
"""Words before a program, each with its own, that are looked at: nobody types more."""

_SUFFIXES = (".exe", ".cmd", ".bat")
_BEFORE = frozenset({
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "coproc", "&", ".",
})  # fmt: skip
# programs that run the command in their words: options with a value, and operands before it
_RUNNERS: dict[str, tuple[frozenset[str], int]] = {
    name: (frozenset(options.split()), operands)
    for name, options, operands in (
        ("env", "-u --unset -C --chdir", 0),
        ("sudo", "-u -g -h -p -C -T -R -D -U -r -t --user --group --host --prompt --chdir", 0),
        ("doas", "-u -C", 0),
        ("command", "", 0),
        ("builtin", "", 0),
        ("exec", "-a", 0),
        ("nohup", "", 0),
        ("setsid", "", 0),
        ("time", "-f -o --format --output", 0),
        ("nice", "-n --adjustment", 0),
        ("ionice", "-c -n -p -P -u", 0),
        ("chrt", "", 1),
        ("taskset", "", 1),
        ("stdbuf", "-i -o -e --input --output --error", 0),
        ("timeout", "-s -k --signal --kill-after", 1),
        ("xargs", "-I -n -P -L -d -a -E -s --replace --max-args --max-procs --delimiter", 0),
        ("flock", "-w -E --timeout --conflict-exit-code", 1),
        ("chroot", "", 1),
        ("unshare", "", 0),
        ("strace", "-o -e -p -s -u", 0),
        ("ltrace", "-o -e -p -s -u", 0),
        ("busybox", "", 0),
        ("winpty", "", 0),
        ("caffeinate", "-t -w", 0),
        ("unbuffer", "", 0),
        ("chronic", "", 0),
        ("start-process", "", 0),
        ("setpriv", "", 0),
        ("prlimit", "", 0),
        ("runuser", "-u -g -G --user --group --supp-group", 0),
        ("gosu", "", 1),
        ("pkexec", "--user", 0),
        ("ssh-agent", "-a -E -t -P", 0),
        ("dbus-run-session", "", 0),
        ("systemd-run", "-u -p -E -t -H -M --unit --property --setenv --slice --description", 0),
        ("systemd-inhibit", "", 0),
        ("fakeroot", "-l -s -i -b", 0),
        ("xvfb-run", "-n -s -f -e -p -w", 0),
        ("torsocks", "", 0),
        ("proxychains", "-f", 0),
        ("proxychains4", "-f", 0),
        ("entr", "", 0),
    )
}


def command_of(
    words: list[str], env: dict[str, str], cd: tuple[str, ...]
) -> tuple[list[str], dict[str, str], tuple[str, ...]]:
    """Return the words from the program on that is run in the end, its variables, and where."""
    env = dict(env)
    for _ in range(_MOST):
        if not words:
            break
        first = words[0]
        name = program_of(first)
        if first in _BEFORE:
            words = words[1:]
        elif first == "function":
            words = words[2:]
        elif _is_assigned(first):
            key, _, value = first.partition("=")
            env[key] = value
            words = words[1:]
        elif name in _RUNNERS:
            options, words = _operands(words[1:], *_RUNNERS[name], splits=name == "env")
            if name == "command" and {"-v", "-V"} & options.keys():
                return [], env, cd
            if name == "env" and (split := options.get("-S") or options.get("--split-string")):
                words = [*_split(split), *words]
            if name == "flock" and words[:1] == ["-c"]:
                words = ["sh", *words]
            folder = "" if name == "sudo" else options.get("-C") or options.get("--chdir")
            cd = (*cd, folder) if folder else cd
        else:
            break
    return words, env, cd


def _split(text: str) -> list[str]:
    """Return the words that ``env -S`` cuts ``text`` into, as far as a shell would do the same."""
    return [word for command in commands(text)[:1] for word in command.words]


def _operands(
    words: list[str], valued: frozenset[str], skipped: int, *, splits: bool
) -> tuple[dict[str, str], list[str]]:
    """Return the options that ``words`` begin with, and the rest without ``skipped`` operands.

    ``splits`` where ``-S`` has a whole command in its value: sudo's has none at all.
    """
    options: dict[str, str] = {}
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--" or not (word.startswith("-") or _is_assigned(word)):
            at += word == "--"
            break
        if not word.startswith("-"):
            break  # the variables of env and sudo are read by the caller
        name, equals, value = word.partition("=")
        if name in valued and not equals:
            at += 1
            value = words[at] if at < len(words) else ""
        elif splits and word[:2] != "--" and "S" in word:
            # env -S'...', and with others before it: -iS '...'
            name, value = "-S", word.partition("S")[2]
            if not value:
                at += 1
                value = words[at] if at < len(words) else ""
        options[name] = value
        at += 1
    return options, words[at + skipped :]


def program_of(word: str) -> str:
    """Return the name of the program that ``word`` calls, wherever it is."""
    name = word.replace("\\", "/").rpartition("/")[2].lower()
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name)


def _is_assigned(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.removesuffix("+").isidentifier()
