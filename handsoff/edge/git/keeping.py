"""Objects that are to stay here, packed into the private folder of the clone.

Nothing of the user's names them, and what the user's own commands bring and drop is not ours.
"""

from handsoff.core.remote.places import are_branches
from handsoff.edge.git.remote import Shared
from handsoff.errors import DamagedError


def keep(shared: Shared, tip: str) -> None:
    """Pack what ``tip`` reaches and no ref does.

    So that undo still finds it after the clone was collected with ``gc --prune=now``.
    """
    # what a remote has promised is not here to be packed, and it keeps it
    local = ["--exclude-promisor-objects"] if shared.checkout.promisor else []
    if not _pack(shared, *local, tip, "--not", "--all"):
        raise DamagedError("the restore point is incomplete", hint="run git fsck here")


def own(shared: Shared, tip: str, known: str) -> None:
    """Have a chain from after ``known`` here, even if the user's ``git fetch`` brought it too.

    That copy, of branches, keeps us from fetching one, and goes with the user's next prune.
    """
    if are_branches(shared.prefix) and tip != known:
        _pack(shared, tip, *([f"^{known}"] if known else []))


def _pack(shared: Shared, *tips: str) -> bool:
    listed = shared.run("rev-list", "--objects", "--no-object-names", *tips)
    place = str(shared.objects / "pack" / "pack")
    done = shared.run("pack-objects", "--quiet", place, given=listed.stdout)
    return not (listed.returncode or done.returncode)
