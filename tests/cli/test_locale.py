"""The catalogues: complete, made from this source, and heard where people listen."""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Formatter
from types import ModuleType

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from handsoff.core.pages import page
from handsoff.core.tour.story import STORY
from handsoff.edge import tongue
from handsoff.errors import RefusedError
from tests.kit.monday import WORK, Monday
from tests.kit.running import inside

ROOT = Path(__file__).parents[2]
LOCALE = ROOT / "handsoff" / "locale"
CHINESE = LOCALE / "zh_CN" / "LC_MESSAGES" / "handsoff.po"
AGAIN = "python lab/phrases.py brings the catalogues up to date"


@pytest.fixture(scope="module")
def collector() -> ModuleType:
    """The script that collects the sentences, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("phrases", ROOT / "lab" / "phrases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["phrases"] = module
    spec.loader.exec_module(module)
    return module


def read(path: Path) -> Catalog:
    with path.open("rb") as stream:
        return read_po(stream)


def names(text: str) -> set[str]:
    """The values of a sentence, as format strings and as pages write them."""
    written = set(re.findall(r"%\((\w+)\)s", text))
    return written or {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def texts(said: str | Sequence[str] | None) -> tuple[str, ...]:
    """What is said, of one thing and of many."""
    return (said,) if isinstance(said, str) else tuple(said or ())


def test_the_catalogues_have_the_sentences_of_this_source(
    collector: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    collected = {texts(text): said for text, said in collector.collected().items()}
    words = set(collector.words())
    for path in (LOCALE / "handsoff.pot", CHINESE):
        kept = read(path)
        assert {texts(m.id) for m in kept if m.id and not m.context} == set(collected), AGAIN
        assert {(m.context, m.id) for m in kept if m.context} == words, AGAIN
    chinese = {texts(m.id) for m in read(CHINESE) if all(texts(m.string))}
    assert [text for text, said in collected.items() if said.sure and text not in chinese] == []


def test_a_translation_has_the_values_of_its_sentence() -> None:
    for message in read(CHINESE):
        many = texts(message.id)[-1] if message.id else ""
        for said in filter(None, texts(message.string)):
            assert many == "" or names(said) <= names(many), message.id
            assert isinstance(message.id, tuple) or names(said) == names(many), message.id


def test_what_is_read_at_run_time_is_what_was_translated() -> None:
    with CHINESE.with_suffix(".mo").open("rb") as stream:
        made = read_mo(stream)
    there, wanted = (
        {(m.context, texts(m.id)): texts(m.string) for m in kept if m.id and all(texts(m.string))}
        for kept in (made, read(CHINESE))
    )
    assert there == wanted, AGAIN


def test_help_and_errors_are_in_the_language_that_is_asked_for(monday: Monday) -> None:
    said = inside(monday.m1, "--help", HANDSOFF_LANG="zh_CN").ok().out
    assert "用法：" in said
    assert "命令：" in said
    assert "Hand half" not in said
    ran = inside(monday.m1, "send", "nobody", LC_ALL="zh_CN.UTF-8", HANDSOFF_LANG="")
    assert ran.err.splitlines()[0].startswith("handsoff：名册里没有")
    assert "nobody" in ran.err
    assert "提示：" in ran.err
    assert "no machine called nobody" in inside(monday.m1, "send", "nobody").err


def test_what_is_put_together_from_words_is_chinese_as_a_whole(monday: Monday) -> None:
    chinese = tongue.phrases("zh_CN")
    assert chinese is not None
    listed = inside(monday.m1, "tour", "--list", HANDSOFF_LANG="zh_CN").ok().out.splitlines()
    assert [line[4:] for line in listed] == [chinese.told(step.title, {}) for step in STORY]
    monday.m1.write(".wip/HANDOFF.md", page.template(WORK))
    refused = inside(monday.m1, "send", "m2", HANDSOFF_LANG="zh_CN")
    assert refused.code == RefusedError.exit_code
    assert "（第 8 行），另有 2 处" in refused.err
    assert not re.search(r"\b(line|more|section|still)\b", refused.err), refused.err


def test_a_document_is_english_in_every_language(monday: Monday) -> None:
    ran = inside(monday.m1, "send", "nobody", "--json", HANDSOFF_LANG="zh_CN")
    told = json.loads(ran.out)["error"]
    assert told["code"] == "usage"
    assert told["message"].startswith("no machine called nobody in the roster")


def test_a_page_begun_in_chinese_is_a_page_once_it_is_filled_in() -> None:
    chinese = tongue.phrases("zh_CN")
    assert chinese is not None
    blank = chinese.say(page.template("feat/x"))
    assert "## 下一步" in blank
    found = page.problems(page.parse(blank), "feat/x")
    assert {problem.section for problem in found} == {"Next", "Tried and failed", "Do not touch"}
    filled = page.parse(blank.replace("TODO", "写完测试"))
    assert page.problems(filled, "feat/x") == []
    assert filled.work == "feat/x"
    assert filled.next_steps[0] == "写完测试"


def test_the_record_is_english_in_every_language(monday: Monday) -> None:
    inside(monday.m1, "note", "留意四舍五入", "--work", WORK, HANDSOFF_LANG="zh_CN").ok()
    own = "Done, and on the record; handsoff: m2 carries it"
    inside(monday.m1, "note", own, "--work", WORK).ok()
    told = inside(monday.m1, "history", WORK, HANDSOFF_LANG="zh_CN").ok().out
    assert own in " ".join(told.split())  # what somebody wrote is shown as it was written
    refs = "refs/wip/*"
    git = ["git", "-C", str(monday.m1.top), "ls-remote", "origin", refs]
    listed = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    ref = next(line.split("\t")[1] for line in listed.splitlines() if "/notes/" in line)
    show = ["git", "-C", str(monday.remote.path), "log", "-1", "--format=%s", ref]
    subject = subprocess.run(show, check=True, capture_output=True, text=True).stdout
    assert subject.isascii(), subject
