"""What an arriving state may not ask of a receiver is refused, whoever signed it."""

from dataclasses import replace

import pytest

from handsoff.core.checkout.operation import Operation
from handsoff.core.checkout.state import BranchConfig, State
from handsoff.core.parcels.incoming import check_state, problem_of
from handsoff.errors import DamagedError, HandsoffError, RefusedError

A, B = "a" * 40, "b" * 40
STATE = State("feat/x", A, "0 +0000", B, (), B, (), BranchConfig(), (), tip=A)


def doing(**files: str) -> Operation:
    named = {name.replace("__", "/").replace("_", "-"): text for name, text in files.items()}
    return Operation(tuple(sorted((n.encode(), t.encode()) for n, t in named.items())))


@pytest.mark.parametrize(
    "options",
    [
        "",
        "\n",
        " '-C3' '--whitespace=fix'\n",
        "--reject -p2",
        " '--directory=sub dir'".replace(" d", "-d"),
    ],
)
def test_options_of_git_am_that_only_say_how_to_read_a_patch_travel(options: str) -> None:
    assert problem_of(doing(rebase_apply__apply_opt=options), "feat/x") == ""


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (doing(rebase_apply__apply_opt=" '--build-fake-ancestor=../bashrc'"), "apply-opt"),
        (doing(rebase_apply__apply_opt="--unsafe-paths"), "apply-opt"),
        (doing(rebase_merge__strategy="../../evil"), "rebase-merge/strategy"),
        (doing(sequencer__opts="[options]\n\tstrategy = evil\n"), "sequencer/opts"),
        (doing(rebase_merge__head_name="refs/heads/main\n"), "another branch in progress: main"),
        (doing(rebase_merge__update_refs=f"refs/heads/main\n{A}\n{B}\n"), "moves the branch main"),
    ],
)
def test_what_would_reach_beyond_the_work_is_refused(operation: Operation, words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        check_state(replace(STATE, operation=operation))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"tip": B}, DamagedError),
        (
            {"operation": Operation(refs=(("refs/bisect/a", A), ("refs/bisect/a/b", A)))},
            DamagedError,
        ),
        ({"modes": ((b"../x", 0o600),)}, HandsoffError),
        ({"raw": (b".git/config",)}, HandsoffError),
    ],
)
def test_a_state_that_cannot_be_is_refused(
    change: dict[str, object], error: type[HandsoffError]
) -> None:
    with pytest.raises(error):
        check_state(replace(STATE, **change))  # type: ignore[arg-type]


def test_a_rebase_of_the_work_itself_may_arrive() -> None:
    check_state(STATE)
    own = doing(rebase_merge__head_name="refs/heads/feat/x\n", rebase_merge__strategy="ort\n")
    check_state(replace(STATE, operation=own, detached=True, tip=B))
