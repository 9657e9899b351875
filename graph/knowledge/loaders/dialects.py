"""What site builders and note takers add to Markdown, put into plain Markdown: Jinja and Liquid tags, Hugo and Quarto
shortcodes, wiki links, admonitions, fences, attributes, footnotes, check boxes, definition lists, chunks of R Markdown,
directives, roles and targets of MyST.

Code between fences is left as it is written.
"""

import re
from collections.abc import Callable, Iterator

from graph.knowledge.loaders.html import BLOCKS, TAGS

_WITH_FENCES = (
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<marks>`{3,}|~{3,})[^\n`]*\n.*?(?:^[ \t>]*(?P=marks)[`~]*[ \t]*$|\Z)"
)
_FENCED = re.compile(_WITH_FENCES, re.DOTALL | re.MULTILINE)
# What Pandoc writes between two lists, set in like code; in code it is code.
_BETWEEN_LISTS = re.compile(
    rf"^(?P<between>[ \t]*(?:```\{{=html\}}\n[ \t]*<!-- -->\n[ \t]*```|<!-- -->)[ \t]*)$|{_WITH_FENCES}",
    re.DOTALL | re.MULTILINE,
)
_CHUNK = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,})\{(?P<language>=?[A-Za-z]\w*)(?P<header>[^\n]*)\}[ \t]*\n"
    r"(?P<options>(?:[ \t]*(?:#|//|--)\|[^\n]*\n)*+)(?P<body>(?:(?![ \t]*`{3})[^\n]*\n)*+)(?P=indent)(?P=fence)[ \t]*$",
    re.MULTILINE,
)
# MyST: "```{note} Title", options as ":class: tip", and "(label)=" above what links lead to.
_DIRECTIVE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})\{(?P<kind>[A-Za-z][\w-]*)\}[ \t]*(?P<title>[^\n]*)\n"
    r"(?P<options>(?:[ \t]*:[\w-]+:[^\n]*\n)*+)(?P<body>(?:(?![ \t]*(?P=fence))[^\n]*\n)*+)"
    r"(?P=indent)(?P=fence)[ \t]*$",
    re.MULTILINE,
)
_COLON_DIRECTIVE = re.compile(
    r"^([ \t]*:{3,}[ \t]*)\{([A-Za-z][\w-]*)\}((?:[^\n]*\n)(?:[ \t]*:[\w-]+:[^\n]*(?:\n|\Z))*)", re.M
)
_LABEL = re.compile(r"\([\w.:-]+\)=[ \t]*$")
_BOXES = {"admonition": "note", "topic": "note", "margin": "note", "sidebar": "note", "dropdown": "details"}
_NOT_SHOWN = re.compile(r"\b(?:echo|include)\s*[=:]\s*(?:F|FALSE|false)\b")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})")
_TAG = re.compile(r"\{\{.{1,2000}?\}\}|\{%.{1,2000}?%\}", re.DOTALL)
_VARIABLE = re.compile(r"\{\{[ -]*(?:[\w-]+\.)*([\w-]+)[^}]*\}\}")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_COMMENT, _COMMENT_END = re.compile(r"\{%-?\s*comment\s*-?%\}"), re.compile(r"\{%-?\s*endcomment\s*-?%\}")
_DEFAULT = re.compile(r"\bdefault\(\s*(?:\"([^\"]*)\"|'([^']*)')")
_LABELLED = re.compile(r"^\{\{-?\s*([\"'])\s*\[([^\[\]{}]+)\]\(.*\1", re.DOTALL)
_CAPTION = re.compile(r"\b(?:text|title|caption)\s*=\s*\"([^\"]*)\"")
_INLINE = re.compile(
    r"""
      (?P<role>\{[A-Za-z][\w:+-]*\}`(?P<label>[^`\n<]*)(?P<aim><[^`\n>]*>)?`)
    | (?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).){1,500}?(?<!`)(?P=ticks)(?!`))
    | (?P<raw>\{%-?\s*raw\s*-?%\}.{0,2000}?\{%-?\s*endraw\s*-?%\})
    | (?P<unseen>\{\#\s.{0,2000}?\#\})
    | (?P<listing>\{%-?\s*(?:end)?highlight\b[^%}]*%\})
    | (?P<short>\{\{[<%].{0,2000}?[>%]\}\})
    | (?P<tag>\{%.{0,2000}?%\})
    | (?P<variable>\{\{.{0,2000}?\}\})
    | (?<![\w\]\[])(?P<embed>!?)\[\[(?=[^\]\n]*[^\W\d_])(?:[^\[\]|\n]{1,200}\|)?
      (?P<wiki>[^\s\[\]|][^\[\]|\n]{0,200})\]\](?![\](])
    | (?P<span>\[(?P<inner>[^\[\]\n]*)\]\{(?=[.\#:\w])[^{}\n]*\})
    | (?P<attributes>\{:[ .\#\w][^{}\n]*\}|\{[ ]*[.\#][A-Za-z][^{}\n]*\}|\{=\w+\}|(?<=[)\]])\{[ ]?[\w-]+=[^{}\n]*\})
    | (?P<emoji>(?<![\w:/]):[a-z][a-z0-9_+-]{1,60}:(?![\w:/`]))
    | (?P<footnote>\[\^[^\]\s]{1,80}\](?!:))
    | \+\+(?P<keys>[\w"][\w+"-]*)\+\+
    | (?<!=)==(?P<marked>[^=\s](?:[^=\n]*[^=\s])?)==(?!=)
    | \^\^(?P<added>[^^\s](?:[^^\n]*[^^\s])?)\^\^
    | \]\((?P<target>[^()<>"'\n]*[ ][^()<>"'\n]*)\)
    | (?P<open></?(?P<name>[A-Za-z][\w-]*)(?:[ ][^<>\n=]*)?>)
    """,
    re.DOTALL | re.VERBOSE,
)
_ADMONITION = re.compile(r"([ \t]*)(?:!!!|\?\?\?\+?)[ \t]*([A-Za-z][\w-]*)[ \w-]*?(?:[ \t]+\"(.*)\")?[ \t]*$")
_TAB = re.compile(r"([ \t]*)===[!+]?[ \t]+\"(.*)\"[ \t]*$")
_ALERT = re.compile(r"([ \t]*>[ \t]*)\[!(\w+)\][+-]?[ \t]*(.*)$")
_COLONS = re.compile(r"[ \t]*:{3,}[ \t]*(.*?)[ \t]*:*[ \t]*$")
_CALLOUT = re.compile(r"\.callout-(\w+)")
_NAMED = re.compile(r"(\w+)[ \t]*(?:\[(.*)\]|(.*))$")
_INCLUDE = re.compile(r"[ \t]*(?:;*-+8<-+|!\[\[[^\]]*\]\]|\[TOC\]|\[\[_?TOC_?\]\]|\[toc\]|[*+-][ \t]+TOC)(.*)$")
_CHECK_BOX = re.compile(r"^([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[[ xX~]\](?:[ \t]+|$)")
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]\n]{1,80}\]:[ \t]*")
_ABBREVIATION = re.compile(r"\*\[([^\]\n]{1,80})\]:[ \t]*(.*)$")
_DEFINED = re.compile(r" {0,3}:[ \t]+(\S.*)$")
_ELEMENT = re.compile(rf"\s*</?(?:{'|'.join(sorted(BLOCKS))}|ul|ol|li)\b", re.IGNORECASE)
_STRUCTURE = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|`{3}|~{3}|[>|<]|!!!|\?\?\?|===|:{3})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
KINDS = frozenset(
    """note tip important warning caution danger info hint success question failure bug example quote abstract attention
    error summary todo seealso help faq check done fail missing cite tldr deprecated details""".split()
)


GONE = "\ue000"  # stands for a tag that leaves nothing, so that "**see {{ page }}**" is still read as bold
_CODE_ELEMENT = re.compile(r"(<(?:pre|code)>.*?</(?:pre|code)>)", re.DOTALL)
_STRAY = re.compile(
    r"(?<![\w*])\*{2,3}(?=[\s\w“\"(\[])|(?<=[\w.:;,!?)”\"])\*{2,3}(?![\w*])|(?<=\s)\*\*(?=[\s<])|(?<=<p>)\*(?=\w)"
)
_GONE = re.compile(f"(?<=[\\s>]){GONE}[ \\t]?|{GONE}")


def rid(page: str) -> str:
    """A page made of the text without what stands for tags, and without marks of emphasis that have no partner."""
    parts = _CODE_ELEMENT.split(_GONE.sub("", page))
    return "".join(part if at % 2 else _STRAY.sub("", part) for at, part in enumerate(parts))


def common_markdown(text: str) -> tuple[str, str]:
    """The same in plain Markdown, and what was taken out, which a reader does not see."""
    unseen: list[str] = []
    text = _BETWEEN_LISTS.sub(lambda part: part[0] if part["between"] is None else "<p></p>", text)
    text = _DIRECTIVE.sub(_directive(unseen), _without_comments(text, unseen))
    text = _CHUNK.sub(_chunk(unseen), _COLON_DIRECTIVE.sub(_colons(unseen), text))
    text = "\n".join(_lines(text.split("\n")))
    pieces, position = [], 0
    for code in _FENCED.finditer(text):
        pieces += [text[position : code.start()], code.group()]
        position = code.end()
    pieces.append(text[position:])
    # A builder fills in the tags inside code as well; a text with tags in its code alone is about them.
    template = "endraw" not in text and any(_TAG.search(_SPAN.sub("", prose)) for prose in pieces[::2])
    for at, piece in enumerate(pieces):
        pieces[at] = (
            (_filled(piece) if template else piece) if at % 2 else _INLINE.sub(_replaced(unseen, template), piece)
        )
    return "".join(pieces), "\n".join(unseen)


def _without_comments(text: str, unseen: list[str]) -> str:
    parts, position = [], 0
    for opening in _COMMENT.finditer(text):
        if opening.start() < position:
            continue
        closing = _COMMENT_END.search(text, opening.end())
        if closing is None:
            break
        parts.append(text[position : opening.start()])
        unseen.append(text[opening.end() : closing.start()])
        position = closing.end()
    return "".join([*parts, text[position:]])


def _directive(unseen: list[str]) -> Callable[[re.Match[str]], str]:
    """A box of MyST as one of those that `_lines` reads, without its options; what is no box stays."""

    def shown(match: re.Match[str]) -> str:
        kind = _BOXES.get(match["kind"].lower(), match["kind"].lower())
        if kind not in KINDS | {"figure", "table"}:
            return match.group()
        unseen.extend(filter(None, [match["options"]]))
        if kind not in KINDS:
            return match["body"]  # its caption, or its rows
        return f"::: {kind} {match['title'].strip()}".rstrip() + f"\n\n{match['body']}\n:::"

    return shown


def _colons(unseen: list[str]) -> Callable[[re.Match[str]], str]:
    def shown(match: re.Match[str]) -> str:
        title, _, options = match[3].partition("\n")
        unseen.extend(filter(None, [options]))
        kind = _BOXES.get(match[2].lower(), match[2].lower())
        return f"{match[1]}{kind} {title.strip()}".rstrip() + "\n"

    return shown


def _chunk(unseen: list[str]) -> Callable[[re.Match[str]], str]:
    """A chunk of R Markdown or Quarto as the page shows it: its text, its code without options, or nothing."""

    def shown(chunk: re.Match[str]) -> str:
        if _NOT_SHOWN.search(chunk["header"] + chunk["options"]):
            unseen.append(chunk["body"])
            return ""
        if chunk["language"] in ("block", "block2", "asis", "=markdown"):
            return f"\n{chunk['body']}"
        return f"{chunk['indent']}{chunk['fence']}\n{chunk['body']}{chunk['indent']}{chunk['fence']}"

    return shown


def _filled(code: str) -> str:
    """Code with the names of its variables in the place of their values."""

    def value(tag: re.Match[str]) -> str:
        default, named = _DEFAULT.search(tag.group()), _VARIABLE.match(tag.group())
        shown = next((group for group in default.groups() if group), "") if default else ""
        return shown if re.search(r"\w", shown) else f"<{named[1]}>" if named else ""

    return _TAG.sub(value, code)


def words(text: str) -> str:
    """A title without tags and marks."""
    return re.sub(r"[*_`]{1,3}(\S[^*_`]*)[*_`]{1,3}", r"\1", rid(_INLINE.sub(_replaced([]), text))).strip()


def _replaced(unseen: list[str], template: bool = False) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        kind, text = match.lastgroup or "", match.group()
        if match["role"] is not None:
            unseen.extend(filter(None, [match["aim"]]))
            return match["label"].strip()
        if match["code"] is not None:
            return _filled(text) if template else text
        if match["raw"] is not None:
            return re.sub(r"\{%-?\s*(?:end)?raw\s*-?%\}", "", text)
        if match["listing"] is not None:
            return "\n```\n"
        if match["span"] is not None:
            return match["inner"]
        if match["target"] is not None:
            return f"](<{match['target'].strip()}>)"
        if match["open"] is not None:
            return text if match["name"].lower() in TAGS else text.replace("<", "&lt;").replace(">", "&gt;")
        if match["embed"]:
            unseen.append(text)  # another page or a picture in this place
            return GONE
        for name in ("keys", "marked", "added", "wiki"):
            if match[name] is not None:
                return match[name]
        if kind in ("emoji", "footnote", "attributes"):
            return ""
        if link := _LABELLED.match(text):
            return link[2]  # "{{ '[Opening hours]({})'.format(site) }}"
        unseen.append(text)
        shown = (_CAPTION if match["short"] is not None else _DEFAULT).search(text)
        value = next((group for group in shown.groups() if group), "") if shown else ""
        return value if re.search(r"\w", value) else GONE

    return replace


def _lines(lines: list[str]) -> Iterator[str]:
    """Blocks that a builder marks, as paragraphs; check boxes, footnotes and definitions as words."""
    fence, including, term, above = "", False, "", ""
    for at, line in enumerate(lines):
        line = lines[at]  # what stands above may have changed it
        mark = _FENCE.match(line)
        tagged = above.startswith("<")
        above = line.strip() or above
        if fence or mark:
            if fence and mark and mark[1].startswith(fence) and not line[mark.end() :].strip("`~ \t"):
                fence = ""
            elif not fence and mark:
                fence = mark[1]
                _set_in(lines, at, fence)
            yield line
        elif _depth(line) > 3 and _ELEMENT.match(line) and tagged:
            yield line.lstrip()  # a table with empty lines in it, not code
        elif _LABEL.match(line):
            yield ""
        elif match := _INCLUDE.match(line):
            including = "8<" in line and not match[1].strip() and not including
        elif including:
            continue
        elif (match := _ADMONITION.match(line)) and (match[3] or _deeper(lines, at + 1, match[1])):
            _set_back(lines, at + 1, match[1])
            yield from _callout(lines, at + 1, match[1], match[2], match[3] or "")
        elif match := _TAB.match(line):
            _set_back(lines, at + 1, match[1])
            yield from ("", f"{match[1]}{match[2]}:", "")
        elif (match := _ALERT.match(line)) and match[2].lower() in KINDS:
            yield f"{match[1]}{_name(match[2])} {match[3]}"
        elif match := _COLONS.match(line):
            named = _CALLOUT.search(match[1]) or _NAMED.match(match[1])
            title = _CAPTION.search(match[1])
            if named and named[1].lower() in KINDS:
                heading = title[1] if title else named[named.lastindex or 1] if named.re is _NAMED else ""
                yield from _callout(lines, at + 1, "", named[1], "" if heading == named[1] else heading or "")
            else:
                yield ""
        elif match := _ABBREVIATION.match(line):
            yield f"- {match[1]}: {match[2]}"
        elif match := _DEFINED.match(line):
            yield f"- {term}: {match[1]}" if term else line
        elif _defines(lines, at + 1) and line.strip() and not _STRUCTURE.match(line):
            term = line.strip()
        elif not line.strip() and term and _defines(lines, at + 1):
            continue
        else:
            term = term if line.startswith("    ") else ""
            yield _FOOTNOTE.sub("Footnote: ", _CHECK_BOX.sub(r"\1", line))


def _defines(lines: list[str], at: int) -> bool:
    """Whether a definition stands here, or below one empty line."""
    near = [line for line in lines[at : at + 2] if line.strip()]
    return bool(near) and _DEFINED.match(near[0]) is not None


def _depth(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def _deeper(lines: list[str], at: int, indent: str) -> bool:
    """Whether the next line with words is set in."""
    following = next((line for line in lines[at : at + 4] if line.strip()), "")
    return _depth(following) >= _depth(indent + "x") + 4


def _set_in(lines: list[str], at: int, fence: str) -> None:
    """Code as far in as its fence, so that what a builder will include there does not end the item around it."""
    depth = _depth(lines[at])
    closing = next((n for n in range(at + 1, min(at + 200, len(lines))) if lines[n].lstrip().startswith(fence)), at)
    for n in range(at + 1, closing if _depth(lines[closing]) >= depth else at):
        if lines[n].strip() and _depth(lines[n]) < depth:
            lines[n] = " " * depth + lines[n].lstrip()


def _set_back(lines: list[str], at: int, indent: str) -> None:
    """What is set in below a mark, as far in as the mark itself."""
    least = _depth(indent + "x") + 4
    first = next((_depth(line) for line in lines[at : at + 4] if line.strip()), 0)
    step = max(4, first - least + 4)
    fence = ""
    while at < len(lines) and (fence or not lines[at].strip() or _depth(lines[at]) >= least):
        if mark := _FENCE.match(lines[at]):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        if lines[at].strip():
            lines[at] = " " * max(0, _depth(lines[at]) - step) + lines[at].lstrip()
        at += 1


def _callout(lines: list[str], at: int, indent: str, kind: str, title: str) -> Iterator[str]:
    """The words that a box of this kind begins with, as a paragraph or at the beginning of the one that follows."""
    below = next((n for n in range(at, min(at + 3, len(lines))) if lines[n].strip()), None)
    if title:
        yield from ("", f"{indent}{_name(kind)} {title}", "")
        return
    heading = _HEADING.match(lines[below]) if below is not None else None
    if below is not None and heading:
        lines[below] = f"{indent}{_name(kind)} {heading[1]}\n"
    elif below is not None and not _STRUCTURE.match(lines[below]):
        lines[below] = f"{indent}{_name(kind)} {lines[below].lstrip()}"
    else:
        yield from ("", f"{indent}{_name(kind)}", "")
        return
    yield ""


def _name(kind: str) -> str:
    """ "Warning:" of "warning"."""
    return f"{kind[:1].upper()}{kind[1:].lower()}:"
