"""Reading with no more rights than the file's owner has, also where the tests run as root."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION_3 = 0x20080522
_OVERRIDE = 0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, capabilities(7)


@contextmanager
def as_the_owner() -> Iterator[None]:
    """Give up root's right to read everything, in this thread and for a while; see capset(2)."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, rights = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, rights) == 0, ctypes.get_errno()
    before = rights[0]
    rights[0] = before & ~_OVERRIDE
    assert libc.capset(header, rights) == 0, ctypes.get_errno()
    try:
        yield
    finally:
        rights[0] = before
        assert libc.capset(header, rights) == 0, ctypes.get_errno()
