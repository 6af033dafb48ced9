"""The check-up: of the machine, the network, the clone, the remote."""
