"""Machines: their cards, the roster that they are in, and how one pairs with another."""
