"""The record of a work, with the remote or without."""
