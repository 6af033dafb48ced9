"""audit --html: everything that was verified as one page that needs nothing beside it."""

import hashlib
import os
import re
import subprocess
import sys
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from handsoff.web import needed
from tests.kit.machines import ROOT, Machine, World, git
from tests.kit.running import inside, refused
from tests.kit.seen import WORK, worth_seeing


class Seen(HTMLParser):
    """The elements of a page, and its ids and inner links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(  # type: ignore[explicit-override]  # Python 3.12 has a word for it
        self, tag: str, attrs: Any
    ) -> None:
        self.elements.append((tag, dict(attrs)))

    def all_of(self, name: str) -> list[str]:
        return [str(attrs[name]) for _, attrs in self.elements if name in attrs]


def test_anybody_with_a_clone_gets_one_file_with_everything(world: World, tmp_path: Path) -> None:
    m1 = worth_seeing(world)[0]
    pin, file = m1.desk().need_pin(), tmp_path / "report.html"
    top = tmp_path / "ops"
    git(tmp_path, "clone", "-q", f"file://{world.remote.path}", str(top))
    ops = Machine("ops", tmp_path / "nowhere", top)
    plain = inside(ops, "audit", "--trust", pin, "--json")
    ran = inside(ops, "audit", "--trust", pin, "--json", "--html", file)
    assert (ran.code, plain.code) == (3, 3)
    assert [w["work"] for w in ran.json["works"]] == [w["work"] for w in plain.json["works"]]
    assert not ops.home.exists()
    text = file.read_text()
    for said in (WORK, "<h4>Next</h4>", "nobody has caught it since", "What changed since r2",
                 "of wang", "m1 carries this work, not m2", "Not known here."):  # fmt: skip
        assert said in text, said
    _needs_nothing(text)
    assert "&lt;script&gt;document.title=" in text
    assert "fix/&lt;b&gt;50%&lt;/b&gt;-off?&amp;x=1" in text
    assert not set(text) & set("\x1b\u202e\u202d")
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    # a second time it takes the place of the first, for whoever may see what is made here
    before = os.umask(0o077)
    inside(ops, "audit", "--html", file, "--trust", pin, HANDSOFF_LANG="zh_CN")
    os.umask(before)
    assert file.stat().st_mode & 0o7777 == 0o600
    assert file.read_text().count("<h1") == text.count("<h1")
    assert "时间线上的 m1" in file.read_text()
    assert '<td class="detail">自 m1' in file.read_text()
    _not_over_what_is_no_file(ops, pin, tmp_path)


def _needs_nothing(text: str) -> None:
    page = Seen(text)
    names = {tag for tag, _ in page.elements}
    assert names.isdisjoint({"script", "img", "iframe", "object", "form", "base"})
    assert [
        a for _, attrs in page.elements for a in attrs if a.startswith("on") or a == "style"
    ] == []
    assert text.count("</style>") == 1
    assert all(link.startswith("#") or link == "data:," for link in page.all_of("href"))
    ids = page.all_of("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.all_of("href") if link.startswith("#")} <= set(ids)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style
    digest = b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in text
    assert not re.search(r"url\((?!#)|@import", style[1])


def _not_over_what_is_no_file(ops: Machine, pin: str, folder: Path) -> None:
    other = folder / "precious"
    other.write_text("precious")
    (folder / "link.html").symlink_to(other)
    for name, said in (("link.html", "is a link"), ("ops", "is no file"), ("-", "is no file"),
                       ("no/such/x.html", "there is no folder")):  # fmt: skip
        refused(inside(ops, "audit", "--trust", pin, "--html", folder / name), 2, said)
    assert other.read_text() == "precious"
    assert (folder / "link.html").is_symlink()


@pytest.mark.parametrize(
    ("words", "package"), [("'audit', '--html', 'x.html'", "jinja2"), ("'web'", "uvicorn")]
)
def test_without_the_extra_one_line_says_how_to_get_it(
    words: str, package: str, tmp_path: Path
) -> None:
    code = f"import sys; sys.modules[{package!r}] = None\n"
    code += f"from handsoff.cli.app import main; main([{words}])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        f"handsoff: the pages need a package that is not installed: {package}\n"
        "hint: pip install 'handsoff[web]'\n"
    )


def test_what_pages_need_is_what_the_extra_has() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    extra = re.search(r"^web = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    assert extra
    named = {word.split(">")[0] for word in re.findall(r'"([^"]+)"', extra[1])}
    assert named == {"jinja2", "markdown-it-py", "starlette", "uvicorn"}
    assert {n.replace("_", "-") for n in needed.FOR_A_SERVER} == {
        n.removesuffix("-py") for n in named
    }
