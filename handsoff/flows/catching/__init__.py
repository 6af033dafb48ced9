"""Catching a work, and going back."""
