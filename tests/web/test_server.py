"""handsoff web, over a real socket: who gets in, and what is shown of what others wrote."""

import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

from handsoff.core.ids import work_component
from handsoff.core.shown.visiting import POLICY
from handsoff.web.manners import CROWD
from tests.kit.machines import Machine, World, sealed
from tests.kit.running import inside, refused, wait_for
from tests.kit.seen import ODD, WORK, worth_seeing
from tests.kit.visiting import Site, served


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Return m1, in a world with works in every state that it has seen."""
    folder = tmp_path_factory.mktemp("seen")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in sealed(folder).items():
            patch.setenv(name, value)
        m1 = worth_seeing(World.make(folder))[0]
        m1.handsoff("status").ok()
        yield m1


@pytest.fixture(autouse=True)
def _as_there(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in sealed(machine.home.parents[1]).items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def site(machine: Machine) -> Iterator[Site]:
    """Return the page of m1, for somebody who has signed in."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in sealed(machine.home.parents[1]).items():
            patch.setenv(name, value)
        with served(machine) as found:
            found.sign_in()
            yield found


def of(work: str, more: str = "") -> str:
    return "/work/" + quote(work_component(work), safe="") + more


def test_the_link_opens_once_and_nothing_else_does(machine: Machine) -> None:
    with served(machine) as site:
        assert site.ask("/").status == 401
        assert site.ask("/events").status == 401
        assert site.ask("/sign-in?key=wrong").status == 403
        assert site.ask("/sign-in").status == 403
        assert site.ask(site.way_in, "HEAD").status == 204
        assert site.ask(site.way_in, sec_fetch_site="cross-site").status == 403
        assert site.ask(site.way_in, sec_purpose="prefetch").status == 204
        answer = site.sign_in()
        cookie = answer.headers["set-cookie"].lower()
        shape = rf"handsoff-{site.port}=[\w-]{{43}}; httponly; path=/; samesite=strict"
        assert re.fullmatch(shape, cookie)
        assert answer.headers["location"] == "/"
        assert WORK in site.get("/").text
        again = site.ask(site.way_in)
        assert (again.status, "set-cookie" in again.headers) == (403, False)
        assert "was used before" in again.text
        taken = inside(machine, "web", "--port", str(site.port))
        refused(taken, 8, f"port {site.port} is in use", "handsoff web --port 0")
        ended = site.process.interrupt(signal.SIGINT)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert site.link.partition("key=")[2] not in ended.out + ended.err


def test_other_names_origins_and_methods_are_refused(site: Site) -> None:
    port = site.port
    assert site.ask("/", host=f"localhost:{port}").status == 421
    assert site.ask("/", host=f"rebound.example:{port}").status == 421
    assert site.ask("/", host="").status in (400, 421)
    assert site.ask("/", origin="http://evil.example").status == 403
    assert site.ask("/", sec_fetch_site="same-site").status == 403
    refused = site.ask("/", "POST", "x=1")
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")
    assert site.ask("/sign-in", "POST", "key=x").status == 403
    assert site.ask("/", "DELETE").status == 405
    assert (
        site.ask("/", origin=f"http://127.0.0.1:{port}", sec_fetch_site="same-origin").status == 200
    )


def test_strangers_who_say_nothing_keep_nobody_out_and_leave_no_word(machine: Machine) -> None:
    with served(machine) as site, ExitStack() as held:
        site.sign_in()
        for _ in range(CROWD + 6):
            held.enter_context(socket.create_connection(("127.0.0.1", site.port)))
        assert site.get("/").status == 200
        half = (
            f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
            f"Origin: http://127.0.0.1:{site.port}\r\nContent-Length: 40\r\n\r\nkey="
        )
        for said in (half, "\x1b[31m\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", site.port)) as line:
                line.sendall(said.encode())
                time.sleep(0.1)
        assert site.get("/").status == 200
        ended = site.process.interrupt(signal.SIGINT)
    assert not re.search("Traceback|Invalid|Exception", ended.err)


def test_every_answer_forbids_what_a_page_does_not_need(site: Site) -> None:
    paths = ("/", "/nope", "/static/style.css", "/static/page.js", "/static/..%2fapp.py",
             "/sign-in", "/work/nope", of(WORK, "/compare"))  # fmt: skip
    for path in paths:
        headers = site.ask(path).headers
        assert headers["content-security-policy"] == POLICY, path
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in headers
    assert site.ask("/static/..%2fapp.py").status == 404
    assert site.ask("/static/%2e%2e/app.py").status == 404


