"""What must not leave, and what may be shown."""
