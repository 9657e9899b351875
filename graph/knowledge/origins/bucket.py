"""A bucket of S3, or of a server that speaks as S3 does (MinIO, Ceph, R2): `s3://bucket/prefix`.

Endpoint, region and keys come from the environment, under the names that Amazon's own programs read. Without keys
nothing is signed: a public bucket.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from graph.errors import BadInput, CordonError, DocumentError, Unavailable
from graph.knowledge.fetch import reachable
from graph.knowledge.origins import Content, Entry, hidden
from graph.settings import Settings

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_ENDPOINT = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_SIGNS = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
_SECONDS = 10  # to look up a host
_PIECE = 2**20


class Bucket:
    """Raises BadInput for what names no bucket, and where the extra `s3` is missing."""

    whole = True

    def __init__(self, url: str, settings: Settings) -> None:
        parts = urlsplit(url)
        bucket, self._prefix = parts.netloc, unquote(parts.path).strip("/")
        if parts.query or parts.fragment or not _BUCKET.fullmatch(bucket):
            raise BadInput(
                "the address names no bucket.", hint="An example: s3://notes/handbook. Keys come from the environment."
            )
        try:
            from obstore.store import S3Store
        except ImportError as exc:
            raise BadInput("buckets need the extra s3.", hint="pip install 'cordon[s3]'") from exc
        endpoint = next((os.environ[name] for name in _ENDPOINT if os.environ.get(name)), "")
        if endpoint:
            _allowed(endpoint, settings)
        shown = f"s3://{bucket}/{self._prefix}".rstrip("/")
        self.label = shown.rpartition("/")[2]
        self.place = hashlib.sha256(f"{endpoint} {shown}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._shown, self._most = shown, settings.max_file_mb * 2**20
        signs = any(os.environ.get(name) for name in _SIGNS)
        config: Any = {"skip_signature": not signs} | ({"endpoint": endpoint} if endpoint else {})
        self._store: Any = S3Store(
            bucket,
            prefix=self._prefix or None,
            config=config,
            client_options={"timeout": "300s", "connect_timeout": "10s", "allow_http": endpoint.startswith("http:")},
            retry_config={"max_retries": 2},
        )

    def listed(self, known: Mapping[str, str]) -> Iterator[Entry]:
        try:
            for some in self._store.list():
                for meta in some:
                    key = meta["path"]
                    if not hidden(key) and not key.endswith("/"):
                        stamp = f"{meta['e_tag']} {meta['last_modified']:%Y-%m-%dT%H:%M:%S} {meta['size']}"
                        yield Entry(key, stamp, meta["size"], key)
        except _errors() as error:
            raise self._refused(error) from None

    def read(self, entry: Entry, stamp: str) -> Content | None:
        data = bytearray()
        try:
            for piece in self._store.get(entry.key).stream(min_chunk_size=_PIECE):
                data += piece
                if len(data) > self._most:
                    raise DocumentError("oversize", f"it is larger than {self._most // 2**20} MiB")
        except _errors() as error:
            raise _translated(error) from None
        return Content(bytes(data), entry.stamp)

    def _refused(self, error: Exception) -> CordonError:
        """Why listing failed. The library says what a server answered for single files alone, so one is asked for."""
        from obstore.exceptions import GenericError

        if not isinstance(error, GenericError):
            return _translated(error)
        try:
            self._store.head("any")
        except _errors() as why:
            return _translated(why)
        return _translated(error)

    def source(self, entry: Entry) -> str:
        return f"{self._shown}/{entry.key}"

    def close(self) -> None:
        pass


def _allowed(endpoint: str, settings: Settings) -> None:
    """Raises BadInput where keys would go over the net for everybody to read, DocumentError for a host inside."""
    host = (urlsplit(endpoint).hostname or "").lower()
    private = settings.allow_private_urls or host in {one.strip().lower() for one in settings.private_hosts.split(",")}
    if not endpoint.startswith("https://") and not private:
        raise BadInput(f"the bucket's keys would go to {host!r} unencrypted.", hint="Give an https endpoint.")
    if not private:
        reachable(endpoint, seconds=_SECONDS, allow_private=False)


def _errors() -> tuple[type[Exception], ...]:
    from obstore.exceptions import BaseError

    return (BaseError, OSError)


def _translated(error: Exception) -> CordonError:
    """In words of our own: those of the library name the request, and what was signed."""
    from obstore.exceptions import InvalidPathError, PermissionDeniedError, UnauthenticatedError

    if isinstance(error, InvalidPathError):
        return DocumentError("url_type", "a file of the bucket has a name such as a//b or a/../b", hint="rename it")
    if isinstance(error, PermissionDeniedError | UnauthenticatedError):
        return DocumentError("url_status", "the bucket does not let these keys in", hint="check AWS_ACCESS_KEY_ID")
    if isinstance(error, FileNotFoundError):
        return DocumentError("url_status", "there is no such bucket or file", hint="check the address")
    return Unavailable("the bucket cannot be read.", hint="Check AWS_ENDPOINT_URL and AWS_REGION, and try again.")
