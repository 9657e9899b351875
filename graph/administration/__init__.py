"""What an operator does with a home: documents in and out, and erasure."""
