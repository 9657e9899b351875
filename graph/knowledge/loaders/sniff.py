"""What a file is by its first bytes, and whether its name says the same."""

import re

from graph.errors import Quarantined
from graph.knowledge.loaders import archive

# Signatures of formats that are taken for text by no one. Only of those is a wrong name certain.
SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"\x1f\x8b\x08", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"{\\rtf", "rtf"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%!PS", "a PostScript document"),
)
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL
)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
NAMES = {
    "pdf": "a PDF", "docx": "a Word document", "xlsx": "an Excel workbook", "pptx": "PowerPoint slides",
    "odt": "an OpenDocument text", "ods": "an OpenDocument sheet", "odp": "OpenDocument slides", "epub": "an EPUB book",
    "html": "a web page", "text": "text", "zip": "a zip archive", "ole": "an old Office file", "rtf": "an RTF document",
}  # fmt: skip
_ZIPPED = ("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "zip")


def sniff(data: bytes) -> str:
    """ "pdf", "html", "text", "ole", what `archive.kind` tells, or a few words for something else."""
    for signature, kind in SIGNATURES:
        if data.startswith(signature):
            return archive.kind(data) if kind == "zip" else kind
    # A PDF may begin with up to 1,024 other bytes (ISO 32000-1, implementation note 13).
    if b"%PDF-" in data[:1024] and b"\nstartxref" in data[-2048:].replace(b"\r", b"\n"):
        return "pdf"
    start = data[:4096]
    for bom in _BOMS:
        start = start.removeprefix(bom)
    if start[1:2] == b"\0" or start[:1] == b"\0":
        start = start.replace(b"\0", b"")  # UTF-16
    return "html" if _HTML.match(start) else "text"


def check(data: bytes, name: str, expected: str) -> None:
    """Raises Quarantined "mislabelled" when the content is not `expected`, "encrypted" for a locked Office file."""
    actual = sniff(data)
    if actual == expected or (actual == "text" and expected == "html"):
        return
    if actual == "ole" and expected in ("docx", "xlsx", "pptx"):
        # A password turns an Office file into an OLE container with this stream; its name is in UTF-16.
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise Quarantined("encrypted", f"{name!r} is locked with a password", hint="save it without a password")
        raise Quarantined(
            "mislabelled", f"{name!r} is an old Office file (.doc or .xls)", hint="save it as .docx or .xlsx"
        )
    if actual == "text" and expected in ("pdf", "ole", "rtf", *_ZIPPED):
        actual = "something else"
    raise Quarantined(
        "mislabelled",
        f"{name!r} is named as {NAMES.get(expected, expected)} but contains {NAMES.get(actual, actual)}",
        hint="give it the extension of what it is",
    )
