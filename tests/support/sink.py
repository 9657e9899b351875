"""A server on loopback that takes whatever is sent to it, and keeps it. What LangSmith's client asks for it answers."""

import gzip
import json
import threading
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

_NOW = "2026-01-01T00:00:00+00:00"


@dataclass
class Sink:
    url: str = ""
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)  # method, path, body
    datasets: list[dict[str, str]] = field(default_factory=list)
    examples: list[dict[str, str]] = field(default_factory=list)

    def answer(self, method: str, path: str, body: bytes) -> object:
        """A LangSmith project, its data sets and their examples; {} to all else."""
        asked, _, query = path.partition("?")
        if asked.startswith("/sessions"):
            made = {"id": uuid.UUID(int=1), "tenant_id": uuid.UUID(int=2), "name": "made", "reference_dataset_id": None}
            return {key: value and str(value) for key, value in made.items()}
        if method == "GET":
            name = parse_qs(query).get("name", [""])[0]
            lists = {"/datasets": [one for one in self.datasets if one["name"] == name], "/examples": self.examples}
            return lists.get(asked, {})
        if asked == "/datasets":
            told = json.loads(body)
            self.datasets.append({"id": str(uuid.uuid4()), "created_at": _NOW, "name": told["name"]})
            return self.datasets[-1]
        if asked == "/examples/bulk":
            told = json.loads(body)
            self.examples += [{**one, "created_at": _NOW} for one in told]
            return told
        return {}

    @property
    def everything(self) -> bytes:
        return b"\n".join(path.encode() + b" " + body for _, path, body in self.requests)


@contextmanager
def sink(status: int = 200) -> Iterator[Sink]:
    kept = Sink()

    class Handler(BaseHTTPRequestHandler):
        def _take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            elif self.headers.get("Content-Encoding") == "deflate":
                body = zlib.decompress(body)
            kept.requests.append((self.command, self.path, body))
            answer = json.dumps(kept.answer(self.command, self.path, body)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = do_PUT = _take

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
