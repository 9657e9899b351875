"""Texts with light marks of their own: reStructuredText, AsciiDoc, Org and LaTeX. Their headings are told by the marks;
commands are taken out, the words stay."""

import re

from graph.knowledge.loaders import text
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import decode

_TEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_TEX_HEADING = re.compile(rf"\\({'|'.join(_TEX_LEVELS)})\*?(?:\[[^\]\n]{{0,200}}\])?\{{([^{{}}]{{0,500}})\}}")
_TEX_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]\n]{0,200}\])?")
_TEX_WORDS = re.compile(
    r"\\(?:title|author|date|caption|footnote|text[a-z]+|emph|href\{[^{}]{0,500}\})\{([^{}]{0,2000})\}"
)
_TEX_ENDS = re.compile(
    r"\\(?:begin|end|label|ref|cite[a-z]*|input|include|usepackage|documentclass)(?:\[[^\]\n]{0,200}\])?\{[^{}]{0,500}\}"
    r"(?:\[[^\]\n]{0,200}\]|\{[^{}\n]{0,500}\})*"
)


def read_rst(data: bytes, out: Builder) -> None:
    source = re.sub(r"^\.\. (?:_[^\n]*:|\w+::)[^\n]*$", "", decode(data), flags=re.MULTILINE)
    source = re.sub(r"^:([A-Za-z][\w -]{0,40}): +(\S.*)$", r"\1: \2", source, flags=re.MULTILINE)
    source = re.sub(r":[a-z:]+:`([^`<]{0,300}?)(?: <[^`>]{0,300}>)?`", r"\1", source)
    source = re.sub(r"``?([^`\n]{1,300}?)(?: <[^`>\n]{0,300}>)?``?_{0,2}", r"\1", source)
    text.read(re.sub(r"\*\*?([^*\n]{1,500})\*\*?", r"\1", source).encode(), out)


def read_asciidoc(data: bytes, out: Builder) -> None:
    source = re.sub(r"^(={1,6}) +", lambda m: "#" * len(m[1]) + " ", decode(data), flags=re.MULTILINE)
    source = re.sub(r"^:([A-Za-z][\w-]{0,40}): +(\S.*)$", r"\1: \2", source, flags=re.MULTILINE)
    source = re.sub(r"^(?:\[[^\]\n]{0,200}\]|(?<=\n\n)[-=.*_+]{4,}|//[^\n]*)$", "", source, flags=re.MULTILINE)
    source = re.sub(r"^\*+ +", "- ", re.sub(r"^\.+ +", "- ", source, flags=re.MULTILINE), flags=re.MULTILINE)
    text.read(re.sub(r"[*_`]([^*_`\n]{1,500})[*_`]", r"\1", source).encode(), out)


def read_org(data: bytes, out: Builder) -> None:
    source = re.sub(r"^(\*{1,6}) +", lambda m: "#" * len(m[1]) + " ", decode(data), flags=re.MULTILINE)
    source = re.sub(r"^#\+(title|author|date): *(.*)$", r"\1: \2", source, flags=re.MULTILINE | re.IGNORECASE)
    source = re.sub(r"^(?:#\+[^\n]*|:[A-Z_]+:[^\n]*)$", "", source, flags=re.MULTILINE)
    text.read(re.sub(r"\[\[[^\]\n]{0,200}\]\[([^\]\n]{0,200})\]\]", r"\1", source).encode(), out)


def read_tex(data: bytes, out: Builder) -> None:
    source = re.sub(r"(?<!\\)%[^\n]*", "", decode(data))
    _, found, body = source.partition(r"\begin{document}")
    source = body.partition(r"\end{document}")[0] if found else source
    source = _TEX_HEADING.sub(lambda m: f"\n\n{'#' * (1 + _TEX_LEVELS.index(m[1]))} {m[2]}\n\n", source)
    source = re.sub(r"\\item(?:\[([^\]\n]{0,200})\])?\s*", r"\n- \1 ", source)
    source = _TEX_COMMAND.sub("", _TEX_WORDS.sub(r"\1", _TEX_ENDS.sub("\n", source)))
    source = re.sub(r"\\([%&$#_{}])", r"\1", source.replace("~", " ").replace("\\\\", "\n"))
    text.read(re.sub(r"[{}]", "", source).encode(), out)
