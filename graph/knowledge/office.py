"""Word, Excel, PowerPoint, OpenDocument and RTF files laid out as PDF by LibreOffice, where it is installed.

It runs as a child with a profile of its own that is gone afterwards, reads no other file of its account, has no
network, and runs no macro (graph/knowledge/confinement.py). Where it cannot be confined it is not started.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from graph.errors import DocumentError, Quarantined
from graph.knowledge.confinement import UNCONFINED, command
from graph.knowledge.loaders import EXTENSIONS

CPU_S, WAIT_S = 40, 120  # of processor time for a document; on the clock
MEMORY, MOST_PDF = 2 * 2**30, 128 * 2**20  # bytes: address space; of what it writes
_FILTERS = {  # by extension: what reads it, what writes the PDF
    ".docx": ("MS Word 2007 XML", "writer"),
    ".xlsx": ("Calc MS Excel 2007 XML", "calc"),
    ".pptx": ("Impress MS PowerPoint 2007 XML", "impress"),
    ".rtf": ("Rich Text Format", "writer"),
    ".odt": ("writer8", "writer"),
    ".ods": ("calc8", "calc"),
    ".odp": ("impress8", "impress"),
}
KINDS = {EXTENSIONS[extension].media_type: extension for extension in _FILTERS}  # what is laid out, by media type
# What somebody filled in is drawn, and a speaker's notes are pages.
_EXPORT = {"ExportFormFields": "false", "ExportNotesPages": "true", "ExportBookmarks": "false"}
_TEXT = "Read the text instead."
_AGAIN = 81  # exit status of a first start: it wrote its profile
# Memory that it frees is used again and not given back: half of the time went into that.
_ALLOCATOR = {f"MALLOC_{name}_": str(2**26 if name == "TOP_PAD" else 2**30) for name in (
    "MMAP_THRESHOLD", "TRIM_THRESHOLD", "TOP_PAD",
)}  # fmt: skip
_NEVER = {  # by path of its registry: neither macros nor what a document links to
    "Common/Security/Scripting": {
        "MacroSecurityLevel": "3",
        "DisableMacrosExecution": "true",
        "BlockUntrustedRefererLinks": "true",
    },
    "Writer/Content/Update": {"Link": "2"},
    "Calc/Content/Update": {"Link": "2"},
}


def program(wanted: str) -> Path | None:
    """LibreOffice's own program behind `soffice`: `wanted` names one, "" looks on PATH, "off" is none."""
    if wanted == "off":
        return None
    starter = shutil.which(wanted) if wanted else shutil.which("soffice") or shutil.which("libreoffice")
    binary = Path(starter).resolve().with_name("soffice.bin") if starter else None
    return binary if binary and binary.is_file() else None


def pdf_of(data: bytes, media_type: str, binary: Path, name: str) -> bytes:
    """The file, of one of KINDS, as PDF. Raises Quarantined (timeout, memory, oversize) and DocumentError (broken; and
    unsupported where this machine cannot confine it)."""
    extension = KINDS[media_type]
    reader, writer = _FILTERS[extension]
    with TemporaryDirectory(prefix="cordon-office-") as folder:
        work = Path(folder)
        (work / f"file{extension}").write_bytes(data)
        profile = work / "profile"
        (profile / "user").mkdir(parents=True)
        (profile / "user" / "registrymodifications.xcu").write_text(_registry(), encoding="utf-8")
        options = {option: {"type": "boolean", "value": value} for option, value in _EXPORT.items()}
        argv = [
            str(binary), f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--nologo",
            f"--infilter={reader}", "--convert-to", f"pdf:{writer}_pdf_Export:{json.dumps(options)}",
            "--outdir", folder, str(work / f"file{extension}"),
        ]  # fmt: skip
        status = _ran(argv, work, profile)
        if status == _AGAIN:
            status = _ran(argv, work, profile)
        made = work / "file.pdf"
        if status or not made.is_file():
            raise _failed(status, name)
        return made.read_bytes()


def _ran(argv: list[str], work: Path, profile: Path) -> int:
    """Its exit status; -SIGALRM where it took too long. Nothing of it runs on."""
    child = subprocess.Popen(
        command(argv, writable=work, memory=MEMORY, seconds=CPU_S, file_bytes=MOST_PDF),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": str(work), "TMPDIR": str(work), **_ALLOCATOR},
        cwd=work,
        start_new_session=True,
    )
    try:
        return child.wait(timeout=WAIT_S)
    except subprocess.TimeoutExpired:
        return -signal.SIGALRM
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # and what it may have started
        child.wait()
        # The socket by which a second start would find the first one lies outside of its folder.
        digest = hashlib.md5(profile.as_uri().encode("utf-16-le"), usedforsecurity=False).digest()
        for socket in Path("/tmp").glob("OSL_PIPE_*SingleOfficeIPC_" + "".join(f"{byte:x}" for byte in digest)):
            socket.unlink(missing_ok=True)


def _failed(status: int, name: str) -> DocumentError:
    if status == UNCONFINED:
        return DocumentError("unsupported", "LibreOffice cannot be confined on this machine", hint=_TEXT)
    if status in (-signal.SIGALRM, -signal.SIGXCPU, -signal.SIGKILL):
        return Quarantined("timeout", f"laying out {name!r} took too long", hint=_TEXT)
    if status == -signal.SIGXFSZ:
        return Quarantined("oversize", f"{name!r} has too much on its pages to be drawn", hint=_TEXT)
    return DocumentError("broken", f"LibreOffice could not lay {name!r} out", hint=_TEXT)


def _registry() -> str:
    items = "".join(
        f'<item oor:path="/org.openoffice.Office.{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for path, values in _NEVER.items()
        for name, value in values.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry" '
        'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"{items}</oor:items>"
    )
