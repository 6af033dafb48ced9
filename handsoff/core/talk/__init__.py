"""Two machines talk: frames, messages, one exchange; without I/O."""
