"""A parcel: what it claims, what it may ask of a receiver, how long it stays."""
