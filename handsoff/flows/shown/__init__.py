"""What this clone knows, put together for people."""
