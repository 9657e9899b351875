"""Files made to be hard to read, uploaded by one tenant: what others notice of it, and what becomes of the files."""

import random
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from evals.process import memory_mb, served
from evals.security import Row
from evals.serving import keys_of, small_home

SECONDS = "120"  # for one file
WIDE = {"CORDON_KEY_RATE": "100000", "CORDON_TENANT_RATE": "100000"}  # it is asked often how far it is
MOST_LIVE_S, MOST_OTHER_S, MOST_MB = 0.5, 240.0, 3_000.0
_MB = 2**20


def files() -> dict[str, bytes]:
    """Names to contents, made anew."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 11))) for _ in range(5_000)]
    prose = " ".join(chance.choices(words, k=1_400_000))[: 9 * _MB]
    return {
        "bars.txt": b"|" * 8 * _MB,
        "prose.txt": prose.encode(),
        "bars.md": b"|" * 2 * _MB,
        "table.md": b"|a" * 700 + b"|\n" + b"|-" * 700 + b"|\n" + (b"|" * 700 + b"\n") * (2 * _MB // 701),
        "columns.md": b"|a" * 200_000 + b"|\n" + b"|-" * 200_000 + b"|\n" + b"|b" * 200_000 + b"|\n",
        "brackets.md": b"[" * 2 * _MB,
        "word.txt": b"a" * 8 * _MB,
        "stops.txt": b". " * 4 * _MB,
    }


def measure() -> Iterator[Row]:
    for name, data in files().items():
        yield _upload(name, data)


def _upload(name: str, data: bytes) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        held = keys_of(small_home(Path(folder)))
        keys = {tenant: held.add(tenant, "ann", "uploader")[1] for tenant in ("U1", "U2")}
        held.close()
        with served(Path(folder), {"CORDON_INGEST_SECONDS": SECONDS, **WIDE}) as (url, pid):
            one, two = (
                httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60, trust_env=False)
                for key in keys.values()
            )
            watched = _Watched(url, pid)
            begun = time.monotonic()
            hard = _sent(one, name, data)
            other = _sent(two, "note.txt", b"The tern valve is opened at noon.")
            status = _settled(two, other)
            waited = time.monotonic() - begun
            became = _settled(one, hard)
            took = time.monotonic() - begun
            live, memory = watched.end()
    good = live < MOST_LIVE_S and waited < MOST_OTHER_S and memory < MOST_MB and status.startswith("indexed")
    told = (
        f"/livez within {live:.2f} s, another's note after {waited:.0f} s, {memory:.0f} MB; {became} after {took:.0f} s"
    )
    wanted = f"{MOST_LIVE_S} s, {MOST_OTHER_S:.0f} s, {MOST_MB:.0f} MB, an end"
    return Row(f"{name}, {len(data) / _MB:.1f} MB", told, wanted, good)


class _Watched:
    """The longest wait for /livez and the most memory, until the end."""

    def __init__(self, url: str, pid: int) -> None:
        self.url, self.pid, self.slowest, self.most, self.over = url, pid, 0.0, 0.0, False
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self) -> None:
        with httpx.Client(base_url=self.url, timeout=60, trust_env=False) as client:
            while not self.over:
                begun = time.monotonic()
                client.get("/livez").raise_for_status()
                self.slowest = max(self.slowest, time.monotonic() - begun)
                self.most = max(self.most, memory_mb(self.pid))
                time.sleep(0.05)

    def end(self) -> tuple[float, float]:
        self.over = True
        self.thread.join()
        return self.slowest, self.most


def _sent(client: httpx.Client, name: str, data: bytes) -> str:
    return str(client.post("/v1/documents", files={"files": (name, data)}).raise_for_status().json()["job_id"])


def _settled(client: httpx.Client, job_id: str) -> str:
    until = time.monotonic() + 2 * float(SECONDS)
    while time.monotonic() < until:
        job = client.get(f"/v1/jobs/{job_id}").json()
        if job["state"] in ("done", "failed", "cancelled"):
            file = job["files"][0]
            return f"{file['status']} {file['reason'].partition(':')[0]}".strip()
        time.sleep(0.1)
    return "nothing"
