"""What every test stands on: no network but loopback, no settings of the machine, one home indexed for all."""

import io
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Most of the time of a process that a test starts is compiling what it imports, where nothing keeps the bytecode. It is
# kept here, for this process and for those, from one run of the tests to the next.
sys.dont_write_bytecode, sys.pycache_prefix = False, str(ROOT / "tests" / "__pycache__")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["PYTHONPYCACHEPREFIX"] = str(sys.pycache_prefix)
if str(ROOT) not in sys.path:  # `pytest` and `python -m pytest` alike find tests.support
    sys.path.insert(0, str(ROOT))

from hypothesis import HealthCheck, Phase, settings  # noqa: E402

from graph.agent import Agent  # noqa: E402
from graph.knowledge.manifest import sources  # noqa: E402
from graph.settings import Settings, load  # noqa: E402
from tests.support.command import Run, environment  # noqa: E402
from tests.support.offline import loopback_only  # noqa: E402
from tests.support.once import once  # noqa: E402
from tests.support.postgres import IN_DATABASE, OWNER, Server, server  # noqa: E402
from tests.support.servers import chroma_server  # noqa: E402

# The same examples every time, and none shrunk: one run through the graph takes a third of a second.
settings.register_profile(
    "cordon",
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("cordon")

CORPUS = ROOT / "corpus"
_FOREIGN = ("CORDON_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_")


@pytest.fixture(scope="session", autouse=True)
def _sealed() -> Iterator[None]:
    """Only loopback can be reached, and no variable of this machine changes a setting."""
    for name in [n for n in os.environ if n.startswith(_FOREIGN)]:
        del os.environ[name]
    with loopback_only():
        yield


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the shipped corpus in it. Closed: copy it, do not open it."""

    def make(place: Path) -> None:
        with Agent(load(environ={}, home=place / "home", artifacts=False)) as agent:
            outcomes = agent.ingest_sources(sources(CORPUS / "manifest.csv", CORPUS / "tenant_acl.csv"))
        assert {o.status for o in outcomes} == {"indexed"}, [o for o in outcomes if o.status != "indexed"]
        shutil.rmtree(place / "home" / "audit")  # the record begins with the test

    return once(tmp_path_factory, "pristine", make) / "home"


@pytest.fixture(scope="session")
def database_of(request: pytest.FixtureRequest) -> Callable[..., dict[str, Any]]:
    """With CORDON_TEST_DATABASE=1 the settings by which what a home holds lies in PostgreSQL instead, in a database of
    its own, moved there when it is first asked for; a copy of that of the home `like`, if one is given, which nobody may
    have open. Else none: everything lies in the home."""
    if not IN_DATABASE:
        return lambda home, like=None: {}
    running: Server = request.getfixturevalue("postgres")
    moved, known = dict[object, str](), dict[Path, str]()  # names of databases

    def of(home: Path, like: Path | None = None) -> dict[str, Any]:
        if like is not None:
            known[home] = running.database(like=known[like])
        if home not in known:
            held = tuple((path.name, path.stat().st_size) for path in sorted((home / "index").rglob("*.db")))
            if held not in moved:
                moved[held] = running.database(like="prepared")
                if held:
                    one, other = Embedded(home), Postgres(running.url(moved[held]))
                    move(one, other, shared().name)
                    one.close()
                    other.close()
            known[home] = running.database(like=moved[held])
        return {"database_url": running.url(known[home])}

    from graph.administration.moving import move
    from graph.knowledge.embeddings import shared
    from graph.stores.embedded import Embedded
    from graph.stores.postgres import Postgres

    return of


@pytest.fixture(scope="session")
def agent(
    pristine: Path, tmp_path_factory: pytest.TempPathFactory, database_of: Callable[..., dict[str, Any]]
) -> Iterator[Agent]:
    """The embedded model over the shipped corpus, shared: ask, with threads of your own, and change no document."""
    base = tmp_path_factory.mktemp("shared")
    shutil.copytree(pristine, base / "home")
    known = database_of(base / "home")
    with Agent(load(environ={}, home=base / "home", out=base / "out", artifacts=False, **known)) as shared:
        yield shared


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server with a database `prepared` to make others like it; skipped where there is none to be had."""
    with server() as running:
        from graph.stores.postgres.migrate import migrate

        migrate(running.url("prepared", OWNER), running.url("prepared"))
        yield running


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Chroma server, shared."""
    with chroma_server(tmp_path_factory.mktemp("chroma server")) as url:
        yield url


@pytest.fixture
def home(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the indexed home that a test may do anything to."""
    return Path(shutil.copytree(pristine, tmp_path / "home"))


@pytest.fixture
def settings_of(tmp_path: Path, database_of: Callable[..., dict[str, Any]]) -> Callable[..., Settings]:
    """Settings with home and out below this test's directory."""

    def make(**values: Any) -> Settings:
        home = values.get("home", tmp_path / "home")
        return load(environ={}, **{"home": home, "out": tmp_path / "out", **database_of(home), **values})

    return make


@pytest.fixture
def opened(home: Path, settings_of: Callable[..., Settings]) -> Iterator[Callable[..., Agent]]:
    """`opened(model=…, **settings)`: an agent over this test's copy of the indexed home, closed at the end."""
    agents: list[Agent] = []

    def make(*, chat: Any = None, **values: Any) -> Agent:
        agents.append(Agent(settings_of(**{"artifacts": False, **values}), model=chat))
        return agents[-1]

    yield make
    for one in agents:
        one.close()


@pytest.fixture
def inside(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    database_of: Callable[..., dict[str, Any]],
) -> Run:
    """`cordon …` in this process: for what would otherwise spend its time on starting Python."""
    from graph.service.cli import app

    def call(
        *arguments: str, home: Path, stdin: str | bytes = b"", **settings: Any
    ) -> "subprocess.CompletedProcess[str]":
        with monkeypatch.context() as patched:
            for name, value in environment(home, **{**database_of(home), **settings}).items():
                if name.startswith("CORDON_"):
                    patched.setenv(name, value)
            data = stdin.encode() if isinstance(stdin, str) else stdin
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
            with pytest.raises(SystemExit) as ended:
                app(list(arguments))
            # It reads variables of the environment in native code, which crashes when these are put back meanwhile.
            for thread in [one for one in threading.enumerate() if one.name == "cordon-warm"]:
                thread.join()
        out = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), out.out, out.err)

    return call
