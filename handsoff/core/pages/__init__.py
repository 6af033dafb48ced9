"""The page that goes with a work: its sections, and when it is finished."""
