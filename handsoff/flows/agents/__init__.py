"""Agents on this machine: their sessions, who is at work, hooks in their settings."""
