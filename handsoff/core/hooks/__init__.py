"""What hooks of agents refuse, tell and start."""
