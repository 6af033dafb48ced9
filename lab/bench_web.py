"""How soon is the page there, with many works of many entries each?

Run from the repository root: python3 lab/bench_web.py [--works 200] [--entries 100]

Real keys, real git, a bare remote on the same disk. A clone that has seen all of it once serves
its page; Debian's chromium, if it is installed, opens it with nothing in its cache and says when it
had painted first (PerformancePaintTiming). Prints for each kind of page how long its answer took
and when it was painted, at worst; the same while the remote is asked and audited beside it.
Exit code 1 if a first paint takes a second, or without a browser a whole answer.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from browser import CHROMIUM, into_environment

into_environment(__file__)

from playwright.sync_api import sync_playwright  # noqa: E402

from handsoff.core.ids import work_component  # noqa: E402
from handsoff.edge import clock  # noqa: E402
from tests.kit.machines import Machine, World, sealed  # noqa: E402
from tests.kit.running import inside  # noqa: E402
from tests.kit.seen import PAGES, Desks  # noqa: E402
from tests.kit.visiting import Site, served  # noqa: E402

LIMIT = 1.0
_ROUNDS = 3
"""Times that each page is opened, of which the slowest counts."""


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--works", type=int, default=200)
    parser.add_argument("--entries", type=int, default=100)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        env = sealed(scratch)
        os.environ.clear()
        os.environ.update(env)
        world = World.make(scratch)
        m1, m2 = world.members("m1", "m2")
        works = [f"task/{number:04}" for number in range(chosen.works)]
        _write(m1, works, chosen.entries)
        began = time.perf_counter()
        inside(m2, "status")  # the clone sees it once, and keeps what it verified
        print(f"{chosen.works} works of {chosen.entries} entries; "
              f"verified for the first time in {time.perf_counter() - began:.1f} s")  # fmt: skip
        worst = _measure(m2, works)
        began = time.perf_counter()
        ran = inside(m2, "audit", "--html", scratch / "report.html")
        size = (scratch / "report.html").stat().st_size / 1e6
        print(f"audit --html: {time.perf_counter() - began:.1f} s, {size:.1f} MB, exit {ran.code}")
    sys.exit(1 if worst >= LIMIT else 0)


def _write(machine: Machine, works: list[str], entries: int) -> None:
    """Put works on the remote, all in one push; every second entry has a page of its own."""
    desks, now = Desks(machine), clock.now()
    for work in works:
        pen = desks.pen(machine.name, work, now).caught()
        for number in range(1, entries):
            pen = desks.saved(pen, PAGES[number % 2].replace("14", str(number // 2)))
        desks.done(pen)
    desks.push()


def _measure(machine: Machine, works: list[str]) -> float:
    """Print how soon pages are there, and return the worst first paint."""
    began = time.perf_counter()
    with served(machine) as site:
        print(f"the server is there after {time.perf_counter() - began:.2f} s")
        site.sign_in()
        one = "/work/" + quote(work_component(works[0]), safe="")
        pages = {
            "works": "/", "one work": one, "two revisions": f"{one}/compare?old=1&new=2",
            "roster": "/roster", "audit": "/audit",
        }  # fmt: skip
        paint = _browser(site) if CHROMIUM.exists() else None
        worst = [_told("works, the very first", site, "/", paint, rounds=1)]
        # from now on the remote is asked and audited beside it
        worst += [_told(f"{name}, while it audits", site, at, paint) for name, at in pages.items()]
        _until_audited(site)
        worst += [_told(name, site, path, paint) for name, path in pages.items()]
        if paint is not None:
            paint("")
    return max(worst)


def _told(
    name: str, site: Site, path: str, paint: Callable[[str], float] | None, rounds: int = _ROUNDS
) -> float:
    """Print one line, and return the seconds that count: until the paint, or the whole answer."""
    painted = max(paint(path) for _ in range(rounds)) if paint is not None else 0.0
    began = time.perf_counter()
    size = len(site.get(path).text)
    whole = time.perf_counter() - began
    told = f", first paint {painted:5.2f} s" if paint is not None else ""
    print(f"  {name:32} answer {whole:5.2f} s of {size / 1000:6.0f} kB{told}", flush=True)
    return painted or whole


def _until_audited(site: Site) -> None:
    began = time.perf_counter()
    while "Audited" not in site.get("/roster").text:
        time.sleep(0.2)
    print(f"  audited {time.perf_counter() - began:.1f} s later")


def _browser(site: Site) -> Callable[[str], float]:
    """Return what opens a page in a browser and says when it was painted; "" ends it."""
    play = sync_playwright().start()
    browser = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
    warm = browser.new_context()
    # a browser that runs already, as a person's does: the start of chromium is not ours
    warm.new_page().goto(f"http://127.0.0.1:{site.port}/sign-in")

    def paint(path: str) -> float:
        if not path:
            browser.close()
            play.stop()
            return 0.0
        context = browser.new_context()
        url = f"http://127.0.0.1:{site.port}"
        jar = [{"name": n, "value": v, "url": url} for n, v in site.cookies.items()]
        context.add_cookies(jar)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(url + path)
        found = "performance.getEntriesByName('first-contentful-paint')"
        while not page.evaluate(f"{found}.length"):  # not wait_for_function: the policy forbids it
            time.sleep(0.05)
        seconds = float(page.evaluate(f"{found}[0].startTime")) / 1000
        context.close()
        return seconds

    return paint


if __name__ == "__main__":
    main()
