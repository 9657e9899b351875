"""Parts of a zip container (PPTX, ODF, EPUB): XML without entities, read within the limits of archive.py."""

import io
import posixpath
import zipfile
from typing import Any

from graph.errors import DocumentError
from graph.knowledge.loaders import archive
from graph.knowledge.loaders.docx_styles import parse

_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


class Parts:
    """Open with the bytes of a file; raises as `archive.check` does, unless the file is `checked` already."""

    def __init__(self, data: bytes, *, checked: bool = False) -> None:
        if not checked:
            archive.check(data)
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self.names = self._zip.namelist()

    def bytes(self, name: str) -> bytes:
        """What is in a part. Raises DocumentError "broken" where it is missing."""
        try:
            return self._zip.read(name)
        except KeyError:
            raise DocumentError(
                "broken", f"its part {name[:80]!r} is missing", hint="open it in its own program and save it again"
            ) from None

    def xml(self, name: str) -> Any:
        """The root element of a part."""
        return parse(self.bytes(name))

    def relations(self, name: str) -> dict[str, str]:
        """Id → part that a part of an Office file refers to, inside the file alone."""
        folder, base = posixpath.split(name)
        relations = posixpath.join(folder, "_rels", f"{base}.rels")
        if relations not in self.names:
            return {}
        return {
            one.get("Id") or "": posixpath.normpath(posixpath.join(folder, one.get("Target") or "")).lstrip("/")
            for one in self.xml(relations).iter(_RELATION)
            if one.get("TargetMode") != "External"
        }
