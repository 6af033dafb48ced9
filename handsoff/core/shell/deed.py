"""One thing that a tool of an agent does and others would see, and the files that a patch names."""

LIMIT = 256 * 1024
"""Characters of a line or a patch that are read: what is longer is data."""


class Deed:
    """Something that others would see: its kind, where it happens, and what it moves."""

    __slots__ = ("cd", "everything", "git_dir", "kind", "names", "text")

    def __init__(
        self,
        kind: str,
        cd: tuple[str, ...],
        *,
        git_dir: str = "",
        names: tuple[str, ...] = (),
        everything: bool = False,
        text: str = "",
    ) -> None:
        self.kind = kind
        """``push``, ``pr``, ``patch``, or ``edit`` of the files that ``names`` has."""
        self.cd = cd
        """The folders to go to, one after the other, as they were written."""
        self.git_dir = git_dir
        self.names = names
        """The branches that are named on the remote; none: that of the checkout."""
        self.everything = everything
        """Whether all branches are pushed."""
        self.text = text
        """The patch."""


def edited(patch: str) -> list[str]:
    """Return the files that an ``apply_patch`` envelope names."""
    found = []
    for line in patch[:LIMIT].split("\n"):
        head, colon, name = line.strip().partition(": ")
        if colon and head in (
            "*** Add File", "*** Update File", "*** Delete File", "*** Move to",
        ):  # fmt: skip
            found.append(name.strip())
    return found
