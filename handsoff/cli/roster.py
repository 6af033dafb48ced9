"""The group ``roster``: who is in, and how that changes."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from handsoff.cli.identity import admit
from handsoff.cli.talk import DryRun, Json, Yes, confirm, say, show, show_as_is, show_json
from handsoff.core.plain import plain
from handsoff.edge import tongue
from handsoff.errors import UsageError

if TYPE_CHECKING:
    from handsoff.flows.machines.rotate import Rotated
    from handsoff.flows.roster.leaving import Left

Name = Annotated[str, typer.Argument(metavar="NAME", help="The machine, by its name or id.")]

group = typer.Typer(invoke_without_command=True, no_args_is_help=False)


@group.callback()
def roster(
    asked: typer.Context,
    json: Json = False,
    allowed_signers: Annotated[
        bool, typer.Option("--allowed-signers", help="Print OpenSSH's allowed-signers file.")
    ] = False,
    revoked: Annotated[
        bool, typer.Option("--revoked", help="With --allowed-signers: revoked keys too.")
    ] = False,
) -> None:
    """List the machines that trust each other here, and change who they are."""
    if asked.invoked_subcommand is not None:
        if json or allowed_signers or revoked:
            raise UsageError(
                f"options of the list stand before {asked.invoked_subcommand}",
                hint="put them behind it, if they are meant for it",
            )
        return
    if revoked and not allowed_signers:
        raise UsageError(
            "--revoked goes with --allowed-signers", hint="the list has revoked machines anyway"
        )
    from handsoff.flows.desk import open_desk
    from handsoff.flows.roster.roster import roster_as_dict, roster_lines

    desk = open_desk()
    found = desk.live_roster().trusted()
    if json:
        show_json(roster_as_dict(found, desk.machine.id))
    elif allowed_signers:
        show_as_is(found.allowed_signers(revoked=revoked).rstrip("\n"))
    else:
        show("\n".join(roster_lines(found, desk.machine.id)))


def revoke(
    name: Name,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; everybody can read it.")],
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """End the trust in a machine: what it signed up to now stays good, and nothing after."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.roster import changes, leaving

    def ask(question: str) -> None:
        again = f"handsoff roster revoke {name} --reason TEXT --yes"
        confirm(question, yes=yes, instead=again)

    desk = open_desk()

    def run() -> leaving.Left:
        return leaving.revoke(desk, name, reason, ask=ask, dry_run=dry_run)

    done = run() if dry_run else changes.or_later(desk, "revoke", (name, reason), run, ask=ask)
    if json:
        show_json(done.as_dict())
        return
    for line in _revoked(done, desk.machine.id):
        say(line)


def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The machine, by its name or id.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What it is called from now on.")],
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Call a machine something else; its id, and all that it signed, stay as they are."""
    from handsoff.core.machines.roster import Member
    from handsoff.flows.desk import open_desk
    from handsoff.flows.roster import changes, leaving
    from handsoff.flows.roster.roster import member_as_dict

    desk = open_desk()

    def run() -> Member:
        return leaving.rename(desk, old, new, dry_run=dry_run)

    def agreed(_: str) -> None:
        """Ask nobody: a name is changed back as easily."""

    done = run() if dry_run else changes.or_later(desk, "rename", (old, new), run, ask=agreed)
    if json:
        show_json({"dry_run": dry_run, "member": member_as_dict(done)})
        return
    was, now = plain(old), f"{done.name}: {done.id} as before"
    say(f"{was} would be called {now}" if dry_run else f"{was} is called {now}")
    say("nothing was changed" if dry_run else "next: handsoff roster")


def rotate(yes: Yes = False, dry_run: DryRun = False, json: Json = False) -> None:
    """Give this machine new keys under its old name, and revoke the present ones."""
    from handsoff.flows.desk import open_desk
    from handsoff.flows.machines.rotate import rotate as run

    def ask(question: str) -> None:
        confirm(question, yes=yes, instead="handsoff roster rotate --yes")

    done = run(open_desk(), ask=ask, dry_run=dry_run)
    if json:
        show_json(done.as_dict())
        return
    for line in _rotated(done):
        say(line)


def add_to(app: typer.Typer) -> None:
    """Register the group."""
    for command in (admit, revoke, rename, rotate):
        group.command()(command)
    app.add_typer(group, name="roster")


def _revoked(done: "Left", own: str) -> Iterator[str]:
    member = done.member
    said = "was revoked before" if done.already else "would be out" if done.dry_run else "is out"
    name = f"{member.name} of {member.person}"
    yield tongue.told("{name} {said}: {why}", name=name, said=said, why=plain(done.reason))
    if not done.already:
        yield "  what it signed up to now stays good, and nothing after"
    for work in done.works:
        until = f" until {work.until}" if work.until else ", and nobody caught it since"
        yield f"  {plain(work.work)}: {work.state}{until}; then, on another machine: {work.next}"
    yield from _readable(done.parcels, "its key may open what waits on the remote")
    for name, problem in done.unsound.items():
        yield f"warning: the record of {plain(name)} cannot be verified: {plain(problem)}"
    if done.dry_run:
        yield "nothing was changed"
    elif member.id == own:
        yield "this machine is out; with other keys it may be let in again:"
        yield "next: HANDSOFF_HOME=FOLDER handsoff init --name NAME"
    else:
        yield "next: change the tokens and passwords that were on that machine, if it was lost"


def _rotated(done: "Rotated") -> Iterator[str]:
    rosters = f"{len(done.rosters)} roster{'' if len(done.rosters) == 1 else 's'}"
    if done.dry_run:
        yield f"{done.name} would get new keys, and {done.old} be revoked, in {rosters}"
    else:
        yield f"{done.name} has new keys: {done.new}, {done.fingerprint}"
    yield from _readable(done.parcels, "the new keys open nothing that was sealed before")
    for founding in done.elsewhere:
        yield f"warning: no clone here for the roster {founding[:12]}: revoke {done.old} there"
    if done.dry_run:
        yield "nothing was changed"
        return
    yield f"  entries signed with the old keys stay good; they are in the list as {done.name}.old"
    yield "  no other machine knows an address of the new keys yet: send to it with --at once"
    yield "next: start handsoff listen again, if it runs here; then: handsoff roster"


def _readable(parcels: Mapping[str, int], why: str) -> Iterator[str]:
    if parcels:
        named = ", ".join(f"{plain(work)} ({count})" for work, count in sorted(parcels.items()))
        yield f"  {why}: {named}"
