"""A server on loopback that speaks OpenAI's chat-completions wire format, and misbehaves on demand."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Say:
    """One response. `status` other than 200 sends an OpenAI error object; `raw` is sent as it is."""

    content: str | None = ""
    more: dict[str, Any] = field(default_factory=dict)  # further fields of the message: reasoning_content, tool_calls
    error: str = ""  # what an error object says
    status: int = 200
    finish: str | None = "stop"
    usage: dict[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 123, "completion_tokens": 45, "total_tokens": 168}
    )
    raw: bytes | None = None
    kind: str = "application/json"
    location: str = ""
    encoding: str = ""
    stall_s: float = 0  # before anything is sent
    drip_s: float = 0  # between bytes
    cut: bool = False  # half of the body, then the connection ends
    pause_s: float = 0  # between the tokens of a stream
    likely: dict[str, float] | None = None  # first tokens and the logarithms of their probabilities


Script = Callable[[dict[str, Any]], Say]


class Server:
    def __init__(self, script: Script) -> None:
        self.script, self.requests, self.headers = script, [], []  # type: ignore[var-annotated]
        self.stopping = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.headers.append({k.lower(): v for k, v in self.headers.items()})
                say = outer.script(body)
                outer.stopping.wait(say.stall_s)
                try:
                    self.respond(say, body)
                except OSError:
                    self.close_connection = True

            def respond(self, say: Say, body: dict[str, Any]) -> None:
                if body.get("stream") and say.raw is None and say.status == 200:
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.end_headers()
                    for event in _events(say, body):
                        self.wfile.write(event)
                        self.wfile.flush()
                        outer.stopping.wait(say.pause_s)
                    self.close_connection = True
                    return
                data = say.raw if say.raw is not None else json.dumps(_completion(say, body)).encode()
                self.send_response(say.status)
                self.send_header("Content-Type", say.kind)
                self.send_header("Content-Length", str(len(data)))
                for name, value in (("Location", say.location), ("Content-Encoding", say.encoding)):
                    if value:
                        self.send_header(name, value)
                self.end_headers()
                if say.cut:
                    self.wfile.write(data[: len(data) // 2])
                    self.close_connection = True
                elif say.drip_s:
                    for at in range(len(data)):
                        if outer.stopping.is_set():
                            break
                        self.wfile.write(data[at : at + 1])
                        time.sleep(say.drip_s)
                    self.close_connection = True
                else:
                    self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def prompts(self) -> list[str]:
        return ["\n\n".join(str(m["content"]) for m in r["messages"]) for r in self.requests]


def _completion(say: Say, body: dict[str, Any]) -> dict[str, Any]:
    if say.status != 200:
        return {
            "error": {"message": say.error or f"failed with {say.status}", "type": "error", "code": None, "param": None}
        }
    message = {"role": "assistant", "content": say.content, "refusal": None, **say.more}
    top = [{"token": token, "logprob": value, "bytes": None} for token, value in (say.likely or {}).items()]
    told = {"content": [{**top[0], "top_logprobs": top}], "refusal": None} if top else None
    found = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": say.finish, "logprobs": told}],
    }
    return found | ({"usage": say.usage} if say.usage is not None else {})


def _events(say: Say, body: dict[str, Any]) -> Iterator[bytes]:
    """The completion as server-sent events, a few characters each; a cut one ends in the middle without a word."""

    def event(choices: list[dict[str, Any]], **more: Any) -> bytes:
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        return f"data: {json.dumps(chunk | {'choices': choices} | more)}\n\n".encode()

    if say.more:
        yield event([{"index": 0, "delta": {"role": "assistant", **say.more}, "finish_reason": None}])
    text = say.content or ""
    for at in range(0, len(text) // 2 if say.cut else len(text), 7):
        yield event([{"index": 0, "delta": {"role": "assistant", "content": text[at : at + 7]}, "finish_reason": None}])
    if say.cut:
        return
    yield event([{"index": 0, "delta": {}, "finish_reason": say.finish}])
    if say.usage is not None:
        yield event([], usage=say.usage)
    yield b"data: [DONE]\n\n"


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    server = Server(script)
    thread = threading.Thread(target=server._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server._http.shutdown()
        server._http.server_close()
        thread.join(5)
