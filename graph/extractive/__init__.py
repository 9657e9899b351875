"""The embedded answerer: it chooses sentences, lists and sections of the evidence and says nothing of its own."""
