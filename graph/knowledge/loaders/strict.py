"""Office files under names that the libraries do not know: the strict form of ISO/IEC 29500, and Word files with macros
or for templates. The same parts, as they are called in the usual form."""

import io
import re
import zipfile

from graph.knowledge.loaders import archive

_NAME = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+)/")
_MARK = b"http://purl.oclc.org/ooxml/"
_WORD = re.compile(
    rb"application/vnd\.(?:ms-word\.(?:document\.macroEnabled|template\.macroEnabledTemplate)"
    rb"|openxmlformats-officedocument\.wordprocessingml\.template)\.main\+xml"
)
_DOCUMENT = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def usual(data: bytes) -> bytes:
    """The file under the names of the usual form; as it is when it has these. Raises as `archive.check` does."""
    archive.check(data)
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        types = source.read("[Content_Types].xml")
        relations = source.read("_rels/.rels") if "_rels/.rels" in source.namelist() else b""
        if _MARK not in relations and _MARK not in types and not _WORD.search(types):
            return data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:
            for entry in source.infolist():
                part = source.read(entry)
                if entry.filename.lower().endswith((".xml", ".rels")):
                    part = _NAME.sub(rb"http://schemas.openxmlformats.org/\1/2006/", _WORD.sub(_DOCUMENT, part))
                made.writestr(entry.filename, part)
    return out.getvalue()
