"""The tour: a story of two machines, and the small repository it is played in."""
