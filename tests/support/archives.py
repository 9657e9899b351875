"""Zip files for tests."""

import io
import zipfile
from collections.abc import Mapping


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file with these parts, by name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in parts.items():
            out.writestr(name, content)
    return stream.getvalue()
