"""Cordon's machine: the state graph and what it stands on. Start reading at build.py."""

import os

# Read by the libraries when they are first imported, so they must stand before any of them is:
# checkpoints hold plain JSON, and nothing may be imported or called while one is loaded.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
# No library may report to its makers (requirement A14).
os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
os.environ.setdefault("LANGGRAPH_CLI_NO_ANALYTICS", "1")
