"""Finished sentences are said in another language; what nobody knows stays as it is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handsoff.core.phrases import CONTEXT, LONGEST, Phrases, Said, language

CHINESE = Phrases(
    {
        "": "Language: zh_CN",
        "{carrier} carries {work} since {since}": "自 {since} 起，{work} 在 {carrier} 手上",
        "handsoff: {error}": "handsoff：{error}",
        "{carrier} has {count} of it": "{carrier} 有其中 {count}",
        "{count} machines": "{count} 台机器",
        "nothing was changed": "什么都没有改动",
        "is in": "已在",
        "untranslated {work}": "",
        "{a}: {b}": "never taken",
        f"state{CONTEXT}held": "在手",
    }
)
NAMES = st.text("abcxyz/-_.", min_size=1, max_size=12).filter(str.strip)


def test_a_sentence_is_said_with_its_values_in_the_order_of_the_other_language() -> None:
    said = CHINESE.say("m2 carries feat/x since Monday")
    assert said == "自 Monday 起，feat/x 在 m2 手上"


def test_a_sentence_in_a_sentence_is_said_too_and_the_frame_goes_first() -> None:
    said = CHINESE.say("  handsoff: m2 carries 3 machines since nothing was changed\n")
    assert said == "  handsoff：自什么都没有改动起，3 台机器在 m2 手上\n"


@pytest.mark.parametrize(
    "line", ["", "  ", "a page of somebody's", "untranslated x", "a: b", "held"]
)
def test_what_nobody_knows_stays_as_it_is(line: str) -> None:
    assert CHINESE.say(line) == line


def test_a_single_word_is_somebodys_name_wherever_it_stands_for_a_value() -> None:
    known = Phrases({"held": "在手", "{work} is closed": "{work} 已结束"})
    assert known.say("held is closed") == "held 已结束"
    assert known.say("held") == "在手"


def test_a_sentence_with_few_words_of_its_own_is_none_in_the_words_of_others() -> None:
    known = Phrases({"{name} of {person}": "{person} 的 {name}", "and {many} more": "另有 {many}"})
    assert known.say("m1 of li") == "li 的 m1"
    assert known.say("the bug of main") == "the bug of main"
    assert known.say("and 3 more") == "另有 3"
    assert known.say("and some more") == "and some more"


def test_a_sentence_ends_where_its_template_ends() -> None:
    known = Phrases({"{work} was saved by {who} now": "{who} 保存了 {work}"})
    assert known.say("x was saved by m1 now and then") == "x was saved by m1 now and then"


def test_a_word_is_said_where_its_context_is_known() -> None:
    assert CHINESE.word("state", "held") == "在手"
    assert CHINESE.word("state", "free") == "free"


def test_a_value_that_stands_twice_is_one_value() -> None:
    known = Phrases({"{a} and {a} again": "{a} 两次"})
    assert known.say("x and x again") == "x 两次"
    assert known.say("x and y again") == "x and y again"


def test_what_is_put_together_is_said_in_its_parts() -> None:
    said = CHINESE.say("some/path: nothing was changed; x, y")
    assert said == "some/path: 什么都没有改动; x, y"
    signs = Phrases({"so it is": "是的", f"sign{CONTEXT}, ": "，", f"sign{CONTEXT}; ": "；"})
    assert signs.say("a, b; so it is") == "a, b；是的"


def test_values_that_stand_close_together_are_given_by_name() -> None:
    known = Phrases({"{who}{to} {time}": "{time} {who}{to}", "this machine": "本机"})
    assert (
        known.told("{who}{to} {time}", {"who": "this machine", "to": "", "time": "x"}) == "x 本机"
    )
    assert known.told("{who} alone", {"who": "this machine"}) == "本机 alone"


def test_a_value_is_a_word_of_its_names_context() -> None:
    known = Phrases({"{name} is {state}": "{name} {state}", f"state{CONTEXT}held": "在手"})
    assert known.say("held is held") == "held 在手"


def test_what_is_glued_to_a_sentence_may_be_missing_and_brings_its_own_comma() -> None:
    known = Phrases(
        {
            "{who} is out{why}": "{who} 已退出{why}",
            "nobody caught it": "没有人接手",
            f"sign{CONTEXT}, ": "，",
        }
    )
    assert known.say("m2 is out") == "m2 已退出"
    assert known.say("m2 is out, nobody caught it") == "m2 已退出，没有人接手"


def test_of_two_values_side_by_side_the_second_begins_at_its_sign() -> None:
    known = Phrases({"stands on {name}{why} now": "{why}|{name}"})
    assert known.say("stands on m 2; so now") == "; so|m 2"


def test_braces_in_a_value_are_text() -> None:
    assert CHINESE.say("{0.__class__} machines") == "{0.__class__} 台机器"


@given(NAMES, NAMES, NAMES)
def test_names_pass_as_they_are(carrier: str, work: str, since: str) -> None:
    said = CHINESE.say(f"handsoff: {carrier} carries {work} since {since}")
    assert said == f"handsoff：自 {since} 起，{work} 在 {carrier} 手上"


@given(st.text())
def test_each_line_stays_a_line_and_no_text_is_too_odd(text: str) -> None:
    assert CHINESE.say(text).count("\n") == text.count("\n")


def test_a_line_of_anybody_is_looked_at_in_little_time_and_a_long_one_not_at_all() -> None:
    known = Phrases({" ".join(f"{{v{n}}} a" for n in range(k)): "x" for k in range(2, 40)})
    known.say("a " * (LONGEST // 2 - 1) + "b")  # without an end to its readings, it would be years
    known = Phrases({f"{{a}} for k{n} {{b}}, {{c}}; {{d}}": "{b}{a}{c}{d}" for n in range(8)})
    began = time.process_time()
    known.say(", ".join(f"p q{n} for k{n * 5 % 8} x y; z w{n}: v u{n}" for n in range(60)))
    assert time.process_time() - began < 0.5  # it were 2 s, of one drop's reason
    parts = [f"x {n}" for n in range(503)] + ["so it is"]
    for count, sign in ((7, ", "), (8, ": "), (9, "; ")):
        parts = [sign.join(parts[at : at + count]) for at in range(0, len(parts), count)]
    assert len(parts) == 1
    assert len(parts[0]) < LONGEST
    assert Phrases({"so it is": "是的"}).say(parts[0]) == parts[0]
    long = f"handsoff: {'x' * LONGEST}"
    assert CHINESE.say(long) == long


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE.UTF-8", "HANDSOFF_LANG": "zh"}, "zh_CN"),
        ({"LANG": "zh_CN", "HANDSOFF_LANG": "en"}, "en"),
        ({"HANDSOFF_LANG": "zh-cn", "LC_ALL": ""}, "zh_CN"),
        ({"LC_ALL": "C", "HANDSOFF_LANG": "zh_CN"}, "zh_CN"),
        ({"LC_MESSAGES": "zh_TW.UTF-8", "LANG": "C"}, "zh_CN"),
        ({"LANG": "zhuang"}, "en"),
    ],
)
def test_the_language_is_what_handsoff_is_told_else_that_of_the_locale(
    environment: dict[str, str], wanted: str
) -> None:
    assert language(environment) == wanted


def test_the_words_of_somebody_are_left_alone_in_a_sentence_of_ours() -> None:
    reason = Said("m1 carries x since nothing was changed")
    assert CHINESE.told("handsoff: {error}", {"error": reason}) == f"handsoff：{reason}"
    assert CHINESE.say(reason) is reason
    known = Phrases(
        {"{work} is blocked: {quoted}": "{work} 受阻：{quoted}", "and on {why}": "{why} 及"}
    )
    assert known.say("x is blocked: done, and on m2") == "x 受阻：done, and on m2"
