"""Documents of no special kind: cut by their blocks, searched by title, section and text, with nothing beside them."""

from graph.knowledge.chunking import Chunk, Count, chunk
from graph.knowledge.document import Document
from graph.knowledge.extensions import Split
from graph.policy.text import structure
from graph.stores.spaces import Space

LOADER = ""


def split(document: Document, count: Count, *, size: int, overlap: int) -> Split:
    chunks = chunk(document, count, size=size, overlap=overlap)
    return Split(chunks, [_searchable(document, part) for part in chunks])


def complete(space: Space, doc_id: str, sha256: str) -> bool:
    return True


def _searchable(document: Document, part: Chunk) -> str:
    """Its text, after title and section unless it begins with them."""
    text = structure.without_marks(document.text[part.start : part.end]).lstrip()
    lead = [t for t in (document.title, part.section) if t and not text.startswith(t)]
    return "\n".join([*dict.fromkeys(lead), text])
