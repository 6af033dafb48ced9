"""What the documents say and code can tell: lists are whole, tables are those of the code."""

import importlib
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import fields
from difflib import ndiff
from itertools import zip_longest
from pathlib import Path
from typing import Final

import pytest

from handsoff import errors
from handsoff.cli.app import INTERRUPTED, app, main
from handsoff.cli.talk import UNREAD
from handsoff.core import chain
from handsoff.core.checkout import envelope, operation
from handsoff.core.checkout.state import NO_TIME, BranchConfig, Sparse, State
from handsoff.core.ids import work_component
from handsoff.core.machines import admission, cards, pairing, pairtalk
from handsoff.core.parcels import manifest
from handsoff.core.parcels.manifest import Manifest
from handsoff.core.remote import archive
from handsoff.core.talk import messages
from handsoff.core.talk.exchange import EXPECTED, FETCHED
from handsoff.core.works import lease
from handsoff.core.works.entry import KINDS
from tests.kit.machines import ROOT

README: Final = ROOT / "README.md"
CHINESE: Final = ROOT / "contrib" / "README.zh-CN.md"
TOUR: Final = ROOT / "handsoff" / "README.md"
FORMATS: Final = ROOT / "handsoff" / "core" / "README.md"
SECURITY: Final = ROOT / "handsoff" / "SECURITY.md"
DECISIONS: Final = ROOT / "handsoff" / "DECISIONS.md"
DOCUMENTS: Final = (
    README, CHINESE, TOUR, FORMATS, SECURITY, DECISIONS, ROOT / "lab" / "README.md",
    ROOT / "contrib" / "README.md", ROOT / "contrib" / "server-hook" / "README.md",
    ROOT / "contrib" / "systemd" / "README.md", ROOT / "contrib" / "plugin" / "README.md",
)  # fmt: skip
LONGEST_NOTE: Final = 15


def section(document: Path, title: str) -> str:
    """Return what stands below the heading ``title``, up to the next heading."""
    text = document.read_text()
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{document.name} has no section called {title}"
    return found[1]


def rows(text: str, head: str) -> list[list[str]]:
    """Return the rows of the table in ``text`` whose first heading is ``head``."""
    table = re.search(rf"^\| {re.escape(head)} ?\|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table, f"there is no table with the heading {head}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]


def ticked(cell: str) -> list[str]:
    """Return the words in backticks of a cell."""
    return re.findall(r"`([^`]+)`", cell)


def test_every_file_has_one_line_in_the_tour() -> None:
    text = section(TOUR, "One line a file")
    told = re.findall(r"^\| `([^`]+\.py)` \|", text, re.MULTILINE)
    files = (ROOT / "handsoff").rglob("*.py")
    there = [str(f.relative_to(ROOT / "handsoff")) for f in files if f.name != "__init__.py"]
    assert sorted(told) == sorted(there)


def test_every_command_has_one_line_in_the_readme() -> None:
    named = [(c.name, c.callback) for c in app.registered_commands]
    for group in app.registered_groups:
        inner = group.typer_instance.registered_commands if group.typer_instance else []
        words = [c.name or getattr(c.callback, "__name__", "") for c in inner]
        named += [(f"{group.name} {word}".rstrip(), None) for word in ("", *words)]
    commands = {name or getattr(callback, "__name__", "") for name, callback in named}
    assert sorted(_readme_commands()) == sorted(commands)


def test_the_list_of_verbs_in_the_readme_is_that_of_the_help() -> None:
    told = {command for command in _readme_commands() if command not in _hidden()}
    shown = set(_listed())
    for group in [group.name for group in app.registered_groups]:
        shown |= {f"{group} {verb}" for verb in _listed(str(group))}
    assert told == shown


def _listed(*words: str) -> list[str]:
    """Return the commands that ``--help`` lists."""
    with redirect_stdout(io.StringIO()) as said, pytest.raises(SystemExit):
        main([*words, "--help"])
    listed = said.getvalue().partition("\nCommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z]+)", listed, re.MULTILINE)


