"""What of a web page is its frame: menus, banners, notices about cookies, contents, ways to other pages."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

# Parts of a page that are no text of its own, by their role and by the words of their class or id.
_FRAME_ROLES = frozenset("navigation banner contentinfo complementary search dialog alertdialog menu menubar".split())
_FRAME_NAMES = re.compile(
    r"(?:site|page|main|global|top|cookie|gdpr|privacy)?[-_]?(?:nav|navbar|navigation|menu|breadcrumbs?|sidebar|footer|"
    r"cookies?|cookie[-_]?(?:banner|notice|consent|bar)|consent|pagination|pager|skip[-_]?(?:link|nav|to[-_]content)|"
    r"toc|table[-_]of[-_]contents|share|social|masthead)"
)
_WORDS = re.compile(r"[^\W_]+")
TO_TOP = re.compile(
    r"\W*(?:(?:back|return|go|jump|up) to (?:the )?top(?: of (?:the |this )?page)?|skip to (?:main )?content)\W*", re.I
)
_LABEL = re.compile(r"\W*(note|tip|important|warning|caution|danger|hint|attention|error)\W*", re.IGNORECASE)
_TITLE = re.compile("title|heading")
_ONWARD = re.compile(r"\W*(?:prev(?:ious)?|next)(?: (?:page|chapter|section|topic))?\W*", re.I)
_WAYS = re.compile(r"\W*(?:prev(?:ious)?|next|up|home|top|contents|index)\W*", re.I)
_ONWARD_LINKS = "a[rel~=prev], a[rel~=previous], a[rel~=next], a[accesskey=p], a[accesskey=n]"
_ONWARD_WORDS = 60
_OPENERS = "[aria-expanded], [aria-controls], [data-bs-target], [data-target], [role=tab]"
_NO_TEXT = frozenset(("nav", "ul", "form", "menu", "input"))
MOST_FOLDS = 1_000
_NO_BOX = "h1, h2, h3, h4, h5, h6, pre, dl, main, article, img[alt*=' ']"


def frames(node: LexborNode) -> bool:
    """Whether an element belongs to the frame of a page: a menu, a banner, a notice about cookies."""
    attributes = node.attributes
    if attributes.get("role") in _FRAME_ROLES:
        return True
    if node.tag == "header":
        return node.css_first("h1") is None and node.css_first("nav, [role=navigation]") is not None
    if node.tag not in ("div", "section", "ul", "ol", "p", "a", "span"):
        return False
    names = [*(attributes.get("class") or "").split(), attributes.get("id") or ""]
    return any(_FRAME_NAMES.fullmatch(name.lower()) for name in names) and node.css_first("h1, main, article") is None


@dataclass
class Folds:
    """What a page unfolds, by `mem_id`: buttons, the parts that they open, and the names of parts that are chosen by a
    tab; and these tabs, which stand apart from what they open."""

    buttons: set[int] = field(default_factory=set)
    parts: set[int] = field(default_factory=set)
    names: dict[int, str] = field(default_factory=dict)
    tabs: set[int] = field(default_factory=set)


def folds(top: LexborNode, shut: Callable[[LexborNode], bool]) -> Folds:
    """What is folded away at first and opened by a button that a reader sees: an answer, the panel of a tab. A reader
    opens it to read on, so it is no hidden text; menus that open in the same way are left out by what they are. `shut`
    tells whether an element by itself is out of sight."""
    known, clear = Folds(), set[int]()
    by_id = {node.attributes.get("id"): node for node in top.css("[id]")}
    for button in top.css(_OPENERS)[:MOST_FOLDS]:
        tab = button.attributes.get("role") == "tab"
        below = None if tab else _below(button)
        part = by_id.get(_opens(button)) or (below if "aria-expanded" in button.attributes else None)
        if part is None or part.tag in _NO_TEXT or frames(part) or _unseen(button, known, shut, clear):
            continue
        if tab:
            known.tabs.add(button.mem_id)
            known.names[part.mem_id] = button.text()
        if shut(part):
            known.parts.add(part.mem_id)
        if not tab and (shut(part) or (below is not None and below.mem_id == part.mem_id)):
            known.buttons.add(button.mem_id)
    return known


def _opens(button: LexborNode) -> str:
    """The id of what a button opens; "" for none."""
    attributes = button.attributes
    target = attributes.get("data-bs-target") or attributes.get("data-target") or attributes.get("href") or ""
    return attributes.get("aria-controls") or (target[1:] if target.startswith("#") else "")


def _below(button: LexborNode) -> LexborNode | None:
    """What follows a button, or the heading that it is all of."""
    alone = button.parent is not None and (button.parent.tag or "") in ("h2", "h3", "h4", "h5", "h6", "dt")
    after = button.parent if alone else button
    sibling = after.next if after is not None else None
    while sibling is not None and not sibling.is_element_node:
        sibling = sibling.next
    return sibling


def _unseen(button: LexborNode, known: Folds, shut: Callable[[LexborNode], bool], clear: set[int]) -> bool:
    """Whether a button is out of sight, and not only folded away with what is around it. `clear`: elements of which it
    is known that they and all around them are in sight."""
    passed, node = set[int](), button
    while node.is_element_node and node.mem_id not in clear:
        if shut(node) and node.mem_id not in known.parts:
            return True
        passed.add(node.mem_id)
        if node.parent is None:
            break
        node = node.parent
    clear |= passed
    return False


def _has_words(node: LexborNode) -> bool:
    """Whether prose follows an element at its level."""
    following = node.next
    while following is not None:
        if following.tag == "p" and len(following.text().split()) > 8:
            return True
        following = following.next
    return False


def points_elsewhere(node: LexborNode, *, nothing_yet: bool) -> bool:
    """Whether a list or a line is the contents of the page, or a menu above everything else: nothing but links."""
    links = node.css("a[href]")
    if len(links) < 2 or _letters(node.text()) != _letters("".join(a.text() for a in links)):
        return False
    local = all((a.attributes.get("href") or "").startswith("#") for a in links)
    marked = node.css_first("[aria-current], .active, .current, .selected") is not None  # where the reader is
    return local or marked or (nothing_yet and _has_words(node))


def label(node: LexborNode) -> str:
    """What a box of notes is called, "Warning", where an element holds nothing else; "" for every other element."""
    own = (node.attributes.get("class") or "").lower()
    if node.tag not in ("p", "h2", "h3", "h4", "h5", "h6") and not (node.tag == "div" and _TITLE.search(own)):
        return ""
    match = _LABEL.fullmatch(node.text())
    around, levels = node.parent, 5
    while match and around is not None and levels:
        names = (around.attributes.get("class") or "").lower()
        if match[1].lower() in names or "admonition" in names:
            return match[1].capitalize()
        around, levels = around.parent, levels - 1
    return ""


def ways_on(page: LexborNode) -> Iterator[LexborNode]:
    """The boxes that only lead to the pages before and after this one."""
    links = page.css(_ONWARD_LINKS) + [link for link in page.css("a[href]") if _ONWARD.fullmatch(link.text())]
    for link in links if len(links) <= 16 else [*links[:8], *links[-8:]]:
        box, around = None, link.parent
        while around is not None and around.tag not in ("body", "html", None) and _only_leads(around):
            box, around = around, around.parent
        if box is not None:
            yield box


def _only_leads(node: LexborNode) -> bool:
    """Whether a box holds links and, in cells, names of pages, and no sentence."""
    if len(node.text(separator=" ").split()) > _ONWARD_WORDS or node.css_first(_NO_BOX) is not None:
        return False
    return not any(_is_prose(piece, node) for piece in node.traverse(include_text=True) if piece.is_text_node)


def _is_prose(piece: LexborNode, box: LexborNode) -> bool:
    text, around = piece.text_content or "", piece.parent
    if _WAYS.fullmatch(text):
        return False
    while _letters(text) and around is not None:
        if around.tag == "a" or (around.tag in ("td", "th") and text.rstrip()[-1:] not in (".", "!", "?")):
            return False
        if around.mem_id == box.mem_id:
            break
        around = around.parent
    return bool(_letters(text))


def _letters(text: str) -> str:
    return "".join(_WORDS.findall(text))
