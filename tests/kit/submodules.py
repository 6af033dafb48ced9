"""A repository that another one has as a submodule, on a remote of its own.

give(monday)      adds ``sub`` to the work on m1, committed; the folder stays populated
populate(m2)      what a person types to have it
"""

from pathlib import Path

from tests.kit.conversions import over
from tests.kit.machines import Machine, git
from tests.kit.monday import Monday

SUB = "sub"


def library(folder: Path) -> Path:
    """Return a bare repository with two commits."""
    bare, work = folder / "library.git", folder / "library"
    git(folder, "init", "-q", "--bare", str(bare))
    git(folder, "clone", "-q", str(bare), str(work))
    for number in (1, 2):
        (work / "code").write_text(f"{number}\n")
        git(work, "add", "code")
        git(work, "commit", "-q", "-m", f"lib {number}")
    git(work, "push", "-q", "origin", "HEAD")
    return bare


def give(monday: Monday, name: str = SUB) -> Path:
    """Add a submodule to the work on m1 and commit it; return its folder."""
    url = library(monday.world.folder)
    m1 = monday.m1
    m1.git("submodule", "--quiet", "add", str(url), name)
    m1.git("commit", "-q", "-m", "a library", "--", ".gitmodules", name)
    return m1.top / name


def populate(machine: Machine, name: str = SUB) -> Path:
    """Fetch what belongs into the submodule's folder, and return that."""
    machine.git("submodule", "--quiet", "update", "--init", "--", name)
    return machine.top / name


def there_and_back(monday: Monday) -> Path:
    """Let the work go to m2, which populates the submodule, and home; return m2's submodule."""
    give(monday)
    over(monday.m1, monday.m2)
    sub = populate(monday.m2)
    over(monday.m2, monday.m1)
    return sub
