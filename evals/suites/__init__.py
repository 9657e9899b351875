"""What `cordon eval` runs: one file a suite, with `run(out)` that gives its figures."""
