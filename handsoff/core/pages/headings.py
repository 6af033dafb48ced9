"""The sections that a page is known to have, and every way a heading may spell them.

A heading is recognised after its decoration is taken off (numbers, emphasis, closing ``#``,
colon, letter case), as a whole or as one part of a pair such as ``下一步 / Next``.
"""

import re
import unicodedata
from enum import Enum
from typing import Final


class Section(Enum):
    """A section that the rules know, under the name that refusals use for it."""

    NEXT = "Next"
    TRIED = "Tried and failed"
    DO_NOT_TOUCH = "Do not touch"
    TRUE_NOW = "True now"
    DONE_WHEN = "Done when"
    IN_FLIGHT = "In flight"
    TRAPS = "Traps"
    EVIDENCE = "Evidence"
    REFERENCES = "References"


_SPELLINGS: Final[dict[Section, str]] = {
    Section.NEXT: (
        "next|next action|next actions|next step|next steps|next up|what next|what is next"
        "|whats next|下一步|下一步行动|下一步动作|下一步操作|下一步计划|下一步工作"
        "|下一步要做什么|下一步做什么|下步|接下来|接下来做什么|接下来要做的|接下来的步骤"
        "|接下来的工作|后续|后续步骤|后续工作|后续行动"
    ),
    Section.TRIED: (
        "tried and failed|tried but failed|tried failed|tried|failed attempts|dead ends"
        "|already tried|tried and did not work|tried did not work|tried and didnt work"
        "|what was tried and failed|what did not work|what failed|试过但失败|试过但不行"
        "|试过不行|试过但没成功|试过没用|试过失败|试过且失败|试过并失败|试过都失败|试过"
        "|尝试过但失败|尝试过并失败|尝试过但不行|尝试失败|尝试过|尝试但失败|试了但失败|试了不行"
        "|已尝试但失败|已试过但失败|已尝试|已试过|失败的尝试|失败尝试|失败记录|失败的方案"
        "|走不通的路|走过的弯路|死路"
    ),
    Section.DO_NOT_TOUCH: (
        "do not touch|dont touch|never touch|leave alone|do not change|dont change"
        "|do not modify|不要动|不要碰|不要改|不要改动|不要修改|不要触碰|不要乱动|别动|别碰|别改"
        "|勿动|勿碰|请勿动|请勿改动|请勿修改|请勿触碰|请不要动|不能动|不可动|不许动|不得改动"
        "|禁止改动|禁止修改|禁止触碰"
    ),
    Section.TRUE_NOW: (
        "true now|what is true now|true|facts|current facts|current state|state now|现在为真"
        "|当前为真|当前事实|现在的事实|目前事实|目前的事实|已知事实|事实|当前状态|目前状态|现状"
        "|当前情况|目前情况"
    ),
    Section.DONE_WHEN: (
        "done when|done if|definition of done|acceptance|acceptance criteria|完成标准|完成条件"
        "|完成标志|完成判据|何时算完成|何时完成|怎样算完成|怎么算完成|怎样算做完|验收|验收标准"
        "|验收条件"
    ),
    Section.IN_FLIGHT: (
        "in flight|inflight|in progress|under way|underway|half done|started not finished"
        "|进行中|进行中的步骤|进行中的工作|正在进行|正在进行中|正在做|在途|做到一半|未完成"
        "|未完成的步骤"
    ),
    Section.TRAPS: (
        "traps|trap|pitfalls|pitfall|gotchas|gotcha|warnings|watch out|陷阱|坑|坑点|大坑"
        "|踩过的坑|踩坑|注意|注意事项|当心|小心|雷区|雷"
    ),
    Section.EVIDENCE: "evidence|proof|证据|依据|佐证|证明|凭据",
    Section.REFERENCES: (
        "references|reference|refs|ref|links|sources|see also|参考|参考资料|参考文献|参考链接"
        "|引用|链接|相关链接|相关资料|出处|资料"
    ),
}

_KNOWN: Final = {
    spelling: section for section, text in _SPELLINGS.items() for spelling in text.split("|")
}

_NUMBER: Final = re.compile(
    r"^(?:step\s+)?(?:\d+|[一二三四五六七八九十]+(?=[.)、．]))[.)、．:：\s]+"
)
_PARTS: Final = re.compile(r"\s*(?:[/／|｜()（）\[\]【】&+]|\s[-–—·]+\s|——)\s*")
_NOT_WORDS: Final = re.compile(r"[^\w\s]|_")


def known(title: str) -> tuple[Section, str] | None:
    """Return the section that ``title`` opens, and what it already says after a colon."""
    head, _, tail = title.replace("：", ":").partition(":")
    for candidate, rest in ((title, ""), (head, tail.strip())):
        found = _find(candidate)
        if found is not None:
            return found, rest
    return None


def _find(title: str) -> Section | None:
    title = _NUMBER.sub("", title.strip(" \t*_#`"))
    for part in (title, *_PARTS.split(title)):
        section = _KNOWN.get(_plain(part))
        if section is not None:
            return section
    return None


def _plain(text: str) -> str:
    # an apostrophe joins ("don't" = "dont"); other signs part words ("in-flight" = "in flight")
    text = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("\u2019", "")
    words = " ".join(_NOT_WORDS.sub(" ", text).split())
    joined = re.sub(r"(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])", "", words)
    # 的 and 了 at the end change nothing: 试过但失败的, 试过但失败了
    return re.sub(
        r"(?<=[^\x00-\x7f])(?:的|了|的事|的东西|的地方|的文件|的部分|的内容)$", "", joined
    )
