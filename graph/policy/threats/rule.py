"""A precise rule: a pattern over the canonical text, how sure it is, and what it means."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graph.policy.rubric import Finding, ThreatType
from graph.policy.threats import lazy


@dataclass(frozen=True)
class Rule:
    type: ThreatType
    score: float  # 0-1; 0.3 guards, 0.8 blocks (graph/policy/rubric.py)
    why: str
    pattern: re.Pattern[str]

    def find(self, text: str) -> Iterable[Finding]:
        for match in self.pattern.finditer(text):
            yield Finding(self.type, self.score, match.start(), match.end(), self.why)


def rule(type: ThreatType, score: float, why: str, pattern: str) -> Rule:
    """A space in the pattern stands for any white space, a space with `?` behind it also for none."""
    return Rule(type, score, why, lazy.pattern(pattern.replace(" ?", r"\s*").replace(" ", r"\s+"), re.I))
