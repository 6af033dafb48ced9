"""Monday, and a small disk, for the tests of this room."""

from tests.kit.disks import small_disk
from tests.kit.monday import monday, sent, templates

__all__ = ["monday", "sent", "small_disk", "templates"]
