"""Monday, and a small disk, for the tests of this room."""

from tests.kit.disks import small_disk
from tests.kit.monday import monday, sent, templates
from tests.kit.operations import forked

__all__ = ["forked", "monday", "sent", "small_disk", "templates"]
