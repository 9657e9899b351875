"""Tables of precise rules: one TOML file each in `rules/`, read with the first question.

    [words]      fragments by name; a pattern names one as <name>, and so may another fragment
    [[rule]]     type, score, why, pattern; `hits` and `leaves` are texts that it must match and must leave alone
    [patterns]   other patterns of the table's module, by name

Line ends in a pattern, and what indents a line, do not count. In a rule a space stands for any white space, one with
`?` behind it also for none. Case is ignored.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from graph.policy.rubric import Finding, ThreatType
from graph.policy.threats import lazy
from graph.policy.threats.literal_prefilter import folded, met, needs

FOLDER = Path(__file__).with_name("rules")
_FRAGMENT = re.compile(r"<([a-z]\w*)>")


@dataclass(frozen=True)
class Rule:
    """A pattern over the canonical text, how sure it is, and what it means."""

    type: ThreatType
    score: float  # 0-1; 0.3 guards, 0.8 blocks (graph/policy/rubric.py)
    why: str
    pattern: re.Pattern[str]
    hits: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    documents: bool = False  # holds in documents, too

    def find(self, text: str) -> Iterable[Finding]:
        """In order; offsets in `text`."""
        for match in self.pattern.finditer(text):
            yield Finding(self.type, self.score, match.start(), match.end(), self.why)


def find(rules: Iterable[Rule], text: str) -> list[Finding]:
    """Findings of the rules, one rule after the other. A rule runs only where the words are that its matches need."""
    low = folded(text)
    return [f for rule in rules if met(needs(rule.pattern), low) for f in rule.find(text)]


def spaced(pattern: str) -> re.Pattern[str]:
    """A rule's pattern, with what its spaces stand for; compiled when it is first used."""
    return lazy.pattern(pattern.replace(" ?", r"\s*").replace(" ", r"\s+"), re.I)


class Table:
    """The table in `rules/NAME.toml`, with `fragments` beside its own. Nothing is read before it is asked for."""

    def __init__(self, name: str, **fragments: str) -> None:
        self.name, self._fragments = name, fragments

    @cached_property
    def content(self) -> dict[str, Any]:
        """The file as `tomllib` reads it."""
        with (FOLDER / f"{self.name}.toml").open("rb") as file:
            return tomllib.load(file)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """In the order of the file."""
        return tuple(
            Rule(
                row["type"],
                row["score"],
                row["why"],
                spaced(self._whole(row["pattern"])),
                tuple(row["hits"]),
                tuple(row["leaves"]),
                row.get("documents", False),
            )
            for row in self.content.get("rule", ())
        )

    def find(self, text: str) -> list[Finding]:
        """Findings of the table's rules; offsets in `text`."""
        return find(self.rules, text)

    def pattern(self, name: str, flags: int = re.I) -> re.Pattern[str]:
        """One of the table's patterns, read and compiled when it is first used."""
        return lazy.pattern(lambda: self._whole(self.content["patterns"][name]), flags)

    def _whole(self, pattern: str) -> str:
        """On one line, each <name> replaced by its fragment. Raises KeyError for a fragment that is not there."""
        fragments = self.content.get("words", {}) | self._fragments
        return _FRAGMENT.sub(lambda named: f"(?:{self._whole(fragments[named[1]])})", joined(pattern))


def joined(pattern: str) -> str:
    """A pattern of several lines on one, without indents."""
    return "".join(line.lstrip() for line in pattern.split("\n"))
