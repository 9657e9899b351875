"""Pages as documents: fetched with care, turned into Markdown, then ingested like any file."""

import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from graph.context import space_key, space_name
from graph.errors import DocumentError
from graph.files import private_directory
from graph.knowledge.document import to_markdown
from graph.knowledge.fetch import fetch
from graph.knowledge.ingest import Outcome, Source
from graph.knowledge.sandbox import Limits, Parser
from graph.settings import Settings


@contextmanager
def pages(
    urls: Sequence[str], owner: str, settings: Settings, groups: Collection[str] = ()
) -> Iterator[tuple[list[Source], list[Outcome]]]:
    """Sources to ingest for a tenant, or for some of its groups, and the outcomes of addresses that gave none. The
    sources' files are gone afterwards: only the index keeps a page."""
    sources, failed = [], []
    folder = private_directory(settings.home / "pages" / space_key(owner))
    limits = Limits(max_bytes=settings.max_file_mb * 2**20, seconds=settings.parse_seconds)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        with Parser(limits) as parser:
            for url in urls:
                try:
                    page = fetch(url, allow_private=settings.allow_private_urls)
                    name = page_name(page.final_url)
                    path = Path(temporary) / name
                    path.write_text(to_markdown(parser.parse_bytes(page.data, page.filename)), encoding="utf-8")
                    sources.append(Source(path, name, (space_name(owner, groups),), owner, origin=page.final_url))
                except DocumentError as error:
                    failed.append(Outcome(url, "", "failed", f"{error.reason}: {error}"))
        yield sources, failed


def page_name(url: str) -> str:
    """A file name from host and path: en_example_org_wiki_page.md."""
    place = urlsplit(url)
    words = re.findall(r"[a-z0-9]+", f"{place.hostname} {re.sub(r'[.]html?$', '', place.path)} {place.query}".lower())
    return ("_".join(words)[:80] or "page") + ".md"
