"""What the text of a provision refers to: "point (f) of Article 6(1)", "Articles 12 to 22", "paragraphs 1 and 2",
"that Article", "this Chapter", "Regulation (EC) No 45/2001".

A reference is read in two steps: single mentions ("point (f)", "Article 6(1)"), then chains of mentions that belong
together ("point (f) of the first subparagraph of paragraph 1"), each with the provisions it names.
"""

# Patterns read best one to a line.
# ruff: noqa: E501
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from graph.regulation.unit import ordinal, ordinal_value

MOST = 200  # provisions one reference may name: "Articles 1 to 9999" is none
_N = r"\d{1,4}[a-z]{0,2}"
_ITEM = rf"{_N}(?:\([a-z\d]{{1,4}}\)){{0,4}}"
_JOIN = r"(?:\s*,\s*(?:and|or)?\s*|\s+(?:and|or|to|and/or)\s+)"
_LETTERS = rf"\([a-z\d]{{1,4}}\)(?:\([a-z\d]{{1,4}}\))?(?:{_JOIN}\([a-z\d]{{1,4}}\)){{0,30}}"
_ORD = r"(?:[Ff]irst|[Ss]econd|[Tt]hird|fourth|fifth|sixth|seventh|eighth|ninth|tenth)"
_MENTION = re.compile(
    rf"\b(?:(?P<article>Art(?:icle|\.)?s?)\s*(?P<articles>{_ITEM}(?:{_JOIN}(?:{_ITEM}|\([a-z\d]{{1,4}}\)(?:\([a-z\d]{{1,4}}\))?)(?![\w/]))*)"
    rf"|(?P<paragraph>[Pp]aragraphs?)\s+(?P<paragraphs>{_N}(?:\([a-z\d]{{1,4}}\))*(?:{_JOIN}{_N}(?:\([a-z\d]{{1,4}}\))*(?![\w/]))*)"
    rf"|(?P<subs>{_ORD}(?:{_JOIN}{_ORD}){{0,4}})\s+(?P<sub>subparagraphs?|paragraphs?|indents?|sentences?)\b"
    rf"|(?P<point>[Pp]oints?)\s+(?P<points>{_LETTERS}|{_N}(?:\([a-z\d]{{1,4}}\))*(?:{_JOIN}{_N}(?:\([a-z\d]{{1,4}}\))*)*)"
    rf"|(?P<division>Chapters?|Sections?|Titles?|Parts?|Subsections?)\s+(?P<divisions>(?:[IVXLC]{{1,8}}|\d{{1,3}})(?:{_JOIN}(?:[IVXLC]{{1,8}}|\d{{1,3}}))*)\b"
    rf"|(?P<annex>Annex(?:es)?)(?:\s+(?P<annexes>(?:[IVXLC]{{1,8}}|\d{{1,3}}|[A-Z])(?:{_JOIN}(?:[IVXLC]{{1,8}}|\d{{1,3}}|[A-Z]))*)\b)?"
    rf"|(?P<recital>[Rr]ecitals?)\s+(?P<recitals>\(?\d{{1,3}}\)?(?:{_JOIN}\(?\d{{1,3}}\)?)*)"
    rf"|(?P<pointing>[Tt]his|[Tt]hat|[Tt]hose|the same)\s+(?P<what>[Aa]rticles?|paragraphs?|subparagraph|point|Chapter|Section|Title|Part|Annex)\b)",
)  # fmt: skip
_ACT = r"(?:Regulations?|Directives?|Decisions?|Recommendations?|Charter|Treat(?:y|ies)|TFEU|TEU|Protocols?|Convention|Agreement|Statute|Constitution|Act|Rules of Procedure|Staff Regulations|Code)"
OTHER_ACT = re.compile(
    r"\b(?:Council |Commission |Implementing |Delegated |Framework ){0,3}(?:Regulation|Directive|Decision|Recommendation)s?\s+"
    r"(?:\((?:EU|EC|EEC|Euratom|EU, Euratom|JHA)\)\s*)?(?:No\s+)?\d{1,4}/\d{1,5}(?:/[A-Z]{2,7})?"
)
# "of Directive …", "TFEU", "of that Regulation", "thereof": the provision is one of another act.
_ELSEWHERE = re.compile(
    rf"\s*(?:,?\s*(?:of|to|in|under)\s+(?!this\b)(?:(?:the|that|those|said|(?:Council|Commission|Implementing|Delegated|Framework|EU|EC|European|Model|[A-Z][a-z]+))\s+){{0,4}}{_ACT}\b|\s*(?:TFEU|TEU|ECHR|EC Treaty|thereof)\b)"
)
_THEREOF = re.compile(r"\s+thereof\b")
_HERE = re.compile(r"\s*,?\s*(?:of|in)\s+this\s+(?:Regulation|Directive|Decision|Act)\b")
_OF = re.compile(r"\s*(?:of|in)\s+(?:the\s+)?")
_COMMA = re.compile(r"\s*,\s*(?:the\s+)?")
_AND = re.compile(r"\s*,?\s*(?:and|or|and/or)?\s*(?:of\s+|in\s+|the\s+)*")
_ELSE = "another act"
_LEVELS = ("division", "annex", "article", "paragraph", "subparagraph", "point", "indent")


