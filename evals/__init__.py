"""Measured, not claimed: suites that print figures with n and intervals (`cordon eval`, `python -m evals`)."""