def _hidden() -> set[str | None]:
    return {command.name for command in app.registered_commands if command.hidden}


def _readme_commands() -> list[str]:
    table = rows(section(README, "The commands"), "command")
    words_first = re.compile(r"handsoff ([a-z]+(?: [a-z]+)*)")
    return [found[1] for row in table if (found := words_first.match(ticked(row[0])[0]))]


def test_ci_runs_the_test_line_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    line = re.search(r'^TESTS="(.*)"$', ci, re.MULTILINE)
    assert line
    blocks = re.findall(r"```\n(.*?)\n```", section(README, "Two commands"), re.DOTALL)
    assert blocks == ["bash lab/run_all.sh", line[1]]
    assert (ROOT / "lab" / "run_all.sh").is_file()


def test_the_exit_codes_are_those_of_the_errors() -> None:
    told = {int(n) for n in re.findall(r"(?:^|[\s(])(\d+)\s[a-z]", section(README, "Exit codes"))}
    kinds = errors.HandsoffError.__subclasses__()
    others = {0, errors.HandsoffError.exit_code, INTERRUPTED, UNREAD}
    assert told == others | {k.exit_code for k in kinds}


def test_the_turns_of_the_protocol_are_those_of_the_code() -> None:
    told = [tuple(row[1:]) for row in rows(section(FORMATS, "Protocol"), "")]
    assert told == [(role.value, said.__name__) for role, said in EXPECTED]
    told = [tuple(row[1:]) for row in rows(section(FORMATS, "Protocol"), "turn")]
    assert told == [(role.value, said.__name__) for role, said in FETCHED]


def test_the_messages_have_the_fields_of_the_code() -> None:
    table = rows(section(FORMATS, "Protocol"), "message")
    told = {ticked(row[0])[0]: ticked(row[1]) for row in table}
    assert told == {name: sorted(checks) for name, (_, checks) in messages._KINDS.items()}


def test_the_turns_and_messages_of_a_pairing_are_those_of_the_code() -> None:
    told = [tuple(row[1:]) for row in rows(section(FORMATS, "Pairing"), "turn")]
    assert told == [(who.value, said.__name__) for who, said in pairing.EXPECTED]
    table = rows(section(FORMATS, "Pairing"), "said")
    fields_told = {ticked(row[0])[0]: ticked(row[1]) for row in table}
    assert fields_told == {name: sorted(checks) for name, (_, checks) in pairtalk._KINDS.items()}


def test_the_entries_of_the_record_have_the_fields_of_the_code() -> None:
    table = rows(section(FORMATS, "Record entries"), "kind")
    told = {ticked(row[0])[0]: ticked(row[1]) for row in table}
    common = {f.name for f in fields(lease.Event)}
    assert told == {
        name: sorted({f.name for f in fields(kind)} - common) for name, kind in KINDS.items()
    }
    named = {name for row in rows(section(FORMATS, "Record entries"), "field")
             for name in ticked(row[0])}  # fmt: skip
    assert named == {name for names in told.values() for name in names}


def test_the_entries_of_the_roster_have_the_fields_of_the_code() -> None:
    table = rows(section(FORMATS, "Roster entries"), "kind")
    told = {ticked(row[0])[0]: set(ticked(row[1])) for row in table}
    assert told == admission._FIELDS


def test_the_entries_of_the_archive_have_the_fields_of_the_code() -> None:
    common = {"v", "kind", "seq", "prev", "by", "at", "repo", "roster"}
    told = {ticked(row[0])[0]: ticked(row[1]) for row in rows(section(FORMATS, "Archive"), "kind")}
    assert told == {"Archived": sorted(archive._FIELDS - common)}


