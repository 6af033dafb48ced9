"""The page: what it must say, how it is read, and how a refusal names what is missing."""

import pytest

from handsoff.core.pages import page
from handsoff.core.pages.page import parse, problems
from handsoff.errors import RefusedError

GOOD = """# Handoff

work: feat/x

## True now
- The migration ran on staging.

## Next action
1. Deploy 4e11adc to prod behind the flag.
2. Tell ops.

Done when: `/version` shows 4e11adc.

## Tried and failed
- HALF_EVEN everywhere: one cent off.

## Do not touch
src/legacy.py

## In flight
- backfill job 7
- copy of the table
  (started at 02:31)

## References
- pull request 482
- secret: vault:billing/prod-db, where the database password lives. Never the password.
"""


def said(text: str, work: str = "feat/x") -> list[str]:
    return [problem.said for problem in problems(parse(text), work)]


def three(body: str, *, tried: str = "nothing yet", untouched: str = "none") -> str:
    return f"## Next\n{body}\n## Tried and failed\n{tried}\n## Do not touch\n{untouched}\n"


def test_a_page_with_all_that_is_required_has_no_problem() -> None:
    assert said(GOOD) == []


def test_the_steps_and_the_references_are_read() -> None:
    good = parse(GOOD)
    assert good.next_steps == ["Deploy 4e11adc to prod behind the flag.", "Tell ops."]
    assert good.done_when == "`/version` shows 4e11adc."
    assert good.in_flight == ["backfill job 7", "copy of the table (started at 02:31)"]
    assert good.references[0] == "pull request 482"
    assert good.work == "feat/x"


def test_the_template_is_not_ready_and_every_section_is_named_with_its_line() -> None:
    template = page.template("feat/x")
    found = problems(parse(template), "feat/x")
    assert [problem.section for problem in found] == ["Next", "Tried and failed", "Do not touch"]
    lines = template.split("\n")
    assert all(lines[problem.line - 1] == "TODO" for problem in found)


def test_the_template_with_its_todos_replaced_is_ready() -> None:
    assert said(page.template("feat/x").replace("TODO", "none")) == []


def test_hints_in_comments_are_not_content() -> None:
    text = three("<!-- what to do -->", tried="<!-- a\nb\n-->", untouched="x <!-- y -->")
    assert said(text) == [
        "section 'Next' is empty (line 1)",
        "section 'Tried and failed' is empty (line 3)",
    ]


def test_a_missing_section_is_named() -> None:
    assert said("## Next\ngo on\n## Tried and failed\nno\n") == [
        "section 'Do not touch' is missing (line 4)"
    ]


def test_headings_inside_a_code_fence_are_code() -> None:
    text = three("run:\n```sh\n## Do not touch\nmake\n```", untouched="~~~\n# Next\n~~~")
    assert said(text) == []
    assert "make" in " ".join(parse(text).next_steps)


@pytest.mark.parametrize(
    "heading",
    [
        "# next", "###### NEXT ##", "## Next:", "##Next", "## **Next**", "## 1. Next steps",
        "## Next action", "## 下一步", "##下一步：", "## 二、下一步", "## 下一步 / Next",
        "## Next (下一步)", "### 接下来", "## 下一步行动",
    ],
)  # fmt: skip
def test_a_heading_is_known_however_it_is_written(heading: str) -> None:
    text = three("go on").replace("## Next", heading)
    assert said(text) == []


@pytest.mark.parametrize(
    ("tried", "untouched"),
    [
        ("试过但失败", "不要动"),
        ("试过但失败的", "不要碰："),
        ("试过，但失败了", "请勿改动"),
        ("尝试过但失败", "别动"),
        ("失败的尝试", "不要改动的地方"),
        ("Tried / failed attempts", "Don't touch"),
        ("Tried, and failed", "Don\u2019t touch"),
        ("Dead ends", "DO NOT TOUCH"),
    ],
)
def test_headings_in_chinese_and_in_other_words_mean_the_same(tried: str, untouched: str) -> None:
    assert said(f"# 下一步\n部署\n# {tried}\n无\n# {untouched}\n无\n") == []


