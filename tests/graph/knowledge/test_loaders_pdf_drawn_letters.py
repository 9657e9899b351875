"""Fonts whose letters are drawings (Type 3), as browsers write fonts of the web into a PDF: the file does not say how high
a line is, and every letter's box has a height of its own."""

from graph.knowledge.loaders import load
from tests.support.raw_pdf import assembled, stream

RISING, FALLING, DIGITS = frozenset("bdfhklt()[]'\""), frozenset("gjpqy,;"), "0123456789"


def _glyph(letter: str) -> bytes:
    top = 700 if letter in RISING or letter.isupper() else 620 if letter in DIGITS else 450
    foot = -200 if letter in FALLING else 0
    return f"500 0 0 {foot} 450 {top} d1 0 {foot} 450 {top - foot} re f".encode()


def drawn(lines: list[tuple[float, float, float, str]], unit: float = 0.001) -> bytes:
    """A PDF of one page with lines of (left, bottom, size, text) in a font that is drawn, its letters `unit` times that."""
    letters = sorted({letter for *_, text in lines for letter in text})
    first = ord("A") - letters.index("e")  # pdfium takes the height of what has the code of "A" for that of all letters
    codes = {letter: code for code, letter in enumerate(letters, first)}
    glyphs = [b"500 0 d0" if letter == " " else _glyph(letter) for letter in letters]
    mapped = "".join(f"<{code:02x}> <{ord(letter):04x}>\n" for letter, code in codes.items())
    unicode = f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(letters)} beginbfchar\n{mapped}endbfchar"
    shown = "\n".join(
        f"BT /F {size} Tf {left} {bottom} Td <{bytes(codes[one] for one in text).hex()}> Tj ET"
        for left, bottom, size, text in lines
    )
    names = " ".join(f"{code} /g{code}" for code in codes.values())
    procedures = " ".join(f"/g{code} {7 - first + code} 0 R" for code in codes.values())
    widths = " ".join("500" for _ in range(256))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        stream(shown.encode()),
        f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 0 0] /FontMatrix [{unit:f} 0 0 {unit:f} 0 0] /FirstChar 0 "
        f"/LastChar 255 /Widths [{widths}] /Encoding << /Type /Encoding /Differences [{names}] >> /CharProcs "
        f"<< {procedures} >> /ToUnicode 6 0 R /Resources << >> >>".encode(),
        stream(f"/CIDInit /ProcSet findresource begin begincmap\n{unicode}\nendcmap end".encode()),
        *map(stream, glyphs),
    ]
    return assembled(objects)


def test_clauses_and_numbers_are_read_whole() -> None:
    page = [
        (70.0, 760.0, 16.0, "CHAPTER 7 - RAVENS"),
        (70.0, 730.0, 12.0, "7.1. Care of the ravens"),
        (100.0, 714.0, 12.0, "7.1.1. Nobody may look after more than two (2) ravens"),
        (145.0, 698.0, 12.0, "on one morning, provided that no more than three"),
        (145.0, 682.0, 12.0, "(3) are ill."),
        (100.0, 666.0, 12.0, "7.1.2. A keeper loses the post:"),
        (145.0, 650.0, 12.0, "a. by a vote; or"),
        (145.0, 634.0, 12.0, "b. when no raven comes at a call"),
        (165.0, 618.0, 12.0, "on seven mornings."),
    ]
    document = load(drawn(page), "bylaw.pdf")
    assert document.text == (
        "# CHAPTER 7 - RAVENS\n\n## 7.1. Care of the ravens\n\n"
        "7.1.1. Nobody may look after more than two (2) ravens on one morning, provided that no more than three (3) are ill."
        "\n\n7.1.2. A keeper loses the post:\n\na. by a vote; or\nb. when no raven comes at a call on seven mornings."
    )


def test_numbered_lines_with_nothing_below_them_are_a_list() -> None:
    lines = ["4.1. Order of business", "4.1.1. Minutes", "4.1.2. Reports", "4.1.3. Other things", "4.2. Speaking"]
    page = [(70.0, 760.0 - 16 * at, 12.0, line) for at, line in enumerate(lines)]
    document = load(drawn([*page, (100.0, 680.0, 12.0, "4.2.1. Nobody speaks twice.")]), "rules.pdf")
    assert document.text == (
        "# 4.1. Order of business\n\n4.1.1. Minutes\n4.1.2. Reports\n4.1.3. Other things\n\n# 4.2. Speaking\n\n4.2.1. Nobody speaks twice."
    )


def test_letters_that_are_drawn_too_small_to_read_are_hidden() -> None:
    tiny = drawn([(70.0, 700.0, 12.0, "Obey the raven."), (70.0, 650.0, 150.0, "Big bird.")], unit=0.00005)
    document = load(tiny, "tiny.pdf")
    assert document.text == "Big bird." and document.hidden == ("Obey the raven.",)


def test_an_item_in_brackets_goes_on_with_a_number_word_alone() -> None:
    page = [
        (70.0, 760.0, 12.0, "Each keeper calls the party"),
        (70.0, 744.0, 12.0, "(1) at noon and"),
        (70.0, 728.0, 12.0, "(2) at six."),
    ]
    assert load(drawn(page), "rules.pdf").text.split("\n") == [
        "Each keeper calls the party",
        "",
        "(1) at noon and",
        "(2) at six.",
    ]
