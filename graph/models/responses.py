"""A client for model servers that reads no more of a response than an answer can be."""

from collections.abc import Iterator
from typing import Any

import httpx2  # what the openai package speaks HTTP with
from openai import DefaultHttpxClient

MOST_BYTES = 16 * 2**20


class Refused(Exception):
    """A response is no answer that may be read: its text goes on after "the server sent"."""


def client() -> httpx2.Client:
    """With the time limits and connections that the openai package chooses for itself. Close it.

    It follows no redirect: the prompt holds evidence, and goes where the operator said. It takes no packed answer: a
    small one may be a large one.
    """
    headers = {"Accept-Encoding": "identity"}
    return DefaultHttpxClient(follow_redirects=False, headers=headers, event_hooks={"response": [_count]})


def _count(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Refused("a packed answer, which was not asked for")
    response.stream = _Counted(response.stream)


class _Counted(httpx2.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > MOST_BYTES:
                raise Refused(f"more than {MOST_BYTES // 2**20} MB")
            yield piece

    def close(self) -> None:
        self._stream.close()
