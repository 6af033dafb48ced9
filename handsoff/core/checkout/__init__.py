"""A checkout as a value: index, trees, operation, envelope, and what a restore does."""
