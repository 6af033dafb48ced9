"""Permission bits that are not those of every new file here, and files of several names.

Git keeps no word about either.
"""

import os
import stat
from collections.abc import Iterable, Iterator

from handsoff.edge.git.disk import Worktree
from handsoff.edge.git.repo import Checkout


def permissions(
    checkout: Checkout, wanted: Iterable[bytes], linked: dict[tuple[int, int], set[bytes]]
) -> Iterator[tuple[bytes, int]]:
    """Yield the files whose permission bits are not those of a new file here, with the bits.

    Those of several names are put into ``linked`` on the way, by the file that they are.
    """
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
            st = os.lstat(top + path)
        except OSError:
            continue  # gone, or below a folder that nobody may enter, which is refused by its name
        if st.st_nlink > 1 and stat.S_ISREG(st.st_mode):
            linked.setdefault((st.st_dev, st.st_ino), set()).add(path)
        if st.st_mode not in usual and stat.S_ISREG(st.st_mode):
            yield path, stat.S_IMODE(st.st_mode)


def umask() -> int:
    """Return the permission bits that new files of this process do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
