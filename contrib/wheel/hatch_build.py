"""What goes into the wheel beside the package: the man pages, made from the commands.

Hatchling calls this at each build (``hooks.custom`` in ``pyproject.toml``), from a clone and from
an sdist alike. The commands are read off the program, so what that imports when it starts is
named in ``[build-system]``.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "share/man/man1"


class Pages(BuildHookInterface[Any]):
    """Writes handsoff(1), and git-handsoff(1), which ``git handsoff --help`` looks for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the pages where ``man`` finds them beside the program."""
        sys.path.insert(0, self.root)
        try:
            from handsoff.cli.app import page
        finally:
            sys.path.remove(self.root)
        folder = Path(tempfile.mkdtemp(prefix="handsoff-man-"))
        pages = {"handsoff.1": page(), "git-handsoff.1": ".so man1/handsoff.1\n"}
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
            build_data["shared_data"][str(folder / name)] = f"{PLACE}/{name}"
        self._folder = folder

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was put down for the build."""
        for path in self._folder.iterdir():
            path.unlink()
        self._folder.rmdir()
