"""Zip containers (DOCX, XLSX): what they hold, and limits checked before anything is unpacked."""

import io
import re
import zipfile

from graph.errors import DocumentError, Quarantined

MAX_ENTRIES = 5_000
MAX_UNPACKED = 200 * 2**20  # bytes, all entries together
MAX_RATIO = 150  # unpacked to packed; XML of real documents reaches 30
RATIO_FROM = 10 * 2**20  # bytes unpacked; below this any ratio is harmless
# Office files hold no DTD (ECMA-376 part 2, 8.1.4), and only a DTD can define entities that multiply.
_DTD = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_FOLDERS = (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx"))
_MIMETYPES = (
    (b"opendocument.text", "odt"), (b"opendocument.spreadsheet", "ods"), (b"opendocument.presentation", "odp"),
    (b"application/epub+zip", "epub"),
)  # fmt: skip
_PIECE = 2**16


def kind(data: bytes) -> str:
    """ "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub" or "zip", by the main part."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            short = "mimetype" in names and archive.getinfo("mimetype").file_size < 200
            mimetype = archive.read("mimetype")[:100] if short else b""
    except (zipfile.BadZipFile, ValueError, OSError):
        # Cut short: the directory is at the end. The first entries still tell what it was.
        names = {folder for folder, _ in _FOLDERS if folder.encode() in data[:8192]} | {"[Content_Types].xml"}
        mimetype = data[30:130]
    for mark, form in _MIMETYPES:
        if mark in mimetype:
            return form
    if "[Content_Types].xml" in names:
        return next((form for folder, form in _FOLDERS if any(name.startswith(folder) for name in names)), "zip")
    return "zip"


def check(data: bytes) -> None:
    """Reads the directory, then every XML part once, within the limits. Raises Quarantined "bomb" or "encrypted",
    or DocumentError "broken"."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive, len(data))
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as exc:
        raise DocumentError(
            "broken", "the file is cut short or damaged", hint="open it in its own program and save it again"
        ) from exc


def _check(archive: zipfile.ZipFile, packed: int) -> None:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise _bomb(f"it has {len(entries):,} parts")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MAX_UNPACKED:
        raise _bomb(f"it unpacks to {unpacked // 2**20:,} MiB")
    if unpacked > RATIO_FROM and unpacked > MAX_RATIO * packed:
        raise _bomb(f"it unpacks to {unpacked // packed:,} times its size")
    if len({entry.filename for entry in entries}) < len(entries):
        raise DocumentError("broken", "two parts of the file have the same name", hint="save it again")
    if any(entry.flag_bits & 1 for entry in entries):
        raise Quarantined("encrypted", "the file is locked with a password", hint="save it without a password")
    for entry in entries:
        if entry.filename.lower().endswith((".xml", ".rels")):
            _check_part(archive, entry)


def _check_part(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    total, tail = 0, b""
    with archive.open(entry) as part:
        while piece := part.read(_PIECE):
            total += len(piece)
            if total > entry.file_size:
                raise _bomb("a part is larger than it says")
            if _DTD.search(tail + piece):
                raise _bomb("it defines XML entities, which no Office program writes")
            tail = piece[-32:]


def _bomb(what: str) -> Quarantined:
    return Quarantined("bomb", f"refused to unpack: {what}", hint="save the document again from its own program")
