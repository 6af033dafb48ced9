"""What a shell line does that others would see: pushes, pull requests, patches to files.

    deeds("cd /w && FOO=1 git -C sub push origin x")    [a push of x, from /w/sub]

A command that is run by another (``sudo``, ``xargs``, ``sh -c``, ``eval``) counts; one that is only
talked about (``git commit -m "git push"``, ``echo``, ``grep``) does not. What cannot be read here
(aliases, scripts, variables) is seen by the pre-push program when git runs it. It never raises, and
a hook can afford its imports.

Sources: git(1), git-push(1), gh-pr(1), and the manual pages of the programs in the tables.
"""

from itertools import pairwise

from handsoff.core.shell.deed import LIMIT, Deed
from handsoff.core.shell.runners import command_of, program_of
from handsoff.core.shell.shellwords import Command, commands

_DEEPEST = 8
_HEADS = "refs/heads/"
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "su", "script"})
_SHELL_VALUED = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_INPUTS = frozenset({"-", "/dev/stdin", "/proc/self/fd/0"})
_LOOSE = frozenset({"su", "script"})
"""Shells whose options may stand behind an operand."""

_EXECS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_COUNTED = frozenset({"-n", "-j", "--interval", "--jobs"})
"""Options of programs that run their words as a script, with a number behind them."""

_POWERSHELLS = frozenset({"powershell", "pwsh"})
_JOINED = frozenset({"eval", "watch", "parallel", "iex", "invoke-expression"})
_SPOKEN = frozenset({"echo", "printf", "cat"})
_PATCHERS = frozenset({"apply_patch", "applypatch"})

_GIT_VALUED = frozenset({
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env",
    "--attr-source",
})  # fmt: skip
_PUSH_VALUED = frozenset({"-o", "--push-option", "--receive-pack", "--exec", "--repo"})
_GH_VALUED = frozenset({"-R", "--repo", "--hostname"})
_METHOD = frozenset({"-X", "--method"})
_API_BODY = frozenset({"-f", "-F", "--field", "--raw-field", "--input"})
_API_VALUED = frozenset({
    *_METHOD, *_API_BODY, "-H", "--header", "-q", "--jq", "-t", "--template", "-p", "--preview",
})  # fmt: skip


def deeds(text: str, *, windows: bool = False) -> list[Deed]:
    """Return what the shell line ``text`` does; ``windows`` if it is PowerShell's."""
    return _script(text[:LIMIT], (), 0, windows=windows)


def _script(text: str, cd: tuple[str, ...], depth: int, *, windows: bool = False) -> list[Deed]:
    if depth > _DEEPEST:
        return []
    found: list[Deed] = []
    for command in commands(text, windows=windows, cd=cd):
        found += _run(command.words, command, command.cd, {}, depth)
    return found


def _run(
    words: list[str], command: Command, cd: tuple[str, ...], env: dict[str, str], depth: int
) -> list[Deed]:
    words, env, cd = command_of(words, env, cd)
    if not words or depth > _DEEPEST:
        return []
    name, rest = program_of(words[0]), words[1:]
    if name == "git" or name.startswith("git-"):
        return _git([*([name[4:]] if name[3:] else ()), *rest], command, cd, env, depth)
    if name == "gh":
        return _gh(rest, cd)
    if name in _SHELLS:
        return _shell(words, command, cd, depth)
    if name in _PATCHERS:
        return [Deed("patch", cd, text=command.given or " ".join(rest[:1]))]
    if name == "find":
        runs = [at for at, word in enumerate(rest, start=1) if word in _EXECS][:_DEEPEST]
        return [d for at in runs for d in _run(rest[at:], command, cd, env, depth + 1)]
    return _script(_given_script(name, rest), cd, depth + 1, windows=name in _POWERSHELLS)


def _given_script(name: str, words: list[str]) -> str:
    """Return the script that a program which is no shell runs for ``words``."""
    if name in _POWERSHELLS or name == "cmd":
        return " ".join(_after(words, ("-c", "-command", "/c", "/k")))
    if name in _JOINED:
        before = ["", *words]
        said = zip(before, words, strict=False)
        return " ".join(w for b, w in said if w[:1] != "-" and b not in _COUNTED)
    return next((w for w in words if w != "--"), "") if name == "trap" else ""


def _is_short(word: str) -> bool:
    return word[:1] == "-" and word[1:].isascii() and word[1:].isalpha()


def _after(words: list[str], options: tuple[str, ...]) -> list[str]:
    """Return what stands behind the first of ``options``, nothing if none is there."""
    found = [at for at, word in enumerate(words) if word.lower() in options]
    return words[found[0] + 1 :] if found else []


