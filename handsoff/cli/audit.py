"""``handsoff audit``."""

from pathlib import Path
from typing import Annotated

import typer

from handsoff.cli.talk import Json, say, show, show_json


def audit(
    trust: Annotated[
        str | None,
        typer.Option(
            metavar="FOUNDING",
            help="The roster's founding id, or its founder's fingerprint (default: the one that "
            "this clone trusts).",
        ),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The remote to audit (default: the shared one)."),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="ENTRY", help="A void entry that was looked into: not a finding."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all of it to FILE as well, as one page to show."),
    ] = None,
    json: Json = False,
) -> None:
    """Verify the roster, every record and all notes on the remote; 0 only if all is clean.

    Needs a clone and no set-up. 7: the roster is not the one trusted, or the remote takes back
    what it showed before; 9: something does not verify; 3: a work that nobody looks after, or whose
    branch was changed past its record.
    """
    from handsoff.cli.report import audit_document, audit_lines
    from handsoff.edge import clock
    from handsoff.edge.git.repo import open_checkout
    from handsoff.flows.audit.audit import run_audit
    from handsoff.web import document

    if html is not None:
        document.check_target(html)
    checkout = open_checkout()
    done = run_audit(checkout, trust=trust, remote=remote, now=clock.now(), known=known or ())
    if html is not None:
        document.write(html, checkout, done)
        say(f"wrote {html}", quiet=json)
    if json:
        show_json(audit_document(done))
    else:
        show("\n".join(audit_lines(done)))
    raise typer.Exit(done.report.exit_code)
