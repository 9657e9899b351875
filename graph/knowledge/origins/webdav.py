"""A WebDAV share: Nextcloud, ownCloud, Apache, SharePoint where it lets basic sign-in pass (RFC 4918)."""

from collections.abc import Iterator, Mapping
from posixpath import basename
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from graph.errors import DocumentError
from graph.knowledge.fetch import FetchLimits, Request, fetch
from graph.knowledge.loaders.docx_styles import parse
from graph.knowledge.origins import Content, Entry, hidden
from graph.knowledge.origins.address import parsed
from graph.settings import Settings

_D = "{DAV:}"
_ASK = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getetag/><getlastmodified/><getcontentlength/>'
    b"</prop></propfind>"
)
_LISTING = FetchLimits(max_bytes=32 * 2**20, seconds=120, redirects=0)
_DEEPEST = 64  # folders in each other


class Share:
    """Nobody is followed to another address: a share that answers with a redirect is an error."""

    whole = True

    def __init__(self, url: str, settings: Settings) -> None:
        self._address = parsed(url, settings)
        parts = urlsplit(self._address.url)
        self._host, self._root = f"{parts.scheme}://{parts.netloc}", unquote(parts.path).rstrip("/") + "/"
        self.place = self._address.place
        self.label = basename(self._root.rstrip("/")) or parts.hostname or ""
        self._limits = FetchLimits(max_bytes=settings.max_file_mb * 2**20, seconds=300, redirects=0)

    def listed(self, known: Mapping[str, str]) -> Iterator[Entry]:
        folders, seen = [self._root], {self._root}
        while folders:
            for path, response in self._members(folders.pop()):
                name = path[len(self._root) :]
                if hidden(name):
                    continue
                if response.find(f".//{_D}resourcetype/{_D}collection") is None:
                    yield _entry(name, path, response)
                elif path.rstrip("/") + "/" not in seen and name.count("/") < _DEEPEST and ".." not in name.split("/"):
                    folders.append(path.rstrip("/") + "/")
                    seen.add(folders[-1])

    def _members(self, folder: str) -> Iterator[tuple[str, Any]]:
        """Path and properties of everything in a folder that is below the root."""
        headers = {"Depth": "1", "Content-Type": "application/xml", **self._address.headers}
        request = Request("PROPFIND", headers, _ASK, types=None, private=self._address.private)
        answer = fetch(self._url(folder), limits=_LISTING, request=request)
        try:
            responses = list(parse(answer.data).iter(f"{_D}response"))
        except SyntaxError as error:  # lxml's errors are of this class
            raise DocumentError("url_type", "the address does not answer as a WebDAV share", hint="check it") from error
        if not responses:
            raise DocumentError("url_type", "the address does not answer as a WebDAV share", hint="check it")
        for response in responses:
            path = unquote(urlsplit(response.findtext(f"{_D}href") or "").path)
            if path.startswith(self._root) and path.rstrip("/") != folder.rstrip("/"):
                yield path, response

    def read(self, entry: Entry, stamp: str) -> Content | None:
        request = Request(headers=self._address.headers, types=None, private=self._address.private)
        fetched = fetch(self._url(entry.key), limits=self._limits, request=request)
        return Content(fetched.data, entry.stamp)

    def source(self, entry: Entry) -> str:
        return self._url(entry.key)

    def _url(self, path: str) -> str:
        return self._host + quote(path)

    def close(self) -> None:
        pass


def _entry(name: str, path: str, response: Any) -> Entry:
    texts = (response.findtext(f".//{_D}{part}") for part in ("getetag", "getlastmodified", "getcontentlength"))
    etag, changed, size = (str(text or "").strip() for text in texts)
    stamp = f"{etag} {changed} {size}"[:500] if etag or changed else ""
    return Entry(name, stamp, int(size) if size.isdecimal() and len(size) < 20 else None, path)
