"""What is put into the settings of agents, and taken out again to the same bytes."""
