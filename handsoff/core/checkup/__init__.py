"""Check-ups: what is wrong with a machine, a clone or a remote, and what to do about it."""
