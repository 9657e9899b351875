"""How deep a value or a text is nested, found without recursion."""

import re
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 200  # brackets; every parser below this one recurses, and so does whoever prints the value
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|(\\?\Z))|[\[{(]|[\]})]', re.S)
_BRACKET = re.compile(r"[\[{(\]})]")


def deeper_than(value: Any, depth: int) -> bool:
    """Whether lists and objects stand more than `depth` deep in one another."""
    level = [value]
    for _ in range(depth + 1):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(item: Any) -> Any:
    if isinstance(item, dict):
        return item.values()
    return item if isinstance(item, list) else ()


def tokens(text: str, begin: int = 0) -> Iterator[re.Match[str]]:
    """Brackets and whole strings, in order. From a quote that is never closed on, quotes count for nothing."""
    for match in _TOKEN.finditer(text, begin):
        if match[1] is not None:
            yield from _BRACKET.finditer(text, match.start())
            return
        yield match


def text_deeper_than(text: str, depth: int) -> bool:
    """Whether brackets outside of double quotes open more than `depth` deep."""
    if sum(map(text.count, "[{(")) <= depth:
        return False
    level = 0
    for match in tokens(text):
        mark = match.group()
        if mark in "[{(":
            level += 1
            if level > depth:
                return True
        elif mark in "]})":
            level = max(0, level - 1)
    return False
