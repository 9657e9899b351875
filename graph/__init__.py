"""Cordon's machine: the state graph and what it stands on. Start reading at build.py."""

import os

# Read by the libraries when they are first imported, so they must stand before any of them is:
# checkpoints hold plain JSON, and nothing may be imported or called while one is loaded.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
# No library may report to its makers (requirement A14), whatever the environment says; children inherit it.
os.environ["ANONYMIZED_TELEMETRY"] = "False"  # Chroma
os.environ["LANGGRAPH_CLI_NO_ANALYTICS"] = "1"
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # ONNX Runtime, from 1.29 on: a device id and events in ~/.cache