def test_the_card_and_the_manifest_have_the_fields_of_the_code() -> None:
    card = [name for row in rows(section(FORMATS, "Card"), "field") for name in ticked(row[0])]
    assert sorted(card) == sorted(cards._FIELDS)
    claims = [name for row in rows(section(FORMATS, "Parcel"), "field") for name in ticked(row[0])]
    assert sorted(claims) == sorted(f.name for f in fields(Manifest))


def test_the_lists_of_an_envelope_are_those_of_the_code() -> None:
    state = State(
        work="x", head="", head_time=NO_TIME, index_tree="", special=(), work_tree="", stash=(),
        branch=BranchConfig(), empty_folders=(), sparse=Sparse(b"", ()),
    )  # fmt: skip
    told = rows(section(FORMATS, "Envelope: a state under one id"), "entry of the envelope's tree")
    names = [name.decode() for name in envelope.lists_of(state)]
    trees = ["auto-merge", "lfs", "operation", "pins", "transcript"]
    assert sorted(ticked(row[0])[0] for row in told) == sorted([*names, *trees])


def test_the_files_of_an_operation_are_those_of_the_code() -> None:
    told = section(FORMATS, "An operation in progress")
    names = {name.decode() for name in operation.FILES}
    assert names == {word for word in ticked(told) if word.isupper() or word in names}
    for name in (*operation.FOLDERS, operation.TAGS, operation.RERERE):
        assert f"`{name.decode().rstrip('/')}/" in told
    for prefix in operation.REFS:
        assert f"`{prefix}" in told


def test_the_namespaces_are_those_of_the_code() -> None:
    told = [ticked(row[0])[0] for row in rows(section(FORMATS, "Common parts"), "namespace")]
    assert told == [chain.NAMESPACE, cards.NAMESPACE, manifest.NAMESPACE,
                    messages.RECEIPT_NAMESPACE]  # fmt: skip


def test_the_spellings_of_works_are_those_of_the_code() -> None:
    for row in rows(section(FORMATS, "Refs"), "work"):
        work, component = ticked(row[0])[0], ticked(row[1])[0]
        assert work_component(work) == component


def test_a_note_says_question_options_choice_and_cost_in_a_few_lines() -> None:
    notes = DECISIONS.read_text().split("\n## ")[1:]
    assert notes
    for note in notes:
        title, *lines = note.rstrip("\n").split("\n")
        words = re.findall(r"^- (Question|Options|Choice|Cost):", note, re.MULTILINE)
        assert words == ["Question", "Options", "Choice", "Cost"], title
        assert len([line for line in lines if line]) <= LONGEST_NOTE, title


def named_paths(document: Path) -> Iterator[tuple[str, tuple[Path, ...]]]:
    """Yield each path that a document names, and the places where it may be."""
    text = document.read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        yield target, (document.parent / target,)
    room = re.compile(
        r"(?:handsoff|core|edge|flows|cli|tests|lab|contrib|\.ci)/[\w./-]*|test_\w+\.py"
    )
    for path in re.findall(r"`([^`\s]+)`", text):
        if room.fullmatch(path):
            yield path, tuple(ROOT / start / path for start in ("", "handsoff", "tests"))