def test_the_other_chinese_sections_are_known() -> None:
    text = (
        "## 下一步\n- 部署\n- 完成标准：版本号是 4e11adc\n## 进行中\n- 回填\n## 陷阱/坑\n- 别重跑\n"
        "## 参考\n- PR 482\n## 当前事实\n迁移完成\n## 证据\n日志\n"
    )
    read = parse(text)
    assert (read.in_flight, read.references) == (["回填"], ["PR 482"])
    assert (read.next_steps, read.done_when) == (["部署"], "版本号是 4e11adc")
    assert [part.section.value for part in read.parts if part.section] == [
        "Next", "In flight", "Traps", "References", "True now", "Evidence",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "TODO", "- TODO", "- [ ] TODO: decide", "**TODO**", "deploy, TODO say where", "(TBD)",
        "FIXME?", "todo: x", "TODO TODO", "待办", "- 待办：部署", "待填", "（待填写）",
        "Fix the rest: TODO", "tbd", "<!-- a --> TODO", "TODO(lin)",
    ],
)  # fmt: skip
def test_a_placeholder_is_refused_wherever_it_stands(line: str) -> None:
    found = problems(parse(three(f"something else\n{line}")), "feat/x")
    assert [(problem.section, problem.line) for problem in found] == [("Next", 3)]


@pytest.mark.parametrize(
    "line",
    [
        "remove the TODO in src/app.py", "see docs/TODO.md", "rename `TODO` to `DONE`",
        "fix todo_list()", "TODO.md", "the todo app needs a test", 'the word "TODO"',
        "实现待办列表", "```\nx = 1  # TODO: later\n```", "JIRA-TODO-7",
    ],
)  # fmt: skip
def test_the_word_itself_is_not_a_placeholder(line: str) -> None:
    assert said(three(line)) == []


def test_a_code_fence_with_nothing_but_a_placeholder_is_not_content() -> None:
    assert said(three("```\nTODO\n```")) == ["section 'Next' still says 'TODO' (line 3)"]


@pytest.mark.parametrize("body", ["-", "- [ ]", "...", "***", "   ", "### Details", "1.", "> "])
def test_marks_without_a_word_are_empty(body: str) -> None:
    assert said(three(body)) == ["section 'Next' is empty (line 1)"]


def test_an_optional_section_may_be_empty_or_say_todo() -> None:
    assert said(GOOD + "## Traps\n## Evidence\nTODO\n") == []


def test_unknown_sections_are_kept() -> None:
    read = parse("# Handoff\nhello\n## Weather\nrain\n## Next\ngo\n### how\nslowly\n")
    assert [part.title for part in read.parts] == ["", "Handoff", "Weather", "Next"]
    assert [line.text for line in read.parts[2].lines] == ["rain"]
    assert read.next_steps == ["go", "slowly"]


def test_a_page_about_another_work_is_refused() -> None:
    found = problems(parse(GOOD), "feat/y")
    assert [(problem.section, problem.line) for problem in found] == [("work", 3)]
    assert "feat/x" in found[0].what
    assert "feat/y" in found[0].what


@pytest.mark.parametrize(
    "line",
    [
        "work: feat/x", "Work : `feat/x`", "**work:** feat/x", "**Work**: feat/x",
        "- work: feat/x", "工作：feat/x", "work: refs/heads/feat/x", '---\nwork: "feat/x"\n---',
    ],
)  # fmt: skip
def test_the_work_may_be_named_in_many_ways(line: str) -> None:
    read = parse(f"{line}\n{three('go on')}")
    assert read.work == "feat/x"
    assert problems(read, "feat/x") == []


def test_a_line_about_work_below_the_top_names_nothing() -> None:
    assert parse(three("work: harder")).work is None


