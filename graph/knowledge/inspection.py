"""What ingestion notes of a document before it is stored."""

from graph.knowledge.document import Document
from graph.policy import planted, threats


def inspect(document: Document) -> list[str]:
    """Flags: planted_instructions, hidden_instructions."""
    flags = []
    if planted.ranges(document.text):
        flags.append("planted_instructions")
    hidden = (threats.assess(text, source="document").scores["injection"] for text in document.hidden)
    if any(score >= planted.WITHHELD_FROM for score in hidden):
        flags.append("hidden_instructions")
    return flags
