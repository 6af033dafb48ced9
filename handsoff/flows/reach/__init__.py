"""The ways to another machine: who is near by, connections, and what if they break."""
