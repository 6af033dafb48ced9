"""The roster: who is let in, who leaves, and what of that waits for the remote."""
