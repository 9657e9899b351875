"""The pages that a sitemap or a feed (RSS, Atom) names. They are fetched as `cordon ingest URL` fetches a page."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from graph.errors import DocumentError
from graph.knowledge.document import to_markdown
from graph.knowledge.fetch import Fetched, FetchLimits, Request, fetch
from graph.knowledge.loaders.docx_styles import parse
from graph.knowledge.origins import Content, Entry
from graph.knowledge.origins.address import parsed, without_secrets
from graph.knowledge.sandbox import Limits, Parser
from graph.knowledge.web import page_name
from graph.settings import Settings

_LISTS = dict.fromkeys(("application/xml", "text/xml", "application/rss+xml", "application/atom+xml"), ".xml")
_MOST_LISTS = 1_000  # sitemaps that one sitemap may name
_LIMITS = FetchLimits(max_bytes=50 * 2**20, seconds=120)  # of a list; a sitemap has at most that


class Pages:
    """What a sitemap does not name any more is gone. A feed names what is new: what it does not name any more stays."""

    def __init__(self, url: str, settings: Settings) -> None:
        self._address, self._settings = parsed(url, settings), settings
        self.place, self.label, self.whole = self._address.place, urlsplit(self._address.url).hostname or "", False
        self._parser = Parser(Limits(max_bytes=settings.max_file_mb * 2**20, seconds=settings.parse_seconds))

    def listed(self, known: Mapping[str, str]) -> Iterator[Entry]:
        stamps = dict(islice(self._named(), self._settings.sync_files + 1))
        names = {url: page_name(without_secrets(url)) for url in stamps}
        often = Counter(names.values())
        for url, stamp in stamps.items():
            name = names[url]
            if often[name] > 1:
                suffix = hashlib.sha256(without_secrets(url).encode("utf-8", "replace")).hexdigest()[:8]
                name = f"{name.removesuffix('.md')}_{suffix}.md"
            yield Entry(name, stamp, None, url)

    def _named(self) -> Iterator[tuple[str, str]]:
        """Address and stamp of each page, "" where the list gives no time."""
        root = self._list(self._address.url)
        kind = str(root.tag).rpartition("}")[2]
        if kind == "urlset":
            self.whole = True
            yield from self._of_sitemap(root)
        elif kind == "sitemapindex":
            self.whole = True
            lists = [url for url in (_text(one, "loc") for one in root) if self._own(url)]
            if len(lists) > _MOST_LISTS:
                raise DocumentError("url_too_large", "the sitemap names too many others", hint="give one of these")
            for url in lists:
                yield from self._of_sitemap(self._list(url))
        elif kind in ("rss", "RDF", "feed"):
            for item in root.iter("{*}item", "{*}entry"):
                link = _text(item, "link") or _href(item)
                url = urljoin(self._address.url, link)
                if link and urlsplit(url).scheme in ("http", "https"):
                    time = next(filter(None, (_text(item, name) for name in ("updated", "pubDate", "date"))), "")
                    yield url, f"time:{time}"[:200] if time else ""
        else:
            raise _no_list()

    def _of_sitemap(self, root: Any) -> Iterator[tuple[str, str]]:
        for one in root:
            if self._own(url := _text(one, "loc")):
                time = _text(one, "lastmod")
                yield url, f"time:{time}"[:200] if time else ""

    def _own(self, url: str) -> bool:
        """A sitemap speaks for its own site alone."""
        return _site(url) == _site(self._address.url)

    def _list(self, url: str) -> Any:
        fetched = self._fetched(url, Request(types=_LISTS), _LIMITS)
        try:
            return parse(fetched.data.removeprefix(b"\xef\xbb\xbf"))
        except SyntaxError as error:  # lxml's errors are of this class
            raise _no_list() from error

    def _fetched(self, url: str, request: Request, limits: FetchLimits) -> Fetched:
        """Signs in, and allows a private host, for the site that was named alone."""
        own = self._own(url)
        if own:
            request = replace(request, headers=self._address.headers, private=self._address.private)
        return fetch(url, limits=limits, allow_private=self._settings.allow_private_urls, request=request)

    def read(self, entry: Entry, stamp: str) -> Content | None:
        limits = FetchLimits(max_bytes=self._settings.max_file_mb * 2**20, seconds=60)
        page = self._fetched(entry.key, Request(stamp=stamp), limits)
        if not page.changed:
            return None
        text = to_markdown(self._parser.parse_bytes(page.data, page.filename))
        return Content(text.encode("utf-8", "replace"), entry.stamp or page.stamp)

    def source(self, entry: Entry) -> str:
        parts = urlsplit(without_secrets(entry.key))
        return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))

    def close(self) -> None:
        self._parser.close()


def _site(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


def _text(element: Any, name: str) -> str:
    return str(element.findtext(f"{{*}}{name}") or "").strip()


def _href(element: Any) -> str:
    links = [link for link in element.iterfind("{*}link") if link.get("rel", "alternate") == "alternate"]
    return str(links[0].get("href") or "") if links else ""


def _no_list() -> DocumentError:
    return DocumentError(
        "url_type",
        "the address leads to no sitemap and no feed",
        hint="give the address of one; `cordon ingest URL` reads a page",
    )
