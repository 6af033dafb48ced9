"""All that lies on the remote, judged."""
