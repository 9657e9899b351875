"""EPUB: the chapters of a book in their order, each read as a web page."""

import posixpath
from urllib.parse import unquote

from graph.errors import DocumentError
from graph.knowledge.loaders import html
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import decode
from graph.knowledge.loaders.zipped_xml import Parts

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_OPF = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


def read(data: bytes, out: Builder) -> None:
    """In the order of the spine; without the table of contents."""
    parts = Parts(data)
    root = next(iter(parts.xml("META-INF/container.xml").iter(_CONTAINER)), None)
    if root is None:
        raise DocumentError("broken", "the book names no contents", hint="save it again in the program that made it")
    package = root.get("full-path") or ""
    book = parts.xml(package)
    out.title = next((title.text or "" for title in book.iter(_TITLE)), "")
    files = {
        item.get("id"): posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(item.get("href") or "")))
        for item in book.iter(f"{_OPF}item")
        if item.get("media-type") in ("application/xhtml+xml", "text/html")
        and "nav" not in (item.get("properties") or "")
    }
    order = [files.get(chapter.get("idref")) for chapter in book.iter(f"{_OPF}itemref")]
    chapters = [name for name in order if name in parts.names]
    for name in chapters or sorted(one for one in parts.names if one.endswith((".xhtml", ".html"))):
        html.read_markup(decode(parts.bytes(str(name))), out)
