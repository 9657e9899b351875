"""What of a passage may be shown, to whom, and what is left out of it."""
