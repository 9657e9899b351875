"""CSV and TSV: one row, one sentence."""

import csv
import io
import re

from graph.errors import DocumentError
from graph.knowledge.loaders import table
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import decode

FIELD_LENGTH = 1_000_000  # characters in one cell
DELIMITERS = ",;\t|"
_DECLARED = re.compile(r"\ufeff?\"?sep=([^\w\s\"]|\t)\"?[;,|\t ]*\r?\n", re.IGNORECASE)
SAMPLE = 64 * 1024  # characters looked at to find the delimiter


def read(data: bytes, out: Builder) -> None:
    """Rows are numbered as a spreadsheet program shows them: the header is row 1."""
    text = decode(data)
    csv.field_size_limit(FIELD_LENGTH)
    declared = _DECLARED.match(text)  # a line that Excel reads and does not show, and that counts as a row
    mark = declared[1] if declared else delimiter(text)
    rows = csv.reader(io.StringIO(text[declared.end() :] if declared else text, newline=""), delimiter=mark)
    try:
        for number, sentence in table.sentences(rows):
            out.row(sentence, number + bool(declared))
    except csv.Error as exc:
        raise DocumentError(
            "broken", f"row {rows.line_num} cannot be read as CSV: {exc}", hint="check its quotes"
        ) from exc


def delimiter(text: str) -> str:
    """The mark that divides the first lines into the same number of cells, more than one."""
    lines = [line for line in text[:SAMPLE].splitlines()[:50] if line.strip()]
    if len(text) > SAMPLE and len(lines) > 1:
        lines.pop()
    best, best_score = ",", 0.0
    for mark in DELIMITERS:
        widths = [len(cells) for cells in csv.reader(lines, delimiter=mark) if cells]
        usual = max(set(widths), key=widths.count, default=1)
        score = widths.count(usual) / len(widths) * min(usual, 10) if usual > 1 else 0.0
        if score > best_score:
            best, best_score = mark, score
    return best
