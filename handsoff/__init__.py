"""Hand half-finished git work from one machine to another, whole, to one carrier at a time."""

__version__ = "0.1.0"
