import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from graph.knowledge.loaders import load

CLAUSES = [
    (72, "1.1", ["The treasurer shall send the accounts to the auditors within", "two weeks of the end of the year, and shall tell the", "Board at once when a deficit is likely."]),
    (100, "(a)", ["Members vote in person, or by a proxy whom they name in", "writing before the meeting begins;"]),
    (130, "(i)", ["the proxy holds no more than", "four votes;"]),
    (130, "ii.", ["the proxy signs the list"]),
    (72, "1.2", ["No person shall hold more than four votes at a meeting"]),
    (72, "§ 4", ["Guests may enter when a member is with them and the", "Warden was told."]),
    (72, "Article 3", ["The fee is due on the first day of the year; who pays", "later pays ten crowns more."]),
]  # fmt: skip
READ = """1.1 The treasurer shall send the accounts to the auditors within two weeks of the end of the year, and shall tell \
the Board at once when a deficit is likely.

(a) Members vote in person, or by a proxy whom they name in writing before the meeting begins;
  (i) the proxy holds no more than four votes;
  ii. the proxy signs the list

1.2 No person shall hold more than four votes at a meeting

§ 4 Guests may enter when a member is with them and the Warden was told.

Article 3 The fee is due on the first day of the year; who pays later pays ten crowns more."""


@pytest.mark.parametrize("height", [842, 300])
@pytest.mark.parametrize("spacing", [13, 18, 28])
def test_a_clause_keeps_its_number_and_all_of_its_lines(spacing: float, height: float) -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, height))
    y = height - 60.0
    for x, number, lines in CLAUSES:
        canvas.drawString(x, y, number)
        for line in lines:
            canvas.drawString(x + 60, y, line)
            y -= spacing
            if y < 60:
                canvas.showPage()
                y = height - 60.0
    canvas.save()
    assert load(stream.getvalue(), "a.pdf").text == READ
