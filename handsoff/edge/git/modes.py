"""Permission bits that are not those of every new file here: git keeps no word about them."""

import os
import stat
from collections.abc import Iterable, Iterator

from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.repo import Checkout


def permissions(checkout: Checkout, wanted: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield the files whose permission bits are not those of a new file here, with the bits."""
    if checkout.ignores_modes:
        return
    hidden = umask()
    usual = {stat.S_IFREG | 0o666 & ~hidden, stat.S_IFREG | 0o777 & ~hidden}
    worktree, top = Worktree(checkout.top), os.fsencode(checkout.top) + b"/"
    folder, is_there = None, False
    for path in wanted:  # mostly sorted: each folder is asked about once
        above = path[: path.rfind(b"/") + 1]
        try:
            if above != folder:
                folder, is_there = above, False
                is_there = worktree.has_folder(above[:-1])
            if not is_there:
                continue
            mode = os.lstat(top + path).st_mode
        except OSError:
            continue  # gone, or below a folder that nobody may enter, which is refused by its name
        if mode not in usual and stat.S_ISREG(mode):
            yield path, stat.S_IMODE(mode)


def umask() -> int:
    """Return the permission bits that new files of this process do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
