"""Pages as documents: fetched with care, turned into Markdown, kept under home/pages, then ingested like any file."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from graph.errors import DocumentError
from graph.knowledge.document import to_markdown
from graph.knowledge.fetch import fetch
from graph.knowledge.home import private_directory
from graph.knowledge.index import Index
from graph.knowledge.ingest import Outcome, Source
from graph.knowledge.sandbox import Limits, Parser
from graph.settings import Settings


def pages(urls: Sequence[str], owner: str, settings: Settings) -> tuple[list[Source], list[Outcome]]:
    """Sources to ingest, and the outcomes of addresses that gave none."""
    sources, failed = [], []
    folder = private_directory(settings.home / "pages" / Index.key(owner))
    with Parser(Limits(max_bytes=settings.max_file_mb * 2**20, seconds=settings.parse_seconds)) as parser:
        for url in urls:
            try:
                page = fetch(url, allow_private=settings.allow_private_urls)
                name = _name(page.final_url)
                path = folder / name
                path.write_text(to_markdown(parser.parse_bytes(page.data, page.filename)), encoding="utf-8")
                path.chmod(0o600)
                sources.append(Source(path, name, (owner,), owner, origin=page.final_url))
            except DocumentError as error:
                failed.append(Outcome(url, "", "failed", f"{error.reason}: {error}"))
    return sources, failed


def _name(url: str) -> str:
    """A file name from host and path: en_example_org_wiki_page.md."""
    place = urlsplit(url)
    words = re.findall(r"[a-z0-9]+", f"{place.hostname} {re.sub(r'[.]html?$', '', place.path)} {place.query}".lower())
    return ("_".join(words)[:80] or "page") + ".md"
