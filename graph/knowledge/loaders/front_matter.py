"""What a document says of itself above its text: who owns it, which version it is, when it is to be reviewed."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from graph.errors import DocumentError
from graph.knowledge.loaders import data_files
from graph.knowledge.loaders.title_block import KNOWN, key_of, name_of

# Fields of the program that builds a site, which are no matter of readers: addresses, layout, menus.
_FOR_BUILDERS = re.compile(
    r"(?:(?:short|nav|link|seo|page|hidden|hide|meta|sidebar|display|h1)_)*title(?:_tag)?|sub_?titles?|"
    r"(?:page_)?(?:layout|template|theme|format|render|class|css|js|scripts?|styles?|stylesheets?|palette|colou?rs?)|"
    r"perma_?links?|slugs?|ur[il]s?|.*_ur[il]s?|links?|href|path|files?|pdf|src|canonical.*|redirect.*|alias(?:es)?|"
    r".*nav(?:igation)?(?:_.*)?|.*menus?|.*sidebar.*|parent|(?:grand_)?parent|has_.*|children|breadcrumbs?|"
    r"tags?|keywords?|sort.*|draft|published|publish|toc.*|.*_toc|hid(?:e|den).*|show.*|sticky.*|"
    r"images?|.*_images?|img|thumbnail|cover|banner|icons?|logo|hero|features?|actions|og_.*|twitter.*|seo.*|robots|"
    r"sitemap|search(?:_.*)?|math|mermaid|comments|share|featured|cascade|outputs?|collections?|data_sources?|"
    r"eleventy.*|.*exclude.*|ignore.*|disable.*|enable.*|editable|edit_.*|custom_.*|lang|locale|cssclass(?:es)?|"
    r"output|params|jupyter.*|kernel.*|bibliography|csl|header_includes|geometry|font.*|execute|engine|knit",
    re.IGNORECASE,
)
_RANK = re.compile(r"(?:.*_)?(?:weight|order|position|index|priority|level)", re.IGNORECASE)  # in a menu, if a number
_NAME = re.compile(r"[A-Za-z][\w -]{0,40}")
_ADDRESS = re.compile(r"(?:[a-z]+://|\.{0,2}/)\S*|\S+/\S+\.\w{1,5}", re.IGNORECASE)  # of a page or file
_LAYOUTS = frozenset(
    ("post", "posts", "page", "pages", "docs", "doc", "default", "single", "section", "home", "landing")
)
_LINE = re.compile(r"([A-Za-z][\w -]{0,40}?)[ \t]*[:=][ \t]*(.*)")
_LISTED = re.compile(r"[ \t]*-[ \t]+(.+)")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
MOST_LINES = 200
MOST_VALUES = 30  # of a field
DEEPEST = 3  # levels of values within values


def shown(source: str, *, toml: bool = False) -> Iterator[tuple[str, str]]:
    """Name and value of the fields of YAML or TOML that are for readers, of groups of fields those in them. What has
    another form by mistake, such as a colon in a value, is read line by line."""
    source = "\n".join(source.split("\n")[:MOST_LINES])
    try:
        documents = [tomllib.loads(source)] if toml else data_files.yaml_values(source)
    except (DocumentError, ValueError, RecursionError):
        documents = []
    if documents and isinstance(documents[0], dict):
        yield from _of(documents[0])
    else:
        yield from _line_by_line(source)


def _of(fields: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        key = key_of(str(name))
        if not _for_readers(str(name)):
            continue
        if isinstance(value, dict) and not KNOWN.fullmatch(key):
            yield from _of({one: of for one, of in value.items() if not isinstance(of, dict)})
        elif (text := ", ".join(_flat(value, 0 if KNOWN.fullmatch(key) else DEEPEST))) and not _of_builder(key, text):
            yield name_of(key), text


def _for_readers(name: str) -> bool:
    key = key_of(name)
    return bool(_NAME.fullmatch(name)) and bool(KNOWN.fullmatch(key) or not _FOR_BUILDERS.fullmatch(key))


def _of_builder(key: str, value: str) -> bool:
    """Whether only the value tells that a field is for the program that builds a site: a place in a menu, a layout."""
    return bool(_RANK.fullmatch(key) and value.isdecimal()) or (key == "type" and value in _LAYOUTS)


def _flat(value: Any, depth: int) -> list[str]:
    """The texts in a value, which may be a list or hold names of its own, `DEEPEST` less `depth` levels below it."""
    if isinstance(value, list) and depth == DEEPEST and not any(isinstance(one, dict | list) for one in value):
        depth -= 1  # of plain values
    if isinstance(value, dict | list):
        if depth >= DEEPEST:
            return []
        inner = list(value.values() if isinstance(value, dict) else value)[:MOST_VALUES]
        return [text for one in inner for text in _flat(one, depth + 1)][:MOST_VALUES]
    text = _bare("" if value is None or isinstance(value, bool) else str(value))
    return [text] if text else []


def _line_by_line(source: str) -> Iterator[tuple[str, str]]:
    name, values = "", list[str]()
    for line in [*source.split("\n"), "end: "]:
        field = _LINE.fullmatch(line.rstrip())
        if field is None:
            if (listed := _LISTED.fullmatch(line.rstrip())) and name:
                values.append(_bare(_uncommented(listed[1])))
            elif line.strip() and not line.strip().startswith("#"):
                name = ""  # something nested
            continue
        if name and any(values):
            yield name, ", ".join(filter(None, values))
        name = name_of(key_of(field[1])) if _for_readers(field[1]) else ""
        value = _uncommented(field[2])
        values = [_bare(one) for one in value.strip("[] ").split(",")] if value.startswith("[") else [_bare(value)]


def _uncommented(value: str) -> str:
    return re.sub(r"\s+#\s.*$", "", value.strip())


def _bare(value: str) -> str:
    value = _WIKI_LINK.sub(r"\1", " ".join(value.split()).strip("\"'"))
    empty = value in ("|", ">", "{}", "[]", "null", "~", "true", "false") or _ADDRESS.fullmatch(value)
    return "" if empty or "{{" in value or "{%" in value else value  # nor what a site builder fills in
