"""The hook where git runs it: ours first, and everybody else's after it, as before."""

from pathlib import Path

import pytest

from handsoff.edge import hooks
from handsoff.edge.hooks import install
from tests.kit.machines import Machine, World

KEPT = "pre-push.before-handsoff"


def script(path: Path, text: str) -> Path:
    """Put an executable shell script at ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def noting(path: Path, log: Path) -> Path:
    """Put a hook that notes its own words and its input, and agrees."""
    return script(path, f'{{ echo "${{0##*/}}" "$@"; cat; }} >>"{log}"')


def own_hooks(machine: Machine) -> Path:
    return machine.top / ".git" / "hooks"


@pytest.fixture
def m1(world: World) -> Machine:
    """Return a machine with a clone, a commit to push, and no hook yet."""
    machine = world.machine("m1")
    machine.git("switch", "-qc", "feat/x")
    machine.commit()
    return machine


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "hooks.log"


def test_ours_is_put_beside_the_clones_other_hooks(m1: Machine) -> None:
    hook = install(m1.checkout())
    assert hook.path == own_hooks(m1) / "pre-push"
    assert hook.done
    assert not install(m1.checkout()).done


def test_an_existing_hook_gets_the_same_words_and_input(
    world: World, m1: Machine, log: Path
) -> None:
    noting(own_hooks(m1) / "pre-push", log)
    world.enrol(m1)
    tip = m1.git("rev-parse", "HEAD")
    m1.push("origin", "feat/x").ok()
    words, line = log.read_text().splitlines()
    assert words == f"{KEPT} origin {world.remote.path}"
    assert line == f"refs/heads/feat/x {tip} refs/heads/feat/x {'0' * 40}"


def test_an_existing_hook_that_refuses_stops_the_push(world: World, m1: Machine) -> None:
    script(own_hooks(m1) / "pre-push", "exit 3")
    world.enrol(m1)
    assert m1.push("origin", "feat/x").code == 1
    assert "refs/heads/feat/x" not in world.remote.refs()


def test_where_ours_refuses_the_existing_one_is_not_asked(
    world: World, m1: Machine, log: Path
) -> None:
    noting(own_hooks(m1) / "pre-push", log)
    m2 = world.machine("m2")
    world.enrol(m2, m1)
    m2.writes("feat/x", lambda pen: pen.caught())
    assert m1.push("origin", "feat/x").code == 1
    assert not log.exists()


def test_an_existing_hook_may_leave_its_input_alone(world: World, m1: Machine) -> None:
    script(own_hooks(m1) / "pre-push", "exec <&-; exit 0")
    world.enrol(m1)
    said = m1.push("origin", "feat/x").ok()
    assert "roken pipe" not in said.err


def test_an_existing_hook_that_git_would_not_run_is_not_run(
    world: World, m1: Machine, log: Path
) -> None:
    noting(own_hooks(m1) / "pre-push", log).chmod(0o644)
    world.enrol(m1)
    m1.push("origin", "feat/x").ok()
    assert not log.exists()
    assert (own_hooks(m1) / KEPT).stat().st_mode & 0o777 == 0o644


def test_an_existing_link_stays_a_link(world: World, m1: Machine, log: Path) -> None:
    noting(m1.top / "scripts" / "check", log)
    own_hooks(m1).joinpath("pre-push").symlink_to("../../scripts/check")
    world.enrol(m1)
    m1.push("origin", "feat/x").ok()
    assert (own_hooks(m1) / KEPT).is_symlink()
    assert log.exists()


def test_a_tool_that_took_our_place_is_kept_and_nothing_runs_in_circles(
    world: World, m1: Machine, log: Path
) -> None:
    noting(own_hooks(m1) / "pre-push", log)
    world.enrol(m1)
    ours = own_hooks(m1) / "pre-push"
    ours.rename(own_hooks(m1) / "pre-push.legacy")  # as the tool pre-commit does
    script(ours, f'echo tool >>"{log}"; exec "${{0%/*}}"/pre-push.legacy "$@"')
    install(m1.checkout())
    m1.push("origin", "feat/x").ok()
    said = [line.split()[0] for line in log.read_text().splitlines()]
    assert said[:2] == ["tool", KEPT]
    assert len(said) == 3
    assert not install(m1.checkout()).done


@pytest.mark.parametrize("where", ["relative", "absolute", "global", "home"])
def test_hooks_from_another_folder_go_on_running(
    world: World, m1: Machine, log: Path, where: str, tmp_path: Path
) -> None:
    home = Path(m1.run("sh", "-c", "echo $HOME").out.strip())
    folder = {"relative": m1.top / ".githooks", "home": home / "hooks"}.get(where, tmp_path / "h")
    value = {"relative": ".githooks", "home": "~/hooks"}.get(where, str(folder))
    scope = "--global" if where in ("global", "home") else "--local"
    m1.git("config", scope, "core.hooksPath", value)
    for name in ("pre-push", "pre-commit"):
        noting(folder / name, log)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    world.enrol(m1)
    m1.commit()
    m1.push("origin", "feat/x").ok()
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    said = [line.split()[0] for line in log.read_text().splitlines()]
    assert (said[0], said[1]) == ("pre-commit", "pre-push")
    assert m1.git("config", "--get", "core.hooksPath") == str(m1.top / ".git/handsoff/hooks")
    assert not install(m1.checkout()).done
    if scope == "--global":
        assert m1.git("config", "--global", "core.hooksPath") == value


def test_ours_runs_first_also_from_another_folder(world: World, m1: Machine, log: Path) -> None:
    m1.git("config", "core.hooksPath", ".husky")
    noting(m1.top / ".husky" / "pre-push", log)
    m2 = world.machine("m2")
    world.enrol(m2, m1)
    m2.writes("feat/x", lambda pen: pen.caught())
    assert m1.push("origin", "feat/x").code == 1
    assert not log.exists()


def test_a_hook_of_another_folder_may_refuse(world: World, m1: Machine) -> None:
    m1.git("config", "core.hooksPath", ".husky")
    script(m1.top / ".husky" / "pre-push", "exit 1")
    script(m1.top / ".husky" / "pre-commit", "exit 1")
    world.enrol(m1)
    assert m1.push("origin", "feat/x").code == 1
    assert m1.run("git", "commit", "--allow-empty", "-m", "no").code == 1


def test_a_change_of_the_other_folder_is_followed(
    world: World, m1: Machine, log: Path, tmp_path: Path
) -> None:
    m1.git("config", "--global", "core.hooksPath", str(tmp_path / "one"))
    world.enrol(m1)
    m1.git("config", "--global", "core.hooksPath", str(tmp_path / "two"))
    noting(tmp_path / "two" / "pre-push", log)
    m1.push("origin", "feat/x").ok()
    assert log.read_text().startswith("pre-push origin")


def test_a_folder_set_again_by_a_tool_is_taken_up_again(
    world: World, m1: Machine, log: Path
) -> None:
    m1.git("config", "core.hooksPath", ".husky")
    world.enrol(m1)
    m1.git("config", "core.hooksPath", ".husky/_")  # as its next version does at npm install
    noting(m1.top / ".husky" / "_" / "pre-push", log)
    assert install(m1.checkout()).done
    m1.push("origin", "feat/x").ok()
    assert log.exists()


def test_a_setting_of_one_worktree_stays_one(world: World, m1: Machine, log: Path) -> None:
    m1.git("config", "extensions.worktreeConfig", "true")
    m1.git("config", "--worktree", "core.hooksPath", ".husky")
    noting(m1.top / ".husky" / "pre-push", log)
    world.enrol(m1)
    m1.push("origin", "feat/x").ok()
    assert log.exists()
    assert m1.run("git", "config", "--local", "core.hooksPath").code == 1


def test_a_linked_folder_of_hooks_is_not_written_to(world: World, m1: Machine, log: Path) -> None:
    noting(m1.top / "hooks" / "pre-push", log)
    for sample in own_hooks(m1).iterdir():
        sample.unlink()
    own_hooks(m1).rmdir()
    own_hooks(m1).symlink_to("../hooks")
    before = (m1.top / "hooks" / "pre-push").read_bytes()
    world.enrol(m1)
    m1.push("origin", "feat/x").ok()
    assert (m1.top / "hooks" / "pre-push").read_bytes() == before
    assert log.exists()


def test_a_clone_that_was_moved_is_put_right_by_init(world: World, m1: Machine, log: Path) -> None:
    m1.git("config", "core.hooksPath", ".husky")
    noting(m1.top / ".husky" / "pre-push", log)
    world.enrol(m1)
    moved = Machine("m1", m1.home, m1.top.rename(m1.top.parent / "moved"))
    install(moved.checkout())
    moved.push("origin", "feat/x").ok()
    assert log.exists()
    assert moved.git("config", "core.hooksPath") == str(moved.top / ".git/handsoff/hooks")


def test_a_linked_worktree_shares_the_hook(world: World, m1: Machine) -> None:
    m2 = world.machine("m2")
    world.enrol(m2, m1)
    m2.writes("side", lambda pen: pen.caught())
    side = m1.top.parent / "side"
    m1.git("worktree", "add", "-q", str(side), "-b", "side")
    said = m1.run("git", "push", "origin", "side", cwd=side)
    assert said.code == 1
    assert "m2 carries this work" in said.err


def test_a_folder_in_the_worktree_cannot_pose_as_ours(world: World, m1: Machine) -> None:
    world.enrol(m1)
    for name in ("handsoff/__init__.py", "handsoff/prepush.py", "json.py"):
        m1.write(name, "raise SystemExit(0)")
    m1.env["PYTHONPATH"] = str(m1.top)
    assert m1.push("origin", "main:refs/wip/roster").code == 1


def test_without_its_python_the_push_is_refused_and_the_way_on_is_told(
    world: World, m1: Machine
) -> None:
    world.enrol(m1)
    hook = own_hooks(m1) / "pre-push"
    hook.write_text(hook.read_text().replace("\npython=/", "\npython=/gone/"))
    said = m1.push("origin", "feat/x")
    assert said.code == 1
    assert "there is no /gone/" in said.err
    assert "'handsoff init'" in said.err


def test_without_the_package_the_push_is_refused_and_the_way_on_is_told(
    world: World, m1: Machine
) -> None:
    world.enrol(m1)
    hook = own_hooks(m1) / "pre-push"
    hook.write_text(hook.read_text().replace("handsoff.prepush", "handsoff.gone"))
    said = m1.push("origin", "feat/x")
    assert said.code == 1
    assert "cannot run: No module named" in said.err
    assert "'handsoff init'" in said.err


def test_the_hook_knows_its_machine_in_any_terminal(
    world: World, m1: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDSOFF_HOME", str(m1.home))
    world.enrol(m1)
    m1.env["HANDSOFF_HOME"] = ""
    m1.push("origin", "feat/x").ok()


def test_our_dispatchers_cover_what_git_calls() -> None:
    assert len(set(hooks._NAMES)) == len(hooks._NAMES)
    assert not set(hooks._NAMES) & set(hooks._ONLY_IF_THERE)
