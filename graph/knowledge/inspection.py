"""What ingestion notes of a document before it is stored."""

from graph.knowledge.document import Document
from graph.policy import threats
from graph.policy.evidence import withholding


def inspect(document: Document) -> list[str]:
    """Flags: planted_instructions, hidden_instructions."""
    flags = []
    if withholding.ranges(document.text):
        flags.append("planted_instructions")
    hidden = (threats.assess(text, source="document").scores["injection"] for text in document.hidden)
    if any(score >= withholding.WITHHELD_FROM for score in hidden):
        flags.append("hidden_instructions")
    return flags
