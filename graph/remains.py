"""What an erasure left: a look into every file, whoever wrote it, for the names of what was erased."""

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

_HEX = re.compile(rb"[0-9a-f-]{32,}")
_BLOCK, _LONGEST = 1 << 22, 64  # bytes read at a time; no name is as long, dashes included


def holding(names: Collection[str], folders: Iterable[Path], *, apart_from: Path | None = None) -> list[Path]:
    """Files below the folders whose path or bytes have one of the names: run ids and the keys of tenants and threads,
    hexadecimal, with or without dashes. Raises OSError when a file cannot be read."""
    wanted = {name.encode() for name in names}
    lengths = {len(name) for name in wanted}
    paths = dict.fromkeys(path for folder in folders for path in sorted(folder.rglob("*")))
    return [
        path
        for path in paths
        if path != apart_from
        and path.is_file()
        and any(window in wanted for text in _texts(path) for window in _windows(text, lengths))
    ]


def _texts(path: Path) -> Iterator[bytes]:
    """The path, then the bytes in blocks that overlap by the length of a name."""
    yield str(path).encode("utf-8", "surrogateescape")
    with path.open("rb") as file:
        last = b""
        while block := file.read(_BLOCK):
            yield last + block
            last = block[-_LONGEST:]


def _windows(text: bytes, lengths: Collection[int]) -> Iterator[bytes]:
    for match in _HEX.finditer(text):
        run = match[0].replace(b"-", b"")
        for length in lengths:
            for at in range(len(run) - length + 1):
                yield run[at : at + length]