def _shell(words: list[str], command: Command, cd: tuple[str, ...], depth: int) -> list[Deed]:
    """Return what a shell is told to do: in its words, or on its input."""
    name = program_of(words[0])
    for at, word in enumerate(words[1:], start=1):
        before = words[at - 1]
        if word.startswith("--command="):
            return _script(word.partition("=")[2], cd, depth + 1)
        if word in _INPUTS or (_is_short(word) and word.endswith("s") and name not in _LOOSE):
            break
        if word == "--command" or (_is_short(word) and "c" in word):
            scripts = [w for w in words[at + 1 :] if not w.startswith("-")]
            return _script(scripts[0], cd, depth + 1) if scripts else []
        valued = before in _SHELL_VALUED or (at > 1 and _is_short(before) and before[-1] in "oO")
        operand = not word.startswith(("-", "+")) and not valued
        if operand and name not in _LOOSE:
            return []  # a script of its own
    said = command.given
    source = command.source
    if not said and source is not None and source.words and program_of(source.words[0]) in _SPOKEN:
        said = source.given or " ".join(w for w in source.words[1:] if w[:1] != "-")
        said = said.replace("\\n", "\n")
    return _script(said, cd, depth + 1) if said else []


def _git(
    words: list[str], command: Command, cd: tuple[str, ...], env: dict[str, str], depth: int
) -> list[Deed]:
    git_dir, aliases, at = env.get("GIT_DIR", ""), {}, 0
    while at < len(words) and words[at].startswith("-"):
        name, equals, value = words[at].partition("=")
        if name in ("--help", "--version", "-h", "-v"):
            return []
        if name in _GIT_VALUED and not equals:
            at += 1
            value = words[at] if at < len(words) else ""
        if name == "-C":
            cd = (*cd, value)
        elif name == "--git-dir":
            git_dir = value
        elif name == "-c" and value.lower().startswith("alias."):
            key, _, meaning = value.partition("=")
            aliases[key[len("alias.") :].lower()] = meaning
        at += 1
    verb, rest = (words[at], words[at + 1 :]) if at < len(words) else ("", [])
    meaning = aliases.get(verb.lower(), "")
    if meaning.startswith("!"):
        return _script(" ".join([meaning[1:], *rest]), cd, depth + 1)
    if meaning:
        return _run(["git", *meaning.split(), *rest], command, cd, env, depth + 1)
    if verb in ("push", "send-pack"):
        return _push(rest, cd, git_dir)
    return _script(_git_runs(verb, rest), cd, depth + 1)


def _git_runs(verb: str, words: list[str]) -> str:
    """Return the script that git itself runs for some of its verbs."""
    if verb == "submodule":
        return " ".join(w for w in _after(words, ("foreach",)) if w[:2] != "--")
    if verb == "bisect":
        return " ".join(_after(words, ("run",)))
    if verb == "rebase":
        glued = [w.partition("=")[2] for w in words if w.startswith("--exec=")]
        glued += [w[2:] for w in words if w[:2] == "-x" and w[2:]]
        return "\n".join([*glued, *_after(words, ("-x", "--exec"))[:1]])
    return ""


def _push(words: list[str], cd: tuple[str, ...], git_dir: str) -> list[Deed]:
    operands: list[str] = []
    everything, at, options = False, 0, True
    while at < len(words):
        word = words[at]
        at += 1
        if not options or not word.startswith("-"):
            operands.append(word)
        elif word == "--":
            options = False
        elif word in ("--help", "-h") or word.startswith("--dr") or _has_flag(word, "n"):
            return []
        elif word in _PUSH_VALUED:
            at += 1
        else:
            everything = everything or word in ("--all", "--mirror", "--branches")
    names = [_named(refspec) for refspec in operands[1:]]
    everything = everything or ":" in names
    kept = tuple(name for name in names if name not in ("", ":", "HEAD", "@"))
    return [Deed("push", cd, git_dir=git_dir, names=kept, everything=everything)]


def _has_flag(word: str, flag: str) -> bool:
    """Say whether a cluster of short options has ``flag``, and not as the value of ``-o``."""
    return _is_short(word) and flag in word.partition("o")[0]


def _named(refspec: str) -> str:
    """Return the branch of the remote that a refspec moves, ":" for all that match."""
    refspec = refspec.removeprefix("+")
    return ":" if refspec == ":" else refspec.rpartition(":")[2].removeprefix(_HEADS)


def _gh(words: list[str], cd: tuple[str, ...]) -> list[Deed]:
    plain: list[str] = []
    given: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word in ("--help", "-h", "--dry-run"):
            return []
        valued = word in _GH_VALUED or (plain[:1] == ["api"] and word in _API_VALUED)
        given += words[at : at + 1 + valued]
        if not word.startswith("-") and len(plain) <= 1:
            plain.append(word)
        at += 1 + valued
    acts = plain[:1] == ["pr"] and plain[1:2] in (["create"], ["new"], ["merge"])
    asks = plain[:1] == ["api"] and _asks(plain[-1], given)
    return [Deed("pr", cd)] if acts or asks else []


def _asks(path: str, given: list[str]) -> bool:
    """Say whether ``gh api`` makes a pull request, or merges one."""
    if path == "graphql":
        return any("createPullRequest" in w or "mergePullRequest" in w for w in given)
    names = path.partition("?")[0].strip("/").split("/")
    methods = [after for w, after in pairwise(given) if w in _METHOD]
    methods += [w.partition("=")[2] for w in given if w.startswith("--method=")]
    sends = any(w.partition("=")[0] in _API_BODY for w in given)
    method = methods[-1].upper() if methods else "POST" if sends else "GET"
    makes = names[-1] == "pulls" and method == "POST"
    return makes or (names[-3:-2] == ["pulls"] and names[-1] == "merge" and method == "PUT")
