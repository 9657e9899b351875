"""multipart/form-data streamed into the files of a job, counted while it comes in."""

import asyncio
import re
import unicodedata
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath
from typing import BinaryIO

from fastapi import Request
from python_multipart import MultipartParser
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import parse_options_header

from graph.policy import pii
from graph.service.http.problems import Problem
from graph.service.http.slow_client import UPLOAD_S, SlowClientTimeout
from graph.stores.uploads import File

MAX_FILES = 100
MAX_NAME = 150
_BAD = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")
_FIELDS = (b"files", b"file")


class _Receiver:
    """Gets the parser's events; writes each file to what `opened` gives for its number."""

    def __init__(self, opened: Callable[[int], BinaryIO], max_file: int) -> None:
        self.files: list[File] = []
        self.whole = False
        self._opened, self._max_file = opened, max_file
        self._out: BinaryIO | None = None
        self._name = self._value = b""
        self._headers: dict[bytes, bytes] = {}

    def on_part_begin(self) -> None:
        self._headers, self._name, self._value = {}, b"", b""

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]
        self._small()

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._small()

    def on_header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def on_headers_finished(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if kind != b"form-data" or options.get(b"name") not in _FIELDS or b"filename" not in options:
            raise Problem(422, "The form has one kind of field: files named 'files'.")
        if len(self.files) >= MAX_FILES:
            raise Problem(413, f"At most {MAX_FILES} files at a time.")
        number = len(self.files)
        name = safe_name(options[b"filename"].decode("utf-8", "replace"), number)
        file = File(pii.mask(name).text, 0, given=name)
        if any(file.given == other.given for other in self.files):
            file.status, file.reason = "failed", "another file of this upload has the same name: rename one of them."
        self.files.append(file)
        self._out = self._opened(number)

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        assert self._out is not None
        file = self.files[-1]
        file.size += end - start
        if file.size > self._max_file:
            raise Problem(413, f"A file is larger than {self._max_file // 2**20} MB.")
        self._out.write(memoryview(data)[start:end])

    def on_part_end(self) -> None:
        self.close()

    def on_end(self) -> None:
        self.whole = True

    def close(self) -> None:
        out, self._out = self._out, None
        if out is not None:
            out.close()

    def _small(self) -> None:
        if len(self._name) + len(self._value) > 4_096 or len(self._headers) > 16:
            raise Problem(400, "A part of the form has too long a header.")


async def receive(
    request: Request,
    opened: Callable[[int], BinaryIO],
    max_file: int,
    max_total: int,
    patience_s: float = UPLOAD_S,
    *,
    room: Callable[[], bool] = lambda: True,
) -> list[File]:
    """The files of the request, in order. Raises Problem for a form that is broken, empty, too large or too slow, and
    when there is no `room` any more: others may fill the disk at the same time.
    """
    kind, options = parse_options_header(request.headers.get("content-type", "").encode("latin-1"))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 200:
        raise Problem(415, "Send the files as multipart/form-data.")
    too_large = Problem(413, f"An upload is at most {max_total // 2**20:,} MB, all files together.")
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or len(length) > 15 or int(length) > max_total:
        raise too_large
    receiver, size, timeout = _Receiver(opened, max_file), 0, SlowClientTimeout(patience_s)
    names = [n for n in dir(receiver) if n.startswith("on_")]
    try:
        parser = MultipartParser(boundary, {n: getattr(receiver, n) for n in names})  # type: ignore[arg-type]
        stream = aiter(request.stream())
        while (part := await timeout.wait(anext(stream, None))) is not None:
            timeout.earn(len(part))
            size += len(part)
            if size > max_total:
                raise too_large
            if not room():
                raise Problem(503, "There is no room on the disk for uploads now.", headers={"Retry-After": "300"})
            await asyncio.to_thread(parser.write, part)  # the disk may be slow; others wait for the loop
        parser.finalize()
    except MultipartParseError:
        raise Problem(400, "The form cannot be read.") from None
    except OSError:
        raise Problem(503, "The upload could not be stored.") from None
    finally:
        receiver.close()
    if not receiver.whole:
        raise Problem(400, "The form breaks off before its end.")
    if not receiver.files:
        raise Problem(422, "The form has no file.")
    return receiver.files


def safe_name(name: str, number: int) -> str:
    """A file name to show: no directories, no control or bidirectional characters, not hidden, bounded."""
    plain = unicodedata.normalize("NFC", PurePosixPath(PureWindowsPath(name).as_posix()).name)
    plain = "".join(c for c in plain if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
    plain = _BAD.sub("_", plain).strip(" .") or f"file-{number + 1}"
    stem, dot, end = plain.rpartition(".")
    if len(plain) > MAX_NAME and dot and len(end) <= 10:
        return stem[: MAX_NAME - len(end) - 1] + dot + end
    return plain[:MAX_NAME]
