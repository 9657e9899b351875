"""PDFs written object by object, for what no library writes."""


def assembled(objects: list[bytes]) -> bytes:
    """The file with these objects, numbered from 1; the first is the catalog."""
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    return (
        data
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF"
        ).encode()
    )


def stream(body: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%b\nendstream" % (len(body), body)
