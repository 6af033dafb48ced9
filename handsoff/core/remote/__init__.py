"""The shared remote: what of ours lies there, what may go there, what may be tidied away."""
