"""What every reading has in common: its form, and how much of a text is looked at."""

from dataclasses import dataclass

READ = 6_000  # characters of the text that are looked at
PIECES = 12  # encoded stretches that are tried in one text
READABLE = 0.6  # share of letters in common words from which a reading counts


@dataclass(frozen=True)
class View:
    """What text[start:end] says (offsets in the text given), and how it was hidden."""

    text: str
    how: str
    start: int
    end: int
