"""A work: who carries it, and the record that says so."""
