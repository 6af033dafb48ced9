"""Looks at the pages in a real browser: who gets in, what is shown, and how it looks.

Run from the repository root, where Debian's chromium is installed: python3 lab/see.py

Works in every state between three machines, one of them with a hostile page; ``handsoff web`` and
``audit --html`` are looked at with Playwright and /usr/bin/chromium. Each claim is a line, ok or
not, and the exit code is 1 if one is not. Screenshots go to lab/out/: light, dark, narrow.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from browser import CHROMIUM, ROOT, into_environment

into_environment(__file__)

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright  # noqa: E402

from handsoff.core.ids import work_component  # noqa: E402
from tests.kit.machines import Machine, World, sealed  # noqa: E402
from tests.kit.running import inside  # noqa: E402
from tests.kit.seen import ODD, WORK, worth_seeing  # noqa: E402
from tests.kit.visiting import Site, served  # noqa: E402

OUT = ROOT / "lab" / "out"
WIDE = {"width": 1180, "height": 860}
NARROW = {"width": 375, "height": 780}


class Look:
    """A browser, what it complained about, and whom it asked."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.complaints: list[str] = []
        self.asked: set[str] = set()
        self.failed: list[str] = []

    def claim(self, said: str, holds: object) -> None:
        """Print whether something is so."""
        print(f"{'ok ' if holds else 'NOT'} {said}", flush=True)
        if not holds:
            self.failed.append(said)

    @contextmanager
    def visitor(self, **how: object) -> Iterator[BrowserContext]:
        """A browser that nobody has used, listened to."""
        context = self.browser.new_context(**{"viewport": WIDE, **how})  # type: ignore[arg-type]
        context.on("request", lambda request: self.asked.add(request.url))
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        yield context
        context.close()

    def _hear(self, message: object) -> None:
        if getattr(message, "type", "") in ("error", "warning"):
            self.complaints.append(str(getattr(message, "text", "")))


def of(site: Site, work: str) -> str:
    return f"http://127.0.0.1:{site.port}/work/{quote(work_component(work), safe='')}"


def main() -> None:
    """Build, look, print."""
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        env = sealed(Path(folder).resolve())
        os.environ.clear()
        os.environ.update(env)
        world = World.make(Path(folder).resolve())
        machines = worth_seeing(world)
        machines[0].handsoff("status").ok()
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        look = Look(browser)
        with served(machines[0]) as site:
            doors(look, site)
            state = pages(look, site, machines)
            shots(look, site, state)
        document(look, machines[0], Path(folder).resolve())
        browser.close()
    print(f"{len(look.failed)} not so; screenshots in {OUT.relative_to(ROOT)}/")
    sys.exit(1 if look.failed else 0)


def doors(look: Look, site: Site) -> None:
    """Who does not get in."""
    here = f"http://127.0.0.1:{site.port}"
    with look.visitor() as context:
        page = context.new_page()
        answer = page.goto(here)
        look.claim("without a cookie nothing is shown", answer is not None and answer.status == 401)
        page.screenshot(path=OUT / "see-key.png")
        page.fill("#key", "wrong")
        with page.expect_response("**/sign-in") as typed:
            page.keyboard.press("Enter")
        look.claim("a key that is typed arrives", "opens nothing" in typed.value.text())
        answer = page.goto(f"{here}/sign-in?key=wrong")
        look.claim("a wrong token is refused", answer is not None and answer.status == 403)
        look.claim("and leaves no cookie", not context.cookies())
        answer = page.goto(f"http://localhost:{site.port}/")
        look.claim("by another name of this computer: refused", answer.status == 421)  # type: ignore[union-attr]
    # what a browser prints of a refusal is no complaint about the page
    look.complaints.clear()


def pages(look: Look, site: Site, machines: list[Machine]) -> str:
    """Sign in, and look at a work; return the state of the browser."""
    with look.visitor() as context:
        page = context.new_page()
        page.goto(site.link)
        look.claim("the link signs in", page.url == f"http://127.0.0.1:{site.port}/")
        look.claim("a work is there", page.get_by_role("link", name=WORK).count() == 1)
        page.keyboard.press("Tab")
        skip = page.evaluate("document.activeElement.className")
        look.claim("the first stop of the keyboard skips to the content", skip == "skip")
        page.get_by_role("link", name=WORK).focus()
        page.keyboard.press("Enter")
        page.wait_for_url(of(site, WORK))
        bars = page.locator("svg.track rect.bar.held")
        look.claim("the time line has its legs", bars.count() == 3)
        look.claim("drawn with a width", all(b["width"] > 2 for b in boxes(page)))
        news(look, page, machines)
        page.goto(of(site, ODD))
        look.claim("a hostile page is text", "<script>document.title=" in page.inner_text(".prose"))
        look.claim("and runs nothing", page.title().startswith(ODD))
        look.claim("and leads nowhere", page.locator(".prose a, .prose img").count() == 0)
        page.get_by_role("link", name="Audit").click()
        elsewhere(look, context, site)
        look.claim(f"no complaint of the browser {look.complaints or ''}", not look.complaints)
        own = f"http://127.0.0.1:{site.port}/"
        foreign = [
            url for url in look.asked if not url.startswith((own, "data:", "http://localhost"))
        ]
        look.claim(f"nobody else is asked {foreign or ''}", not foreign)
        return json.dumps(context.storage_state())


