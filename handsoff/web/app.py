"""The pages as they are asked for: which address shows what.

Every request passes ``Gate`` first, which asks the rules in ``core.shown.visiting`` and puts the
same headers on every answer, errors too. With ``serving`` the one door to Starlette and uvicorn.
"""

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handsoff.core.plain import plain
from handsoff.core.shown.overview import Overview
from handsoff.core.shown.visiting import HEADERS, SIGN_IN, STATIC, Door, No, Visit
from handsoff.edge import clock
from handsoff.errors import HandsoffError
from handsoff.flows.shown.overview import Window
from handsoff.flows.shown.watching import Watcher
from handsoff.web.manners import welcome
from handsoff.web.pages import HERE, Pages

_BODY: Final = 2048
"""Bytes of a form: it has one field."""

_PAUSE: Final = 0.3
"""Seconds between two looks whether there is something new to tell an open page."""

_FILES: Final = {"style.css": "text/css", "page.js": "text/javascript"}
_SAID: Final = {
    No.METHOD: "This page is only to be read.",
    No.HOST: "This page has another name: use the address that handsoff web printed.",
    No.ORIGIN: "Another site sent this request. Copy the address into the address bar instead.",
    No.KEY: "Open the link that handsoff web printed in the terminal, or type its key here.",
}


class House:
    """What the pages are made of, and who may see them."""

    def __init__(self, window: Window, watcher: Watcher, pages: Pages, door: Door) -> None:
        self.window, self.watcher, self.pages = window, watcher, pages
        self.door = door
        self.closing = False
        self._lock = threading.Lock()

    def enter(self, key: str) -> str | None:
        """Return a new session if ``key`` opens the door, which it does once."""
        session = secrets.token_urlsafe(32)
        with self._lock:
            after = self.door.enter(key, clock.monotonic(), session)
            self.door = after or self.door
        return session if after is not None else None

    def new_key(self) -> str:
        """Return a new key; one that was not used is good no more."""
        key = secrets.token_urlsafe(32)
        with self._lock:
            self.door = self.door.with_key(key, clock.monotonic())
        return key

    def show(self, name: str, *, status: int = 200, **values: object) -> Response:
        """Return a page, with what all pages have."""
        shown: Overview = self.window.overview()
        html = self.pages.render(name, shown=shown, **values)
        return HTMLResponse(html.encode("utf-8", "replace"), status)

    def error(self, status: int, title: str, said: str, *, form: bool = False) -> Response:
        """Return a page that says what is wrong, and nothing of the record."""
        html = self.pages.render("error", title=title, said=said, form=form, back=status == 404)  # noqa: PLR2004
        return HTMLResponse(html, status)


def application(house: House) -> ASGIApp:
    """Return the pages of ``house``, behind the gate."""

    def page(work: Callable[[House, Request], Response]) -> Callable[..., object]:
        async def answer(request: Request) -> Response:
            try:
                made = await run_in_threadpool(work, house, request)
            except HandsoffError as error:
                made = house.error(500, "This cannot be shown", plain(str(error)))
            house.watcher.shown()
            return made

        return answer

    async def sign_in(request: Request) -> Response:
        return await _sign_in(house, request)

    async def events(_: Request) -> Response:
        return StreamingResponse(_events(house), media_type="text/event-stream")

    async def missing(_: Request, __: Exception) -> Response:
        return _no_page(house)

    routes = [
        Route("/", page(_whole("works"))),
        Route("/work/{component}", page(_work)),
        Route("/work/{component}/compare", page(_compare)),
        Route("/roster", page(_whole("roster"))),
        Route("/audit", page(_whole("audit"))),
        Route("/events", events, methods=["GET"]),
        Route(STATIC + "{name}", page(_static)),
        Route(SIGN_IN, sign_in, methods=["GET", "POST"]),
    ]
    return Gate(house, Starlette(routes=routes, exception_handlers={404: missing, 405: missing}))


