"""Placeholders: which words stand for what is still to be written, and when they are only words."""

import pytest

from handsoff.core.pages.outline import Line
from handsoff.core.pages.placeholders import says_placeholder, says_something

HOLDERS = (
    "TODO",
    "TBD",
    "TBC",
    "FIXME",
    "XXX",
    "待办",
    "待办事项",
    "待填",
    "待补",
    "待补充",
    "待定",
)
OPENERS = (
    "todo",
    "Tbd",
    "fixme",
    "fill me in",
    "Fill this in",
    "todo: the flag",
    "fixme\uff1a开关",
)
ARTICLES = ("the", "a", "an", "this", "that", "these", "those", "each", "every", "all", "any")
ORDINARY = (
    *(f"待办{word}" for word in ("列表", "清单", "应用", "模块", "页面", "功能", "接口", "表")),
    *("待补丁发布", "待定义的接口", "TODO.md", "see docs/TODO/x", "TODOs", "TODO/x", "MY_TODO"),
    *("#TODO-7", "todo_list", "todo lists are read", "fill me in on that", "a fixme"),
)


def line(text: str, *, code: bool = False) -> Line:
    return Line(1, text, code)


@pytest.mark.parametrize("word", HOLDERS)
def test_a_placeholder_counts_wherever_it_stands(word: str) -> None:
    for text in (word, f"- [ ] {word}", f"deploy, {word}, then tell", f"**{word}**"):
        assert says_placeholder(text), text


@pytest.mark.parametrize("text", OPENERS)
def test_in_small_letters_it_counts_where_it_opens_a_line(text: str) -> None:
    for bullet in ("", "- ", "2) ", "* [x] ", "> "):
        assert says_placeholder(bullet + text)
    assert not says_placeholder(f"see {text}")


@pytest.mark.parametrize("text", ORDINARY)
def test_a_word_that_is_part_of_another_is_no_placeholder(text: str) -> None:
    assert not says_placeholder(text)


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX"])
@pytest.mark.parametrize("article", [*ARTICLES, "no", "its", "old"])
def test_after_an_article_it_is_meant_as_a_word(article: str, word: str) -> None:
    assert not says_placeholder(f"take out {article} {word} in rounding.py")
    assert says_placeholder(f"take out {word} in rounding.py")


@pytest.mark.parametrize("word", ["TODO", "TBD", "FIXME", "XXX"])
@pytest.mark.parametrize("marks", ["``", "''", '""', "“”", "「」", "『』"])
def test_in_quotes_it_is_meant_as_a_word(marks: str, word: str) -> None:
    assert not says_placeholder(f"search for {marks[0]}{word}{marks[1]} first")


@pytest.mark.parametrize("word", ["待办", "待填"])
def test_in_quotes_it_is_meant_as_a_word_in_chinese_too(word: str) -> None:
    assert not says_placeholder(f"先找“{word}”")


@pytest.mark.parametrize("text", ["TODO", "# TODO", "// FIXME", "<!-- TBD -->", "- XXX"])
def test_in_a_fence_it_counts_if_it_is_all_of_the_line(text: str) -> None:
    assert says_placeholder(text, code=True)
    assert not says_placeholder(f"x = 1  {text}", code=True)


def test_in_a_fence_small_letters_are_code() -> None:
    assert not says_placeholder("todo", code=True)


def test_a_bare_bullet_says_nothing_unless_it_is_code() -> None:
    assert not says_something(line("1."))
    assert not says_something(line("- [ ]"))
    assert says_something(line("1.", code=True))
    assert says_something(line("1. go"))
