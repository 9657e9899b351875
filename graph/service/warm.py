"""A head start for a single command: model weights load on one core while Python imports on the other."""

import gc
import sys
import threading

from graph.settings import Settings


def start(settings: Settings) -> None:
    """Call once, before the graph is imported. Harmless when anything in it fails: the real use then reports it."""
    gc.set_threshold(50_000, 50, 50)  # imports allocate much and free nothing: scanning it costs a tenth of the start
    # httpx has a command line of its own, which it imports when it can: pygments and rich, for nothing here.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    if settings.embeddings == "embedded":
        threading.Thread(target=_load, daemon=True).start()


def _load() -> None:
    try:
        from graph.knowledge.embeddings import shared

        shared().warm()
    except Exception:
        return
