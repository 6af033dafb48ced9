"""The file of ``audit --html``: everything that was verified, in one page without a script."""

from pathlib import Path

from handsoff.edge import files
from handsoff.edge.git.modes import umask
from handsoff.edge.git.repo import Checkout
from handsoff.errors import UsageError
from handsoff.flows.audit.audit import Audit
from handsoff.flows.shown.audited import overview_of, views_of
from handsoff.web.needed import FOR_A_FILE, need


def check_target(path: Path) -> None:
    """Raise UsageError unless a file can be put at ``path``, and nothing else stands there.

    What is written takes the place of ``path`` by a rename, so a link would be replaced and not
    followed; that is refused all the same, since whoever made the link meant another file.
    """
    need(FOR_A_FILE)
    if path.name == "-":
        raise UsageError("- is no file, and a page for people is not printed", hint="--html FILE")
    if path.is_symlink():
        raise UsageError(f"{path} is a link", hint="name the file itself")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no file", hint="name a file, which is written anew each time")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}", hint="make it first")


def write(path: Path, checkout: Checkout, audit: Audit) -> None:
    """Write everything that ``audit`` verified to ``path``, whole or not at all."""
    from handsoff.web.pages import pages_of_reader  # noqa: PLC0415 - without the extra there is no Jinja

    shown = overview_of(audit)
    text = pages_of_reader().document(shown, list(views_of(checkout, audit, shown.cards)))
    check_target(path)
    files.write(path.absolute(), text.encode("utf-8", "replace"), 0o666 & ~umask())