@dataclass(frozen=True)
class Mention:
    """Words that name parts of one level. `word` is a division's own word, or "ordinal" or "pointing"."""

    level: str
    items: tuple[str, ...]  # names at this level; "" is the one where the text stands, "that" the one last named
    start: int
    end: int
    word: str = ""


@dataclass(frozen=True)
class Reference:
    """A place in a text, and the names of the provisions it names there; `elsewhere` when they are another act's.

    `names` holds for each provision the names it may go by, the likeliest first.
    """

    start: int
    end: int
    names: tuple[tuple[str, ...], ...] = ()
    elsewhere: bool = False


@dataclass
class Context:
    """Where a text stands: "Article 14", "Article 14(3)", "Article 14(3), second subparagraph"; and its divisions."""

    article: str = ""
    paragraph: str = ""
    subparagraph: str = ""
    divisions: dict[str, str] = field(default_factory=dict)
    named: str = ""  # the article named last in the text
    articles: list[str] = field(default_factory=list)  # all that the last mention of articles named
    paragraphs: list[tuple[str, ...]] = field(default_factory=list)  # likewise of paragraphs


def find(text: str, here: Context) -> list[Reference]:
    """References in order. Other acts are references without names."""
    references: list[Reference] = []
    mentions = _mentions(text)
    at = 0
    while at < len(mentions):
        stop = at + 1
        while stop < len(mentions) and _belongs(text, mentions[stop - 1], mentions[stop]):
            stop += 1
        chain = mentions[at:stop]
        end = chain[-1].end
        elsewhere = _ELSEWHERE.match(text, end) is not None and _HERE.match(text, end) is None
        inner = all(m.level in ("subparagraph", "point", "indent") for m in chain)
        if inner and here.paragraphs and _THEREOF.match(text, end):  # "and the second subparagraph thereof"
            chain = [*chain, Mention("paragraph", ("that",), end, end, "pointing")]
            elsewhere = False
        if any(m.level == "article" and m.items == ("that",) for m in chain) and here.named == _ELSE:
            elsewhere = True
        names = () if elsewhere else tuple(_names(chain, here))
        if elsewhere and any(m.level == "article" for m in chain):
            here.named = _ELSE
        references.append(Reference(chain[0].start, end, names, elsewhere))
        at = stop
    _spread(text, references)
    covered = [(r.start, r.end) for r in references]
    references += [Reference(m.start(), m.end(), (), True) for m in OTHER_ACT.finditer(text) if not _inside(m, covered)]
    return sorted(references, key=lambda r: r.start)


def _mentions(text: str) -> list[Mention]:
    mentions = []
    for m in _MENTION.finditer(text):
        if m["article"]:
            mentions.append(Mention("article", tuple(_articles(m["articles"])), m.start(), m.end()))
        elif m["paragraph"]:
            items = _listed(m["paragraphs"], r"\d{1,4}[a-z]{0,2}(?:\([a-z\d]{1,4}\))*")
            mentions.append(Mention("paragraph", tuple(items), m.start(), m.end()))
        elif m["sub"]:
            level = {"s": "subparagraph", "p": "paragraph", "i": "indent"}[m["sub"][0]]
            level = "sentence" if m["sub"].startswith("sentence") else level
            items = [str(ordinal_value(w)) for w in re.findall(_ORD, m["subs"])]
            mentions.append(Mention(level, tuple(items), m.start(), m.end(), "ordinal"))
        elif m["point"]:
            items = _listed(
                m["points"], r"\(([a-z\d]{1,4}\)(?:\([a-z\d]{1,4}\))*)|\d{1,4}[a-z]{0,2}(?:\([a-z\d]{1,4}\))*"
            )
            mentions.append(Mention("point", tuple(items), m.start(), m.end()))
        elif m["division"]:
            word = m["division"].rstrip("s")
            items = _listed(m["divisions"], r"[IVXLC]+|\d+")
            mentions.append(Mention("division", tuple(f"{word} {item}" for item in items), m.start(), m.end(), word))
        elif m["annex"]:
            items = re.findall(r"[IVXLC]+|\d+|\b[A-Z]\b", m["annexes"] or "")
            mentions.append(Mention("annex", tuple(f"Annex {i}" for i in items) or ("Annex",), m.start(), m.end()))
        elif m["recital"]:
            items = _listed(m["recitals"], r"\d+")
            mentions.append(Mention("recital", tuple(items), m.start(), m.end()))
        else:
            level = m["what"].lower().removesuffix("s")
            word = m["what"] if level in ("chapter", "section", "title", "part") else ""
            level = "division" if word else level
            item = "" if m["pointing"].lower() == "this" else "that"
            mentions.append(Mention(level, (item,), m.start(), m.end(), word or "pointing"))
    return mentions


