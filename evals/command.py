"""How the commands that measure and learn end."""

import sys
from collections.abc import Callable

from graph.errors import CordonError


def ended(do: Callable[[], int | None]) -> int:
    """The exit status that `do` gives, or that of an error of Cordon's, which is said with what to do about it."""
    try:
        return do() or 0
    except CordonError as error:
        print(f"evals: {error} {error.hint}".strip(), file=sys.stderr)
        return error.exit_code
