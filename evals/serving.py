"""A service to try things on: a small home of two tenants, served on a free port of loopback in a thread."""

import asyncio
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from graph.agent import Agent
from graph.context import Role
from graph.deps import Deps, stores
from graph.service.keys import Keys
from graph.settings import Settings, load

# What belongs to whom, each with a word that stands nowhere else.
DOCUMENTS = {
    "U1": {"freezers.md": "# Freezers\n\nThe kestrel freezer holds the whole blood samples. It stands in room 114.\n"},
    "U2": {"antennas.md": "# Antennas\n\nThe osprey antenna is calibrated every second Monday by the radio group.\n"},
    "": {"notebooks.md": "# Notebooks\n\nLaboratory notebooks are kept for fifteen years after the last entry.\n"},
}
CANARIES = {"U1": "kestrel", "U2": "osprey"}
QUESTIONS = {"U1": "Which freezer holds the whole blood samples?", "U2": "When is the antenna calibrated?"}
ROLES: tuple[Role, ...] = ("member", "uploader", "admin", "auditor", "reviewer", "operator")
WIDE: dict[str, Any] = {
    "key_rate": 1_000_000,
    "tenant_rate": 1_000_000,
    "key_concurrency": 1_000,
    "tenant_concurrency": 1_000,
    "serve_queue": 1_000,
}


@dataclass
class Served:
    """`keys` are secrets by tenant and role; `inner` is the FastAPI application."""

    url: str
    inner: Any
    settings: Settings
    keys: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def service(self) -> Any:
        return self.inner.state.service

    def client(self, tenant: str = "U1", role: str = "admin", **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.keys[tenant, role]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False, **options)


def keys_of(home: Path) -> Keys:
    """The keys of a home; close them."""
    return Keys(stores(load(environ={}, home=home)).keys)


def small_home(directory: Path) -> Path:
    """A home with DOCUMENTS in it, closed. Its record begins with whoever uses it."""
    home = directory / "home"
    with Agent(load(environ={}, home=home, out=directory / "out", artifacts=False)) as agent:
        for tenant, files in DOCUMENTS.items():
            for name, text in files.items():
                path = directory / name
                path.write_text(text, encoding="utf-8")
                outcomes = agent.ingest([path], tenant_id=tenant, public=not tenant)
                assert [o.status for o in outcomes] == ["indexed"], outcomes
    shutil.rmtree(home / "audit")
    return home


@contextmanager
def serving(settings: Settings, *, chat: Any = None) -> Iterator[Served]:
    """The service over the settings' home, with a key of every role for both tenants."""
    import uvicorn

    from graph.service.http.app import create_app
    from graph.service.http.run import listen
    from graph.service.http.server import configured

    app, inner = create_app(Agent(deps=Deps(settings, chat, serves=True)))
    service = inner.state.service
    with listen("127.0.0.1", 0) as listening:
        served = Served(f"http://127.0.0.1:{listening.getsockname()[1]}", inner, settings)
        for tenant in QUESTIONS:
            for role in ROLES:
                served.keys[tenant, role] = service.keys.add(tenant, f"{role}-of-{tenant}", role)[1]
        server = uvicorn.Server(configured(app))
        thread = threading.Thread(target=lambda: asyncio.run(server._serve([listening])), daemon=True)
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield served
        finally:
            server.should_exit = True
            thread.join(30)
            service.close()
