"""Sessions found where agents keep them, whose they are, and who is at work."""

import json
import os
import time
from pathlib import Path

import pytest

from handsoff.core.transcripts.sessions import project_name
from handsoff.edge import clock, processes
from handsoff.edge.agents.agents import (
    Live,
    find_sessions,
    homes,
    live_sessions,
    others,
    spellings_of,
    unread,
)
from handsoff.edge.agents.claude import project_folder
from tests.kit.agents import OLD, Agents, jsonl, session_id

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells that")
A, B, C, D = map(session_id, range(4))


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a checkout, as far as its folders go."""
    (tmp_path / "w" / "app" / ".git").mkdir(parents=True)
    (tmp_path / "w" / "app" / "src").mkdir()
    return tmp_path / "w" / "app"


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    """Return the agents of a person who has used none yet."""
    (tmp_path / "home").mkdir()
    return Agents(tmp_path / "home")


def found(agents: Agents, top: Path | None, *spellings: str, **env: str) -> list[str]:
    return [session.id for session in find_sessions(top, spellings, {**agents.env, **env})]


def test_homes_are_where_the_agents_were_told(agents: Agents) -> None:
    home = agents.home
    expected = {"claude": home / ".claude", "codex": home / ".codex"}
    assert homes(agents.env) == expected
    assert homes({**agents.env, "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": ""}) == expected
    told = {**agents.env, "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"}
    assert homes(told) == {"claude": Path("/c"), "codex": Path("/x")}
    assert find_sessions(None, (), agents.env) == []


def test_sessions_of_both_agents_come_newest_first_with_all_that_is_theirs(
    agents: Agents, top: Path
) -> None:
    main = agents.claude(top, A, at=OLD + 5)
    folder = main.with_suffix("")
    history, tasks = (agents.home / ".claude" / kind / A for kind in ("file-history", "tasks"))
    parts = [
        folder / "subagents" / "workflows" / "r1" / "agent-a1.jsonl", folder / "tool-results" / "1",
        history / "0123456789abcdef@v1", tasks / "1.json",
    ]  # fmt: skip
    for part in [*parts, folder / "peer.key", history / "deep" / "x", main.parent / "memory" / "M"]:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text("12345")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "folder").symlink_to(top)
    os.mkfifo(folder / "pipe")
    rollout = agents.codex(top / "src", B, at=OLD + 9)
    agents.codex(top, C, at=OLD, day="archived_sessions", prompt="\x1b[2Jold")
    new, claude, old = find_sessions(top, (), agents.env)
    assert (claude.agent, claude.id, claude.main, claude.cwd) == ("claude", A, main, str(top))
    assert claude.files[0] == main
    assert set(claude.files) == {main, *parts}
    assert claude.size == main.stat().st_size + 20
    assert (claude.version, claude.prompt, claude.modified) == (
        "2.1.332", "Fix the rounding", OLD + 5,
    )  # fmt: skip
    assert claude.name(parts[2]) == f"file-history/{A}/0123456789abcdef@v1"
    assert not claude.goes_on
    assert (new.agent, new.id, new.files, new.cwd) == ("codex", B, (rollout,), f"{top}/src")
    assert (old.id, old.prompt, old.version) == (C, "[2Jold", "0.171.0")


def test_what_the_session_says_of_its_folder_decides_and_not_the_lossy_name(
    agents: Agents, top: Path
) -> None:
    lossy = top.with_name("a.p")
    name = project_name(str(top))
    agents.claude(top, A)
    agents.claude(top / "src", B)
    agents.claude(lossy, C, project=name)
    agents.claude(top, D, {"type": "relocated", "relocatedCwd": str(lossy)})
    agents.claude(lossy, session_id(5), {"type": "relocated", "relocatedCwd": f"{top}/src"},
                  project=project_name(f"{top}/src"))  # fmt: skip
    agents.claude(f"{top}2", session_id(6), project=f"{name}-2")
    assert set(found(agents, top)) == {A, B, session_id(5)}
    assert set(found(agents, top.parent)) == {C, D, session_id(6)}
    assert len(found(agents, None)) == 6


def test_another_checkout_within_this_one_has_sessions_of_its_own(
    agents: Agents, top: Path
) -> None:
    tree = top / ".claude" / "worktrees" / "x"
    (tree / "src").mkdir(parents=True)
    (tree / ".git").write_text("gitdir: elsewhere")
    agents.claude(tree / "src", A)
    agents.codex(tree, B)
    agents.codex(top / "gone" / "since", C)
    assert found(agents, top) == [C]
    assert set(found(agents, tree)) == {A, B}


def test_a_link_to_the_checkout_is_another_name_of_it(agents: Agents, top: Path) -> None:
    link = top.parent / "link"
    link.symlink_to(top)
    agents.codex(link / "src", A)
    assert found(agents, top) == []
    assert found(agents, top, str(link)) == [A]
    for pwd in (str(link), f"{link}/src"):
        assert spellings_of(top, {"PWD": pwd}) == (str(link),)
    for pwd in (f"{top}", f"{top}/src", "/", "", "app", "/nowhere", f"{link}\0"):
        assert spellings_of(top, {"PWD": pwd}) == ()


def test_names_that_are_too_long_are_found_with_any_hash(agents: Agents, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*(["d" * 90] * 3))
    other = deep.with_name("e" * 90)
    long = project_name(str(deep))
    assert len(long) > 200
    home = agents.home / ".claude"
    assert project_folder(home, str(deep), agents.env) == home / "projects" / long
    agents.claude(other, A, project=f"{long[:200]}-0ther")
    main = agents.claude(deep, B, project=f"{long[:200]}-bunhash")
    assert found(agents, deep) == [B]
    assert project_folder(home, str(deep), agents.env) == main.parent
    agents.claude(deep, C)
    assert project_folder(home, str(deep), agents.env) == home / "projects" / long
    assert set(found(agents, deep)) == {B, C}


def test_a_chosen_name_holds_the_sessions_of_all_folders(agents: Agents, top: Path) -> None:
    told = {
        "CLAUDE_CONFIG_DIR": str(agents.home / ".claude"), "CLAUDE_CODE_PROJECT_DIR_NAME": "desk",
    }  # fmt: skip
    agents.claude(top, A, project="desk", at=OLD + 1)
    agents.claude(top.parent / "other", B, project="desk")
    agents.claude(top, C)
    assert found(agents, top, **told) == [A, C]
    assert found(agents, top) == [C]
    assert project_folder(agents.home, str(top), told) == agents.home / "projects" / "desk"


def test_what_is_large_odd_or_hostile_is_read_at_its_ends_and_never_raises(
    agents: Agents, top: Path
) -> None:
    long = agents.claude(top, A, at=OLD + 3)
    with long.open("r+b") as file:  # a gigabyte that nobody reads, and takes no room
        file.truncate(1 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + jsonl({"type": "relocated", "relocatedCwd": f"{top}/src"}).encode())
    os.utime(long, (OLD, OLD))
    agents.codex(top, B, instructions="x" * 100_000, at=OLD + 9)
    project = agents.home / ".claude" / "projects" / project_name(str(top))
    (project / f"{C}.jsonl").mkdir()
    os.mkfifo(project / f"{session_id(7)}.jsonl")
    (project / f"{session_id(8)}.jsonl").symlink_to(long)
    for number, text in enumerate((b"", b"\0" * 99, b"[" * 200_000, b'{"cwd":"\\ud800"}\n',
                                   b'{"cwd":"' + os.fsencode(top) + b'/\\u0000/x"}\n',
                                   b'{"cwd":"' + os.fsencode(top) + b'/\\ud800"}\n')):  # fmt: skip
        (project / f"{session_id(20 + number)}.jsonl").write_bytes(text)
    started = time.monotonic()
    new, old = find_sessions(top, (), agents.env)
    assert time.monotonic() - started < 2
    assert (new.id, new.prompt, old.id, old.cwd) == (B, "Fix the rounding", A, f"{top}/src")
    assert old.size > 1 << 30


def test_a_compressed_rollout_is_named_and_whose_it_is_only_where_it_can_be_read(
    agents: Agents, top: Path
) -> None:
    zstandard = pytest.importorskip("zstandard") if _has_zstandard() else None
    plain = agents.codex(top, A)
    packed = plain.with_name(plain.name.replace(A, B) + ".zst")
    packed.write_bytes(zstandard.compress(plain.read_bytes()) if zstandard else b"\x28\xb5\x2f\xfd")
    everywhere = {session.id: session for session in find_sessions(None, (), agents.env)}
    assert everywhere[B].compressed
    assert not everywhere[A].compressed
    assert unread(agents.env) == ([] if zstandard else [packed])
    assert set(found(agents, top)) == ({A, B} if zstandard else {A})


def _has_zstandard() -> bool:
    from importlib.util import find_spec

    return find_spec("zstandard") is not None


@linux
def test_who_is_at_work_here_is_told_by_its_note_if_it_is_still_that_process(
    agents: Agents, top: Path
) -> None:
    agents.claude(top, A)
    agents.claude(top, B)
    elsewhere = top.parent
    with agents.running("node", elsewhere) as one, agents.running("node", elsewhere) as two:
        note = agents.at_work(one, A, top / "src", {"status": "\x1b[1mbusy"})
        agents.at_work(two, B, elsewhere)  # it went elsewhere, but the session is of this checkout
        assert live_sessions(top, (), agents.env) == [
            Live("claude", A, one, f"{top}/src", "[1mbusy"), Live("claude", B, two, str(elsewhere),
                                                                   "busy"),
        ]  # fmt: skip
        marked = {session.id: session.live for session in find_sessions(top, (), agents.env)}
        assert marked == {A: one, B: two}
        wrongs: tuple[dict[str, object], ...] = (
            {"procStart": str(one.started + 1)}, {"procStart": ""}, {"pid": two.pid},
            {"procStart": None}, {"sessionId": D, "cwd": f"{top}2"},
        )  # fmt: skip
        for wrong in wrongs:
            agents.at_work(one, A, top, wrong)
            assert [live.id for live in live_sessions(top, (), agents.env)] == [B], wrong
        for text in ("", "[]", "{", "[" * 100_000, json.dumps({"pid": [], "procStart": {}})):
            note.write_text(text)
            for name in ("0", "-1", "x", "9" * 30, "²", "1"):
                note.with_name(f"{name}.json").write_text(text)
            assert [live.id for live in live_sessions(top, (), agents.env)] == [B]
    assert live_sessions(top, (), agents.env) == []


@linux
def test_a_note_without_a_start_is_not_believed_of_a_process_in_another_folder(
    agents: Agents, top: Path
) -> None:
    agents.claude(top, A)
    with agents.running("claude", top.parent) as other, agents.running("claude", top) as mine:
        agents.at_work(other, A, top, {"procStart": ""})
        assert live_sessions(top, (), agents.env) == [Live("claude", "", mine, str(top))]
        agents.at_work(mine, A, top, {"procStart": ""})
        assert live_sessions(top, (), agents.env) == [Live("claude", A, mine, str(top), "busy")]


@linux
def test_who_is_at_work_here_is_told_by_its_name_and_folder_or_what_it_has_open(
    agents: Agents, top: Path
) -> None:
    rollout = agents.codex(top, A)
    other = agents.codex(top.parent, B)
    with (
        agents.running("codex", top / "src", opens=rollout) as holds,
        agents.running("codex-app", top.parent, opens=rollout) as beside,
        agents.running("codex", top) as there,
        agents.running("claude", top) as unnoted,
        agents.running("codex", top.parent, opens=other),
        agents.running("vim", top, opens=rollout),
    ):
        assert set(live_sessions(top, (), agents.env)) == {
            Live("codex", A, holds, str(top)),
            Live("codex", A, beside, str(top), here=False),
            Live("codex", "", there, str(top)),
            Live("claude", "", unnoted, str(top)),
        }
        assert find_sessions(top, (), agents.env)[0].live in (holds, beside)


def test_what_was_written_a_moment_ago_goes_on(agents: Agents, top: Path) -> None:
    now = clock.now().timestamp()
    agents.claude(top, A, at=now)
    agents.codex(top, B, at=now)
    agents.claude(top.parent, C, at=now)
    agents.claude(top, D, at=now - 60)
    agents.codex(top, session_id(5), at=now + 3600)  # a clock that is wrong tells nothing
    assert set(live_sessions(top, (), agents.env)) == {
        Live("claude", A, None, str(top)), Live("codex", B, None, str(top)),
    }  # fmt: skip
    goes_on = {session.id for session in find_sessions(top, (), agents.env) if session.goes_on}
    assert goes_on == {A, B}


def test_agents_that_are_not_supported_are_named(agents: Agents, top: Path) -> None:
    import hashlib

    home, data = agents.home, agents.home / ".local" / "share" / "opencode"
    hashed = hashlib.sha256(os.fsencode(top)).hexdigest()
    for slug, root in (
        (hashed, None),
        ("app", top / "src"),
        ("other", top.parent),
        ("app-2", None),
    ):
        (home / ".gemini" / "tmp" / slug / "chats").mkdir(parents=True)
        if root:
            (home / ".gemini" / "tmp" / slug / ".project_root").write_text(f"{root}\n")
    (home / ".gemini" / "projects.json").write_text(json.dumps({"projects": {str(top): "app-2"}}))
    for name, cwd in (("one", top), ("two", top.parent), ("three", None)):
        folder = home / ".copilot" / "session-state" / name
        folder.mkdir(parents=True)
        start = {"type": "session.start", "data": {"context": {"cwd": str(cwd)} if cwd else []}}
        (folder / "events.jsonl").write_text(jsonl(start))
    cursor = home / ".cursor" / "chats" / hashlib.md5(os.fsencode(top)).hexdigest()
    for folder in (cursor, data):
        folder.mkdir(parents=True)
    (data / "opencode.db").touch()
    (top / ".aider.chat.history.md").touch()
    said = others(top, (), agents.env)
    assert [(other.agent, other.path.name) for other in said] == [
        ("gemini", "chats"), ("gemini", "chats"), ("gemini", "chats"), ("copilot", "one"),
        ("cursor", cursor.name), ("opencode", "opencode.db"), ("aider", ".aider.chat.history.md"),
    ]  # fmt: skip
    assert {other.path.parent.name for other in said[:3]} == {hashed, "app", "app-2"}
    assert [o.said for o in said if "not supported" not in o.said] == [
        "travels if .wip/carry names it"
    ]
    assert others(top.parent / "nothing", (), {"HOME": "/nowhere"}) == []


@linux
def test_nobody_who_is_at_work_elsewhere_is_named(agents: Agents, top: Path) -> None:
    with agents.running("claude", top.parent) as process:
        agents.at_work(process, A, top.parent)
        assert live_sessions(top, (), agents.env) == []
        assert processes.is_alive(process)
