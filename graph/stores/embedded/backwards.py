"""A file's lines from its end."""

import os
from collections.abc import Iterator

_BLOCK = 8_192


def backwards(file: int, at: int | None = None) -> Iterator[bytes]:
    """The lines that end before a byte, or before the file's end, without their newlines, the last one first. The first
    of all is what stands behind the last newline: nothing, when the lines are whole."""
    at, rest = os.fstat(file).st_size if at is None else at, b""
    while at > 0:
        step = min(max(_BLOCK, len(rest)), at)  # doubled for a line that does not end
        at -= step
        rest, *lines = (os.pread(file, step, at) + rest).split(b"\n")
        yield from reversed(lines)
    yield rest
