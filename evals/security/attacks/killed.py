"""A service that is killed while it reads uploads, again and again: what was acknowledged is read, once, or said."""

import os
import random
import signal
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from evals.process import served
from evals.security import Row
from evals.security.attacks.uploads import WIDE
from evals.serving import keys_of, small_home
from graph.stores.embedded.journal import FileJournal

KILLS = int(os.environ.get("KILLS", "60"))


def measure() -> Iterator[Row]:
    dice = random.Random(11)
    taken: dict[str, str] = {}  # file name to the job that has it
    with tempfile.TemporaryDirectory() as folder:
        home = small_home(Path(folder))
        keys = keys_of(home)
        headers = {"Authorization": f"Bearer {keys.add('U1', 'ann', 'uploader')[1]}"}
        keys.close()
        for kill in range(KILLS):
            try:
                with served(Path(folder), WIDE) as (url, pid):
                    with httpx.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as client:
                        for n in range(2):
                            name = f"note_{kill}_{n}.txt"
                            text = f"The ibis valve {kill} of line {n} opens at noon. " * dice.randint(1, 400)
                            sent = client.post("/v1/documents", files={"files": (name, text.encode())})
                            if sent.status_code == 202:
                                taken[name] = sent.json()["job_id"]
                    time.sleep(dice.uniform(0, 2.5))
                    os.kill(pid, signal.SIGKILL)
            except (httpx.HTTPError, ProcessLookupError):
                continue
        with (
            served(Path(folder), WIDE) as (url, _),
            httpx.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as client,
        ):
            found = {name: _became(client, name, job) for name, job in taken.items()}
            held = [d["doc_id"] for d in client.get("/v1/documents").json()["documents"]]
        broken = FileJournal(home / "audit" / "journal.jsonl").prove().broken
        whole = " ".join({_integrity(path) for path in (home / "index/spaces").glob("*.db")})
    said = {status: list(found.values()).count(status) for status in sorted(set(found.values()))}
    missing = [name for name, status in found.items() if status == "indexed" and Path(name).stem not in held]
    good = not missing and len(held) == len(set(held)) and "lost" not in said and whole == "ok"
    told = f"{len(taken)} acknowledged: {said}; {len(missing)} of them not held; database {whole}; journal {broken}"
    yield Row(f"kill -9 of a service that reads uploads, {KILLS} times", told, "none lost, none twice", good)


def _integrity(path: Path) -> str:
    db = sqlite3.connect(path)
    (said,) = db.execute("PRAGMA integrity_check").fetchone()
    db.close()
    return str(said)


def _became(client: httpx.Client, name: str, job_id: str) -> str:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        job = client.get(f"/v1/jobs/{job_id}").json()
        if job.get("state") in ("done", "failed"):
            status = str(next(f["status"] for f in job["files"] if f["name"] == name))
            return "indexed" if status == "unchanged" else status
        time.sleep(0.1)
    return "lost"
