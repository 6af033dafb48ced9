"""The check-up of this machine: programs, keys and who can read them, disk, leftovers."""

import sys
from collections.abc import Iterator

from handsoff import __version__
from handsoff.core.checkup import checkups, health
from handsoff.core.checkup.checkups import WANTED
from handsoff.core.checkup.health import Finding, ok, problem
from handsoff.edge import keys, parts, system
from handsoff.edge.git import command
from handsoff.edge.git.repo import Checkout, decode
from handsoff.edge.home import cache_folder
from handsoff.edge.scan import Scanner
from handsoff.edge.ssh import openssh
from handsoff.errors import HandsoffError
from handsoff.flows.agents.adapter import check_ups
from handsoff.flows.reach.ways import ssh_words

_KEYS = ("machine.json", "next.json", "signing.key", "sealing.key", "keys-*/*.key")
_FOLDERS = ("inbox", "incoming", "keys-*")


def look(checkout: Checkout | None) -> Iterator[Finding]:
    """Yield what is so of this machine."""
    yield checkups.of_python(sys.version_info[:3], __version__)
    yield from checkups.of_packages(system.packages(WANTED))
    yield _git()
    try:
        ssh = ssh_words(checkout)
    except HandsoffError as error:
        yield problem("ssh", str(error), error.hint or "")
    else:
        yield checkups.of_ssh(openssh.version(ssh), ssh[0])
    yield from _keys()
    yield from _disk()
    yield _scanner()
    yield from check_ups()


def _git() -> Finding:
    try:
        version = decode(command.run(("version",)).stdout)
    except HandsoffError as error:
        return problem("git", str(error), error.hint or "")
    return health.of_git(version.removeprefix("git version ").strip())


def member() -> keys.Machine | None:
    """Return this machine, None if its keys cannot be used or are not there."""
    try:
        return keys.load(keys.home_folder())
    except HandsoffError:
        return None


def _keys() -> Iterator[Finding]:
    home = keys.home_folder()
    folders = [home, *(path for name in _FOLDERS for path in home.glob(name))]
    loose = checkups.of_modes(
        system.modes(folders, (path for name in _KEYS for path in home.glob(name)))
    )
    yield from loose
    try:
        machine = keys.load(home)
    except HandsoffError as error:
        if not loose:
            yield problem("keys", str(error), error.hint or "")
        return
    if machine is None:
        yield problem("keys", f"there are no keys in {home}", "handsoff init --name NAME")
    elif not loose:
        yield ok("keys", f"this machine is {machine.name} of {machine.person}; keys private")


def _disk() -> Iterator[Finding]:
    home = keys.home_folder()
    yield checkups.of_room(str(home), system.free(home))
    incoming = home / "incoming"  # not Home(home).incoming, which would make it
    sizes = [size for _, size in parts.sizes(incoming).values()]
    yield from checkups.of_parts(sizes, parts.oldest(incoming))


def _scanner() -> Finding:
    cache = cache_folder()
    compiled = any(cache.glob("*.vscdb"))
    if not compiled:
        return checkups.of_scanner("the scanner", complete=True, compiled=False)
    scanner = Scanner(cache)
    return checkups.of_scanner(scanner.engine, complete=scanner.complete, compiled=compiled)
