"""Attacks on a Cordon started for the purpose, each with what it was seen to do: `python -m evals.security [NAME…]`.

An attack is one module of `attacks/` with `measure() -> Iterator[Row]`; the runner finds it by its name. Each
starts what it attacks itself, in a folder of its own, sends to loopback alone, and is bounded in time.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: what was tried, what was measured, what was wanted, and whether it held."""

    tried: str
    measured: str  # with its unit
    wanted: str
    held: bool
