"""What a browser sees: the page at /, its files below /page/, and the routes at /docs. Nothing comes from elsewhere."""

import base64
import hashlib
import html
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, Response

from graph.service.http.observe import CSP
from graph.service.http.problems import Problem

PAGE = Path(__file__).parent / "page"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}
_IMPORT = re.compile(r'^import \{[^}]*\} from "/page/([\w.]+)";\n', re.M)
_METHODS = ("get", "post", "put", "patch", "delete")
_STYLE = "/page/docs.css"
router = APIRouter(include_in_schema=False)


@router.get("/")
def home() -> Response:
    """The page; a line of text where it was not installed."""
    if not (PAGE / "index.html").is_file():
        return PlainTextResponse("Cordon is running. What it understands: /docs\n")
    page, policy = _page()
    return HTMLResponse(page, headers={"Cache-Control": "no-cache", "Content-Security-Policy": policy})


@cache
def _page() -> tuple[str, str]:
    """The page with its style and its script inside, so that a browser asks once; and the policy that runs no other."""
    page, policy = (PAGE / "index.html").read_text(encoding="utf-8"), CSP
    style = (PAGE / "page.css").read_text(encoding="utf-8")
    for link, kind, opening, text in (
        ('<link rel="stylesheet" href="/page/page.css">', "style", "<style>", style),
        ('<script type="module" src="/page/page.js"></script>', "script", '<script type="module">', _joined()),
    ):
        page = page.replace(link, f"{opening}{text}</{kind}>")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        policy = policy.replace(f"{kind}-src 'self'", f"{kind}-src 'self' 'sha256-{digest}'")
    return page, policy


def _joined() -> str:
    """The page's modules as one script, each behind those that it imports.

    No two of them give a name to two things (tests/service/http/test_page.py)."""
    modules: dict[str, str] = {}

    def read(name: str) -> None:
        source = (PAGE / name).read_text(encoding="utf-8")
        for imported in _IMPORT.findall(source):
            if imported not in modules:
                read(imported)
        modules[name] = re.sub(r"^export ", "", _IMPORT.sub("", source), flags=re.M)

    read("page.js")
    return "\n".join(modules.values())


@router.get("/page/{name}")
def file(name: str) -> Response:
    """A file of the page, by its bare name."""
    path = PAGE / name
    known = Path(name).name == name and not name.startswith(".") and len(name) <= 100 and path.suffix in _KINDS
    if not known or not path.is_file():
        raise Problem(404)
    return FileResponse(path, media_type=_KINDS[path.suffix], headers={"Cache-Control": "no-cache"})


@router.get("/docs")
def docs(request: Request) -> HTMLResponse:
    """Every route, from the OpenAPI document, without a script."""
    schema = request.app.openapi()
    rows = [
        f"<tr><td><code>{method.upper()}</code></td><td><code>{html.escape(path)}</code></td>"
        f"<td>{html.escape(_first_line(operation))}</td></tr>"
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method in _METHODS
    ]
    return HTMLResponse(
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Cordon {html.escape(version('cordon'))}</title>"
        f'<meta name=viewport content="width=device-width"><link rel=stylesheet href="{_STYLE}"></head><body><main>'
        f"<h1>Cordon {html.escape(version('cordon'))}</h1>"
        "<p>Every route but the open ones takes <code>Authorization: Bearer cordon_…</code> "
        "(<code>cordon keys add --tenant T</code>). The tenant comes from the key and from nowhere else. "
        'The machine-readable form is <a href="/openapi.json">openapi.json</a>.</p>'
        f"<table><thead><tr><th>Method<th>Path<th>What it does</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        "</main></body></html>"
    )


def _first_line(operation: dict[str, str]) -> str:
    return operation.get("description", operation.get("summary", "")).strip().partition("\n")[0]
