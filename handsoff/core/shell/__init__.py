"""What the tools and shell lines of an agent do to others."""
