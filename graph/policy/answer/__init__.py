"""What an answer must look like, and the refusals that stand in its place."""
