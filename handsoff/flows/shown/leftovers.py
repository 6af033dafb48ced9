"""What stayed behind of a state, read from its envelope alone: the list, and nothing else."""

from handsoff.core.checkout.envelope import decode_left
from handsoff.core.checkout.paths import shown
from handsoff.core.objects import parse_tree
from handsoff.core.parcels.bounds import LIST_LIMIT
from handsoff.core.plain import plain
from handsoff.edge.git.objects import Objects
from handsoff.errors import DamagedError


def of(objects: Objects, envelope: str) -> tuple[tuple[str, str], ...]:
    """Return each path that stayed behind, and why, safe to show; DamagedError if malformed."""
    tree = parse_tree(objects.tree(objects.commit(envelope).tree))
    blob = next((entry.oid for entry in tree if entry.name == b"left-behind"), None)
    if blob is None:
        raise DamagedError(f"no envelope: {envelope}")
    try:
        left = decode_left(objects.blob(blob, LIST_LIMIT))
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError("the list of what was left behind is malformed") from error
    return tuple((plain(shown(item.path)), plain(item.reason)) for item in left)
