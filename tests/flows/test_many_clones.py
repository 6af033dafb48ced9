"""A machine with several clones of one repository, of which one knows less than another."""

from pathlib import Path

from tests.flows.catching.test_fetch import fetch
from tests.kit.machines import Machine, git
from tests.kit.monday import PAGE, WORK, Monday
from tests.kit.running import at_home, away, inside, refused


def second_clone(machine: Machine, monday: Monday, top: Path) -> Machine:
    """Return ``machine`` at work in another clone, which is the one that was set up last."""
    git(top.parent, "clone", "-q", str(monday.remote.path), str(top))
    other = Machine(machine.name, machine.home, top, machine.env)
    founding = machine.desk().need_pin()
    inside(other, "init", "--trust", founding).ok()
    return other


def test_a_clone_whose_remote_is_gone_shuts_out_no_machine_that_another_one_knows(
    monday: Monday, tmp_path: Path
) -> None:
    m4 = monday.world.machine("m4")
    old = monday.m2
    new = second_clone(old, monday, tmp_path / "new")
    with away(old):
        monday.m1.write("card", m4.card().decode())
        inside(monday.m1, "admit", "card", "--yes").ok()
        m4.handsoff("init", "--trust", monday.m1.desk().need_pin()).ok()
        inside(new, "status").ok()
        m4.git("switch", "-q", "-c", "feat/other")
        m4.write("x.txt", "x\n")
        m4.write(".wip/HANDOFF.md", PAGE.replace(WORK, "feat/other"))
        with at_home(old) as there:
            inside(m4, "send", "m2", "--at", there.address).ok()


def test_without_the_remote_an_offer_is_taken_back_in_the_clone_that_made_it_alone(
    monday: Monday, tmp_path: Path
) -> None:
    inside(monday.m1, "offer", "--to", "m2").ok()
    new = second_clone(monday.m1, monday, tmp_path / "new")
    inside(new, "history", WORK).ok()
    with away(monday.m1, new):
        refused(inside(new, "withdraw", WORK), 3, "another clone of this machine")
        assert inside(monday.m1, "withdraw", WORK).code == 6


def test_a_machine_that_one_clone_knows_to_be_revoked_is_given_nothing_by_another(
    monday: Monday, tmp_path: Path
) -> None:
    inside(monday.m1, "offer", "--to", "m2").ok()
    new = second_clone(monday.m1, monday, tmp_path / "new")
    with away(monday.m1):
        inside(monday.m3, "roster", "revoke", "m2", "--reason", "lost", "--yes").ok()
        inside(new, "status").ok()
        with at_home(monday.m1) as there:
            said = fetch(monday.m2, monday.m1, there, "")
    assert "was revoked" in said, said
    assert "gave" not in [h.event for h in there.happened]
