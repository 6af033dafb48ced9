"""What stayed behind of a state, read from its envelope alone: the lists, and nothing else."""

from handsoff.core import canon
from handsoff.core.objects import parse_tree
from handsoff.core.paths import shown
from handsoff.core.plain import plain
from handsoff.edge.git.objects import Objects
from handsoff.edge.git.repo import encode
from handsoff.errors import DamagedError

_LIMIT = 16 << 20


def of(objects: Objects, envelope: str) -> tuple[tuple[str, str], ...]:
    """Return each path that stayed behind, and why, safe to show; DamagedError if malformed."""
    tree = parse_tree(objects.tree(objects.commit(envelope).tree))
    blob = next((entry.oid for entry in tree if entry.name == b"left-behind"), None)
    if blob is None:
        raise DamagedError(f"no envelope: {envelope}")
    listed = canon.decode(objects.blob(blob, _LIMIT), limit=_LIMIT)
    try:
        return tuple(
            (plain(shown(encode(str(item["path"])))), plain(str(item["reason"])))
            for item in listed["paths"]
        )
    except (KeyError, TypeError, UnicodeError) as error:
        raise DamagedError("the list of what was left behind is malformed") from error
