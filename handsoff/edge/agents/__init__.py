"""Agents on this machine: their sessions, settings and hooks, as they lie on the disk."""
