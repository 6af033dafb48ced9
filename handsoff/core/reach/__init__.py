"""Where the other machine is, and which ways lead there."""
