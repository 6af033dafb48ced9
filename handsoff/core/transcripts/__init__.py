"""Transcripts of agents: other paths, the same bytes otherwise; whose they are, where they go."""
