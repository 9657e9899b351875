"""Measured, not claimed: suites that print figures with n and intervals. `cordon eval` and `python -m evals` run them."""
