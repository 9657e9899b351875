"""Who may use the stores, and whose turn it is in a thread.

Promises. A lease ends with whoever holds it, killed processes too. Errors: IndexUnavailable, which names the holder,
when somebody else has it.
"""

from typing import Protocol


class Lease(Protocol):
    """The right to use the stores, of one process or of those of one service. A store that any number may use gives it
    to everybody."""

    @property
    def files(self) -> tuple[int, ...]:
        """Open files that hold it: a process that is handed them shares it (`Stores.join`), and it ends with the last
        of them. Raises ValueError when it was given back."""

    def held(self) -> bool:
        """Whether it is still good."""

    def release(self) -> None:
        """Give it back. Once is enough."""