def boxes(page: Page) -> list[dict[str, float]]:
    return [bar.bounding_box() or {"width": 0.0} for bar in page.locator("rect.bar.held").all()[:3]]  # type: ignore[misc]


def news(look: Look, page: Page, machines: list[Machine]) -> None:
    """Another machine says something; the page shows it without being asked."""
    page.locator("#legs summary").focus()
    inside(machines[1], "note", "seen while the page was open", "--work", WORK)
    try:
        page.get_by_text("seen while the page was open").wait_for(timeout=40_000)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is no news
        look.complaints.append(str(error))
    told = page.get_by_text("seen while the page was open").count() == 1
    look.claim("news come by themselves", told)
    focus = page.evaluate("document.activeElement.tagName")
    look.claim("and take the keyboard nowhere else", focus == "SUMMARY")


def elsewhere(look: Look, context: BrowserContext, site: Site) -> None:
    """A page of another origin, in the browser that has signed in, tries."""
    heard = len(look.complaints)
    page = context.new_page()
    page.goto("data:text/html,<title>evil</title>")
    tried = page.evaluate(
        """async (url) => {
            const read = await fetch(url, {credentials: 'include'}).then(a => a.text(), () => 'no');
            const blind = await fetch(url, {mode: 'no-cors', credentials: 'include'})
                .then(a => a.type, () => 'no');
            return [read, blind];
        }""",
        f"http://127.0.0.1:{site.port}/",
    )
    look.claim(f"another origin reads nothing {tried}", tried[0] == "no")
    page.set_content(f'<a href="http://127.0.0.1:{site.port}/">go</a>')
    with page.expect_navigation() as went:
        page.get_by_text("go").click()
    status = went.value.status if went.value else 0  # type: ignore[union-attr]
    look.claim(f"a link of another origin is refused ({status})", status == 403)
    page.close()
    del look.complaints[heard:]


def shots(look: Look, site: Site, state: str) -> None:
    """Take pictures: light, dark, narrow."""
    here = f"http://127.0.0.1:{site.port}"
    places = {
        "works": here, "work": of(site, WORK), "hostile": of(site, ODD), "roster": f"{here}/roster",
        "audit": f"{here}/audit", "compare": f"{of(site, WORK)}/compare?old=2&new=3",
    }  # fmt: skip
    looks: dict[str, dict[str, object]] = {
        "light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"},
        "narrow": {"viewport": NARROW, "color_scheme": "light"},
    }  # fmt: skip
    for name, how in looks.items():
        with look.visitor(storage_state=json.loads(state), **how) as context:
            page = context.new_page()
            for place, url in places.items():
                page.goto(url)
                page.screenshot(path=OUT / f"see-{place}-{name}.png", full_page=True)
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                if wide > 0:
                    look.claim(f"{place}, {name}: fits ({wide} px too wide)", wide <= 0)


def document(look: Look, machine: Machine, folder: Path) -> None:
    """Look at the file of audit --html."""
    file = folder / "report.html"
    inside(machine, "audit", "--html", file)
    for name, how in (
        ("light", {}),
        ("dark", {"color_scheme": "dark"}),
        ("narrow", {"viewport": NARROW}),
    ):
        look.complaints.clear()
        look.asked.clear()
        with look.visitor(**how) as context:
            page = context.new_page()
            page.goto(file.as_uri())
            page.screenshot(path=OUT / f"see-document-{name}.png", full_page=True)
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        foreign = [
            url for url in look.asked if url != file.as_uri() and not url.startswith("data:")
        ]
        fine = not look.complaints and not foreign and wide <= 0
        look.claim(f"the file, {name}: styled, no complaint, nobody asked "
                   f"{look.complaints or foreign or wide or ''}", fine)  # fmt: skip


if __name__ == "__main__":
    main()
