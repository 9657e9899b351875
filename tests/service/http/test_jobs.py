"""Uploads that wait, end, are cut off or bring down whoever reads them."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.serving import Served, serving
from graph.context import Principal
from graph.service.http.jobs import LIVES, Jobs
from graph.service.ingest_process import _BOOT
from graph.stores.uploads import File, Job
from tests.service.http.test_doors import finished, upload
from tests.support.kept import uploads


def test_a_job_is_cancelled_before_the_next_file(another: Callable[..., Any]) -> None:
    with another() as served, served.client() as client:
        files = [("files", (f"n{n}.txt", f"Note {n} is about pump {n}.".encode())) for n in range(40)]
        job_id = client.post("/v1/documents", files=files).json()["job_id"]
        assert client.delete(f"/v1/jobs/{job_id}").status_code == 200
        job = finished(client, job_id)
        left = [f for f in job["files"] if f["status"] == "cancelled"]
        assert job["state"] == "cancelled" and left
        names = {d["filename"] for d in client.get("/v1/documents").json()["documents"]}
        assert not names & {f["name"] for f in left}
        kept = served.service.agent.deps.stores.uploads
        for n in range(40):
            with pytest.raises(FileNotFoundError), kept.local(job_id, n) as path:
                Path(path).read_bytes()


def test_tenants_take_turns_by_file(another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from graph.knowledge.ingest import Outcome

    read: list[str] = []

    def noted(self: Any, source: Any, go_on: Any) -> Outcome:
        read.append(source.name)
        return Outcome(source.name, "x", "unchanged")

    with another() as served:
        jobs = Jobs(served.service.agent, served.service.metrics)
        monkeypatch.setattr("graph.service.ingest_process.IngestProcess.read", noted)
        for tenant, names in (("U1", "abc"), ("U1", "d"), ("U2", "ef"), ("U3", "g")):
            job_id = jobs.begin()
            for n, name in enumerate(names):
                with jobs.file(job_id, n) as out:
                    out.write(name.encode())
            jobs.accept(job_id, Principal(tenant, "ann", "uploader"), [File(name, 1) for name in names])
        jobs.start()
        deadline = time.monotonic() + 10
        while len(read) < 7 and time.monotonic() < deadline:
            time.sleep(0.01)
        jobs.close()
    assert "".join(read) == "aegbfcd"


def test_a_worker_that_always_has_files_to_read_takes_over_what_others_left(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from graph.knowledge.ingest import Outcome

    read: list[str] = []

    def noted(self: Any, source: Any, go_on: Any) -> Outcome:
        read.append(source.name)
        time.sleep(0.05)
        return Outcome(source.name, "x", "unchanged")

    def begun(tenant: str, names: list[str]) -> Job:
        job = Job(jobs.begin(), tenant, "ann", "queued", "2026-01-01T00:00:00.000Z", [File(name, 1) for name in names])
        for n, name in enumerate(names):
            with jobs.file(job.job_id, n) as out:
                out.write(name.encode())
        return job

    with another() as served:
        jobs, uploads = Jobs(served.service.agent, served.service.metrics), served.service.agent.deps.stores.uploads
        monkeypatch.setattr("graph.service.ingest_process.IngestProcess.read", noted)
        monkeypatch.setattr("graph.service.http.jobs.IDLE_S", 0.3)
        own = begun("U1", [f"own{n}" for n in range(20)])
        jobs.accept(own.job_id, Principal("U1", "ann", "uploader"), own.files)
        jobs.start()
        uploads.save(job := begun("U2", ["left"]))
        monkeypatch.setattr(uploads, "left", lambda: [job])
        deadline = time.monotonic() + 10
        while len(read) < 21 and time.monotonic() < deadline:
            time.sleep(0.01)
        jobs.close()
    assert "left" in read and read.index("left") < 20, read


def test_a_job_is_its_users_of_its_tenant_alone(another: Callable[..., Any]) -> None:
    """Two tenants may have a user of the same name."""
    with another() as served:
        names = [served.service.keys.add(tenant, "ann", "admin")[1] for tenant in ("U1", "U2")]
        with served.client() as one, served.client() as two:
            for client, key in zip((one, two), names, strict=True):
                client.headers["Authorization"] = f"Bearer {key}"
            job_id = upload(one, ("kite.txt", b"The kite pump is red."))["job_id"]
            assert [j["job_id"] for j in one.get("/v1/jobs").json()["jobs"]] == [job_id]
            assert two.get("/v1/jobs").json()["jobs"] == []
            for method in ("GET", "DELETE"):
                assert two.request(method, f"/v1/jobs/{job_id}").status_code == 404


def test_an_accepted_upload_survives_a_restart(another: Callable[..., Any]) -> None:
    with another() as served:
        jobs = served.service.jobs
        jobs.close()  # as a service that is stopped before it came to it
        job_id = jobs.begin()
        with jobs.file(job_id, 0) as out:
            out.write(b"The ibis valve opens at noon.")
        jobs.accept(job_id, Principal("U1", "admin-of-U1", "admin"), [File("ibis.txt", 29)])
    with serving(served.settings) as again, again.client() as client:
        assert "ibis" in client.get("/v1/documents").text or finished(client, job_id)


def test_a_file_that_takes_too_long_is_quarantined_and_the_next_is_read(another: Callable[..., Any]) -> None:
    long = " ".join(f"Valve {n} of the ibis pump is opened by turn {n * 7 % 1009}." for n in range(60_000)).encode()
    with another(ingest_seconds=8) as served, served.client() as client:
        slow, quick = upload(client, ("long.txt", long), ("short.txt", b"The heron pump is blue."))["files"]
        held = [d["doc_id"] for d in client.get("/v1/documents").json()["documents"]]
    assert (slow["status"], quick["status"]) == ("quarantined", "indexed")
    assert "more than 8 s" in slow["reason"] and "Split it" in slow["reason"]
    assert "short" in held and "long" not in held


class Killed:
    """Ends the process that reads as soon as there is one, so many times."""

    def __init__(self, served: Served, times: int) -> None:
        self.reader, self.left = served.service.jobs._ingest_process, times
        self.ended = threading.Event()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        seen: set[int] = set()
        while self.left and not self.ended.is_set():
            child = self.reader._child
            if child is not None and child.pid not in seen:
                seen.add(child.pid)
                self.left -= 1
                os.kill(child.pid, signal.SIGKILL)
            time.sleep(0.005)


@pytest.mark.parametrize(("times", "status"), [(1, "indexed"), (2, "quarantined")])
def test_whoever_reads_may_be_ended_once(another: Callable[..., Any], times: int, status: str) -> None:
    with another() as served, served.client() as client:
        killed = Killed(served, times)
        first, second = upload(client, ("a.txt", b"The kite pump is red."), ("b.txt", b"The tern is white."))["files"]
        killed.ended.set()
        assert killed.left == 0
    assert (first["status"], second["status"]) == (status, "indexed")
    assert first["status"] == "indexed" or "given up" in first["reason"]


def test_a_file_that_ended_all_five_times_is_not_read_again(another: Callable[..., Any]) -> None:
    with another() as served:
        jobs = served.service.jobs
        jobs.close()
        job_id = jobs.begin()
        for n in (0, 1):
            with jobs.file(job_id, n) as out:
                out.write(f"The ibis valve {n} opens at noon.".encode())
        files = [File("ibis.txt", 29, tries=LIVES, status="reading"), File("coot.txt", 29, tries=LIVES - 1)]
        jobs.accept(job_id, Principal("U1", "admin-of-U1", "admin"), files)
    with serving(served.settings) as again, again.client() as client:
        job = finished(client, job_id)
    assert [f["status"] for f in job["files"]] == ["quarantined", "indexed"]
    assert "5 times" in job["files"][0]["reason"]


@pytest.mark.parametrize("boot", [_BOOT, "import time; time.sleep(600)"])
def test_a_stop_while_a_file_is_read_is_not_held_against_it(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, boot: str
) -> None:
    """Nor while the process that is to read it starts."""
    monkeypatch.setattr("graph.service.ingest_process._BOOT", boot)
    long = " ".join(f"Valve {n} of the ibis pump is opened by turn {n * 7 % 1009}." for n in range(20_000)).encode()
    with another() as served, served.client() as client:
        job_id = client.post("/v1/documents", files=[("files", ("ibis.txt", long))]).json()["job_id"]
        deadline = time.monotonic() + 60
        while client.get(f"/v1/jobs/{job_id}").json()["files"][0]["status"] != "reading":
            assert time.monotonic() < deadline
            time.sleep(0.02)
    [file] = json.loads(uploads(served.settings)[job_id])["files"]
    assert (file["status"], file["tries"]) == ("reading", 0)


def test_a_reader_that_does_not_start_is_not_held_against_a_file(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.service.http.jobs.AGAIN_S", 0.01)
    monkeypatch.setattr("graph.service.ingest_process._BOOT", "raise SystemExit(1)")
    with another() as served, served.client() as client:
        sent = client.post("/v1/documents", files={"files": ("a.txt", b"The kite pump is red.")}).json()["job_id"]
        deadline = time.monotonic() + 60
        while not (job := client.get(f"/v1/jobs/{sent}").json())["reason"].startswith("waiting: "):
            assert time.monotonic() < deadline, job
        monkeypatch.undo()
        assert [f["status"] for f in finished(client, sent)["files"]] == ["indexed"]


def test_the_process_that_reads_ends_with_the_service(another: Callable[..., Any]) -> None:
    with another() as served, served.client() as client:
        upload(client, ("a.txt", b"The kite pump is red."))
        child = served.service.jobs._ingest_process._child
        assert child is not None and child.poll() is None
    assert child.wait(10) is not None


def test_uploads_leave_room_for_the_answers_of_others(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with another() as served, served.client() as client:
        monkeypatch.setattr("graph.service.http.documents.free_mb", lambda settings: settings.min_free_mb + 1)
        sent = client.post("/v1/documents", files={"files": ("a.txt", b"The kite pump is red.")})
    assert sent.status_code == 503 and "no room" in sent.text


def test_what_a_tenant_has_waiting_is_bounded_by_its_size(another: Callable[..., Any]) -> None:
    with another(max_upload_mb=1) as served:
        jobs = served.service.jobs
        jobs.close()  # nothing is read: all of it waits
        with served.client() as client:
            send = [
                client.post("/v1/documents", files={"files": ("a.txt", b"a" * 900_000)}).status_code for _ in range(6)
            ]
        with served.client("U2") as other:
            assert other.post("/v1/documents", files={"files": ("a.txt", b"a")}).status_code == 202
    assert send == [202] * 5 + [429]


def test_an_upload_that_begins_with_room_ends_when_others_have_taken_it(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with another() as served, served.client() as client:
        left = iter([100_000.0])
        monkeypatch.setattr("graph.service.http.documents.free_mb", lambda settings: next(left, 0.0))
        sent = client.post("/v1/documents", files={"files": ("a.txt", b"The kite pump is red.")})
        assert uploads(served.settings) == {}
    assert sent.status_code == 503 and "no room" in sent.text


def test_an_end_of_a_job_that_fails_leaves_the_next_one_read(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink
    failed: list[Path] = []

    def once(path: Path, missing_ok: bool = False) -> None:
        if path.name == "0" and path.parent.parent.name == "uploads" and not failed:
            failed.append(path)
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok=missing_ok)

    with another(database_url="") as served, served.client() as client:
        monkeypatch.setattr(Path, "unlink", once)
        assert upload(client, ("a.txt", b"The kite pump is red."))["state"] in ("done", "failed")
        assert upload(client, ("b.txt", b"The tern is white."))["files"][0]["status"] == "indexed"
    assert failed
