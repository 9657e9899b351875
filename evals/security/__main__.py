"""Runs the attacks under a limit on memory and prints their table in Markdown. Exit 1 when one did not hold."""

import argparse
import importlib
import pkgutil
import resource
import sys
import time
from collections.abc import Iterator

import evals.security
from evals.security import Row, attacks

MEMORY = 4 * 2**30  # bytes of address space for each process, as on a small machine


def main(argv: list[str] | None = None) -> int:
    names = sorted(found.name for found in pkgutil.iter_modules(attacks.__path__))
    parser = argparse.ArgumentParser(prog="python -m evals.security", description=evals.security.__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*names, []], metavar="NAME", help=f"{', '.join(names)}; all if none"
    )
    chosen = parser.parse_args(argv).names or names
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    print("| attack | tried | measured | wanted | held |\n|---|---|---|---|---|", flush=True)
    fell = 0
    for name in chosen:
        begun = time.monotonic()
        for row in _rows(name):
            fell += not row.held
            print(
                f"| {name} | {row.tried} | {row.measured} | {row.wanted} | {'yes' if row.held else '**no**'} |",
                flush=True,
            )
        print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 1 if fell else 0


def _rows(name: str) -> Iterator[Row]:
    """The attack's rows, and one more when it broke down: then nothing is known of the rest."""
    try:
        yield from importlib.import_module(f"evals.security.attacks.{name}").measure()
    except Exception as error:
        yield Row("all of it", f"{type(error).__name__}: {error}"[:200], "an end", False)


if __name__ == "__main__":
    sys.exit(main())
