"""Files inside a file: of a ZIP archive, and the attachments of a message. Each is read as it would be by itself, below
a heading with its name."""

import io
import zipfile
from pathlib import PurePath

from graph.errors import DocumentError, Quarantined
from graph.knowledge.loaders import archive, normalise
from graph.knowledge.loaders.build import Builder

MOST_MEMBERS = 1_000


def read_zip(data: bytes, out: Builder) -> None:
    """Members in the order of their paths, without hidden ones."""
    archive.check(data)
    with zipfile.ZipFile(io.BytesIO(data)) as files:
        entries = [one for one in files.infolist() if not one.is_dir() and not _unseen(one.filename)]
        if len(entries) > MOST_MEMBERS:
            raise Quarantined("oversize", f"it holds {len(entries):,} files", hint="unpack it and ingest the folder")
        for entry in sorted(entries, key=lambda one: one.filename):
            read(files.read(entry), entry.filename, out)


def read(data: bytes, name: str, out: Builder) -> None:
    """A file that cannot be read is told of in a note; the others are read all the same. One that holds files itself is
    not read: a chain of them has no end."""
    from graph.knowledge.loaders import CONTAINERS, EXTENSIONS, PICTURE
    from graph.knowledge.loaders.sniff import check

    name = normalise.line(name)
    form = EXTENSIONS.get(PurePath(name).suffix.lower())
    if form is None or form.module in (*CONTAINERS, PICTURE):
        out.note(f"{name}: this kind of file is not read{' inside another' if form else ''}")
        return
    try:
        check(data, PurePath(name).name, form.sniffed)
        with out.within(name):
            form.read(data, out)
    except Quarantined as error:
        if error.reason in ("oversize", "memory", "bomb"):
            raise
        out.note(f"{name}: {error.reason}")
    except DocumentError as error:
        out.note(f"{name}: {error.reason}")
    except MemoryError:
        raise
    except Exception:  # the libraries raise anything on a damaged file
        out.note(f"{name}: broken")


def _unseen(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePath(name.replace("\\", "/")).parts)
