"""Language models behind one interface: clients of OpenAI-compatible servers, what they get and what they reply."""
