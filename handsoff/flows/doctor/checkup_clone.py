"""The check-up of this clone: git, the hook, what is ignored, what it remembers, what is stuck."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from handsoff.core.checkup import checkups
from handsoff.core.checkup.health import Finding, ok, problem
from handsoff.edge import clock, files, hooks, system
from handsoff.edge.git.remote import Shared
from handsoff.edge.git.repo import Checkout
from handsoff.errors import HandsoffError
from handsoff.flows.memory import Memory, finishing

_FILE: Final = "file://"


def look(checkout: Checkout, shared: Shared | None) -> Iterator[Finding]:
    """Yield what is so of this clone; ``shared`` is its remote, if it has one."""
    if hooks.is_installed(checkout):
        yield ok("hook", "git runs the pre-push hook of handsoff here")
    else:
        yield problem("hook", "git does not run the pre-push hook here", "handsoff init")
    asked = ("check-ignore", "-q", "--no-index", ".wip/HANDOFF.md")
    if checkout.run("--no-literal-pathspecs", *asked).returncode == 0:
        yield ok("page", ".wip/ is kept out of git")
    else:
        yield problem("page", ".wip/ is not kept out of git", "handsoff init")
    with suppress(HandsoffError):
        journal = Memory(checkout).journal()
        if journal:
            said = "a restore was interrupted here and is not finished"
            yield problem("journal", said, f"handsoff {finishing(journal)}")
    yield _store(checkout)
    yield checkups.of_room(str(checkout.common_dir), system.free(checkout.common_dir))
    yield from checkups.of_locks(_locks(checkout, shared))


def _store(checkout: Checkout) -> Finding:
    store = checkout.store_dir
    for path in sorted([*store.glob("*.json"), *store.glob("seen/*.json"),
                        *checkout.own_dir.glob("*.json")]):  # fmt: skip
        try:
            files.read_json(path)
        except (HandsoffError, OSError) as error:
            return problem("store", str(error), f"move it away: mv {path} {path}.broken")
    if not os.access(store, os.W_OK):
        return problem("store", f"{store} cannot be written", "check who owns it")
    return ok("store", "what this clone remembers can be read")


def _locks(checkout: Checkout, shared: Shared | None) -> list[checkups.Lock]:
    """Return the locks of git here, and on the remote where that is a folder of this computer."""
    places = {checkout.git_dir, checkout.common_dir}
    if shared is not None:
        url = checkout.line("remote", "get-url", "--push", "--", shared.name) or shared.url
        place = Path(url.removeprefix(_FILE))
        if place.is_absolute() and (place / "refs").is_dir():
            places.add(place)
    return system.locks(places, clock.now().timestamp())
