"""`cordon serve` and `cordon keys` as an operator runs them: start, refusals to start, keys that come and go, the end."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from evals.serving import CANARIES, QUESTIONS, keys_of
from graph.errors import BadInput
from graph.stores.embedded.home import HomeLock
from graph.stores.embedded.journal import FileJournal
from tests.support.command import Run, cordon, environment
from tests.support.postgres import of_files


@pytest.fixture
def place(small: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(small, tmp_path / "home"))


@contextmanager
def running(home: Path, **settings: Any) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    log = home.parent / "serve.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "graph.service.cli", "serve", "--port", "0"],
            env=environment(home, **settings),
            cwd=home.parent,
            stderr=stderr,
        )
    try:
        deadline = time.monotonic() + 120
        while b'"listening"' not in log.read_bytes() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        found = re.search(r"http://\S+", log.read_text())
        assert found, log.read_text()
        yield found[0], process
    finally:
        process.kill()
        process.wait(10)


def made(home: Path, *arguments: str) -> dict[str, Any]:
    done = cordon("keys", "add", *arguments, "--json", home=home)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_key_made_and_revoked_while_the_service_runs_and_a_stop_under_load_loses_nothing(place: Path) -> None:
    with running(place, key_rate=100_000, tenant_rate=100_000) as (url, process):
        key = made(place, "--tenant", "U1")
        headers = {"Authorization": f"Bearer {key['key']}"}
        asked = {"question": QUESTIONS["U1"]}
        with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=30) as client:
            assert CANARIES["U1"] in client.post("/v1/ask", json=asked).json()["answer"]
            assert cordon("keys", "revoke", key["key_id"], home=place).returncode == 0
            assert client.post("/v1/ask", json=asked).status_code == 401
        second = made(place, "--tenant", "U1", "--role", "admin", "--user", "ann")
        headers = {"Authorization": f"Bearer {second['key']}"}
        told: list[str] = []
        torn: list[str] = []

        def asking(number: int) -> None:
            with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=30) as client:
                while True:
                    try:
                        sent = client.post("/v1/ask", json={**asked, "thread_id": f"t{number}", "memory": "buffer"})
                    except httpx.ConnectError:
                        return
                    except httpx.HTTPError as error:
                        torn.append(repr(error))
                        return
                    if sent.status_code == 503:
                        return
                    told.append(sent.json()["run_id"])

        threads = [threading.Thread(target=asking, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        upload = httpx.post(
            url + "/v1/documents", headers=headers, files={"files": ("ibis.txt", b"The ibis valve.")}, trust_env=False
        )
        assert upload.status_code == 202
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(60)
        assert process.wait(30) == 0
        log = (place.parent / "serve.log").read_text()
    assert told and torn == []
    journal = FileJournal(place / "audit" / "journal.jsonl")
    assert journal.prove().broken is None
    assert set(told) <= {entry["run_id"] for entry in journal.entries("kind", "run")}
    HomeLock(place, 30).acquire().release()
    assert all(json.loads(line) for line in log.splitlines()[1:])
    assert not [word for word in (CANARIES["U1"], "freezer", key["key"], "ann", '"U1"') if word in log]
    with running(place) as (url, _):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            job = httpx.get(f"{url}/v1/jobs/{upload.json()['job_id']}", headers=headers, trust_env=False).json()
            if job["state"] == "done":
                break
            time.sleep(0.1)
        assert job["files"][0]["status"] in ("indexed", "unchanged")


def test_what_keeps_it_from_starting_is_said_in_a_line(place: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = cordon("serve", "--port", port, home=place)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1) and f"port {port}" in done.stderr
    lock = HomeLock(place, 0).acquire()
    done = cordon("serve", "--port", "0", home=place, lock_wait_s=0.1)
    lock.release()
    assert done.returncode == 4 and f"pid {os.getpid()}" in done.stderr and "Traceback" not in done.stderr
    done = cordon("serve", "--host", "0.0.0.0", "--port", "0", home=place)
    assert done.returncode == 2 and "no key" in done.stderr and "cordon keys add" in done.stderr


@of_files
def test_keys_are_kept_as_hashes_in_files_of_their_owner_alone(tmp_path: Path, inside: Run) -> None:
    home = tmp_path / "home"
    key = made(home, "--tenant", "U1", "--role", "uploader")
    secret = key["key"].split("_", 2)[2]
    for path in home.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    listed = inside("keys", "list", "--json", home=home).stdout
    assert secret not in listed and json.loads(listed)[0]["role"] == "uploader"
    assert json.loads(inside("keys", "list", "--tenant", "U2", "--json", home=home).stdout) == []
    assert inside("keys", "revoke", key["key_id"], "--tenant", "U2", home=home).returncode == 2
    assert inside("keys", "add", "--tenant", "public", home=home).returncode == 2
    keys = keys_of(home)
    for tenant, user, role in (("a b", "", "member"), ("U1", "../x", "member"), ("U1", "", "root"), ("", "", "member")):
        with pytest.raises(BadInput):
            keys.add(tenant, user, role)
    keys.close()


@pytest.mark.slow
def test_a_stop_does_not_wait_for_a_long_file_and_the_next_start_takes_it_up_again(place: Path) -> None:
    long = " ".join(f"Valve {n} of the ibis pump is opened by turn {n * 7 % 1009}." for n in range(30_000))
    headers = {"Authorization": f"Bearer {made(place, '--tenant', 'U1', '--role', 'uploader')['key']}"}

    def told(url: str, path: str) -> Any:
        return httpx.get(url + path, headers=headers, trust_env=False, timeout=30).json()

    def reading(url: str, job_id: str) -> bool:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            job = told(url, f"/v1/jobs/{job_id}")
            if job["state"] == "running" and job["files"][0]["status"] == "reading":
                return True
            time.sleep(0.05)
        return False

    with running(place, serve_processes=1) as (url, process):
        sent = httpx.post(
            f"{url}/v1/documents", headers=headers, files={"files": ("ibis.txt", long.encode())}, trust_env=False
        )
        job_id = sent.json()["job_id"]
        assert reading(url, job_id)
        time.sleep(6)  # by now it is being embedded
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0  # 8 s on a machine that does nothing else; reading on would take minutes
    HomeLock(place, 30).acquire().release()
    with running(place, serve_processes=1) as (url, _):
        assert reading(url, job_id)
        assert "ibis" not in [d["doc_id"] for d in told(url, "/v1/documents")["documents"]]


@pytest.mark.slow
def test_a_killed_service_takes_the_process_that_reads_with_it_and_the_upload_is_read_by_the_next(place: Path) -> None:
    long = " ".join(f"Valve {n} of the ibis pump is opened by turn {n * 7 % 1009}." for n in range(1_000))
    headers = {"Authorization": f"Bearer {made(place, '--tenant', 'U1', '--role', 'uploader')['key']}"}
    with running(place) as (url, process):
        file = {"files": ("ibis.txt", long.encode())}
        job = httpx.post(f"{url}/v1/documents", headers=headers, files=file, trust_env=False).json()["job_id"]
        time.sleep(1)
        process.kill()
        process.wait(10)
    HomeLock(place, 10).acquire().release()
    with running(place) as (url, _):
        deadline = time.monotonic() + 60
        while (told := httpx.get(f"{url}/v1/jobs/{job}", headers=headers, trust_env=False).json())["state"] != "done":
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert told["files"][0]["status"] in ("indexed", "unchanged")
