"""All that lies on the remote, read and judged; what closed works left, tidied away."""
