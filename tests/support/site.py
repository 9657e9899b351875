"""A server on loopback whose pages are what a test says."""

from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], object]


class Site:
    """A server on loopback whose pages are functions, and which notes what was asked."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.asked: list[tuple[str, str | None]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, self.headers["Host"]))
                with suppress(BrokenPipeError, ConnectionResetError):
                    site.pages[self.path.split("?")[0]](self)

            do_PROPFIND = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def page(self, path: str, body: bytes = b"text", kind: str = "text/html", status: int = 200, **headers: str) -> str:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            if kind:
                handler.send_header("Content-Type", kind)
            for name, value in headers.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(body)

        self.pages[path] = answer
        return self.url + path

    def raw(self, path: str, answer: Answer) -> str:
        self.pages[path] = answer
        return self.url + path
