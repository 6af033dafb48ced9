"""The command web."""

import json as json_of
import webbrowser
from typing import TYPE_CHECKING, Annotated

import typer

from handsoff.cli.talk import say, show, show_as_is

if TYPE_CHECKING:  # a command pays for its own flow only
    from handsoff.web.serving import Serving


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(web)


def web(
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="The port on 127.0.0.1 (default: one that is free)."),
    ] = 0,
    browser: Annotated[
        bool,
        typer.Option(
            "--open/--no-open", help="Open the page in a browser, which asks for the key."
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document first: where, and the link.")
    ] = False,
) -> None:
    """Show the works of this checkout in a browser on this computer, read-only, until Ctrl-C.

    The link that is printed opens the page once, within ten minutes; Enter prints another one.
    """
    from handsoff.web.needed import FOR_A_SERVER, need

    need(FOR_A_SERVER)
    from handsoff.web.serving import serve

    serve(port, lambda serving: _tell(serving, browser=browser, json=json))


def _tell(serving: "Serving", *, browser: bool, json: bool) -> None:
    if json:
        told = {"event": "link" if serving.again else "serving", "url": serving.url,
                "sign_in": serving.sign_in, "valid": serving.valid}  # fmt: skip
        show_as_is(json_of.dumps(told, sort_keys=True))
        return
    show(serving.sign_in)
    if serving.again:
        return
    say(f"the works of this checkout are shown at {serving.url} (stop with Ctrl-C)")
    say("next: open the link above, once, within ten minutes; Enter prints another one")
    if browser:
        # not the link: the words of a browser's command can be read by everybody here
        webbrowser.open(serving.url)
