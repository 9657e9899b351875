"""Mail messages and saved web pages (EML, MHTML): who wrote to whom, the text, and the attachments that can be read."""

from email import message_from_bytes, policy
from email.message import EmailMessage

from graph.errors import Quarantined
from graph.knowledge.loaders import html, members, text
from graph.knowledge.loaders.build import Builder

HEADERS = ("From", "To", "Cc", "Date")
MOST_PARTS = 500


def read(data: bytes, out: Builder) -> None:
    """Subject and headers, the body, then the attachments. A saved page is its body alone."""
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    if sum(1 for _, part in zip(range(MOST_PARTS + 1), message.walk(), strict=False)) > MOST_PARTS:
        raise Quarantined("oversize", f"the message has more than {MOST_PARTS} parts", hint="save its text alone")
    if subject := str(message["Subject"] or ""):
        out.title = subject
        out.heading(subject, 1)
    saved_page = "Snapshot-Content-Location" in message
    for name in () if saved_page else HEADERS:
        if message[name]:
            out.row(f"{name}: {message[name]}")
    out.table()
    body = message.get_body(("html", "plain") if saved_page else ("plain", "html"))
    if body is not None:
        content = body.get_content()
        if body.get_content_subtype() == "html":
            title = out.title
            html.read(b"\xef\xbb\xbf" + content.encode("utf-8", "replace"), out)  # whatever the page says of itself
            out.title = title or out.title
        else:
            text.read(content.encode("utf-8", "replace"), out)
    for part in () if saved_page else message.iter_attachments():
        name = part.get_filename() or ""
        payload = part.get_payload(decode=True)
        if name and isinstance(payload, bytes):
            members.read(payload, name, out)
