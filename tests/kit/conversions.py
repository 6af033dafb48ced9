"""Files that git converts between disk and object, and machines that convert in their own way.

    commit(m1, {"a.txt": b"..."})     files and their commit, whatever else is under way there
    driver(m1, "lfs")                 a filter in that clone; see FILTERS
    shown(m1)                         what git says of the work: status, both diffs, the index
    over(m1, m2)                      hands the work over and catches it

No filter here needs more than ``sh`` and ``sed``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from handsoff.edge.git.objects import Objects
from tests.kit.machines import Machine, git
from tests.kit.monday import WORK
from tests.kit.operations import shell
from tests.kit.running import inside

FILTERS: Final = {
    "lossy": ("sed s/draft/final/", "cat"),
    "lfs": (
        'f=$(mktemp -p {folder}) && cat >$f && id=$(git hash-object --no-filters $f) &&'
        " mv $f {folder}/$id && echo version $id",
        "sed 's/version //' | (read -r id; cat {folder}/$id)",
    ),
    "git-crypt": ("tr a-z n-za-m", "tr a-z n-za-m"),
    "evil": ("touch {folder}/ran; cat", "touch {folder}/ran; cat"),
}  # fmt: skip
"""By name: what cleans and what smudges; ``folder`` is the machine's own."""


def driver(machine: Machine, name: str, *, required: bool = False) -> Path:
    """Configure the filter ``name`` in the machine's clone, and return its folder."""
    folder = machine.top.parent / name
    folder.mkdir(exist_ok=True)
    for what, command in zip(("clean", "smudge"), FILTERS[name], strict=True):
        machine.git("config", f"filter.{name}.{what}", command.format(folder=folder))
    if required:
        machine.git("config", f"filter.{name}.required", "true")
    return folder


def put(machine: Machine, files: Mapping[str, bytes]) -> None:
    """Write files, byte for byte."""
    for name, data in files.items():
        path = machine.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def commit(machine: Machine, files: Mapping[str, bytes]) -> str:
    """Write and commit files, and leave all else in the checkout and the index as it is."""
    put(machine, files)
    machine.git("add", "--force", "--", *files)
    machine.git("commit", "-q", "-m", f"adds {len(files)}", "--", *files)
    return machine.git("rev-parse", "HEAD")


def shown(machine: Machine) -> tuple[str, ...]:
    """Return what git says of the work, asked so that it writes nothing.

    That is the status, less the files that it only takes for changed since their size is not the
    one that it remembers.
    """
    quiet = ("--no-optional-locks", "-c", "core.safecrlf=false", "-c", "core.quotePath=true")
    asked = (("diff",), ("diff", "--cached"), ("ls-files", "--stage"), ("diff", "--name-only"))
    *said, names = (machine.git(*quiet, *words) for words in asked)
    status = machine.git(*quiet, "status", "--porcelain").splitlines()
    changed = names.splitlines()
    kept = [line for line in status if not line.startswith(" M") or line[3:] in changed]
    return (*said, "\n".join(kept))


def over(giver: Machine, taker: Machine) -> str:
    """Hand the work over by way of the remote, catch it, and return what the catch said."""
    inside(giver, "send", taker.name, "--via", "remote").ok()
    return inside(taker, "catch", WORK).ok().err


def read(machine: Machine, *names: str) -> dict[str, bytes]:
    """Return the bytes on disk."""
    return {name: (machine.top / name).read_bytes() for name in names}


def objects_of(folder: Path, pack: bytes, beside: Machine) -> list[bytes]:
    """Return every object of a pack, decompressed; it may build on what ``beside`` has."""
    git(folder.parent, "init", "-q", "--bare", str(folder))
    (folder / "objects/info/alternates").write_text(f"{beside.top}/.git/objects\n")
    (folder / "pack").write_bytes(pack)
    shell(folder, "git index-pack --stdin --fix-thin <pack").ok()
    (index,) = (folder / "objects/pack").glob("*.idx")
    ids = shell(folder, f"git show-index <{index} | cut -d ' ' -f 2").ok().out.split()
    store = Objects(folder / "objects")
    return [store.read(oid)[1] for oid in ids]
