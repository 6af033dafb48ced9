"""SSH: dial or listen, and one exchange over the stream that this gives."""
