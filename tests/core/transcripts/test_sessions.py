"""Names and first lines of agents' sessions: whose folder, whose file, what was asked."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.transcripts.sessions import (
    CLAUDE,
    CODEX,
    Told,
    belongs,
    chosen_name,
    is_main,
    is_session_id,
    may_hold,
    project_name,
    tail_below,
    told_by_claude,
    told_by_codex,
)

ID = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
ROLLOUT = f"rollout-2026-11-03T10-00-00-{ID}.jsonl"
LONG = "/" + "a" * 300


def lines(*values: Any) -> bytes:
    said = (json.dumps(value, separators=(",", ":"), ensure_ascii=False) for value in values)
    return "".join(f"{line}\n" for line in said).encode()


def asked(text: Any, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None, "isSidechain": False, "type": "user",
        "message": {"role": "user", "content": text}, "cwd": "/w/app", "version": "2.1.332", **more,
    }  # fmt: skip


def meta(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-03T10:00:00Z", "type": "session_meta", "payload": payload}


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/me/项目/app_v1.2", "-home-me----app-v1-2"),
        ("/home/me/x\U0001f600y", "-home-me-x--y"),
        (r"C:\Users\me\My Repo", "C--Users-me-My-Repo"),
        ("/home/Me/cafe\u0301", "-home-Me-caf-"),
        ("/" + "a" * 199, "-" + "a" * 199),
        (LONG, "-" + "a" * 199 + "-vtkmfl"),
        ("/x" * 150, "-x" * 100 + "-4y6yx2"),
        ("/home/me/" + "项目/" * 80, "-home-me-" + "-" * 191 + "-7enbfa"),
        ("/caf\udce9", "-caf-"),
        ("/\udce2\udc82x", "--x"),
    ],
)
def test_the_folder_of_a_project_is_called_as_claude_code_calls_it(cwd: str, name: str) -> None:
    assert project_name(cwd) == name
    assert may_hold(name, [cwd])


@given(st.text(max_size=400))
def test_every_folder_has_a_name_that_any_disk_takes(cwd: str) -> None:
    name = project_name(cwd)
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
    assert len(name) <= 207
    assert project_name(unicodedata.normalize("NFC", cwd)) == name


def test_folders_below_and_other_hashes_of_a_long_name_may_hold_sessions_too() -> None:
    assert may_hold("-w-app-src", ["/w/app"])
    assert may_hold(project_name(LONG)[:200] + "-anotherhash9", [LONG])
    assert may_hold("-v-app", ["/w/app", "/v/app"])
    for name in ("-w-app2", "-w", "-w-ap", ""):
        assert not may_hold(name, ["/w/app"])


@pytest.mark.parametrize(
    ("name", "config", "counts"),
    [("desk_1", "/c", True), ("desk_1", "", False), ("", "/c", False), ("a" * 65, "/c", False),
     ("a/b", "/c", False), ("NUL", "/c", False), ("com1", "/c", False), ("con-1", "/c", True)],
)  # fmt: skip
def test_a_chosen_name_counts_only_beside_a_chosen_home(
    name: str, config: str, counts: bool
) -> None:
    env = {"CLAUDE_CODE_PROJECT_DIR_NAME": name, "CLAUDE_CONFIG_DIR": config}
    assert chosen_name(env) == (name if counts else None)


@pytest.mark.parametrize(
    ("cwd", "tail"),
    [("/w/app", ""), ("/w/app/", ""), ("/w/app/src/x", "src/x"), ("/w/./app//src", "src"),
     ("/w/app2", None), ("/w", None), ("/w/app/../other", None), ("w/app", None), ("", None),
     ("/v/link/src", "src"), ("/w/app\0/x", None), ("/w/app/\ud800", None),
     ("/w/app/\udce9", "\udce9"), ("/w/cafe\u0301", "")],
)  # fmt: skip
def test_the_recorded_folder_is_in_the_checkout_or_not(cwd: str, tail: str | None) -> None:
    assert tail_below(cwd, ["/w/app", "/v/link", "/w/caf\u00e9"]) == tail


OURS = [
    (CLAUDE, f"projects/-w-app/{ID}.jsonl", True),
    (CLAUDE, f"projects/-w-app/{ID}/subagents/workflows/r1/agent-a1.meta.json", False),
    (CLAUDE, f"projects/desk_1/{ID}/tool-results/b1.txt", False),
    (CLAUDE, f"file-history/{ID}/0123456789abcdef@v2", False),
    (CLAUDE, f"tasks/{ID}/1.json", False),
    (CODEX, f"sessions/2026/11/03/{ROLLOUT}", True),
    (CODEX, f"sessions/2026/11/03/{ROLLOUT}.zst", True),
    (CODEX, f"archived_sessions/{ROLLOUT}", True),
]


@pytest.mark.parametrize(("agent", "name", "main"), OURS)
def test_what_belongs_to_a_session_is_told_by_its_name(agent: str, name: str, main: bool) -> None:
    assert belongs(agent, name) == ID
    assert is_main(agent, name) == main
    other = CODEX if agent == CLAUDE else CLAUDE
    assert belongs(other, name) is None
    assert not is_main(other, name)


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        *((CLAUDE, name) for name in (
            "sessions/123.json", f"sessions/{ID}.json", "sessions/123.ab.key", "history.jsonl",
            "settings.json", ".claude.json", ".credentials.json", "projects/-w-app/memory/M.md",
            f"session-env/{ID}/a.sh", "shell-snapshots/a.sh", f"paste-cache/{ID}", "plugins/x",
            f"projects/-w-app/{ID}/peer.key", f"projects/-w-app/{ID}/x/PEER.KEY",
            f"projects/-w-app/{ID}/.a.jsonl.handsoff-new",
            f"projects/-w-app/{ID}", f"projects/-w-app/{ID}/", f"projects/-w-app/x/{ID}.jsonl",
            f"projects/-w-app/{ID}/../settings.json", f"projects/-w-app/{ID}/./x",
            f"projects/../{ID}.jsonl", f"projects/-w.app/{ID}.jsonl", f"projects//{ID}.jsonl",
            f"projects/-w-app/{ID}/.git/config", f"projects/-w-app/{ID}/a\\b",
            f"projects/-w-app/{ID}/c:d", f"projects/-w-app/{ID}/a\nb", f"/projects/p/{ID}.jsonl",
            f"projects/-w-app/{ID}.jsonl\n", f"projects/-w-app/{ID}.json", f"x/projects/{ID}.jsonl",
            f"projects/{'p' * 221}/{ID}.jsonl", f"projects/-w-app/{ID}/{'x' * 256}",
            f"projects/-w-app/{ID}/\ud800", f"file-history/{ID}/a/b", f"tasks/{ID}",
            f"projects/-w-app/agent-{ID}.jsonl", f"todos/{ID}.json",
        )),
        *((CODEX, name) for name in (
            "auth.json", "config.toml", "history.jsonl", "session_index.jsonl", "state_5.sqlite",
            ROLLOUT, f"sessions/{ROLLOUT}", f"sessions/2026/11/{ROLLOUT}",
            f"sessions/2026/11/03/x/{ROLLOUT}", f"sessions/2026/11/../{ROLLOUT}",
            f"sessions/2026/11/03/{ID}.jsonl", f"sessions/2026/11/03/{ROLLOUT}.gz",
            f"sessions/2026/11/03/rollout-a/b-{ID}.jsonl", f"archived_sessions/x/{ROLLOUT}",
        )),
        ("gemini", f"projects/-w-app/{ID}.jsonl"),
    ],
)  # fmt: skip
def test_nothing_else_ever_does(agent: str, name: str) -> None:
    assert belongs(agent, name) is None
    assert not is_main(agent, name)


@given(st.sampled_from([name for _, name, _ in OURS]), st.text(max_size=8), st.integers(0, 80))
def test_no_name_that_belongs_leaves_the_home(name: str, more: str, at: int) -> None:
    changed = name[:at] + more + name[at:]
    for agent in (CLAUDE, CODEX):
        if belongs(agent, changed) is not None:
            parts = changed.split("/")
            assert parts[0] in (
                "projects",
                "file-history",
                "tasks",
                "sessions",
                "archived_sessions",
            )
            assert not {"", ".", ".."} & set(parts)
            assert "\\" not in changed
            assert "\0" not in changed


def test_an_id_has_one_shape() -> None:
    assert is_session_id(ID)
    assert is_session_id(ID.upper())
    for text in ("", ID[:-1], ID + "0", f"../{ID}", ID.replace("-", "_"), "g" + ID[1:], ID + "\n"):
        assert not is_session_id(text)


def test_a_transcript_tells_its_folder_its_release_and_what_was_asked() -> None:
    head = lines(
        {"type": "mode", "mode": "normal"}, "a bare string", asked("Caveat: The messages below"),
        asked("<command-name>/clear</command-name>"), asked("not me", isMeta=True),
        asked("too much", isCompactSummary=True), asked("a helper's", isSidechain=True),
        asked([{"type": "tool_result", "content": "x"}]),
        asked([{"type": "text", "text": "Fix the\x1b[31m rounding\nin cny.py"}], cwd="/w/app/src"),
        asked("and then", cwd="/w/app/late"),
    )  # fmt: skip
    told = Told("/w/app", "2.1.332", "Fix the[31m rounding in cny.py")
    assert told_by_claude(head, head) == told
    assert told_by_claude(b"torn\n" + head + b'{"type":"us', b"") == told
    moved = lines(
        {"type": "relocated", "relocatedCwd": "/w/one"}, {"type": "relocated", "relocatedCwd": 7},
        {"type": "relocated", "relocatedCwd": "/w/two"},
        {"type": "attachment", "relocatedCwd": "/w/of-another-kind"},
        asked('{"type":"relocated","relocatedCwd":"/w/three"}', cwd="/w/four"),
    )  # fmt: skip
    assert told_by_claude(head, moved).cwd == "/w/two"


def test_a_first_prompt_that_goes_on_for_ever_is_told_as_far_as_it_is_there() -> None:
    whole = lines(asked('Say "hello" ' * 9000), asked("more", cwd="/w/late"))
    told = told_by_claude(whole[:65536], whole[-65536:].partition(b"\n")[2])
    assert told.prompt.startswith('Say "hello" Say')
    assert (len(told.prompt), told.cwd) == (200, "/w/late")
    unfinished = told_by_claude(b'{"cwd":"/w/app","message":{"role":"user","content":"a\\u00')
    assert unfinished == Told("/w/app", "", "a")


def test_a_rollout_tells_the_same_from_its_first_line_alone() -> None:
    context = {"type": "input_text", "text": "<environment_context><cwd>/w/app</cwd>"}
    said = {"type": "message", "role": "user", "content": [context]}
    head = lines(
        meta(id=ID, cwd="/w/app", cli_version="0.171.0"),
        {"type": "turn_context", "payload": {"cwd": "/w/other"}},
        {"type": "response_item", "payload": said}, {"type": "response_item", "payload": [1]},
        {"type": "response_item", "payload": {"role": "developer", "content": "not me"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "<b>Fix it</b>"}},
        meta(cwd="/w/forged"),
    )  # fmt: skip
    assert told_by_codex(head) == Told("/w/app", "0.171.0", "<b>Fix it</b>")
    torn = lines(meta(cwd='/w/"app"', cli_version="0.171.0", base_instructions="x" * 9000))[:4096]
    assert told_by_codex(torn) == Told('/w/"app"', "0.171.0", "")
    assert told_by_codex(b'{"type":"event_msg","payload":{"cwd":"/w/a') == Told()


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_whatever_stands_in_a_file_nothing_raises(head: bytes, tail: bytes) -> None:
    told_by_claude(head, tail)
    told_by_codex(b'{"type":"session_meta","payload":{"cwd":"' + head)


@pytest.mark.parametrize(
    "line",
    [b'{"type":"user","message":' + b"[" * 100_000, b'{"cwd":' + b"1" * 5000 + b"}", b"{}", b"[]",
     b'{"type":"user","message":{"role":"user","content":{"text":1}},"cwd":["/w"]}',
     b'{"type":"user","message":{"content":[1,{"type":"text","text":2},{"type":"text"}]}}',
     b'{"type":["relocated"],"relocatedCwd":"/w"}', b'{"cwd":"\\ud800"}', b"\xff\xfe{}"],
)  # fmt: skip
def test_odd_lines_are_passed_over(line: bytes) -> None:
    assert told_by_claude(line, line).prompt == ""
    assert told_by_codex(line) == Told()
