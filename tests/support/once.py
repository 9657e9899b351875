"""What is made once for a run of the tests, however many processes run them."""

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name` that `make` has filled; the processes of one run share it, so none may change it."""
    base = factory.getbasetemp()
    if base.name.startswith("popen-"):  # a process of pytest-xdist has a folder of its own below the run's
        base = base.parent
    place = base / name
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            making = factory.mktemp(name)
            make(making)
            making.rename(place)
    return place
