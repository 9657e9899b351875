"""Checked sentences as the text that people read, each followed by the numbers of its sources."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from graph.policy.text.structure import CELL_HEADING

_ENDS = re.compile(r"[.!?…:;。！？؟۔।][\"'”’»)\]]*(?: \([^()]*\))?\s*$")  # of a sentence, or one with a mark behind it
_ROW = re.compile(rf"({CELL_HEADING}): [^;\n]*; {CELL_HEADING}: ")
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
    texts = ["", *(s["text"] for s in sentences)]
    return "".join(gap(*both) + part for both, part in zip(pairwise(texts), parts, strict=True))


def gap(before: str, text: str) -> str:
    """What stands between two sentences: an empty line beside a list or code and behind a value or row alone."""
    if not before:
        return ""
    rows = _ROW.match(before), _ROW.match(text)  # a cell may end with a full stop
    alike = all(rows) and rows[0][1] == rows[1][1]  # type: ignore[index]
    apart = "\n" in before or "\n" in text or alike or not _ENDS.search(before)
    return "\n\n" if apart else " "


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
