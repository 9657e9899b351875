"""Reading documents of many formats into one form.

A new format is one file with `read(data, out)` and one line in FORMATS. What is refused carries one of these reasons:

    unsupported   files of this extension are not read
    mislabelled   the content is not what the extension says
    empty         no text in it
    encrypted     it needs a password
    scanned       its pages are pictures without a text layer
    oversize      more bytes, text or rows than allowed
    bomb          it unpacks to far more than its size, or is nested absurdly deep
    broken        damaged, or not quite its format
    encoding      bytes that are no text in a file that should be text
    timeout       reading it took too long (from graph/knowledge/sandbox.py)
    memory        reading it took too much memory (likewise)

`load` trusts nothing in the file but runs in the caller's process: use `graph.knowledge.sandbox.parse` for files of
other people.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath

from graph.errors import DocumentError, Quarantined
from graph.knowledge.document import Document
from graph.knowledge.loaders import normalise
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.sniff import check

MAX_TEXT = 10_000_000


@dataclass(frozen=True)
class Format:
    """`sniffed` is what the content must look like: "text", "html", "pdf", "docx" … (see sniff.py)."""

    extensions: tuple[str, ...]
    media_type: str
    sniffed: str
    module: str
    function: str = "read"

    @property
    def read(self) -> Callable[[bytes, Builder], None]:
        """Imported when first used: a text file does not wait for the PDF library."""
        reader: Callable[[bytes, Builder], None] = getattr(import_module(f"{__name__}.{self.module}"), self.function)
        return reader


_OFFICE = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"
FORMATS = (
    Format((".txt", ".text", ".log"), "text/plain", "text", "text"),
    Format((".md", ".markdown", ".qmd", ".rmd"), "text/markdown", "text", "markdown"),
    Format((".html", ".htm"), "text/html", "html", "html"),
    Format((".csv", ".tsv"), "text/csv", "text", "csv"),
    Format((".xlsx", ".xlsm", ".xltx", ".xltm"), f"{_OFFICE}.spreadsheetml.sheet", "xlsx", "xlsx"),
    Format((".xls",), "application/vnd.ms-excel", "ole", "xls"),
    Format((".rtf",), "application/rtf", "rtf", "rtf"),
    Format((".docx", ".docm", ".dotx", ".dotm"), f"{_OFFICE}.wordprocessingml.document", "docx", "docx"),
    Format((".pptx", ".pptm", ".ppsx", ".potx"), f"{_OFFICE}.presentationml.presentation", "pptx", "pptx"),
    Format((".pdf",), "application/pdf", "pdf", "pdf"),
    Format((".odt", ".ott"), f"{_ODF}.text", "odt", "odf"),
    Format((".ods", ".ots"), f"{_ODF}.spreadsheet", "ods", "odf"),
    Format((".odp",), f"{_ODF}.presentation", "odp", "odf"),
    Format((".epub",), "application/epub+zip", "epub", "epub"),
    Format((".eml",), "message/rfc822", "text", "message"),
    Format((".mhtml", ".mht"), "multipart/related", "text", "message"),
    Format((".json", ".jsonl", ".ndjson"), "application/json", "text", "data_files", "read_json"),
    Format((".yaml", ".yml"), "application/yaml", "text", "data_files", "read_yaml"),
    Format((".toml",), "application/toml", "text", "data_files", "read_toml"),
    Format((".xml",), "application/xml", "text", "data_files", "read_xml"),
    Format((".ini", ".cfg", ".conf", ".properties"), "text/plain", "text", "data_files", "read_settings"),
    Format((".rst",), "text/x-rst", "text", "marked_up", "read_rst"),
    Format((".adoc", ".asciidoc"), "text/asciidoc", "text", "marked_up", "read_asciidoc"),
    Format((".org",), "text/org", "text", "marked_up", "read_org"),
    Format((".ipynb",), "application/x-ipynb+json", "text", "notebook"),
    Format((".zip",), "application/zip", "zip", "members", "read_zip"),
    Format((".png",), "image/png", "a PNG image", "picture"),
    Format((".jpg", ".jpeg"), "image/jpeg", "a JPEG image", "picture"),
    Format((".tif", ".tiff"), "image/tiff", "a TIFF image", "picture"),
)
PICTURE = "picture"  # module of formats that need text recognition
CONTAINERS = ("members", "message")  # modules of formats that hold other files
EXTENSIONS = {extension: form for form in FORMATS for extension in form.extensions}
# What to do with files that are not read.
ADVICE = {
    extension: advice
    for extensions, advice in (
        (".doc .wpd .pages .wps", "save it as .docx or PDF"),
        (".xlsb .numbers", "save it as .xlsx or .csv"),
        (".ppt .pps .key", "save it as .pptx or PDF"),
        (".msg .pst .mbox", "save the message as .eml"),
        (
            ".png .jpg .jpeg .tif .tiff",
            "install cordon[ocr], or run text recognition over it and save it as a PDF",
        ),
        (".gif .bmp .webp .heic .djvu", "save it as PNG or JPEG, or run text recognition over it and save it as a PDF"),
        (".7z .rar .gz .tar .tgz .xz .bz2", "unpack it, or pack it as .zip"),
        (".mp3 .wav .m4a .mp4 .mov .avi .mkv .webm", "write down what is said, as text"),
        (".one .vsd .vsdx .pub .dwg .tex", "print it to a PDF"),
    )
    for extension in extensions.split()
}


def load(
    data: bytes,
    filename: str,
    *,
    max_text: int = MAX_TEXT,
    loader: str = "",
    recognised: "dict[int, list[tuple[str, float, float, float, float]]] | None" = None,
) -> Document:
    """The document in `data`. Only the last part of `filename` is used: for its extension, and where the document
    has no title of its own. `max_text` is in characters. `loader` is the full name of a module that reads files of one
    kind in its own way: `read(data, out, form, name)`, where `form` is the module that would read it otherwise.
    `recognised` are lines that text recognition read, by page (graph/knowledge/recognition.py); where it is empty
    and such pages are met, picture.Unrecognised is raised; None: there is no text recognition. Raises DocumentError
    or Quarantined with a reason above."""
    name = normalise.line(PurePath(filename.replace("\\", "/")).name)
    form = EXTENSIONS.get(PurePath(name).suffix.lower())
    if form is None or (form.module == PICTURE and recognised is None):
        advice = ADVICE.get(PurePath(name).suffix.lower(), "save it in one of the kinds that are read")
        raise Quarantined(
            "unsupported",
            f"{name!r} is of a kind that is not read: {advice}. Read are {_kinds(recognised is not None)}",
            hint=advice,
        )
    if not data.strip(b"\0 \t\r\n"):
        raise Quarantined("empty", f"{name!r} is empty", hint="check that it was saved and copied whole")
    check(data, name, form.sniffed)
    out = Builder(max_text=max_text, recognised=recognised)
    try:
        if loader:
            import_module(loader).read(data, out, form.module, name)
        else:
            form.read(data, out)
    except DocumentError:
        raise
    except MemoryError as exc:
        raise Quarantined("memory", f"{name!r} takes too much memory to read", hint="split it") from exc
    except Exception as exc:  # the libraries raise anything on a damaged file
        raise DocumentError(
            "broken",
            f"{name!r} is damaged or not a valid {form.extensions[0][1:].upper()} file ({type(exc).__name__})",
            hint="open it in its own program and save it again",
        ) from exc
    return out.finish(name, form.media_type)


def _kinds(pictures: bool) -> str:
    read = (form for form in FORMATS if pictures or form.module != PICTURE)
    return ", ".join(sorted({form.extensions[0][1:].upper() for form in read}))
