"""Office files in the strict form of ISO/IEC 29500: the same parts under names that the libraries do not know."""

import io
import re
import zipfile

_NAME = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+)/")
_MARK = b"http://purl.oclc.org/ooxml/"


def transitional(data: bytes) -> bytes:
    """The file under the names of the usual form; as it is when it has these. Call `archive.check` first."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        if _MARK not in source.read("_rels/.rels") and _MARK not in source.read("[Content_Types].xml"):
            return data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:
            for entry in source.infolist():
                part = source.read(entry)
                if entry.filename.lower().endswith((".xml", ".rels")):
                    part = _NAME.sub(rb"http://schemas.openxmlformats.org/\1/2006/", part)
                made.writestr(entry.filename, part)
    return out.getvalue()
