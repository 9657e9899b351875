"""What of a web page is its frame: menus, banners, notices about cookies, contents, ways back to the top."""

import re

from selectolax.lexbor import LexborNode

# Parts of a page that are no text of its own, by their role and by the words of their class or id.
_FRAME_ROLES = frozenset("navigation banner contentinfo complementary search dialog alertdialog menu menubar".split())
_FRAME_NAMES = re.compile(
    r"(?:site|page|main|global|top|cookie|gdpr|privacy)?[-_]?(?:nav|navbar|navigation|menu|breadcrumbs?|sidebar|footer|"
    r"cookies?|cookie[-_]?(?:banner|notice|consent|bar)|consent|pagination|pager|skip[-_]?(?:link|nav|to[-_]content)|"
    r"toc|table[-_]of[-_]contents|share|social|masthead)"
)
TO_TOP = re.compile(
    r"\W*(?:(?:back|return|go|jump|up) to (?:the )?top(?: of (?:the |this )?page)?|skip to (?:main )?content)\W*", re.I
)


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


def _has_words(node: LexborNode) -> bool:
    """Whether prose follows an element at its level."""
    following = node.next
    while following is not None:
        if following.tag == "p" and len(following.text().split()) > 8:
            return True
        following = following.next
    return False


def points_elsewhere(node: LexborNode, *, nothing_yet: bool) -> bool:
    """Whether a list is the contents of the page, or a menu above everything else: nothing but links."""
    links = node.css("a[href]")
    if len(links) < 2 or "".join(node.text().split()) != "".join("".join(a.text() for a in links).split()):
        return False
    local = all((a.attributes.get("href") or "").startswith("#") for a in links)
    return local or (nothing_yet and _has_words(node))
