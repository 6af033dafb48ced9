"""The network near by: who is there, heard by multicast, and machines met for the first time."""
