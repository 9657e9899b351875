"""One key that asks its longest questions, sixteen at a time: how long another tenant's question waits."""

import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from evals.process import served
from evals.security import Row
from evals.serving import QUESTIONS, keys_of, small_home

AT_ONCE, MOST_S = 16, 6.0
_LONG = ("http://a.b/" + "a/" * 3_990, "a." * 3_990 + "@", "-----BEGIN " * 720)


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        keys = keys_of(small_home(Path(folder)))
        secrets = {tenant: keys.add(tenant, "ann", "member")[1] for tenant in QUESTIONS}
        keys.close()
        with served(Path(folder), {}) as (url, _):
            _ask(url, secrets["U2"], QUESTIONS["U2"])
            for text in _LONG:
                crowd = [
                    threading.Thread(target=_ask, args=[url, secrets["U1"], f"{n} {text}"[:8_000]])
                    for n in range(AT_ONCE)
                ]
                for one in crowd:
                    one.start()
                time.sleep(0.5)
                waited = max(_ask(url, secrets["U2"], QUESTIONS["U2"]) for _ in range(3))
                for one in crowd:
                    one.join()
                told = f"another's question after {waited:.1f} s, the longest of 3"
                yield Row(f"{AT_ONCE} times {text[:12]}… at once", told, f"{MOST_S:g} s", waited < MOST_S)


def _ask(url: str, key: str, question: str) -> float:
    begun = time.monotonic()
    headers = {"Authorization": f"Bearer {key}"}
    httpx.post(f"{url}/v1/ask", headers=headers, json={"question": question}, timeout=180, trust_env=False)
    return time.monotonic() - begun
