"""Seals a child process of the tests: Python imports this at start when the folder is on PYTHONPATH."""

import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location("cordon_offline", Path(__file__).with_name("__init__.py"))
assert _spec and _spec.loader
_offline = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_offline)
_sealed = _offline.loopback_only()
_sealed.__enter__()
