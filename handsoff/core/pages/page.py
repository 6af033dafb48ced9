r"""The page: the handwritten half of a handoff, as rules about one Markdown text.

What is not content, and why a page is not done:

- Headings have any number of ``#`` and may be English or Chinese (``core/pages/headings.py``). An
  unknown heading below a known one belongs to it; any other opens a section that is kept as is.
- HTML comments are hints to the writer, not content. Inside a code fence nothing is a heading.
- A placeholder in a required section means that it is not finished
  (``core/pages/placeholders.py``).
- ``secret:`` names the place where a secret lives, ``vault:billing/prod-db``, never the secret.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from handsoff.core.pages import outline, pointers
from handsoff.core.pages.headings import Section
from handsoff.core.pages.outline import Line, Part
from handsoff.core.pages.placeholders import ITEM, says_placeholder, says_something
from handsoff.errors import RefusedError

LIMIT: Final = 256 * 1024
"""Bytes a page may have: it is one page, and each saved revision keeps it for good."""

NESTED: Final = 2
"""Blanks before an item that make it part of the one above."""

REQUIRED: Final = (Section.NEXT, Section.TRIED, Section.DO_NOT_TOUCH)

_WORK: Final = re.compile(
    r"[\s>*_-]*(?:work|工作)[*_`]*\s*[:：][*_\s]*(.*?)[*_\s]*$", re.IGNORECASE
)
_SECRET: Final = re.compile(
    r"(?<![\w:/.-])(?:secret|密钥|机密)[*_`]*\s*[:：][*_\s]*(.*)$", re.IGNORECASE
)
_DONE: Final = re.compile(
    r"(?:^|(?<=[.;。；!！,，])\s*|\s[-–—]+\s)[\s*_>-]*"
    r"(?:done when|完成标准|完成条件|完成标志|何时算完成|怎样算完成|验收标准)"
    r"[*_]*\s*[:：]?[*_]*\s*(.*)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a page cannot be sent: the section and the line it is about."""

    section: str
    line: int
    what: str

    @property
    def said(self) -> str:
        """The problem as one phrase, with its line."""
        return f"{self.what} (line {self.line})"


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read. ``text`` is what was written, with LF at line ends and no BOM."""

    text: str
    work: str | None
    work_line: int
    parts: tuple[Part, ...]

    def lines(self, section: Section) -> list[Line]:
        """Return the lines of ``section``, which may stand on the page more than once."""
        return [line for part in self.parts if part.section is section for line in part.lines]

    @property
    def next_steps(self) -> list[str]:
        """The steps of the next action, in order, without "Done when"."""
        return _steps([line for line, done in _split_done(self) if not done])

    @property
    def done_when(self) -> str | None:
        """How to tell that the next action is done, if the page says so."""
        lines = [line for line, done in _split_done(self) if done]
        text = " ".join(_steps([*lines, *self.lines(Section.DONE_WHEN)]))
        return text or None

    @property
    def in_flight(self) -> list[str]:
        """Steps that were begun and may be done, half done, or not."""
        return _steps(self.lines(Section.IN_FLIGHT))

    @property
    def traps(self) -> list[str]:
        """What goes wrong, and how to stay clear of it."""
        return _steps(self.lines(Section.TRAPS))

    @property
    def references(self) -> list[str]:
        """Pointers to the real work, to sources, and to where secrets live."""
        return _steps(self.lines(Section.REFERENCES))

    @property
    def shown(self) -> str:
        """The text made safe for a terminal: control and bidi characters are spelled out."""
        return "".join(_visible(c) for c in self.text)


def template(work: str) -> str:
    """Return a new page for ``work``, to be filled in."""
    return (
        f"# Handoff\n\nwork: {work}\n\n"
        "## Next\n\n<!-- Required. The next action, in steps that can be checked one by one. -->\n"
        "TODO\n\nDone when: <!-- what shows that it is done -->\n\n"
        "## Tried and failed\n\n"
        "<!-- Required. What was tried, and why it failed. If nothing was, say so. -->\nTODO\n\n"
        "## Do not touch\n\n"
        "<!-- Required. What must stay as it is, and why. If there is none, say so. -->\nTODO\n\n"
        "## True now\n\n<!-- Facts, as of now. -->\n\n"
        "## In flight\n\n<!-- Steps that were begun: the next carrier checks each first. -->\n\n"
        "## Traps\n\n<!-- What goes wrong, and how to stay clear of it. -->\n\n"
        "## Evidence\n\n<!-- Where what you say can be checked: logs, runs, lines. -->\n\n"
        "## References\n\n"
        "<!-- Links. For a secret the place where it lives: `secret: vault:billing/prod-db` -->\n"
    )


def parse(body: bytes | str) -> Page:
    """Return the page that ``body`` is; raise RefusedError if it is no page at all."""
    text = _text(body)
    parts = outline.parts(text)
    work, work_line = _named_work(parts)
    return Page(text, work, work_line, parts)


def problems(page: Page, work: str) -> list[Problem]:
    """Return everything that keeps ``page`` from being sent with ``work``, in page order."""
    end = max(1, page.text.rstrip("\n").count("\n") + 1)
    found: list[Problem] = []
    if page.work is not None and not _same_work(page.work, work):
        what = f"the page is about {page.work!r}, and this is {work!r}"
        found.append(Problem("work", page.work_line, what))
    for section in REQUIRED:
        found += _unfinished(page, section, end)
    for part in page.parts:
        found += _values(part)
    return sorted(found, key=lambda problem: problem.line)


def check(page: Page, work: str) -> None:
    """Raise RefusedError with the first problem of ``page`` and the count of the others."""
    found = problems(page, work)
    if not found:
        return
    said = f"the page is not ready: {found[0].said}"
    if len(found) > 1:
        said = f"the page is not ready: {found[0].said}, and {len(found) - 1} more"
    raise RefusedError(said, hint=_hint(found))


def _hint(found: list[Problem]) -> str:
    rest = "; ".join(problem.said for problem in found[1:6])
    also = f"; also: {rest}" if rest else ""
    return f"handsoff page opens it, then try again{also}"


def _text(body: bytes | str) -> str:
    raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if len(raw) > LIMIT:
        raise RefusedError(
            f"the page has {len(raw)} bytes, over the limit of {LIMIT}",
            hint="put what is long into a file, and name that file on the page",
        )
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RefusedError("the page is UTF-16 text", hint="save it as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise RefusedError(
            f"the page is not UTF-8 text (line {line})", hint="save it as UTF-8"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RefusedError(f"the page has a NUL byte (line {line})", hint="save it as plain text")
    if not text.strip():
        raise RefusedError("the page is empty", hint="fill it in with `handsoff page`")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _named_work(parts: tuple[Part, ...]) -> tuple[str | None, int]:
    for part in parts:
        if part.section is not None:
            break
        for line in part.lines:
            match = None if line.code else _WORK.fullmatch(line.text)
            name = match[1].strip(" \t`\"'<>“”") if match else ""
            if name and not says_placeholder(name):
                return name.removeprefix("refs/heads/"), line.number
    return None, 1


def _same_work(one: str, other: str) -> bool:
    # a name typed on one system may be composed otherwise than git's on another
    other = other.removeprefix("refs/heads/")  # as was done to what the page says
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


def _unfinished(page: Page, section: Section, end: int) -> Iterator[Problem]:
    here = [part for part in page.parts if part.section is section]
    if not here:
        yield Problem(section.value, end, f"section {section.value!r} is missing")
        return
    lines = [line for part in here for line in part.lines if says_something(line)]
    for line in lines:
        if says_placeholder(line.text, code=line.code):
            what = f"section {section.value!r} still says {line.text.strip()[:40]!r}"
            yield Problem(section.value, line.number, what)
    if not lines:
        yield Problem(section.value, here[0].line, f"section {section.value!r} is empty")


def _values(part: Part) -> Iterator[Problem]:
    """Yield a problem for each ``secret:`` of ``part`` that is followed by no pointer."""
    name = part.section.value if part.section else part.title or "top"
    lines = list(part.lines)
    for at, line in enumerate(lines):
        item = ITEM.match(line.text)
        match = _SECRET.search((item[2] if item else line.text).strip("` \t"))
        if not match or (line.code and part.section is not Section.REFERENCES):
            continue
        said = match[1].strip()
        if not said:  # the pointer may stand on the next line
            said = next((after.text.strip() for after in lines[at + 1 :] if after.text.strip()), "")
            said = said.lstrip("-*+ `")
        if not pointers.is_pointer(said):
            what = f"section {name!r} has a 'secret:' that is not a pointer such as vault:team/db"
            yield Problem(name, line.number, what)


def _split_done(page: Page) -> Iterator[tuple[Line, bool]]:
    """Yield the lines of the next action, each with whether it is about when it is done."""
    done = False
    for line in page.lines(Section.NEXT):
        match = None if line.code else _DONE.search(line.text)
        if match:
            yield line._replace(text=line.text[: match.start()]), False
            yield line._replace(text=match[1]), True
            done = True
            continue
        # what is indented below "Done when" goes on with it
        done = done and bool(line.text.strip()) and line.text[:1] in " \t"
        yield line, done


def _steps(lines: list[Line]) -> list[str]:
    """Return the items of ``lines``; where there are none, each paragraph is one."""
    items: list[str] = []
    itemised = any(ITEM.match(line.text) and not line.code for line in lines)
    fresh = True
    for line in lines:
        item = None if line.code else ITEM.match(line.text)
        text = (item[2] if item else line.text).strip()
        if not text or line.heading:
            fresh = fresh or not itemised
        elif (item and not item[1].strip() and len(item[1]) < NESTED) or fresh or not items:
            items.append(text)
            fresh = False
        else:
            items[-1] += " " + text
    return items


def _visible(c: str) -> str:
    if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return c
    return f"\\u{ord(c):04x}" if c not in "\u200d\ufe0f" else c
