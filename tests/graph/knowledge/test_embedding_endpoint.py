"""Embeddings of an OpenAI-compatible server, over the real wire format on loopback."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from graph.agent import Agent
from graph.errors import IndexUnavailable, ModelUnavailable
from graph.settings import Settings


class Server(BaseHTTPRequestHandler):
    """Bag-of-letters vectors: enough for the nearest to be the right one."""

    broken: ClassVar[bool] = False
    asked: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(request)
        data = [
            {
                "object": "embedding",
                "index": at,
                "embedding": [float(text.lower().count(c)) for c in "abcdefghijklmnopqrstuvwxyz"],
            }
            for at, text in enumerate(request["input"])
        ]
        body = json.dumps({"object": "list", "model": request["model"], "data": data[: -1 if self.broken else None]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[str]:
    Server.broken, Server.asked = False, []
    running = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/v1"
    running.shutdown()
    running.server_close()


def settings(home: Path, url: str, **more: Any) -> Settings:
    return Settings(home=home, embeddings="letters", openai_base_url=url, artifacts=False, model_retries=0, **more)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "kiln.md").write_text(
        "# Kiln\n\nThe kiln in room K-4 is fired on Thursdays by Zubair Anwar.\n"
    )
    (tmp_path / "notes" / "tea.md").write_text("# Tea\n\nTea is served at four in the small hall.\n")
    return tmp_path / "notes"


def test_a_question_is_answered_with_vectors_of_the_server(server: str, notes: Path, tmp_path: Path) -> None:
    with Agent(settings(tmp_path / "home", server)) as agent:
        assert [o.status for o in agent.ingest(notes, tenant_id="T1")] == ["indexed", "indexed"]
        reply = agent.ask("On which day is the kiln fired?", tenant_id="T1")
    assert reply["decision"] == "answer"
    assert reply["citations"][0]["doc_id"] == "kiln"
    assert all(isinstance(text, str) for request in Server.asked for text in request["input"])
    assert {request["model"] for request in Server.asked} == {"letters"}


def test_a_server_that_is_down_is_unavailable(server: str, notes: Path, tmp_path: Path) -> None:
    with Agent(settings(tmp_path / "home", server)) as agent:
        agent.ingest(notes, tenant_id="T1")
    with Agent(settings(tmp_path / "home", "http://127.0.0.1:9/v1")) as agent:
        reply = agent.ask("On which day is the kiln fired?", tenant_id="T1")
        assert reply["decision"] == "unavailable"
        assert "letters" in reply["answer"]
        with pytest.raises(ModelUnavailable):
            agent.ingest([notes.parent / "notes" / "tea.md"], tenant_id="T2")


def test_vectors_that_are_missing_are_not_taken(server: str, notes: Path, tmp_path: Path) -> None:
    Server.broken = True
    with Agent(settings(tmp_path / "home", server)) as agent, pytest.raises(ModelUnavailable):
        agent.ingest(notes, tenant_id="T1")


def test_vectors_of_two_models_do_not_mix(server: str, notes: Path, tmp_path: Path) -> None:
    with Agent(settings(tmp_path / "home", server)) as agent:
        agent.ingest(notes, tenant_id="T1")
    with Agent(Settings(home=tmp_path / "home", artifacts=False)) as agent:
        reply = agent.ask("On which day is the kiln fired?", tenant_id="T1")
        assert reply["decision"] == "unavailable"
        with pytest.raises(IndexUnavailable, match="letters"):
            agent.ingest(notes, tenant_id="T1")
