"""A head start for a single command: what it does not need is not imported, and weights load while Python imports."""

import gc
import importlib.util
import sys
import threading
from types import ModuleType
from typing import Any

from graph.settings import Settings

# Packages that LangGraph and LangChain import for one type or one small module of theirs, and that cost 0.3 s.
# Each is left unexecuted until somebody asks it for a name of its own.
_DEFERRED = ("langgraph_sdk", "langsmith.types")


def start(settings: Settings, *, models: bool = True) -> None:
    """Call once, before the graph is imported. Whatever fails here is reported by its real use. Without `models` each
    is loaded when it is first used: a process that runs no turns may need none."""
    gc.set_threshold(50_000, 50, 50)  # imports allocate much and free nothing: scanning it costs a tenth of the start
    if models and settings.embeddings == "embedded":
        threading.Thread(target=load, args=[settings], name="cordon-warm", daemon=True).start()
    # httpx has a command line, which it imports when it can: pygments, rich and click, for nothing here.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    for name in _DEFERRED:
        _defer(name)


def load(settings: Settings) -> None:
    """The models of a turn. It leaves no thread behind, so that a process may be forked after it."""
    try:
        from graph.knowledge.embeddings import shared

        shared().embed(["warm"])  # the first run of a model takes longer than the next
        from graph.policy.threats import assess, learned

        assess("warm")  # loads the weights and compiles the patterns
        learned.tuned().margins(["warm"])
        if settings.reader == "embedded":
            from graph.extractive import reader

            reader.shared().scores("warm", [("", "warm")])
    except Exception:
        return


class _Deferred(ModuleType):
    """A package whose submodules can be imported at once and whose own code runs when it is asked for a name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        assert self.__spec__ is not None and self.__spec__.loader is not None
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _defer(name: str) -> None:
    spec = importlib.util.find_spec(name) if name not in sys.modules else None
    if spec is not None and name not in sys.modules:
        module = importlib.util.module_from_spec(spec)
        module.__class__ = _Deferred
        sys.modules[name] = module
