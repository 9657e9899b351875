"""The two commonest attacks in other languages: set the earlier instructions aside, show the hidden ones.

A verb of dropping or showing, a word for "earlier", "all", "hidden" or "your", and a word for instructions stand close
together. The languages stand in `rules/tongues.toml`.
"""

import re
import unicodedata
from functools import cache

from graph.policy.threats.rule import Rule, Table, joined, spaced

_GAP = r"(?: [^\s.!?;]+){0,3}? "


def _without_accents(source: str) -> str:
    """Latin letters without their accents, as the canonical text has them."""
    return unicodedata.normalize("NFC", re.sub(r"([a-z])[\u0300-\u036f]+", r"\1", unicodedata.normalize("NFD", source)))


@cache
def rules() -> tuple[Rule, ...]:
    """For each language one of dropping and one of showing; Chinese, written without spaces, has rules of its own."""
    table = Table("tongues")
    every = list(table.rules)
    for row in table.content["language"]:
        drop, which, show, hidden, noun = (joined(row[key]) for key in ("drop", "which", "show", "hidden", "noun"))
        name, hits, leaves = row["name"], tuple(row["hits"]), tuple(row["leaves"])
        aside = _either(f"(?:{drop})", f"(?:{which}){_GAP}(?:{noun})")
        out = _either(f"(?:{show})", f"(?:{hidden}){_GAP}(?:{noun})")
        every += [
            Rule("prompt_injection", 0.9, f"asks to set earlier instructions aside ({name})", aside, hits[:1], leaves),
            Rule("prompt_extraction", 0.85, f"asks for hidden instructions ({name})", out, hits[1:], leaves),
        ]
    return tuple(every)


def _either(verb: str, rest: str) -> re.Pattern[str]:
    """The verb before the rest or behind it."""
    return spaced(_without_accents(rf"(?<!\w)(?:{verb}{_GAP}{rest}|{rest}{_GAP}{verb})(?!\w)"))
