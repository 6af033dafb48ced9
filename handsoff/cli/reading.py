"""Reading values from the command line: what is one already is left to nobody to read.

Typer reads every value with pydantic, also words and what was not typed at all; to import that and
to build a reader for each option takes a seventh of a second, before the first question is asked.
"""

from enum import Enum
from typing import Any, Final

_PLAIN: Final = (str, int, bool, Enum)


def spare(command: Any) -> None:
    """Let the options of a ``command`` of Typer make readers when there is something to be read."""
    listed = command.get_params

    def params(ctx: Any) -> list[Any]:
        found: list[Any] = listed(ctx)  # with --help, which is made only now
        for option in found:
            make = getattr(option, "get_runtime_param", None)
            if make is not None and not isinstance(make, _Sparing):
                option.get_runtime_param = _Sparing(option.type_descriptor, make)
        return found

    command.get_params = params


class _Sparing:
    """Stands in for a reader of Typer's, for values that it would return as they are."""

    def __init__(self, descriptor: Any, make: Any) -> None:
        self._declared = descriptor.annotation
        self._parser = descriptor.parameter_info.parser
        self._make = make

    def __call__(self) -> "_Sparing":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if not several and self._parser is None and self._is_one(value):
            return value
        return self._make().coerce(value, param=param, ctx=ctx)

    def _is_one(self, value: Any) -> bool:
        declared = self._declared
        # an int or a name of a choice is one only as a default; typed, it is a word
        return (
            isinstance(declared, type)
            and issubclass(declared, _PLAIN)
            and isinstance(value, declared)
        )