class Gate:
    """Turns away whom the rules turn away, and puts our headers on every answer."""

    def __init__(self, house: House, inner: ASGIApp) -> None:
        self._house, self._inner = house, inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge one request, and have it answered."""
        if scope["type"] != "http":  # no upgrades, no lifespan
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS]
                message["headers"] = [*message.get("headers", ()), *ours]
            await send(message)

        house = self._house
        visit = _visit(scope, house.door.cookie)
        no = house.door.judge(visit)
        if no is None:
            if house.door.knows(visit.cookies):
                welcome(scope)
            await self._inner(scope, receive, sealed)
            return
        answer = house.error(no.value, "This page is not for everybody", _SAID[no],
                             form=no is No.KEY)  # fmt: skip
        if no is No.METHOD:
            answer.headers["Allow"] = "GET, HEAD"
        await answer(scope, receive, sealed)


def _visit(scope: Scope, cookie: str) -> Visit:
    headers = Headers(scope=scope)
    pairs = [part.strip() for line in headers.getlist("cookie") for part in line.split(";")]
    return Visit(
        method=scope["method"],
        path=scope["path"],
        hosts=headers.getlist("host"),
        origins=headers.getlist("origin"),
        sites=headers.getlist("sec-fetch-site"),
        purposes=headers.getlist("sec-purpose"),
        cookies=[p.removeprefix(f"{cookie}=") for p in pairs if p.startswith(f"{cookie}=")],
    )


async def _sign_in(house: House, request: Request) -> Response:
    if _visit(request.scope, house.door.cookie).only_looks:  # which does not use up the key
        return Response(status_code=204)
    if request.method == "POST":
        key = _first(await _body(request))
    else:
        key = request.query_params.get("key", "")
    session = house.enter(key)
    if session is None:
        said = (
            "The key is wrong, was used before, or is too old. "
            "A new one: press Enter where handsoff web runs, or start it anew."
        )
        return house.error(403, "This key opens nothing", said, form=True)
    answer = RedirectResponse("/", status_code=303)
    answer.set_cookie(house.door.cookie, session, path="/", httponly=True, samesite="strict")
    return answer


async def _body(request: Request) -> bytes:
    body = b""
    with suppress(ClientDisconnect):  # anybody can go away, and that is no error of ours
        async for part in request.stream():
            body += part
            if len(body) > _BODY:
                return b""
        return body
    return b""


def _first(body: bytes) -> str:
    fields = parse_qs(body.decode("ascii", "replace"), max_num_fields=4)
    return fields.get("key", [""])[0].strip().rpartition("key=")[2]  # or the whole link


async def _events(house: House) -> AsyncIterator[bytes]:
    """Tell an open page that there is something new, until it is closed."""
    told, beats = house.watcher.version, 0
    yield b"retry: 3000\n\n"
    while not house.closing:
        await asyncio.sleep(_PAUSE)
        beats += 1
        if house.watcher.version != told:
            told, beats = house.watcher.version, 0
            yield f"event: changed\ndata: {told}\n\n".encode()
        elif beats * _PAUSE > 15:  # noqa: PLR2004 - what is between may close a silent line
            beats = 0
            yield b": still here\n\n"


def _whole(name: str) -> Callable[[House, Request], Response]:
    return lambda house, _: house.show(name, here=name)


def _work(house: House, request: Request) -> Response:
    view = house.window.work(request.path_params["component"])
    if view is None:
        return _no_work(house)
    chosen = _number(request, "r")
    page = view.page(chosen) if chosen else next(iter(view.pages), None)
    return house.show("work", here="work", view=view, page=page)


def _compare(house: House, request: Request) -> Response:
    view = house.window.work(request.path_params["component"])
    old, new = _number(request, "old"), _number(request, "new")
    if view is None or not old or not new:
        return _no_work(house)
    return house.show("compare", here="work", view=view, old=old, new=new)


def _no_page(house: House) -> Response:
    return house.error(404, "There is no such page", "It may have been called otherwise.")


def _no_work(house: House) -> Response:
    return house.error(404, "There is no such work", "No record of it was seen here.")


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # noqa: PLR2004


def _static(house: House, request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _FILES:
        return _no_page(house)
    return Response((HERE / "static" / name).read_bytes(), media_type=_FILES[name])