def _articles(text: str) -> Iterator[str]:
    """ "93(2) and (3)" → 93(2), 93(3); "12 to 22" → 12 … 22."""
    last, span = "", False
    for part in re.finditer(rf"(?P<to>\bto\b)|(?P<item>{_ITEM})|(?P<rest>(?:\([a-z\d]{{1,4}}\))+)", text):
        if part["to"]:
            span = True
            continue
        if part["rest"]:  # as deep as what it continues: "4(1)(a) and (b)" is a point, "93(2) and (3)" a paragraph
            parts = re.findall(r"\([^)]*\)", last)
            if not parts:
                continue
            prefix = "".join(parts[: max(0, len(parts) - part["rest"].count("("))])
            item = last.partition("(")[0] + prefix + part["rest"]
            yield from _between(last, item) if span else ()
        else:
            item = part["item"]
            yield from _between(last, item) if span else ()
        last, span = item, False
        yield item


def _between(first: str, last: str) -> Iterator[str]:
    """What lies between two numbers or letters of one list."""
    a, b = re.search(r"(\w+)\)?$", first), re.search(r"(\w+)\)?$", last)
    if a is None or b is None or first[: a.start(1)] != last[: b.start(1)]:
        return
    begin, end, closing = a[1], b[1], first[a.end(1) :]
    if begin.isdigit() and end.isdigit() and 0 < int(end) - int(begin) <= MOST:
        yield from (f"{first[: a.start(1)]}{n}{closing}" for n in range(int(begin) + 1, int(end)))
    elif len(begin) == len(end) == 1 and begin.isalpha() and end.isalpha():
        yield from (f"{first[: a.start(1)]}{chr(n)}{closing}" for n in range(ord(begin) + 1, ord(end)))


def _listed(text: str, item: str) -> list[str]:
    """The items of a list, with those that "to" stands for."""
    items: list[str] = []
    span = False
    for part in re.finditer(rf"\bto\b|{item}", text):
        if part[0] == "to":
            span = True
            continue
        if span and items:
            items += list(_between(items[-1], part[0]))
        items.append(part[0])
        span = False
    return items[:MOST]


def _belongs(text: str, first: Mention, second: Mention) -> bool:
    """Whether two mentions are one reference: "point (a) of Article 6(1)", "Article 6(1), point (a)"."""
    between = text[first.end : second.start]
    if len(between) > 12 or "sentence" in (first.level, second.level):
        return (first.level == "sentence" and bool(_OF.fullmatch(between))) or (
            second.level == "sentence" and bool(_COMMA.fullmatch(between))
        )
    a, b = (_LEVELS.index(m.level) if m.level in _LEVELS else -1 for m in (first, second))
    if a < 0 or b < 0:
        return False
    if a == b == 0:
        return bool(_OF.fullmatch(between) or _COMMA.fullmatch(between)) and first.word != second.word
    return (a > b and bool(_OF.fullmatch(between))) or (a < b and b >= 3 and bool(_COMMA.fullmatch(between)))


def _names(chain: list[Mention], here: Context) -> Iterator[tuple[str, ...]]:
    """The names of every provision that a chain of mentions names."""
    by = {m.level: m for m in chain}
    if "division" in by:
        yield from _divisions([m for m in chain if m.level == "division"], here)
        return
    if "recital" in by:
        yield from ((f"Recital {n}",) for n in by["recital"].items)
        return
    if "annex" in by:
        for annex in by["annex"].items:
            name = annex or here.article
            points = by["point"].items if "point" in by else ()
            yield from ((f"{name}, point {p}", f"{name}{p}") for p in points)
            if not points:
                yield (name,)
        return
    bases = [here.article]
    if "article" in by:
        bases = []
        for item in by["article"].items:
            named = [here.named or here.article] if len(here.articles) < 2 else here.articles
            bases += [here.article] if item == "" else named if item == "that" else [f"Article {item}"]
        here.named, here.articles = re.sub(r"\(.*", "", bases[-1]), bases
    elif here.paragraph and not {"paragraph"} & by.keys():
        bases = [here.paragraph]
    elif by.get("paragraph") is not None and by["paragraph"].items[0] == "that" and here.paragraphs:
        for names in here.paragraphs:
            yield from _inside_of(names[0], {k: v for k, v in by.items() if k != "paragraph"}, here)
        return
    elif by.get("paragraph") is not None and by["paragraph"].items[0] in ("", "that"):
        bases = [here.paragraph or here.article]
    for base in bases:
        if not base:
            yield ("",)
            continue
        yield from _inside_of(base, by, here)


