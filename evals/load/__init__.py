"""How long things take: `python -m evals.load` puts clients on a service."""
