"""What of a web page is no words: links to a footnote and back, links of a heading to itself, numbers of lines."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from selectolax.lexbor import LexborNode

HERE = "\ufdd0"  # stands in the text for a sign that was left out; no text has it

_HEADINGS = "h1, h2, h3, h4, h5, h6"
_SIGN = re.compile(r"[\W_]*(?:\d{1,4}|[a-z]|\[[^\[\]]{1,12}\])?[\W_]*", re.IGNORECASE)  # "2", "a", "↩︎", "[note 2]"
_LETTER, _WORD = re.compile(r"[^\W\d_]"), re.compile(r"[^\W_]")
_SIGNS = rf"{HERE}(?:[\s,;]*{HERE})*"
_OPENING = re.compile(rf"^[\s\[(^]*(?:\d{{1,4}}[\s\])]*\(\s*)?{_SIGNS}[\s\]).:^]*")
_LEFT = re.compile(rf"(?:\[\s*{_SIGNS}\s*\]|\(\s*{_SIGNS}\s*\)|{_SIGNS})")
_NUMBER = re.compile(r"\s*\d{1,5}\s*")
_FAR = 6  # elements between a link and the id under which it is found
_BOXES = frozenset("li div aside section blockquote p dt td table".split())


def without(text: str) -> str:
    """A text without what surrounds a sign; nothing where it has no other words."""
    if HERE not in text:
        return text
    text = _OPENING.sub("", text)
    text = re.sub(rf"\s*{HERE}(?=[\s.,;:!?)]|$)", "", _LEFT.sub(HERE, text)).replace(HERE, "")
    return text if _WORD.search(text) else ""


def code(node: LexborNode) -> str:
    """What is written in a piece of code, without the numbers of its lines; nothing where it holds them alone."""
    marks: dict[str, list[LexborNode]] = defaultdict(list)
    for mark in node.css("span, a"):
        if _NUMBER.fullmatch(mark.text()) and len(mark.css("span, a")) == 1:
            marks[mark.attributes.get("class") or ""].append(mark)
    lines = node.text().strip("\n").split("\n")
    for numbers in marks.values():
        texts = [mark.text().strip() for mark in numbers]
        if len(texts) == len(lines) > 1 and _counts(texts) and all(map(str.startswith, map(str.strip, lines), texts)):
            for mark in numbers:
                mark.decompose()
    text = node.text()
    alone = any(above.tag == "td" for above in _above(node, 3)) and _counts(text.split())
    return "" if alone else text


def _counts(numbers: list[str]) -> bool:
    """Whether these are whole numbers, each one more than the one before."""
    if not all(map(_NUMBER.fullmatch, numbers)):
        return False
    return all(int(a) + 1 == int(b) for a, b in pairwise(numbers))


class Signs:
    """The links of a page that are signs, and the footnotes that some of them lead to."""

    def __init__(self, page: LexborNode | None = None) -> None:
        self._notes: dict[int, str] = {}  # link to a footnote → id of the footnote
        self._links: set[int] = set()
        self._by_id: dict[str, LexborNode] | None = None
        self._page = page
        if page is None:
            return
        for heading in page.css(_HEADINGS):
            self._links.update(link.mem_id for link in _beside(heading))
        signs = [link for link in page.css("a[href*='#']") if _SIGN.fullmatch(link.text())]
        names = [_names(link) for link in signs]
        leads: dict[str, set[str]] = defaultdict(set)  # from the id of a link to where the link leads
        for link, own in zip(signs, names, strict=True):
            for name in own:
                leads[name].add(_target(link))
        answered: set[str] = set()
        for link, own in zip(signs, names, strict=True):
            target = _target(link)
            if target in own:
                if not _WORD.search(link.text()):
                    self._links.add(link.mem_id)
            elif leads[target] & own:  # each leads to the other
                self._links.add(link.mem_id)
                if target not in answered:
                    self._notes[link.mem_id] = target
                    answered |= own

    def __contains__(self, node: LexborNode) -> bool:
        return node.mem_id in self._links

    def within(self, node: LexborNode) -> bool:
        """Whether one of these links is inside an element."""
        return any(link in self for link in node.css("a"))

    def note(self, link: LexborNode) -> list[LexborNode]:
        """The elements with the words of the footnote that a link leads to; none where they cannot be told."""
        if link.mem_id not in self._notes or self._page is None:
            return []
        if self._by_id is None:
            self._by_id = {}
            for named in self._page.css("[id], a[name]"):
                self._by_id.setdefault(named.attributes.get("id") or named.attributes.get("name") or "", named)
        node = self._by_id.get(self._notes[link.mem_id])
        while node is not None and node.tag not in _BOXES:
            node = node.parent
        if node is None:
            return []
        if node.tag == "td":
            node = next((above for above in _above(node, 4) if above.tag == "table"), node)
        parts = list(_definitions(node)) if node.tag == "dt" else [node]
        around = {above.mem_id for above in _above(link, 1_000)}
        whole = any(part.mem_id in around or part.css_first(_HEADINGS) or len(part.css("tr")) > 1 for part in parts)
        return [] if whole else parts


def _target(link: LexborNode) -> str:
    return (link.attributes.get("href") or "").partition("#")[2]


def _above(node: LexborNode, most: int) -> Iterator[LexborNode]:
    above = node.parent
    while above is not None and most:
        yield above
        above, most = above.parent, most - 1


def _names(link: LexborNode) -> set[str]:
    """The ids under which a link is found: its own, of what is inside it, of an anchor before it, of what is around."""
    near = [link, *link.css("[id]"), *_above(link, _FAR)]
    if link.prev is not None and link.prev.tag == "a":
        near.append(link.prev)
    names = {node.attributes.get(key) for node in near if node.is_element_node for key in ("id", "name")}
    return {name for name in names if name}


def _beside(heading: LexborNode) -> Iterator[LexborNode]:
    """The links of a heading that are no part of what it says: without a word; to itself, with a name of their own that
    is not shown; in brackets at its end."""
    links = heading.css("a")
    whole = "".join(heading.text().split()) if links else ""
    for link in links:
        text = "".join(link.text().split())
        rest = whole.replace(text, "", 1)
        named = any(name in link.attributes for name in ("title", "aria-label", "aria-hidden"))
        itself = named and _target(link) in _names(link)
        if (not _WORD.search(text) and _WORD.search(rest)) or (
            _LETTER.search(rest) and (itself or whole.endswith(f"[{text}]"))
        ):
            yield link


def _definitions(term: LexborNode) -> Iterator[LexborNode]:
    following = term.next
    while following is not None and following.tag != "dt":
        if following.tag == "dd":
            yield following
        following = following.next
