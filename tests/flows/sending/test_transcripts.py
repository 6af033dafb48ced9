"""Transcripts: from the home of an agent on m1 to where it is found on m2, and back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from handsoff.core.objects import parse_tree
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import open_checkout
from tests.kit.machines import Machine, World
from tests.kit.running import at_home, inside, refused
from tests.kit.sessions import (
    ID,
    OTHER,
    PAGE,
    claude,
    claude_home,
    codex,
    codex_home,
    grow,
    line,
    main_of,
    put,
    said,
    with_agents,
)

WORK = "feat/x"


def ready(world: World, *names: str) -> list[Machine]:
    """Return machines with agents, the first in the middle of a work."""
    machines = list(map(with_agents, world.members(*(names or ("m1", "m2")))))
    m1 = machines[0]
    m1.git("switch", "-q", "-c", WORK)
    m1.write("a.txt", "one\n")
    m1.write(".wip/HANDOFF.md", PAGE)
    m1.git("add", "a.txt")
    return machines


def send(machine: Machine, to: Machine, *words: str, mode: str = "rewrite") -> str:
    with at_home(to) as there:
        at = ("--at", there.address, "--transcript", mode)
        return inside(machine, "send", to.name, *at, *words).ok().err


def catch(machine: Machine, *words: str | Path) -> list[dict[str, object]]:
    """Catch the work, and return what became of the transcripts."""
    done = inside(machine, "catch", WORK, "--json", *words).ok().json
    return list(done["transcripts"])


def hop(machine: Machine, to: Machine, mode: str = "rewrite") -> dict[str, object]:
    """Hand over and catch, with one transcript."""
    send(machine, to, mode=mode)
    (told,) = catch(to)
    return told


def moved(body: bytes, old: Machine, new: Machine) -> bytes:
    return body.replace(str(old.top).encode(), str(new.top).encode())


def marker(machine: Machine) -> bytes:
    return line(type="relocated", sessionId=ID, relocatedCwd=str(machine.top))


def test_a_raw_transcript_is_found_there_and_comes_back_as_it_was(world: World) -> None:
    m1, m2 = ready(world)
    first = claude(m1)
    body, before = first.read_bytes(), first.stat().st_mtime
    disk = claude_home(m2).parent / "disk"  # of m2's user, who has the transcripts there
    disk.mkdir()
    claude_home(m2).mkdir()
    (claude_home(m2) / "projects").symlink_to(disk)
    assert "transcript of claude 0a1b2c3d (1 file" in send(m1, m2, mode="raw")
    (told,) = catch(m2)
    there = main_of(m2)
    assert there.read_bytes() == body + marker(m2)
    assert there.stat().st_mode & 0o777 == 0o600
    assert int(there.stat().st_mtime) == int(before)
    assert (told["result"], told["resume"]) == ("new", f"claude --resume {ID}")
    assert told["files"][0]["returns"] is True  # type: ignore[index]
    # nobody went on there: m1 has its own bytes again; and then m2, though its marker stands there
    assert hop(m2, m1, "raw")["result"] == "same"
    assert first.read_bytes() == body
    grown = grow(first, said(m1.top, "on m1"))
    assert hop(m1, m2, "raw")["result"] == "extension"
    assert there.read_bytes() == grown + marker(m2)
    on_m2 = grow(there, said(m2.top, "on m2"))
    assert hop(m2, m1, "raw")["result"] == "extension"
    assert first.read_bytes() == on_m2 + marker(m1)


def test_a_rewritten_transcript_goes_there_and_back_with_what_was_added(world: World) -> None:
    m1, m2 = ready(world)
    home, top = claude_home(m1), m1.top
    project = main_of(m1).parent.name
    told_of = line(type="user", cwd=str(top), file=f"{home}/projects/{project}/{ID}/x", thinking="")
    # of two spellings there is one on the other side, and still these bytes come back
    odd = line(type="user", cwd=str(top), both=f"{m2.top}/src and {top}/src")
    # it began at the top, though its first words are of a folder below
    first = claude(m1, [said(top / "src", f"see {top}/a.txt"), told_of, odd])
    body = first.read_bytes()
    put(first.with_suffix("") / "subagents" / "agent-a.jsonl", said(top / "src", "below"))
    put(first.with_suffix("") / "tool-results" / "b.txt", f"{top}\n".encode())
    put(home / "file-history" / ID / "0123456789abcdef@v1", b"before\n")
    put(home / "tasks" / ID / "1.json", line(subject="x", status="pending"))
    put(home / "session-env" / ID / "env", b"never\n")
    hop(m1, m2)
    there = main_of(m2)
    came = moved(body, m1, m2).replace(str(home).encode(), str(claude_home(m2)).encode())
    assert there.read_bytes() == came.replace(project.encode(), there.parent.name.encode())
    subagent = there.with_suffix("") / "subagents" / "agent-a.jsonl"
    assert subagent.read_bytes() == said(m2.top / "src", "below")
    result = there.with_suffix("") / "tool-results" / "b.txt"
    assert result.read_text() == f"{top}\n"
    assert not (claude_home(m2) / "session-env").exists()
    more = said(m2.top, f"on m2, in {m2.top}/b.txt")
    grow(there, more)
    put(claude_home(m2) / "tasks" / ID / "1.json", line(subject="x", status="done"))
    told = hop(m2, m1)
    assert first.read_bytes() == body + moved(more, m2, m1)
    results = {Path(str(f["name"])).name: f["result"] for f in told["files"]}  # type: ignore[attr-defined]
    assert results == {
        f"{ID}.jsonl": "extension", "agent-a.jsonl": "same", "b.txt": "same",
        "0123456789abcdef@v1": "same", "1.json": "replaced",
    }  # fmt: skip
    assert b"done" in (home / "tasks" / ID / "1.json").read_bytes()
    (kept,) = (m1.checkout().store_dir / "transcripts").glob(f"claude-{ID}/*/ours/tasks/{ID}/*")
    assert b"pending" in kept.read_bytes()


def test_what_went_apart_is_kept_twice_and_the_work_arrives(world: World) -> None:
    m1, m2 = ready(world)
    first = claude(m1)
    hop(m1, m2)
    mine = grow(first, said(m1.top, "on m1 as well"))
    theirs = grow(main_of(m2), said(m2.top, "on m2"))
    send(m2, m1)
    done = inside(m1, "catch", WORK).ok()
    assert "warning: the transcript of claude 0a1b2c3d: not installed: it is not as" in done.err
    assert first.read_bytes() == mine
    name = f"projects/{main_of(m2).parent.name}/{ID}.jsonl"
    (kept,) = (m1.checkout().store_dir / "transcripts" / f"claude-{ID}").glob(f"*/{name}")
    assert kept.read_bytes() == theirs
    assert str(kept.parents[2]) in done.err


def test_a_session_that_is_there_for_another_folder_is_never_doubled(world: World) -> None:
    m1, m2 = ready(world)
    claude(m1)
    other = put(claude_home(m2) / "projects" / "-elsewhere" / f"{ID}.jsonl", said(Path("/e"), "x"))
    told = hop(m1, m2)
    assert (told["result"], main_of(m2).exists()) == ("aside", False)
    assert str(other) in str(told["why"])


def test_a_worktree_gets_the_transcript_under_its_own_name(world: World) -> None:
    m1, m2 = ready(world)
    rollout = codex(m1)
    send(m1, m2)
    place = world.folder / "m2" / "beside"
    (told,) = catch(m2, "--into", place)
    there = codex_home(m2) / rollout.relative_to(codex_home(m1))
    assert there.read_bytes() == rollout.read_bytes().replace(
        str(m1.top).encode(), str(place).encode()
    )
    assert told["resume"] == f"codex resume {ID}"
    # it stays where it is when the work goes: nothing of an agent is ever taken back
    undone = inside(m2, "undo", cwd=place).ok().err
    assert "the transcripts that came stay: codex 0a1b2c3d" in undone
    assert there.exists()


def test_codex_gets_a_session_where_it_has_it(world: World) -> None:
    m1, m2 = ready(world)
    rollout = codex(m1)
    hop(m1, m2)
    there = codex_home(m2) / rollout.relative_to(codex_home(m1))
    elsewhere = codex_home(m2) / "archived_sessions" / there.name
    elsewhere.parent.mkdir()
    there.rename(elsewhere)
    body = rollout.read_bytes()
    hop(m2, m1)
    assert rollout.read_bytes() == body
    assert [p for p in codex_home(m1).rglob("*") if p.is_file()] == [rollout]


# --- what is refused, with nothing changed --------------------------------------------------------


def test_which_session_goes_must_be_plain(world: World) -> None:
    m1, _ = ready(world)
    words = ("send", "m2", "--to-file", world.folder / "x", "--transcript")
    refused(inside(m1, *words, "raw"), 3, "no session of an agent in", str(claude_home(m1)))
    refused(inside(m1, *words, "some"), 2, "a transcript is taken along raw or rewrite, not 'some'")
    refused(inside(m1, *words[:-1], "--redact"), 2, "are about a transcript")
    claude(m1)
    claude(m1, session=OTHER)
    refused(inside(m1, *words, "raw", "--session", "0b"), 3, "no session begins with 0b")
    dry = inside(m1, *words, "raw", "--session", "all", "--dry-run", "--json").ok().json
    assert [one["id"] for one in dry["transcripts"]] == [ID, OTHER]
    put(main_of(m1), said(m1.top, "now"), age=0)
    refused(inside(m1, *words, "raw", "--session", ID[:4]), 3, "is in use", "by who is not known")
    assert not (world.folder / "x").exists()


def test_a_session_that_goes_on_is_taken_as_far_as_it_is_written(world: World) -> None:
    m1, m2 = ready(world)
    path = claude(m1)
    body = path.read_bytes()
    put(path, body + b'{"type":"us', age=0)
    send(m1, m2, "--live-ok", mode="raw")
    catch(m2)
    assert main_of(m2).read_bytes() == body + marker(m2)


def test_a_second_send_is_told_so_unless_the_session_has_grown(world: World) -> None:
    m1, m2 = ready(world)
    path = claude(m1)
    send(m1, m2)
    assert "is offered to m2 already" in send(m1, m2)
    assert "is offered to m2 already" in inside(m1, "send", "m2").ok().err
    grow(path, said(m1.top, "more"))
    again = inside(m1, "send", "m2", "--transcript", "rewrite")
    refused(again, 3, "and not with these transcripts as they are", "handsoff withdraw")
    # an offer to anyone is another parcel, and has none of it
    inside(m1, "withdraw").ok()
    inside(m1, "offer", "--anyone").ok()
    kept = m1.record(WORK).kept
    assert kept is not None
    common = open_checkout(m1.top)
    sealed = common.store_dir / "parcels" / f"{kept.parcel}.handsoff"
    assert sealed.exists()
    inside(m2, "catch", WORK).ok()
    objects = Objects(m2.checkout().common_dir / "objects")
    names = [e.name for e in parse_tree(objects.tree(objects.commit(kept.envelope).tree))]
    assert b"transcript" not in names


# --- the guard ------------------------------------------------------------------------------------

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def with_secret(machine: Machine, **more: object) -> Path:
    lines = [said(machine.top, "hello"), said(machine.top, f'export T="{SECRET}"\nthen'),
             line(type="user", message={"content": f"again {SECRET}"}, **more)]  # fmt: skip
    return claude(machine, lines)


def test_a_secret_in_a_transcript_is_named_by_line_and_stays(world: World) -> None:
    m1, m2 = ready(world)
    path = with_secret(m1)
    words = ("send", "m2", "--transcript", "raw", "--to-file", world.folder / "x.handsoff")
    ran = inside(m1, *words)
    refused(ran, 3, "1 thing must not leave", "transcript of claude 0a1b2c3d, line 2: ", "ghp_…")
    assert SECRET not in ran.err
    name = ran.err.partition("--allow ")[2].partition("]")[0]
    told = inside(m1, *words, "--allow", name, "--json").ok().json
    assert told["waived"] == [name]
    assert path.read_text().count(SECRET) == 2
    del m2


def test_a_marker_stands_where_a_secret_was(world: World) -> None:
    m1, m2 = ready(world)
    with_secret(m1)
    assert "    redacted: 1 secret\n" in send(m1, m2, "--redact", mode="raw")
    catch(m2)
    there = main_of(m2).read_bytes()
    assert SECRET.encode() not in there
    assert there.count(b"[redacted: ") == 2
    assert [json.loads(one)["type"] for one in there.splitlines()][:3] == ["user"] * 3


def test_a_secret_in_a_signed_part_is_not_redacted_but_refused(world: World) -> None:
    m1, _ = ready(world)
    with_secret(m1, thinking=f"the token is {SECRET}")
    words = ("send", "m2", "--transcript", "raw", "--to-file", world.folder / "x.handsoff")
    refused(inside(m1, *words, "--redact"), 3, "transcript of claude 0a1b2c3d, line 3: ")
    refused(inside(m1, *words), 3, "hint: --redact puts a marker")


# --- killed, and in the way -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "step", ["install.file.before#2", "install.file.after", "catch.finish.before"]
)
def test_killed_anywhere_the_next_run_installs_the_rest(world: World, step: str) -> None:
    m1, m2 = ready(world)
    path = claude(m1)
    put(path.with_suffix("") / "subagents" / "agent-a.jsonl", said(m1.top, "below"))
    send(m1, m2)
    words = [sys.executable, "-m", "handsoff", "catch", WORK]
    env = {**os.environ, **m2.env, "HANDSOFF_HOME": str(m2.home), "HANDSOFF_KILL_AT": step}
    killed = subprocess.run(words, cwd=m2.top, env=env, capture_output=True, check=False)
    assert killed.returncode == -9
    (told,) = catch(m2)
    assert told["result"] in ("new", "same")
    assert main_of(m2).read_bytes() == moved(path.read_bytes(), m1, m2)
    assert not [p for p in claude_home(m2).rglob("*") if "handsoff" in p.name]


def test_a_link_in_the_way_is_not_followed(world: World, tmp_path: Path) -> None:
    m1, m2 = ready(world)
    path = claude(m1)
    outside = tmp_path / "outside"
    outside.mkdir()
    main_of(m2).parent.parent.mkdir(parents=True)
    main_of(m2).parent.symlink_to(outside)
    told = hop(m1, m2)
    assert (told["result"], list(outside.iterdir())) == ("aside", [])
    (kept,) = (m2.checkout().store_dir / "transcripts" / f"claude-{ID}").rglob(f"{ID}.jsonl")
    assert kept.read_bytes() == path.read_bytes()