@pytest.mark.parametrize(
    "pointer",
    [
        "vault:billing/prod-db", "op://team/db/password", "`vault:billing/prod-db`",
        "aws-sm:prod/db, rotated weekly", "env:DB_PASSWORD", "keychain:billing",
        "vault:kv/data/x#field", "corp:store/db", "pass:work/db (ask ops first)",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db",
    ],
)  # fmt: skip
def test_a_secret_may_be_pointed_to(pointer: str) -> None:
    assert said(GOOD + f"- secret: {pointer}\n") == []


@pytest.mark.parametrize(
    "value",
    [
        "hunter2", "vault:billing/prod-db = hunter2", "vault:billing/prod-db hunter2",
        "admin:hunter2", "password:abc/def", "postgres://u:pw@db/x",
        "vault:" + "aB3dE5gH7jK9mN1pQ3sT", "the usual one", "", "vault:", "vault:x -> hunter2",
    ],
)  # fmt: skip
def test_a_secret_that_is_a_value_is_refused(value: str) -> None:
    found = problems(parse(GOOD + f"- secret: {value}\n"), "feat/x")
    assert [(problem.section, problem.line) for problem in found] == [("References", 28)]
    assert "hunter2" not in found[0].said


def test_a_pointer_may_stand_on_the_next_line() -> None:
    assert said(GOOD + "- secret:\n  vault:billing/prod-db, where it lives\n") == []


def test_a_secret_is_looked_for_in_every_section() -> None:
    assert len(said(three("- secret: hunter2"))) == 1


def test_windows_line_ends_and_a_byte_order_mark_are_accepted() -> None:
    body = b"\xef\xbb\xbf" + three("go on").replace("\n", "\r\n").encode()
    read = parse(body)
    assert problems(read, "feat/x") == []
    assert "\r" not in read.text


@pytest.mark.parametrize(
    ("body", "phrase"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"## Next\n\xff\n", r"not UTF-8 text \(line 2\)"),
        ("## Next\n".encode("utf-16"), "UTF-16"),
        (b"## Next\na\0b\n", "NUL"),
        (b"x" * (page.LIMIT + 1), "over the limit"),
        ("\udcff", "not UTF-8"),
    ],
)
def test_what_is_no_page_is_refused_with_a_reason(body: bytes | str, phrase: str) -> None:
    with pytest.raises(RefusedError, match=phrase):
        parse(body)


def test_a_page_at_the_limit_is_read() -> None:
    text = three("go on")
    assert parse(text + "x" * (page.LIMIT - len(text))).next_steps == ["go on"]


def test_check_names_the_first_problem_and_counts_the_others() -> None:
    with pytest.raises(
        RefusedError, match=r"'Next' still says 'TODO' \(line 8\), and 2 more"
    ) as no:
        page.check(parse(page.template("feat/x")), "feat/x")
    assert no.value.hint is not None
    assert "Do not touch" in no.value.hint


def test_check_lets_a_good_page_pass() -> None:
    page.check(parse(GOOD), "feat/x")


def test_what_is_shown_cannot_act_on_a_terminal() -> None:
    shown = parse("## Next\n\x1b[2J\u202egnp\n").shown
    assert shown == "## Next\n\\u001b[2J\\u202egnp\n"


def test_text_after_a_heading_and_its_colon_is_content() -> None:
    assert said("## Next: deploy 4e11adc\n## Tried and failed: nothing\n## Do not touch: x\n") == []


def test_done_when_may_be_a_heading_or_follow_the_step() -> None:
    assert parse("## Next\n- go\n### Done when\nit is there\n").done_when == "it is there"
    read = parse("## Next\n- Deploy it. Done when `/version` shows it.\n")
    assert (read.next_steps, read.done_when) == (["Deploy it."], "`/version` shows it.")


def test_a_problem_in_a_fence_that_never_ends_is_still_found() -> None:
    assert len(said("## Next\ngo\n```\n## Tried and failed\nno\n## Do not touch\nno\n")) == 2
