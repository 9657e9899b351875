"""Where documents come from that are kept in step. Each origin lists its files, with stamps, and reads them one by one.

A new kind is one module with a class that is an `Origin`, and a line in `opened`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from graph.errors import BadInput, DocumentError
from graph.settings import Settings


@dataclass(frozen=True)
class Entry:
    """A file at its origin. `name` is its path there, divided by `/`. `stamp` is another one when the content is; ""
    where the origin does not say. `size` is in bytes, None where it is not known. `key` is for the origin's `read`."""

    name: str
    stamp: str
    size: int | None
    key: str


@dataclass(frozen=True)
class Content:
    """What is in a file, and a stamp that changes when the file does."""

    data: bytes
    stamp: str


class Origin(Protocol):
    """Errors: BadInput, DocumentError and Unavailable, with words that hold nothing secret."""

    label: str  # what people may call it
    place: str  # Record.folder of what came from it: hexadecimal, the same for every run
    whole: bool  # whether what is not listed is gone

    def listed(self, known: Mapping[str, str]) -> Iterable[Entry]:
        """Every file that is there, hidden ones left out. `known` has the stamps of those that were read before."""

    def read(self, entry: Entry, stamp: str) -> Content | None:
        """What is in a file, at most `max_file_mb`; None where it is as it was when it had this stamp."""

    def source(self, entry: Entry) -> str:
        """Where a file comes from, as it may be shown: without anything secret."""

    def close(self) -> None:
        """Let go of what is open; what was fetched is removed."""


def hidden(name: str) -> bool:
    """Whether a file, or a folder that it is in, is one that is not shown. `..` is not: it is refused, and told."""
    return any(part.startswith(".") and part != ".." for part in name.split("/"))


_SHARES = dict.fromkeys(("webdavs", "davs", "https+webdav"), "https")
_SHARES |= dict.fromkeys(("webdav", "dav", "http+webdav"), "http")


@contextmanager
def opened(address: str, settings: Settings) -> Iterator[Origin]:
    """The origin at a path or an address. Raises BadInput for one that names none."""
    origin = _origin(address, settings)
    try:
        yield origin
    except DocumentError as error:
        if error.reason == "url_forbidden":
            error.hint = "If it is yours, name its host in CORDON_PRIVATE_HOSTS."
        raise
    finally:
        origin.close()


def _origin(address: str, settings: Settings) -> Origin:
    scheme = match[1].lower() if (match := re.match(r"([a-z][a-z0-9+.-]*)://", address, re.I)) else ""
    if not scheme:
        from graph.knowledge.origins.local import Folder

        return Folder(address, settings)
    if scheme in _SHARES:
        from graph.knowledge.origins.webdav import Share

        return Share(_SHARES[scheme] + address[len(scheme) :], settings)
    if scheme == "file" or scheme.startswith("git+"):
        from graph.knowledge.origins.repository import Repository

        return Repository(address.removeprefix("git+"), settings)
    if scheme == "s3":
        from graph.knowledge.origins.bucket import Bucket

        return Bucket(address, settings)
    if scheme in ("http", "https"):
        from graph.knowledge.origins.pages import Pages

        return Pages(address, settings)
    raise BadInput(
        f"{scheme}:// is no address that can be kept in step.",
        hint="Name a folder, webdavs://…, s3://…, git+https://…, or an https address of a sitemap or a feed.",
    )
