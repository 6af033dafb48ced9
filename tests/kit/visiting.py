"""A page that is served: ``handsoff web`` as a process of its own, asked over a real socket.

with served(m1) as site:
    site.sign_in()
    site.get("/").text
"""

import http.client
import json
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.kit import schemas
from tests.kit.machines import Machine
from tests.kit.running import Background, background


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Site:
    """A page that is served, and the cookie of whoever asks."""

    port: int
    link: str
    process: Background
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str) -> Answer:
        """Ask as a browser would; ``headers`` with _ for -; one that is "" is left out."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        cookie = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        said = {"host": f"127.0.0.1:{self.port}", "cookie": cookie, **headers}
        if body:
            said |= {"content-length": str(len(body))}
        for name, value in said.items():
            if value:
                line.putheader(name.replace("_", "-"), value)
        line.endheaders(body.encode() or None)
        answer = line.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        text = answer.read().decode()
        line.close()
        return Answer(answer.status, headers, text)

    def get(self, path: str) -> Answer:
        """Ask for a page, which must be there."""
        answer = self.ask(path)
        assert answer.status == 200, (path, answer.status, answer.text)
        return answer

    @property
    def way_in(self) -> str:
        """The path of the link."""
        parts = urlsplit(self.link)
        return f"{parts.path}?{parts.query}"

    def sign_in(self) -> Answer:
        """Follow the link, and keep the cookie."""
        answer = self.ask(self.way_in)
        assert answer.status == 303, answer.text
        name, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
        self.cookies[name] = value
        return answer


@contextmanager
def served(machine: Machine, *words: str) -> Iterator[Site]:
    """Run ``handsoff web`` for ``machine``; it has ended after the block."""
    with background(machine, "web", "--json", *words) as running:
        out = running.process.stdout
        assert out is not None
        assert select.select([out], [], [], 30)[0], "it did not say where it is"
        line = out.readline()
        assert line, running.end().err
        schemas.check(["web", "--json"], line.decode(), 0)
        told = json.loads(line)
        yield Site(urlsplit(told["url"]).port or 0, told["sign_in"], running)
        if running.process.poll() is None:
            running.interrupt()
