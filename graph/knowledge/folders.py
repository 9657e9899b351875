"""Which folder a document came from: two files of one name from two folders, and files that are gone from a folder."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from graph.errors import BadInput
from graph.knowledge.index import Index
from graph.stores.spaces import Record

SAME_FROM = 0.15  # of the three-word runs of the shorter text that also stand in the other: a version of it
_COMPARED = 200_000  # characters of a text that are compared


def is_folder(path: Path) -> bool:
    """Whether there is one; False, too, for a name that no file can have."""
    return os.path.isdir(path)  # noqa: PTH112 (Path.is_dir raises for a name that no file can have)


def digest(folder: Path) -> str:
    """What a document keeps of the folder it came from: no path of the machine stands in the index."""
    return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]


def listed(folder: Path) -> Iterator[Path]:
    """The files below a folder, in order, without hidden ones; links to directories are not followed. Raises BadInput
    for a folder that cannot be listed: what is in it must not be taken for gone."""

    def fail(error: OSError) -> None:
        raise BadInput(f"cannot list {str(error.filename)!r}: {error.strerror}.", hint="Check its permissions.")

    paths = []
    for place, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place) / name for name in names if not name.startswith(".")]
    return (path for path in sorted(paths) if path.is_file())


def versions_of_one(first: str, second: str) -> bool:
    """Whether two texts are versions of the same document rather than two documents of the same name."""
    runs = sorted((_runs(first), _runs(second)), key=len)
    return len(runs[0] & runs[1]) >= SAME_FROM * max(1, len(runs[0]))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text[:_COMPARED].lower())
    return {tuple(words[at : at + 3]) for at in range(max(1, len(words) - 2))}


def left(index: Index, name: str, folder: str, doc_ids: Sequence[str], names: Sequence[str]) -> list[Record]:
    """Documents of the space of this name that came from a folder (its digest) and are not among those in it now."""
    space = index.space(name)
    present, known = {*doc_ids}, {*names}
    return [
        record
        for record in (space.records() if space else ())
        if record.folder == folder and record.doc_id not in present and record.filename not in known
    ]
