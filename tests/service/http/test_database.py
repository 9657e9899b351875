"""Two services on one database, and a database that goes away under them."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from evals.serving import QUESTIONS, WIDE, serving
from graph.administration.moving import move
from graph.knowledge.embeddings import shared
from graph.settings import load
from graph.stores.embedded import Embedded
from graph.stores.postgres import Postgres
from graph.stores.postgres.migrate import migrate
from tests.support.postgres import OWNER, Server, server


def asked(client: httpx.Client, **more: Any) -> httpx.Response:
    return client.post("/v1/ask", json={"question": QUESTIONS["U1"], **more})


def look(client: httpx.Client, path: str) -> httpx.Response:
    """Without a key, as a probe does."""
    return httpx.get(client.base_url.join(path), timeout=60, trust_env=False)


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _held_up_by_nothing(running: Server, *workers: httpx.Client) -> None:
    """A database that says nothing any more, and does not end its connections either."""
    with running.admin() as admin:
        sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'cordon'"
        silent = [pid for (pid,) in admin.execute(sql)]
    with ThreadPoolExecutor(2) as pool:
        for pid in silent:
            os.kill(pid, signal.SIGSTOP)
        try:
            waiting = [pool.submit(asked, client) for client in workers]
            time.sleep(1)
            assert {look(client, "/livez").status_code for client in workers} == {200}
            assert not any(one.done() for one in waiting)
        finally:
            for pid in silent:
                os.kill(pid, signal.SIGCONT)
        assert {one.result().status_code for one in waiting} == {200}


@pytest.mark.slow
def test_workers_share_it_and_say_when_it_is_away(small: Path, tmp_path: Path) -> None:
    shutil.copytree(small, tmp_path / "home")
    with server() as running:
        url = running.url("prepared")
        migrate(running.url("prepared", OWNER), url)
        one, other = Embedded(tmp_path / "home"), Postgres(url)
        move(one, other, shared().name)
        one.close()
        known = {"artifacts": False, **WIDE, "database_url": url, "database_wait_s": 1, "database_connections": 4}

        def settings(name: str) -> Any:
            return load(environ={}, home=tmp_path / name, out=tmp_path / "out", **known)

        with serving(settings("first")) as first, serving(settings("second")) as second:
            mine = {"Authorization": first.client("U1", "admin").headers["Authorization"]}
            here = first.client("U1", "admin")
            there = httpx.Client(base_url=second.url, headers=mine, timeout=60, trust_env=False)  # the same key
            with here, there, ThreadPoolExecutor(6) as pool:
                same = {"thread_id": "t", "memory": "buffer"}
                replies = list(pool.map(lambda n: asked((here, there)[n % 2], **same), range(6)))
                assert {reply.status_code for reply in replies} == {200}
                turns = there.get("/v1/threads/t").json()
                assert len(turns["turns"]) == 6, turns
                files = [
                    ("files", (f"kiln{n}.md", "# Kiln\n\nThe kestrel kiln is fired on Mondays.\n")) for n in range(3)
                ]
                job = "/v1/jobs/" + here.post("/v1/documents", files=files).json()["job_id"]
                with second.client("U1", "uploader") as other_user, second.client("U2", "admin") as other_tenant:
                    assert [client.get(job).status_code for client in (other_user, other_tenant)] == [404, 404]
                until(lambda: there.get(job).json()["state"] == "done")
                assert there.get("/v1/jobs").json() == here.get("/v1/jobs").json()
                assert there.delete(job).json()["state"] == "done"
                long = [("files", (f"long{n}.md", f"The kestrel kiln {n} is hot. " * 9_000)) for n in range(30)]
                job = "/v1/jobs/" + here.post("/v1/documents", files=long).json()["job_id"]
                assert there.delete(job).json()["state"] in ("queued", "running")
                until(lambda: there.get(job).json()["state"] == "cancelled")
                assert here.get(job).json() == there.get(job).json()
                _held_up_by_nothing(running, here, there)
                running.stop("immediate")
                for client in (here, there):
                    assert asked(client).status_code == 503
                    ready = look(client, "/readyz")
                    assert (ready.status_code, look(client, "/livez").status_code) == (503, 200)
                    assert ready.json()["checks"]["index"] == "database away"
                running.start()
                for client in (here, there):
                    until(lambda client=client: asked(client).status_code == 200)  # type: ignore[misc]
                    until(lambda client=client: look(client, "/readyz").json()["status"] == "ready")  # type: ignore[misc]
        assert other.journal.prove().holds
        other.close()
