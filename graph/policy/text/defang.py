"""Text of a document or a model as plain text: no link, image or markup of theirs is ever rendered live (I12)."""

import html
import re

from graph.policy.text.canonical import canonicalise

_IMAGE = re.compile(r"!\[([^\]]{0,300})\]\([^)\s]{0,2000}[^)]{0,300}\)")
_LINK = re.compile(r"\[([^\]]{1,300})\]\([^)\s]{0,2000}[^)]{0,300}\)")
_TAG = re.compile(r"<(/?[A-Za-z!][^<>]{0,500})>")
# Elements of HTML, the outermost of SVG and MathML, and what is no element: a comment, the type of a document. A
# capital alone is a type in code: List<A>.
_ELEMENT = re.compile(
    r"!|(?!(?-i:[A-Z])$)/?(?:a|abbr|acronym|address|applet|area|article|aside|audio|b|base|basefont|bdi|bdo|big|blockquote"
    r"|body|br|button|canvas|caption|center|cite|code|col|colgroup|data|datalist|dd|del|details|dfn|dialog|dir|div|dl|dt|em"
    r"|embed|fieldset|figcaption|figure|font|footer|form|frame|frameset|h[1-6]|head|header|hgroup|hr|html|i|iframe|img"
    r"|input|ins|kbd|label|legend|li|link|main|map|mark|marquee|math|menu|meta|meter|nav|noframes|noscript|object|ol"
    r"|optgroup|option|output|p|param|picture|pre|progress|q|rp|rt|ruby|s|samp|script|search|section|select|slot|small"
    r"|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|time|title|tr"
    r"|track|tt|u|ul|var|video|wbr)(?![\w.:-])",
    re.I,
)
# What readers of pages, Markdown and PDF turn into a link by themselves: any scheme, and without one "www.", "//host",
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
_NESTED = 4  # names in angle brackets within each other, as types of code are
_UNESCAPED = 3  # times; what is still coded after that is made no entity
_REFUSAL = re.compile(r"\b(?:refusal|unavailable)(?= ?:)", re.I)
_GAP = re.compile(r"(?<=\S)[ \t]{2,}")  # where something went
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def text(source: str) -> str:
    """Images become their caption, links their text, tags nothing, but <name> and List<Name> keep their words in other
    brackets; a bare address stays readable but is not a link. Control and direction characters go. Nothing reads as the
    number of a source or as a refusal of Cordon's any more.

    Where a removal joins its neighbours to something live, a space parts them. Mask the result again.
    """
    value = _CONTROL.sub("", source)
    for _ in range(_UNESCAPED):
        value = _CODED.sub(lambda m: html.unescape(m.group()), value)
    value = _CONTROL.sub("", _ENTITY.sub("& ", value))
    value = _DEFINITION.sub(r"\1\2:", _LINK.sub(r"\1", _IMAGE.sub(r"\1", value)))
    value = _TAG.sub(lambda m: "" if _ELEMENT.match(m[1]) else f"‹{m[1]}›", value)
    for _ in range(_NESTED):
        value = _TAG.sub(lambda m: m.group() if _ELEMENT.match(m[1]) else f"‹{m[1]}›", value)
    value = _OPENS.sub("< ", value).replace("](", "] (")
    # The words stay: "5[0] mg" is not 5 mg.
    value = _SOURCE.sub(r"\1", _MARKER.sub(r"(\1)", value))
    value = _SCHEME.sub(lambda m: m.group()[:-1].rstrip() + "[:]", value)
    value = _SLASHES.sub(r"[\g<0>]", value)
    value = _HOST.sub(lambda m: m.group().replace(".", "[.]"), value)
    unchanged = frozenset(source.split("\n"))  # columns of code and tables keep their width
    closed = (line if line in unchanged else _GAP.sub(" ", line) for line in value.split("\n"))
    return _quoted("\n".join(closed).strip())


def _quoted(value: str) -> str:
    """ "Refusal: AccessDenied." of a document as “Refusal”: AccessDenied."""
    canonical = canonicalise(value)
    for refusal in reversed(list(_REFUSAL.finditer(canonical.text))):
        start, end = canonical.span(*refusal.span())
        value = f"{value[:start]}“{value[start:end]}”{value[end:]}"
    return value


def line(value: str) -> str:
    """As `text`, on one line: for a quote, a name or a question that is shown inside Markdown."""
    return " ".join(text(value).split())
