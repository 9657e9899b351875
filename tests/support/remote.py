"""A client of LangServe for tests."""

from typing import Any

_REMOTES: list[Any] = []


def remote(url: str, key: str) -> Any:
    """A RemoteRunnable, which lives until the process ends. Where the collector removed it, its finalizer would begin a
    thread: if that happens while a pool of threads starts another thread, both wait for one lock for ever."""
    from langserve import RemoteRunnable

    made: Any = RemoteRunnable(f"{url}/agent/", headers={"Authorization": f"Bearer {key}"})
    _REMOTES.append(made)
    return made
