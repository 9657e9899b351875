"""How the commands that learn end."""

import sys
from collections.abc import Callable

from graph.errors import CordonError


def ended(do: Callable[[], object]) -> int:
    """The exit status of `do`; an error of Cordon's is said with what to do about it."""
    try:
        do()
    except CordonError as error:
        print(f"{error}\n{error.hint}" if error.hint else error, file=sys.stderr)
        return 1
    return 0
