"""``handsoff audit``."""

from typing import Annotated

import typer

from handsoff.cli.talk import Json, show, show_json


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
    from handsoff.flows.audit import run_audit

    done = run_audit(
        open_checkout(), trust=trust, remote=remote, now=clock.now(), known=known or ()
    )
    if json:
        show_json(audit_document(done))
    else:
        show("\n".join(audit_lines(done)))
    raise typer.Exit(done.report.exit_code)