def _inside_of(base: str, by: dict[str, Mention], here: Context) -> Iterator[tuple[str, ...]]:
    numbered = re.fullmatch(r"(Article \w+)\((\d{1,2})\)(.*)", base)
    places: list[tuple[str, ...]] = [(base,)]
    if numbered:  # of an article whose paragraphs bear no numbers
        names = (*_unnumbered(numbered[1], numbered[2]), numbered[1])
        places = [(base, *(f"{name}{numbered[3]}" for name in names))]
    paragraph = by.get("paragraph")
    if paragraph is not None and paragraph.items[0] not in ("", "that"):
        if paragraph.word == "ordinal":
            places = [
                (base,) if n == "1" else (f"{base}, {ordinal(int(n))} paragraph", f"{base}({n})")
                for n in paragraph.items
            ]
        else:
            places = [(f"{base}({_split(p)}", f"{base}, point {p}", *_unnumbered(base, p)) for p in paragraph.items]
            if places and all(p == "1" for p in paragraph.items):
                places = [(*places[0], base)]
        here.paragraphs = places
    if (sub := by.get("subparagraph")) is not None and sub.items[0] not in ("", "that"):
        places = [
            tuple(name if n == "1" else f"{name}, {ordinal(int(n))} subparagraph" for name in names)
            for names in places
            for n in sub.items
        ]
    elif "point" in by and here.subparagraph and not {"article", "paragraph"} & by.keys():
        places = [(here.subparagraph, *names) for names in places]
    if (point := by.get("point")) is not None and point.items[0] not in ("", "that"):
        places = [
            tuple(spelt for name in names for spelt in (f"{name}{_bracketed(p)}", f"{name}, point {p}"))
            for names in places
            for p in point.items
        ]
    if (indent := by.get("indent")) is not None:
        places = [
            tuple(f"{name}, {ordinal(int(n))} indent" for name in names) for names in places for n in indent.items
        ]
    yield from places


def _unnumbered(base: str, number: str) -> tuple[str, ...]:
    return (f"{base}, {ordinal(int(number))} paragraph",) if number.isdigit() and 0 < int(number) < 100 else ()


def _split(paragraph: str) -> str:
    """ "2(a)" → "2)(a)": what closes the bracket that its article opens."""
    number, _, rest = paragraph.partition("(")
    return f"{number})" + (f"({rest}" if rest else "")


def _bracketed(point: str) -> str:
    return point if point.startswith("(") else f"({point.rstrip(')')})" if "(" not in point else f"({_split(point)}"


def _divisions(chain: list[Mention], here: Context) -> Iterator[tuple[str, ...]]:
    """ "Section 2 of Chapter III", "this Chapter"; a section alone is one of the chapter where the text stands."""
    order = ("Part", "Title", "Chapter", "Section", "Subsection")
    outer = dict(here.divisions)
    chain = sorted(chain, key=lambda m: order.index(m.word) if m.word in order else 9)
    for at, mention in enumerate(chain):
        last = at == len(chain) - 1
        for item in mention.items:
            word = mention.word
            number = outer.get(word, "") if item in ("", "that") else item.removeprefix(word).strip()
            path = {w: n for w, n in outer.items() if order.index(w) < order.index(word)} | {word: number}
            if last:
                yield (", ".join(f"{w} {n}" for w, n in path.items()), f"{word} {number}")
            else:
                outer = path


def _spread(text: str, references: list[Reference]) -> None:
    """ "Article 7 and Article 8 of the Charter": what is joined to a provision of another act is of that act too."""
    for at in range(len(references) - 2, -1, -1):
        first, second = references[at : at + 2]
        joint = re.fullmatch(r"\s+(?:and|or)\s+", text[first.end : second.start])
        if joint and second.elsewhere and not first.elsewhere:
            references[at] = replace(first, names=(), elsewhere=True)


def _inside(match: re.Match[str], ranges: list[tuple[int, int]]) -> bool:
    return any(start <= match.start() < end for start, end in ranges)
