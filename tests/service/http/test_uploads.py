"""What an upload tells of each file, and how its files lie on disk."""

import json
import stat
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.service.http.test_doors import finished, upload
from tests.support.kept import uploads

CARD = b"# Contacts\n\nThe keeper of the kiln is reached at 0300-1234567, CNIC 35202-1234567-1.\n"


@pytest.mark.parametrize("field", ["files", "file"])
def test_a_file_comes_in_a_field_of_either_name(u1: httpx.Client, field: str) -> None:
    sent = u1.post("/v1/documents", files=[(field, ("plover.md", b"The plover gate is shut at dusk."))])
    assert sent.status_code == 202, sent.text
    assert finished(u1, sent.json()["job_id"])["files"][0]["status"] in ("indexed", "unchanged")
    assert u1.delete("/v1/documents/plover").status_code == 204


def test_of_two_files_of_one_name_the_second_fails_and_says_so(u1: httpx.Client) -> None:
    job = upload(u1, ("same.md", b"The first avocet."), ("same.md", b"The second avocet."), ("b.md", b"The third."))
    first, second, third = job["files"]
    assert (first["status"], second["status"], third["status"]) == ("indexed", "failed", "indexed")
    assert "same name" in second["reason"]
    assert "first" in u1.get("/v1/documents/same").json()["text"]
    alone = upload(u1, ("same.md", b"The second avocet."))["files"][0]
    assert (alone["status"], alone["replaced"], first["replaced"]) == ("indexed", True, False)
    for doc_id in ("same", "b"):
        u1.delete(f"/v1/documents/{doc_id}")


def test_personal_data_in_a_file_and_in_its_name_is_noticed(another: Callable[..., Any]) -> None:
    with another() as served, served.client() as client:
        accepted = client.post(
            "/v1/documents",
            files=[("files", ("Mobile 0300-1234567.md", CARD)), ("files", ("Mobile 0300-7654321.md", b"No dice."))],
        )
        job = finished(client, accepted.json()["job_id"])
        known = {d["doc_id"]: d for d in client.get("/v1/documents").json()["documents"]}
        kept = uploads(served.settings)[job["job_id"]]
    assert [f["status"] for f in job["files"]] == ["indexed", "indexed"]
    assert len({f["doc_id"] for f in job["files"]}) == 2
    assert [known[f["doc_id"]]["pii"] for f in job["files"]] == [True, False]
    for text in (accepted.text, json.dumps(job), kept, json.dumps(known)):
        assert "1234567" not in text and "7654321" not in text
    assert job["files"][0]["name"] == "Mobile [REDACTED].md"


def test_what_the_home_holds_is_its_owners_alone(another: Callable[..., Any]) -> None:
    with another(database_url="") as served, served.client() as client:
        index = served.settings.home / "index"
        index.chmod(0o755)  # as earlier versions left it
        upload(client, ("knot.md", b"The knot of the rope is a bowline."))
        folders = [p for p in (served.settings.home, *served.settings.home.rglob("*")) if p.is_dir()]
        assert index in folders
        assert [p for p in folders if stat.S_IMODE(p.stat().st_mode) != 0o700] == []


def test_a_new_home_is_its_owners_alone(tmp_path: Any) -> None:
    from evals.serving import serving
    from graph.settings import load

    with serving(load(environ={}, home=tmp_path / "a" / "home", out=tmp_path / "out", artifacts=False)) as served:
        with served.client() as client:
            upload(client, ("knot.md", b"The knot of the rope is a bowline."))
        folders = [p for p in served.settings.home.rglob("*") if p.is_dir()]
        assert {"index", "spaces"} <= {p.name for p in folders}
        assert [p for p in folders if stat.S_IMODE(p.stat().st_mode) != 0o700] == []
