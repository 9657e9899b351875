"""Real servers on loopback whose folders are kept in step: WebDAV, Git, plain HTTP; each tells what it was asked."""

import base64
import hashlib
import hmac
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote


@dataclass
class Server:
    """`url` has neither user nor password; `asked` holds method and path of each request, oldest first."""

    url: str
    asked: list[tuple[str, str]] = field(default_factory=list)

    def read(self) -> list[str]:
        """What was fetched since the last time this was asked."""
        found = [path for method, path in self.asked if method == "GET"]
        self.asked.clear()
        return found


@contextmanager
def webdav(folder: Path, user: str, password: str) -> Iterator[Server]:
    from cheroot import wsgi
    from wsgidav.wsgidav_app import WsgiDAVApp

    app = WsgiDAVApp(
        {
            "provider_mapping": {"/dav": str(folder)},
            "simple_dc": {"user_mapping": {"*": {user: {"password": password}}}},
            "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
            "verbose": 0,
            "logging": {"enable": False},
        }
    )
    asked: list[tuple[str, str]] = []

    def noted(environ: dict[str, Any], start: Any) -> Any:
        asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
        return app(environ, start)

    server = wsgi.Server(("127.0.0.1", 0), noted, numthreads=2)
    server.prepare()
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.bind_addr[1]}/dav", asked)
    finally:
        server.stop()
        thread.join()


@contextmanager
def http(folder: Path) -> Iterator[Server]:
    """The files of a folder, by a server that knows If-Modified-Since."""
    asked: list[tuple[str, str]] = []

    class Handler(SimpleHTTPRequestHandler):
        extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".xml": "application/xml"}  # noqa: RUF012

        def do_GET(self) -> None:
            asked.append(("GET", self.path))
            super().do_GET()

        def send_response(self, code: int, message: str | None = None) -> None:
            asked.append((str(code), self.path))
            super().send_response(code, message)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with _listening(partial(Handler, directory=str(folder))) as port:
        yield Server(f"http://127.0.0.1:{port}", asked)


@contextmanager
def git_http(repository: Path, user: str, password: str) -> Iterator[Server]:
    """A repository as Git's own server program gives it (git-http-backend)."""
    signed = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.command, self.path))
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if self.headers["Authorization"] != signed:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            known = {
                "GIT_PROJECT_ROOT": str(repository.parent), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(len(body)),
                "CONTENT_TYPE": self.headers["Content-Type"] or "", "GIT_PROTOCOL": self.headers["Git-Protocol"] or "",
                "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
            }  # fmt: skip
            done = subprocess.run(["git", "http-backend"], input=body, env={**os.environ, **known}, capture_output=True)
            head, _, rest = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(rest)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with _listening(Handler) as port:
        yield Server(f"http://127.0.0.1:{port}/{repository.name}/.git", asked)


@contextmanager
def signed_s3(upstream: str, key: str, secret: str) -> Iterator[Server]:
    """Before a server that speaks S3: lets through what is signed with this key (Signature Version 4), as Amazon does."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.command, unquote(self.path)))
            status, body, headers = 403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>", {}
            if self.headers["Authorization"] == _signature(self, key, secret):
                there = HTTPConnection(upstream)
                sent = {name: value for name, value in self.headers.items() if name.lower() != "authorization"}
                there.request(self.command, self.path, headers=sent)
                answer = there.getresponse()
                status, body, headers = answer.status, answer.read(), dict(answer.getheaders())
                there.close()
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            length = headers.get("Content-Length", len(body)) if self.command == "HEAD" else len(body)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with _listening(Handler) as port:
        yield Server(f"http://127.0.0.1:{port}", asked)


def _signature(handler: BaseHTTPRequestHandler, key: str, secret: str) -> str:
    """The header that a request signed with this key has."""
    given = handler.headers["Authorization"] or ""
    names = re.search(r"SignedHeaders=([a-z0-9;-]+)", given)
    scope = re.search(r"Credential=[^/]+/(\d{8}/[a-z0-9-]+/s3/aws4_request)", given)
    if not names or not scope:
        return "nothing that was sent"
    path, _, query = handler.path.partition("?")
    headers = "".join(f"{name}:{(handler.headers[name] or '').strip()}\n" for name in names[1].split(";"))
    body = handler.headers["x-amz-content-sha256"]
    request = "\n".join([handler.command, path, "&".join(sorted(query.split("&"))), headers, names[1], body])
    digest = hashlib.sha256(request.encode()).hexdigest()
    told = "\n".join(["AWS4-HMAC-SHA256", handler.headers["x-amz-date"], scope[1], digest])
    derived = f"AWS4{secret}".encode()
    for part in (*scope[1].split("/"), told):
        derived = hmac.new(derived, part.encode(), "sha256").digest()
    return f"AWS4-HMAC-SHA256 Credential={key}/{scope[1]}, SignedHeaders={names[1]}, Signature={derived.hex()}"


@contextmanager
def _listening(handler: Any) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
