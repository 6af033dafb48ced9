"""What is on the record, as pages: of a small server on this machine, or as one file."""
