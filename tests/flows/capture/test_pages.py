"""The page is created once, never written over, and opened only where somebody sits."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.compare import untouched
from tests.kit.machines import Machine
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import inside, refused


def test_a_page_is_made_from_a_template_that_names_the_work(monday: Monday) -> None:
    page = monday.m1.top / ".wip" / "HANDOFF.md"
    page.unlink()
    said = inside(monday.m1, "page").ok()
    assert f"wrote the template of {page}" in said.err
    assert "next: fill it in, then: handsoff send MACHINE" in said.err
    assert f"work: {WORK}" in page.read_text()
    refused(inside(monday.m1, "send", "m2"), 3, "the page is not ready", "(line ", "and 2 more")


def test_a_page_that_is_there_is_left_as_it_is(monday: Monday) -> None:
    before = monday.untouched()
    assert "the page is" in inside(monday.m1, "page", "--no-edit").ok().err
    assert monday.untouched() == before


@pytest.mark.parametrize("name", [".wip", ".wip/HANDOFF.md"])
def test_a_page_behind_a_link_is_not_taken_for_none(monday: Monday, name: str) -> None:
    place, kept = monday.m1.top / name, monday.m1.top.parent / "kept"
    place.rename(kept)
    place.symlink_to(kept)
    for words in (["page"], ["send", "m2", "--dry-run"]):
        refused(inside(monday.m1, *words), 8, "is, or is below, a link")


def test_git_never_sees_the_page(monday: Monday) -> None:
    inside(monday.m2, "page").ok()
    assert monday.m2.git("status", "--porcelain") == ""


def test_a_page_sent_before_and_not_changed_draws_a_warning(sent: Monday) -> None:
    inside(sent.m2, "catch", WORK).ok()
    told = inside(sent.m2, "send", "m3", "--dry-run", "--json").ok().json
    assert told["warnings"] == ["the page is unchanged since it was last sent"]
    sent.m2.write(".wip/HANDOFF.md", PAGE.replace("1. Make", "1. Again, make"))
    assert inside(sent.m2, "send", "m3", "--dry-run", "--json").ok().json["warnings"] == []


def test_a_page_in_chinese_is_a_page(monday: Monday) -> None:
    monday.m1.write(
        ".wip/HANDOFF.md",
        "# 交接\n\n## 下一步\n\n让测试通过。\n\n## 试过但失败\n\n到处四舍六入。\n\n"
        "## 不要动\n\n位数表。\n",
    )
    inside(monday.m1, "send", "m2", "--dry-run").ok()


def test_a_terminal_gets_nothing_to_act_on_from_a_page(monday: Monday) -> None:
    monday.m1.write(".wip/HANDOFF.md", PAGE + "\n\x1b[31mred\u202e\n")
    inside(monday.m1, "send", "m2", "--via", "remote").ok()
    said = inside(monday.m2, "catch", WORK).ok()
    assert "\x1b" not in said.out + said.err
    assert "\u202e" not in said.out
    assert (monday.m2.top / ".wip/HANDOFF.md").read_text() == PAGE + "\n\x1b[31mred\u202e\n"


def _with_terminal(machine: Machine, *words: str, editor: str) -> int:
    """Run handsoff with a terminal for its input, as somebody who sits there."""
    ours, theirs = pty.openpty()
    try:
        env = {**os.environ, "HANDSOFF_HOME": str(machine.home), "EDITOR": editor}
        command = [sys.executable, "-m", "handsoff", *words]
        done = subprocess.run(
            command, cwd=machine.top, env=env, stdin=theirs, capture_output=True, check=False
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return done.returncode


@pytest.mark.parametrize(("words", "opened"), [(["page"], True), (["page", "--no-edit"], False)])
def test_the_editor_opens_where_somebody_sits(
    monday: Monday, tmp_path: Path, words: list[str], opened: bool
) -> None:
    mark = tmp_path / "was opened"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "$1" >"{mark}"\n')
    editor.chmod(0o755)
    assert _with_terminal(monday.m1, *words, editor=str(editor)) == 0
    assert mark.exists() == opened
    mark.unlink(missing_ok=True)
    inside(monday.m1, "page", EDITOR=str(editor)).ok()
    assert not mark.exists()


def test_an_editor_that_is_not_there_is_said_so(monday: Monday) -> None:
    for editor in ("/nowhere/editor", "'"):
        assert _with_terminal(monday.m1, "page", editor=editor) == 2


def test_a_place_where_no_page_can_be_is_said_so(monday: Monday) -> None:
    monday.m2.write(".wip", "a file\n")
    before = untouched(monday.m2.top)
    refused(inside(monday.m2, "page"), 8, "cannot write", "HANDOFF.md")
    assert untouched(monday.m2.top) == before


def test_a_detached_head_has_no_work_to_write_a_page_for(monday: Monday) -> None:
    monday.m2.git("switch", "-q", "--detach")
    before = monday.untouched()
    refused(inside(monday.m2, "page"), 8, "HEAD is detached", "git switch")
    assert monday.untouched() == before
