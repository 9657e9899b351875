"""Text of a document or a model as plain text: no link, image or markup of theirs is ever rendered live (I12)."""

import html
import re

from graph.policy.text.canonical import canonicalise

_IMAGE = re.compile(r"!\[([^\]]{0,300})\]\([^)\s]{0,2000}[^)]{0,300}\)")
_LINK = re.compile(r"\[([^\]]{1,300})\]\([^)\s]{0,2000}[^)]{0,300}\)")
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,500}>")
# What page, Markdown and PDF readers make a link of by themselves: any scheme, and without one "www.", "//host",
# "\\host\share", a host with something behind it, a bare host below the top-level domains that linkify-it knows.
_SCHEME = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,30}(?=\s?:[/\\]{2})|https?|ftp|file|data|mailto|javascript|vbscript)\s?:(?=\S)", re.I
)
_SLASHES = re.compile(r"(?<![\w/])(?<!\[:\])//(?=\w)|(?<!\\)\\{2,}(?=[\w.?-]{1,255}\\)")
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_HOST = re.compile(
    rf"(?<![\w.@])(?:www\.(?=\w)|(?:{_LABEL}\.){{1,8}}(?:[^\W\d_]{{2,24}}(?=\.?(?::\d|[/?#][\w/?#=&%~.-]))"
    r"|(?:biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|de|fr|uk|eu|io|ru|cn|jp|nl|ch|gl|ly|xyz|app|dev|link|online|site|store|club|icu|click)(?![\w-])))",
    re.I,
)
_DEFINITION = re.compile(r"^([ >\t]{0,20})\[(?!REDACTED)([^\]\n]{1,300})\]:(?=\s*\S)", re.M)
_MARKER = re.compile(r"[\[【](\d{1,3})[\]】]")
_SOURCE = re.compile(r"[\[(](Source\s*\d{1,3})[\])]", re.I)
_OPENS = re.compile(r"<(?=[A-Za-z!/?])")  # what is left of a tag, a comment or an instruction that nothing closes
_CODED = re.compile(r"&#?\w{1,31};")
_ENTITY = re.compile(r"&(?=#?\w{1,31};)")
_UNESCAPED = 3  # times; what is still coded then stays so, and is no entity any more
_REFUSAL = re.compile(r"\b(?:refusal|unavailable)(?= ?:)", re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def text(value: str) -> str:
    """Images become their caption, links their text, tags nothing; a bare address stays readable but is not a link.
    Control and direction characters go; what reads like the number of a source or a refusal of Cordon's is no longer.

    What goes may join what stood beside it, so what would still be live after that is kept apart by a space. Mask again
    what comes out.
    """
    value = _CONTROL.sub("", value)
    for _ in range(_UNESCAPED):
        value = _CODED.sub(lambda m: html.unescape(m.group()), value)
    value = _CONTROL.sub("", _ENTITY.sub("& ", value))
    value = _DEFINITION.sub(r"\1\2:", _LINK.sub(r"\1", _IMAGE.sub(r"\1", value)))
    value = _OPENS.sub("< ", _TAG.sub("", value)).replace("](", "] (")
    # The words stay: "5[0] mg" is not 5 mg.
    value = _SOURCE.sub(r"\1", _MARKER.sub(r"(\1)", value))
    value = _SCHEME.sub(lambda m: m.group()[:-1].rstrip() + "[:]", value)
    value = _SLASHES.sub(r"[\g<0>]", value)
    value = _HOST.sub(lambda m: m.group().replace(".", "[.]"), value)
    return _quoted(re.sub(r"(?<=\S)[ \t]{2,}", " ", value).strip())


def _quoted(value: str) -> str:
    """ "Refusal: AccessDenied." of a document as “Refusal”: AccessDenied."""
    canonical = canonicalise(value)
    for found in reversed(list(_REFUSAL.finditer(canonical.text))):
        start, end = canonical.span(*found.span())
        value = f"{value[:start]}“{value[start:end]}”{value[end:]}"
    return value


def line(value: str) -> str:
    """As `text`, on one line: for a quote, a name or a question that is shown inside Markdown."""
    return " ".join(text(value).split())
