"""The page of a checkout: read, judged, and created."""

from dataclasses import dataclass

from handsoff.core.objects import LINK, oid_of
from handsoff.core.pages import page as pages
from handsoff.core.pages.page import Page
from handsoff.edge import files, tongue
from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.repo import Checkout
from handsoff.errors import RefusedError, UnfitError
from handsoff.flows.capture.carrying import PAGE
from handsoff.flows.memory import Memory


@dataclass(frozen=True, slots=True)
class Written:
    """A page as it stands on disk."""

    body: bytes
    page: Page
    unchanged: bool
    """Whether it is still the one that was last sent or caught here."""

    @property
    def oid(self) -> str:
        """The id of its blob."""
        return oid_of("blob", self.body)


def read_page(checkout: Checkout, work: str) -> Written:
    """Return the page if it is complete; RefusedError naming the section and the line."""
    _refuse_link(checkout)
    content = Worktree(checkout.top).read(PAGE)
    if content is None:
        raise RefusedError(
            "there is no page: what is next, what was tried, what must not be touched",
            hint="handsoff page",
        )
    page = pages.parse(content.data)
    pages.check(page, work)
    unchanged = Memory(checkout).last_page() == oid_of("blob", content.data)
    return Written(content.data, page, unchanged)


def ensure_page(checkout: Checkout, work: str) -> bool:
    """Write the template if there is no page yet; say whether it was written."""
    _refuse_link(checkout)
    if checkout.page.exists():
        return False
    with files.saying(f"cannot write {checkout.page}"):
        checkout.page.parent.mkdir(exist_ok=True)
        template = tongue.said(pages.template(work))
        files.write(checkout.page, template.encode("utf-8", "surrogateescape"), 0o644)
    return True


def _refuse_link(checkout: Checkout) -> None:
    if checkout.page.parent.is_symlink() or checkout.page.is_symlink():
        raise UnfitError(
            f"{checkout.page} is, or is below, a link",
            hint="let .wip be a folder of the checkout, and the page a file in it",
        )


def shown_page(checkout: Checkout) -> str:
    """Return the page that stands in ``checkout``, safe to print, or "".

    A link in its place came from another machine, and could lead to a key or to a device.
    """
    try:
        page = Worktree(checkout.top).read(PAGE, pages.LIMIT)
        return pages.parse(page.data).shown if page is not None and page.mode != LINK else ""
    except (RefusedError, UnfitError):
        return ""
