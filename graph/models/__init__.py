"""Language models behind one interface: the embedded answerer, or any OpenAI-compatible server."""
