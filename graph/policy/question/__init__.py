"""What a question wants, names and repeats, and what of it stays when a part is an attack."""
