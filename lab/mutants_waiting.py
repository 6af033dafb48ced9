"""Mutants of what waits for the remote, of notes, and of what is told after a drop."""

from typing import Final

TESTS: Final = {
    "waiting": ["test_waiting", "test_waiting_model"],
    "notes": ["test_notes"],
    "dropped": ["test_dropped"],
    "times": ["test_times"],
    "luggage": ["test_luggage"],
}
MUTANTS: Final[dict[str, list[tuple[str, str, str]]]] = {
    "holding": [
        ("a parcel elsewhere is no matter", "if away and lease.state", "if False and lease.state"),
        ("no way back while in contact", "if away and lease.state", "if lease.state"),
        ("files come back by themselves", 'route in ("direct", "file")', 'route in ("direct",)'),
        ("what is on the remote stays there", 'route in ("direct", "file")', "route"),
    ],
    "record": [
        (
            "pages leave parcels",
            "if saved is not None and saved.parcel else",
            "if saved is not None else",
        ),
        ("a parcel is forgotten", "saved.parcel else record.kept", "saved.parcel else None"),
        (
            "every entry has a route",
            "isinstance(entry.event, Offered) else record.route",
            "isinstance(entry.event, Offered) else ''",
        ),
    ],
    "waiting": [
        ("a day is no limit", "old = age > LIMIT", "old = False"),
        ("asking does not help", "(old and not asked) or", "old or"),
        ("what became void has landed", "or not local[-1].good:", "or False:"),
        ("the day ends early", "old = age > LIMIT", "old = age >= LIMIT"),
        ("what is old is sent as it was", "if not old or len(own)", "if True or len(own)"),
        ("others are stepped over", "if not old or len(own) < len(rest):", "if not old:"),
        ("nothing follows", "or remote[-1].oid in here:", "or False:"),
        ("what landed is sent once more", "if local[-1].oid in there:", "if False:"),
        ("what another brought is signed anew", "done += 1", "done += 0"),
        (
            "the whole is signed over others",
            "tuple(takewhile(lambda event: event.by == by, rest))",
            "own",
        ),
        ("nobody is waited for", "(outrun or old):", "True:"),
        ("nobody can win", "(outrun or old):", "old:"),
        ("waits for ever", "(outrun or old):", "outrun:"),
        ("void entries are signed anew", "if e.good and e.entry and", "if e.entry and"),
        (
            "the machine signs for others",
            "for event in rest if event.by == by)",
            "for event in rest)",
        ),
        ("times tell entries apart", "return replace(event, at=_NO_TIME)", "return event"),
        (
            "what was found tells them apart",
            "event = replace(event, found=Found(how=How.FREE))",
            "pass",
        ),
        (
            "the deadline tells them apart",
            "_NO_TIME + (event.deadline - event.at)",
            "event.deadline",
        ),
        ("any length is the same", "_NO_TIME + (event.deadline - event.at)", "_NO_TIME"),
        ("deadlines stay", "deadline=at + (anew.deadline - event.at)", "deadline=anew.deadline"),
        (
            "a catch says what it found before",
            "found=pen.record.lease.as_of(at).found()",
            "found=anew.found",
        ),
        ("only if it fits now", "with suppress(HeldError, RefusedError):", "with suppress():"),
        ("all is written at its old time", "    if fresh:\n", "    if False:\n"),
        ("all is written now", "    if fresh:\n", "    if True:\n"),
        ("what is old keeps its time", "own, own, fresh=True)", "own, own)"),
        ("times go back", "clamp(event.at, time_of(pen.record.at))", "event.at"),
        ("others' offers count from now", "fresh=old and run == tuple(rest))", "fresh=old)"),
        ("what is new counts from now", "fresh=old and run == tuple(rest))", "fresh=True)"),
    ],
    "notes": [
        ("no check of writer", "    _writer,\n", ""),
        ("no check of place", "    _place,\n", ""),
        ("no check of order", "    _order,\n", ""),
        ("no check of admitted", "    _admitted,\n", ""),
        ("no check of no_files", "    _no_files,\n", ""),
        ("another work's", "read.work else", "link.body['work'] else"),
        ("the revoked note on", "elif signer.revoked is not None:", "elif False:"),
        ("strangers note", "elif signer is None:", "elif False:"),
        ("nothing is a note", "if not text.strip():", "if False:"),
        ("further fields", "if body.keys() != _FIXED | fits.keys():", "if False:"),
        (
            "void notes move the tip",
            "if verdict.good and verdict.entry is not None:",
            "if verdict.entry:",
        ),
        ("dated before", 'if link.at >= read.at else "dated', 'if True else "dated'),
    ],
    "dropped": [
        ("held works are warned of", "if lease.state is not State.DROPPED:", "if False:"),
        ("blocked is dropped", "'blocked' if lease.blocked else 'dropped'", "'dropped'"),
        (
            "flights are forgotten",
            'check it first: {step}" for step in page.in_flight]',
            '" for step in ()]',
        ),
        ("steps in flight come last", 'lines += [f"was in flight', 'lines[3:] += [f"was in flight'),
        ("nothing to look through", "for reference in page.references]", "for reference in ()]"),
        ("a lapse is a drop", "if lease.how is How.DROP:", "if True:"),
    ],
    "times": [
        ("hours are minutes", '"h": 3600', '"h": 60'),
        ("for ever", "or length > LONGEST", ""),
        ("no length at all", "[1-9][0-9]{0,8}", "[0-9]{1,9}"),
        ("words around it", "_FORM.fullmatch", "_FORM.match"),
    ],
    "luggage": [
        ("any kind", "or kind not in _KINDS", ""),
        ("as much as they like", "if len(blob) > LIMIT:", "if False:"),
        ("no end", 'blob[at - 1 : at] != b"\\n"', "False"),
        ("commits are pages", 'if kind == "commit":', 'if kind == "none":'),
    ],
}
