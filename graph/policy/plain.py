"""Text of a document or a model as plain text: no link, image or markup of theirs is ever rendered live (I12)."""

import re

_IMAGE = re.compile(r"!\[([^\]]{0,300})\]\([^)\s]{0,2000}[^)]{0,300}\)")
_LINK = re.compile(r"\[([^\]]{1,300})\]\([^)\s]{0,2000}[^)]{0,300}\)")
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,500}>")
_WWW = re.compile(r"\bwww\.(?=\w)", re.I)  # some readers make a link of it without any protocol
_URL = re.compile(r"\b(?:https?|ftp|file|data|javascript|vbscript)\s?:(?=\S)", re.I)
_MARKER = re.compile(r"\[(?:Source\s*)?\d{1,3}\]|\(Source\s*\d{1,3}[\])]", re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def text(value: str) -> str:
    """Images become their caption, links their text, tags nothing; a bare address stays readable but is not a link.
    Forged source markers, control and direction characters go."""
    value = _CONTROL.sub("", value)
    value = _LINK.sub(r"\1", _IMAGE.sub(r"\1", value))
    value = _MARKER.sub("", _TAG.sub("", value))
    value = _URL.sub(lambda m: m.group()[:-1].rstrip() + "[:]", value)
    value = _WWW.sub("www[.]", value)
    return re.sub(r"[ \t]{2,}", " ", value).strip()


def line(value: str) -> str:
    """As `text`, on one line: for a quote, a name or a question that is shown inside Markdown."""
    return " ".join(text(value).split())
