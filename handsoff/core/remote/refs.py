"""What a ref of the remote is to us, told from its name alone."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from handsoff.core.ids import COMPONENT_LIMIT, is_machine_id, is_parcel_id, work_of

HEADS: Final = "refs/heads/"
_CUT: Final = re.compile(r"[^/]+%%[0-9a-f]{32}")


class Kind(Enum):
    """What lies under a ref."""

    ROSTER = "roster"
    RECORD = "record"
    NOTES = "notes"
    PARCEL = "parcel"
    ARCHIVE = "archive"
    PROBE = "probe"
    """Made by doctor to try the remote out, and deleted at once."""
    STRAY = "stray"
    """Below our prefix, and nothing of ours: whoever may push there can make any ref."""
    BRANCH = "branch"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A ref of the remote: ``component`` is that of its work, ``last`` a machine or a parcel.

    ``work`` is "" where the component does not tell it: of a name that was cut the entries do. Of
    a branch it is the work of that name.
    """

    name: str
    kind: Kind
    component: str = ""
    work: str = ""
    last: str = ""


def read_ref(name: str, prefix: str) -> Ref:
    """Return what the ref ``name`` is, where ours lie below ``prefix`` (maybe in refs/heads)."""
    if name != prefix and not name.startswith(f"{prefix}/"):
        branch = name.startswith(HEADS)
        work = name.removeprefix(HEADS) if branch else ""
        return Ref(name=name, kind=Kind.BRANCH if branch else Kind.OTHER, work=work)
    match name.removeprefix(f"{prefix}/").split("/"):
        case ["roster"]:
            return Ref(name=name, kind=Kind.ROSTER)
        case ["archive"]:
            return Ref(name=name, kind=Kind.ARCHIVE)
        case ["lease", component] if _is_component(component):
            return _of_work(name, Kind.RECORD, component)
        case ["notes", component, machine] if _is_component(component) and is_machine_id(machine):
            return _of_work(name, Kind.NOTES, component, machine)
        case ["snap", component, parcel] if _is_component(component) and is_parcel_id(parcel):
            return _of_work(name, Kind.PARCEL, component, parcel)
        case ["probe", probe]:
            return Ref(name=name, kind=Kind.PROBE, last=probe)
        case _:
            return Ref(name=name, kind=Kind.STRAY)


def _of_work(name: str, kind: Kind, component: str, last: str = "") -> Ref:
    return Ref(name=name, kind=kind, component=component, work=work_of(component) or "", last=last)


def _is_component(text: str) -> bool:
    cut = len(text) == COMPONENT_LIMIT and _CUT.fullmatch(text) is not None
    return cut or work_of(text) is not None
