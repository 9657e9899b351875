"""The answer of a run as a file, through HTTP: of one's own runs alone, with what left and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.serving import QUESTIONS, Served
from graph.knowledge.loaders import load


def asked(client: Any, **options: Any) -> dict[str, Any]:
    reply: dict[str, Any] = client.post("/v1/ask", json={"question": QUESTIONS["U1"], **options}).json()
    return reply


def test_an_answer_is_to_be_had_as_pdf_and_as_markdown(served: Served) -> None:
    with served.client() as client:
        reply = asked(client, memory="buffer", thread_id="paper")
        pdf = client.get(f"/v1/runs/{reply['run_id']}/answer.pdf")
        markdown = client.get(f"/v1/runs/{reply['run_id']}/answer.md")
    assert (pdf.headers["content-type"], pdf.headers["cache-control"]) == ("application/pdf", "private, no-store")
    read = " ".join(load(pdf.content, "answer.pdf").text.split())
    for said in (QUESTIONS["U1"], "freezers.md", reply["run_id"]):
        assert said in markdown.text and said in read
    assert "The kestrel freezer holds the whole blood samples." in read


def test_nobody_else_gets_it(served: Served) -> None:
    with served.client() as client, served.client("U1", "member") as colleague, served.client("U2") as other:
        run = asked(client, memory="buffer", thread_id="paper")["run_id"]
        told = [
            one.get(f"/v1/runs/{name}/answer.pdf") for one, name in ((colleague, run), (other, run), (client, "f" * 32))
        ]
    assert {one.status_code for one in told} == {404} and len({one.content for one in told}) == 1


@pytest.mark.parametrize("artifacts", [True, False])
def test_without_memory_it_is_made_of_the_artefacts_or_the_reason_is_told(
    another: Callable[..., Any], artifacts: bool
) -> None:
    with another(artifacts=artifacts) as served, served.client() as client:
        told = client.get(f"/v1/runs/{asked(client)['run_id']}/answer.pdf")
    assert told.status_code == (200 if artifacts else 409)
    assert artifacts or "was not kept" in told.json()["error"]["message"]


def test_nobody_waits_for_the_pdf_and_the_reply_names_what_is_there(another: Callable[..., Any]) -> None:
    with another(artifacts=True) as served, served.client() as client:
        named = set(asked(client)["artifacts"])
    (folder,) = served.settings.out.iterdir()
    assert named - {"dir"} == {path.name for path in folder.iterdir()}
    assert "answer.md" in named and "answer.pdf" not in named


def test_a_conversation_that_is_forgotten_takes_it_along(another: Callable[..., Any]) -> None:
    with another() as served, served.client() as client:
        run = asked(client, memory="buffer", thread_id="gone")["run_id"]
        assert client.get(f"/v1/runs/{run}/answer.md").status_code == 200
        client.delete("/v1/threads/gone")
        assert client.get(f"/v1/runs/{run}/answer.md").status_code == 409


def test_an_answer_that_waits_is_not_told(another: Callable[..., Any]) -> None:
    question = {"question": "Design an assessment about blood samples."}
    with (
        another(review="assessments") as served,
        served.client() as client,
        served.client("U1", "reviewer") as reviewer,
    ):
        run = client.post("/v1/ask", json=question).json()["run_id"]
        waits = client.get(f"/v1/runs/{run}/answer.md").text
        assert "kestrel" not in waits.lower() and "reviewer" in waits
        assert reviewer.get(f"/v1/runs/{run}/answer.md").status_code == 404
        assert reviewer.post(f"/v1/reviews/{run}", json={"decision": "approve"}).status_code == 200
        assert "kestrel" in client.get(f"/v1/runs/{run}/answer.md").text.lower()