def kept_in_translation(document: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each section's heading, and what of it stands in every language, a line each."""
    fence = re.compile(r"^```\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
    whole = re.compile(r"^#+ .*\n(?:```\n(?:.*\n)*?```\n|(?!#+ ).*\n)*", re.MULTILINE)
    for text in whole.findall(document.read_text()):
        heading, prose = fence.sub("", text).split("\n", 1)
        links = {(document.parent / to).resolve() for to in re.findall(r"\]\(([^)]+)\)", prose)}
        bare = re.sub(r"`[^`]+`|\]\([^)]+\)", " ", prose)
        yield heading, [
            f"level {heading.split()[0]}",
            f"{len(re.findall('(?m)^- ', prose))} points",
            f"{len(re.findall('(?m)^$', prose))} paragraphs",
            *(re.sub(r"  +# .*", "", line) for shown in fence.findall(text)
              for line in ["block:", *shown.splitlines()]),
            *(f"row {ticked(line)[:1]}" for line in prose.splitlines() if line.startswith("|")),
            *sorted({f"`{' '.join(word.split())}`" for word in ticked(prose)}),
            *sorted(f"number {n}" for n in re.findall(r"(?<![\w.,])\d[\d.,]*(?<![.,])", bare)),
            *sorted(f"link {link.relative_to(ROOT)}" for link in links - {README, CHINESE}),
        ]  # fmt: skip


def test_the_chinese_readme_keeps_step_with_the_english_one() -> None:
    """A ``-`` stands before what the English one has alone, a ``+`` before what it lacks."""
    assert CHINESE.read_text().startswith("[English](../README.md)")
    pairs = zip_longest(*map(kept_in_translation, (README, CHINESE)), fillvalue=("nothing", []))
    apart = [
        f"{ours} | {theirs}: {line}" for (ours, english), (theirs, chinese) in pairs
        for line in ndiff(english, chinese) if line[0] in "-+"
    ]  # fmt: skip
    assert not apart, "\n".join([f"bring contrib/{CHINESE.name} up to date:", *apart[:20]])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_every_path_that_a_document_names_is_there(document: Path) -> None:
    made_by_use = ("lab/out", "lab/.venv", "handsoff/")
    missing = [
        path for path, places in named_paths(document)
        if not path.startswith(made_by_use) and not any(place.exists() for place in places)
    ]  # fmt: skip
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_no_document_names_a_path_of_the_machine_it_was_written_on(document: Path) -> None:
    assert re.findall(r"(?<![\w.~])/(?:home|root|tmp|work|Users)/\S*", document.read_text()) == []


def test_what_the_lab_runs_with_a_plain_python_needs_no_library() -> None:
    """But those that go on in an environment of their own, which they make."""
    told = re.findall(
        r"^\| `python3 (lab/\w+\.py)", (ROOT / "lab" / "README.md").read_text(), re.MULTILINE
    )
    plain = [s for s in told if "into_environment(" not in (ROOT / s).read_text()]
    assert len(plain) > 3
    for script in plain:
        command = [sys.executable, "-S", script, "--help"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert "usage:" in done.stdout, (script, done.stderr)


def test_each_mutant_of_the_lab_finds_what_it_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "lab"))
    mutants = importlib.import_module("mutants")
    for module, broken in mutants.MUTANTS.items():
        sound = (ROOT / mutants.CORE / f"{module}.py").read_text()
        assert mutants.TESTS[module]
        assert [name for name, before, _ in broken if sound.count(before) != 1] == [], module


def test_each_test_that_is_left_out_for_its_length_is_there() -> None:
    lines = (ROOT / "tests" / "long.txt").read_text().splitlines()
    named = [line.split()[0].split("::") for line in lines if not line.startswith("#")]
    assert len({tuple(name) for name in named}) == len(named) > 0
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(), test


def test_a_name_in_a_command_to_be_typed_is_quoted_for_a_shell() -> None:
    # whoever can push names works and branches: `a;touch${IFS}x` is a name that git takes
    typed = r"(?:handsoff [a-z]+|git [a-z]+(?: deinit| -\w+| --)*(?: \{[^{}]*\})?) ?(?:\.\.)?"
    loose = re.compile(typed + r"\{(?![^{}]*quote)[^{}]*(?:work|branch|clash|shown|name)\W*\}")
    for path in sorted((ROOT / "handsoff").rglob("*")):
        if path.suffix not in (".py", ".html") or path.name.startswith("tour"):
            continue
        text = path.read_text("utf-8")
        if ".format(work=quoted(work))" in text:
            text = text.replace("{work}", "")
        found = [one[0] for one in loose.finditer(text)]
        # the names of machines and remotes are of letters, digits and ._-
        assert [one for one in found if not re.search(r"[{.](?<!_)name\}$", one)] == [], path
