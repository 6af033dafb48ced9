"""What pages need and the program itself does not: said in one line where it is missing."""

import importlib
from typing import Final

from handsoff.errors import UsageError

FOR_A_FILE: Final = ("jinja2", "markdown_it")
FOR_A_SERVER: Final = (*FOR_A_FILE, "starlette", "uvicorn")


def need(wanted: tuple[str, ...]) -> None:
    """Raise UsageError if one of these packages is not installed."""
    for name in wanted:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise UsageError(
                f"the pages need a package that is not installed: {name.replace('_', '-')}",
                hint="pip install 'handsoff[web]'",
            ) from error
