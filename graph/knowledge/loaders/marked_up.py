"""Texts with light marks of their own: reStructuredText, AsciiDoc and Org. Headings and fields are told by the marks at
the beginning of a line. What stands inside a line is kept: a mark there may as well be part of a name or a sum."""

import re

from graph.knowledge.loaders import text
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import decode

_DIRECTIVE = re.compile(r"^\.\. (_[^\n]*:|[\w-]+::)[ ]*([^\n]*)$", re.MULTILINE)
_NO_WORDS = frozenset("code-block code image figure include highlight toctree contents literalinclude raw math".split())
_FIELD = re.compile(r"^:([A-Za-z][\w -]{0,40}): +(\S.*)$", re.MULTILINE)


def read_rst(data: bytes, out: Builder) -> None:
    """A directive becomes "Name: text"; one without words for a reader is hidden text."""

    def directive(match: re.Match[str]) -> str:
        name = match[1].rstrip(":")
        if name.startswith("_") or name in _NO_WORDS:
            out.hide(match[0])
            return ""
        return f"{name.capitalize()}: {match[2]}"

    text.read(_FIELD.sub(r"\1: \2", _DIRECTIVE.sub(directive, decode(data))).encode(), out)


def read_asciidoc(data: bytes, out: Builder) -> None:
    """Without the lines that frame a block."""
    source = re.sub(r"^(={1,6}) +(?=\S)", lambda m: "#" * len(m[1]) + " ", decode(data), flags=re.MULTILINE)
    source = re.sub(r"(?<=\n\n)[-=.*_+]{4,}$", "", source, flags=re.MULTILINE)
    text.read(_FIELD.sub(r"\1: \2", source).encode(), out)


def read_org(data: bytes, out: Builder) -> None:
    """`#+` lines but title, author and date are hidden text."""
    source = re.sub(r"^(\*{1,6}) +(?=\S)", lambda m: "#" * len(m[1]) + " ", decode(data), flags=re.MULTILINE)
    source = re.sub(r"^#\+(title|author|date): *(.*)$", r"\1: \2", source, flags=re.MULTILINE | re.IGNORECASE)
    for line in re.findall(r"^#\+[^\n]*$", source, flags=re.MULTILINE):
        out.hide(line)
    text.read(re.sub(r"^#\+[^\n]*$", "", source, flags=re.MULTILINE).encode(), out)
