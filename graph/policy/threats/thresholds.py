"""Where an operator sets thresholds: the scores of the learned layer from which each head guards and blocks.

`injection=0.5/0.9` guards from 0.5 and blocks from 0.9, `harm=0.5` never blocks, `U1:harm=0.2/0.6` is for one tenant.
Scores between are mapped in straight lines onto the rubric's 0.3 and 0.8. Rules keep their own scores.
"""

from collections.abc import Mapping, Sequence

from graph.errors import BadSettings
from graph.policy.rubric import BLOCKED_FROM, GUARDED_FROM

GUARDED, BLOCKED = GUARDED_FROM / 100, BLOCKED_FROM / 100
Knots = tuple[list[float], list[float]]  # scores, and what they become, both rising


class Thresholds:
    """The thresholds of every tenant. Raises BadSettings, which names the setting, for what is not usable."""

    def __init__(self, value: str, heads: Sequence[str], setting: str) -> None:
        self._by_tenant: dict[str, dict[str, str]] = {}  # then by head; "" is for all tenants
        for name, borders in pairs(setting, value, heads, before=":").items():
            tenant, _, head = name.rpartition(":")
            knots(setting, borders)
            self._by_tenant.setdefault(tenant, {})[head] = borders
        self._setting = setting

    def as_set(self, tenant: str) -> dict[str, str]:
        """What is set for a tenant, by head, such as "0.5/0.9": its own before what is for all. For the record."""
        return {**self._by_tenant.get("", {}), **self._by_tenant.get(tenant, {})}

    def for_tenant(self, tenant: str) -> dict[str, Knots]:
        """By head, without the heads for which nothing is set."""
        return {head: knots(self._setting, borders) for head, borders in self.as_set(tenant).items()}


def moved(score: float, head: str, thresholds: Mapping[str, Knots]) -> float:
    """The score by these thresholds; as it is where none is set for its head."""
    import numpy as np

    return float(np.interp(score, *thresholds[head])) if head in thresholds else score


def knots(setting: str, borders: str) -> Knots:
    """Of `0.5/0.9`, which guards and blocks, or `0.5`, which never blocks. Raises BadSettings for anything else."""
    try:
        values = [float(number) for number in borders.split("/")]
    except ValueError:
        values = []
    if len(values) not in (1, 2) or not 0 < values[0] <= values[-1] <= 1 or len(set(values)) < len(values):
        raise BadSettings(f"{setting}: {borders!r} is not usable.", hint="0.5/0.9 guards and blocks; 0.5 guards alone.")
    scores = [0.0, GUARDED, BLOCKED] if len(values) == 2 else [0.0, GUARDED]
    last = 1.0 if len(values) == 2 else BLOCKED - 0.01
    return [0.0, *values, 1.0], [*scores, last]


def pairs(setting: str, value: str, names: Sequence[str] = (), before: str = "=") -> dict[str, str]:
    """`a=b,c=d`. Raises BadSettings for anything else, and for a name that is none of `names`; with `before` the name
    is what follows its last occurrence."""
    by_name = {}
    for pair in filter(None, (part.strip() for part in value.split(","))):
        name, _, entry = (part.strip() for part in pair.rpartition("="))
        if not name or not entry or (names and name.rpartition(before)[2] not in names):
            raise BadSettings(f"{setting}: {pair!r} is not usable.", hint=f"NAME=VALUE,… with {', '.join(names)}.")
        by_name[name] = entry
    return by_name
