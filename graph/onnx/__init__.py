"""Models that run in this process: a folder of one's own, and MiniLM with its weights moved."""
