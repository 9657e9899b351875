"""Prompts, one Markdown file per use, with named fields in double braces: `{{question}}`."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FIELD = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Prompt:
    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the unfilled prompt, 16 hexadecimal digits: it goes into the record."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(_FIELD.findall(self.text))

    def fill(self, **values: str) -> str:
        """The text with every field replaced in one pass, so that a value cannot smuggle in another field.

        Raises KeyError for a field without a value and for a value without a field.
        """
        if self.fields != values.keys():
            raise KeyError(f"prompt {self.name!r} takes {sorted(self.fields)}, got {sorted(values)}")
        return _FIELD.sub(lambda match: values[match.group(1)], self.text)


@cache
def load(name: str) -> Prompt:
    """The prompt prompts/<name>.md. Raises FileNotFoundError for an unknown name."""
    return Prompt(name, (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8").strip() + "\n")