def test_pages_have_nothing_inline_and_ask_nobody_else(site: Site) -> None:
    for path in ("/", "/roster", "/audit", of(WORK), of(ODD), of(WORK, "/compare?old=1&new=3")):
        text = site.get(path).text
        assert re.findall(r"<script(?! src=\"/static/page\.js\" defer>)", text) == []
        assert re.findall(r"<style|<img|<iframe|<object|<base| style=| on\w+=\"", text) == []
        assert re.findall(r"(?:src|href|action)=\"(?!/|#|data:,)[^\"]*", text) == []


def test_what_another_machine_wrote_is_text(site: Site) -> None:
    text = site.get(of(ODD)).text
    assert "&lt;script&gt;document.title=" in text
    assert "[click](javascript:alert(1))" in text
    said = "&lt;script&gt;alert(&#39;note&#39;)&lt;/script&gt;"  # the note comes with the remote
    wait_for(lambda: said in site.get(of(ODD)).text)
    text = site.get(of(ODD)).text
    assert "{{ 7*7 }}" in text
    assert not set(text) & set("\x1b\u202e\u202d\u202c")
    assert "<b>50%</b>" not in text
    assert "fix/&lt;b&gt;50%&lt;/b&gt;-off?&amp;x=1" in site.get("/").text


def test_a_work_is_told_with_its_legs_pages_and_entries(site: Site) -> None:
    # notes come with the remote
    wait_for(lambda: "m1 carries this work, not m2" in site.get(of(WORK)).text)
    text = site.get(of(WORK)).text
    assert re.findall(r'<rect class="bar (\w+)" x="[\d.]+%" width="[\d.]+%"', text) == [
        "held", "offered", "held", "held", "offered",
    ]  # fmt: skip
    assert "<h4>Next</h4>" in text
    assert "<td>JPY</td>" in text
    assert text.count(">signed</span>") >= 11
    assert "m1 carries this work, not m2" in text
    older = site.get(of(WORK, "?r=1")).text
    assert "The page, r1" in older
    changed = site.get(of(WORK, "/compare?old=2&new=3")).text
    assert "<ins>- Everything is pushed.</ins>" in changed
    assert "<del>- Two commits are not pushed yet.</del>" in changed
    assert site.ask(of(WORK, "/compare?old=2&new=x")).status == 404
    assert "cannot be compared" in site.get(of(WORK, "/compare?old=2&new=99")).text


def test_the_remote_is_asked_and_audited_while_the_page_is_open(site: Site) -> None:
    wait_for(lambda: "Audited" in site.get("/audit").text)
    text = site.get("/audit").text
    assert "nobody has caught it since" in text
    assert "the parcel that m1 is to catch is not on the remote" in text
    assert "The remote answered last" in text
    assert "of wang" in site.get("/roster").text


def test_without_the_remote_the_page_says_so_and_shows_what_it_knows(
    machine: Machine, tmp_path: Path
) -> None:
    url = machine.git("remote", "get-url", "origin")
    machine.git("remote", "set-url", "origin", str(tmp_path / "gone.git"))
    try:
        with served(machine) as other:
            ours = {"origin": f"http://127.0.0.1:{other.port}"}
            form = f"key={quote(other.link)}"  # typed, or pasted, the whole link
            entered = other.ask("/sign-in", "POST", form, **ours)
            name, _, value = entered.headers["set-cookie"].partition(";")[0].partition("=")
            other.cookies[name] = value
            wait_for(lambda: "Without the remote" in other.get("/").text)
            assert WORK in other.get("/").text
            told = inside(machine, "drop", WORK, "--reason", "no <b>time</b>")
            assert told.code == 6  # it waits
            wait_for(lambda: "Waits here for the remote" in other.get("/").text)
            text = other.get("/").text
            assert "provisional: the remote has not confirmed it" in text
            assert "no &lt;b&gt;time&lt;/b&gt;" in text
            assert ">pending</span>" in other.get(of(WORK)).text
            assert "The page, r4" in other.get(of(WORK)).text
    finally:
        machine.git("remote", "set-url", "origin", url)
