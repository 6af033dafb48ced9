"""Where a session that arrives goes here, and what tells where it is."""

import json
from dataclasses import replace

import pytest

from handsoff.core.transcripts import whereabouts
from handsoff.core.transcripts.baggage import Baggage, Packed
from handsoff.core.transcripts.sessions import told_by_claude
from tests.core.transcripts.test_baggage import CODEX, ID, ROLLOUT, SESSION

HERE, THERE = "/home/li/app", "/srv/work/app"
R = "tasks/x/1.json"


def test_what_is_written_line_by_line() -> None:
    for name in (f"projects/-w/{ID}.jsonl", f"projects/-w/{ID}/subagents/a.meta.json", R):
        assert whereabouts.is_lines(name)
    for name in (f"projects/-w/{ID}/tool-results/a.json", f"file-history/{ID}/a.json", "x.zst"):
        assert not whereabouts.is_lines(name)
    assert whereabouts.is_rewritten(Baggage("rewrite", ()), R)
    assert not whereabouts.is_rewritten(Baggage("raw", ()), R)


def test_the_places_of_a_session_become_those_here() -> None:
    places = {"top": HERE, "home": "/h/.claude", "project": "-home-li-app"}
    found = whereabouts.map_of("rewrite", SESSION, **places)
    text = "/w/a /v/a /home/li/.claude/projects/-w/x /home/li/.claude/todo /world"
    assert found.text(text) == (
        f"{HERE}/a {HERE}/a /h/.claude/projects/-home-li-app/x /h/.claude/todo /world"
    )
    assert not whereabouts.map_of("raw", SESSION, **places)
    windows = replace(SESSION, platform="windows", top="C:\\w", home="C:\\h\\.claude", spellings=())
    moved = whereabouts.map_of("rewrite", windows, **places)
    assert moved.text("c:\\W\\a\\b C:\\h\\.claude\\projects\\-w\\x") == (
        f"{HERE}/a/b /h/.claude/projects/-home-li-app/x"
    )
    for cwd, there in (
        ("/w/sub", f"{HERE}/sub"),
        ("/v", HERE),
        ("/w2", HERE),
        ("", HERE),
        ("/w/../etc", HERE),
        ("/w/a/../b", f"{HERE}/b"),
    ):
        assert whereabouts.cwd_here(replace(SESSION, cwd=cwd), HERE) == there


def test_a_session_that_went_down_is_of_the_folder_in_which_it_began() -> None:
    assert whereabouts.began_in(SESSION).cwd == "/w"  # its project is -w, its cwd /w/sub
    for project, cwd in (("-w-sub", "/w/sub"), ("-v", "/v"), ("-other", "/w/sub")):
        assert whereabouts.began_in(replace(SESSION, project=project)).cwd == cwd


def test_a_file_has_its_name_below_the_home_here() -> None:
    main = SESSION.files[0].name
    assert whereabouts.name_here(SESSION, main, "-here", None) == f"projects/-here/{ID}.jsonl"
    assert whereabouts.name_here(SESSION, f"tasks/{ID}/1", "-here", None) == f"tasks/{ID}/1"
    assert whereabouts.name_here(CODEX, ROLLOUT, "", None) == ROLLOUT
    assert whereabouts.name_here(CODEX, ROLLOUT, "", "sessions/there") == "sessions/there"
    assert whereabouts.resume(SESSION) == f"claude --resume {ID}"
    assert whereabouts.resume(CODEX) == f"codex resume {CODEX.id}"


def test_the_last_line_that_says_where_it_is_is_known_and_no_other() -> None:
    line = whereabouts.marker(ID, HERE)
    assert json.loads(line) == {"type": "relocated", "sessionId": ID, "relocatedCwd": HERE}
    assert whereabouts.marked(b"x\n" + line, ID, [THERE, HERE]) == len(line)
    assert whereabouts.marked(line, ID, [HERE]) == len(line)
    for tail in (b"x" + line, line + b"x\n", b"x\n" + line[:-1], b""):
        assert whereabouts.marked(tail, ID, [HERE]) == 0
    assert whereabouts.marked(b"x\n" + line, ID, [THERE]) == 0
    assert told_by_claude(b'{"cwd":"/a"}\n', line).cwd == HERE


AT, ZST = f"projects/-here/{ID}.jsonl", f"{ROLLOUT}.zst"


@pytest.mark.parametrize(
    ("session", "here", "told"),
    [
        (SESSION, [], ("", "")),
        (SESSION, [AT], ("", "")),
        (SESSION, ["projects/-o/x"], ("it is here already, for another folder", "projects/-o/x")),
        (SESSION, [AT, "projects/-o/x"],
         ("it is here already, for another folder", "projects/-o/x")),
        (CODEX, [], ("", "")),
        (CODEX, [f"archived_{ROLLOUT}"], ("", "")),
        (CODEX, [ROLLOUT, ROLLOUT + "2"], ("it is here twice", ROLLOUT)),
        (CODEX, [ZST], ("it is here too, and one of the two is compressed", ZST)),
    ],
)  # fmt: skip
def test_a_session_has_one_place(session: Packed, here: list[str], told: tuple[str, str]) -> None:
    assert whereabouts.conflict(session, here, AT) == told
