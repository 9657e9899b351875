"""Checked sentences as the text that people read, each followed by the numbers of its sources."""

from collections.abc import Mapping, Sequence
from typing import Any

_PARTS = (
    ("Learning outcomes", "learning_outcomes"),
    ("Task", "task"),
    ("Deliverables", "deliverables"),
    ("Ethics and compliance", "ethics"),
)


def joined(sentences: Sequence[Mapping[str, Any]], style: str) -> str:
    """In the style of the reply: concise, detailed or bullet."""
    parts = [cited(s["text"], s["citations"]) for s in sentences]
    if style == "bullet":
        return "\n".join("- " + indented(part) for part in parts)
    return "".join(("\n\n" if "\n" in part else " ") + part for part in parts).strip()


def cited(text: str, numbers: Sequence[int]) -> str:
    """A sentence and the numbers of its sources; below code, whose fence must stand alone in its line."""
    return text + ("\n" if text.endswith("```") else " ") + "".join(f"[{n}]" for n in numbers)


def indented(text: str) -> str:
    """As an item of a list."""
    return text.replace("\n\n", "\n").replace("\n", "\n  ")


def brief(design: Mapping[str, Any], sentences: Sequence[Mapping[str, Any]]) -> str:
    """The assessment brief as Markdown; what the documents say is cited, the rest is a proposal."""
    lines = [f"# {design['title']}", "", f"Level: {design['level']}. Weighting: {design['weighting']}%.", ""]
    lines += ["## What the documents say", "", joined(sentences, "bullet")]
    for title, key in _PARTS:
        lines += ["", f"## {title}", ""]
        lines += [f"{i}. {line}" if key == "task" else f"- {line}" for i, line in enumerate(design[key], 1)]
    return "\n".join(lines)
