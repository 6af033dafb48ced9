"""Monday, for the tests of this room."""

from tests.kit.monday import monday, sent, templates

__all__ = ["monday", "sent", "templates"]
