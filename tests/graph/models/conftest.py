"""A model of these tests: a server that answers by a script."""

import gc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from graph.agent import Agent
from tests.support.openai_server import Server, serving


@pytest.fixture
def talk(opened: Callable[..., Agent]) -> Iterator[Callable[..., tuple[Agent, Server]]]:
    """`talk(script, **settings)`: an agent whose model is the script, and the server that saw the requests."""
    running: list[Any] = []

    def start(script: Any, **values: Any) -> tuple[Agent, Server]:
        manager = serving(script if callable(script) else lambda body: script)
        server = manager.__enter__()
        running.append(manager)
        settings = {"model": "stub", "openai_base_url": server.url, "model_timeout_s": 5, "model_retries": 0, **values}
        return opened(**settings), server

    yield start
    for manager in running:
        manager.__exit__(None, None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
