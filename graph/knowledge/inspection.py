"""What ingestion notes of a document before it is stored."""

from graph.knowledge.document import Document
from graph.policy import threats
from graph.policy.evidence import withholding
from graph.policy.threats.planted import Margins


def inspect(document: Document, known: Margins) -> list[str]:
    """Flags: planted_instructions, hidden_instructions. `known` as of `planted.find`."""
    flags = []
    if withholding.ranges(document.text, None, known):
        flags.append("planted_instructions")
    hidden = (threats.assess(text, source="document").scores["injection"] for text in document.hidden)
    if any(score >= withholding.WITHHELD_FROM for score in hidden):
        flags.append("hidden_instructions")
    return flags
