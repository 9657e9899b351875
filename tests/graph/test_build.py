"""The wiring: the words of the requirement are on its edges, and importing or drawing it does nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graph.build import build_graph
from graph.deps import Deps
from graph.state import Input

ROOT = Path(__file__).resolve().parents[2]
STAGES = {
    "admit",
    "classify",
    "triage",
    "constrain",
    "retrieve",
    "guard",
    "generate",
    "repair",
    "validate",
    "respond",
    "hold",
    "review",
    "decide",
    "remember",
    "refuse",
    "publish",
    "record",
}
WATCH = """
import json, sys
seen = []
def hook(event, args):
    if event == "socket.bind" and args[1][:2] == ("::1", 0):
        return  # urllib3 finds out whether there is IPv6, on loopback
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "sqlite3.connect", "subprocess.Popen"):
        seen.append([event, repr(args)[:80]])
    elif event in ("open", "os.mkdir", "os.remove", "os.rename") and isinstance(args[0], str) and args[0].startswith(HOME):
        seen.append([event, args[0]])
HOME = sys.argv[1]
sys.addaudithook(hook)
for name in sys.argv[2:]:
    __import__(name)
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from graph.settings import load

    home = tmp_path_factory.mktemp("drawn") / "home"
    graph = build_graph(Deps(load(environ={}, home=home, out=home))).compile().get_graph()
    assert not home.exists(), "drawing the graph made a home"
    return graph


def test_every_stage_is_there(drawn: Any) -> None:
    assert set(drawn.nodes) >= STAGES


@pytest.mark.parametrize(
    ("label", "target"), [("BLOCK", "refuse"), ("ALLOW_WITH_GUARDRAILS", "constrain"), ("ALLOW", "retrieve")]
)
def test_each_verdict_is_an_edge(drawn: Any, label: str, target: str) -> None:
    assert [e.target for e in drawn.edges if e.source == "triage" and (e.data or e.target) == label] == [target]
    assert label in drawn.draw_mermaid()


def test_no_way_leads_from_block_to_the_generator(drawn: Any) -> None:
    ways = {n: {e.target for e in drawn.edges if e.source == n} for n in drawn.nodes}
    reached, todo = set(), ["refuse"]
    while todo:
        here = todo.pop()
        reached.add(here)
        todo += ways.get(here, set()) - reached
    assert reached & {"retrieve", "guard", "generate", "repair", "validate", "respond", "remember"} == set()


def test_every_way_ends_in_the_record(drawn: Any) -> None:
    assert {e.source for e in drawn.edges if e.target == "__end__"} <= {"record", "__default_error_handler__"}


def test_only_the_guard_and_retrieval_are_handed_the_index() -> None:
    import inspect

    import graph.build as wiring

    def asking_for(thing: str) -> set[str]:
        stages = {name: getattr(wiring, name) for name in STAGES}
        return {name for name, work in stages.items() if thing in inspect.signature(work).parameters}

    assert asking_for("index") == {"retrieve", "guard", "decide"}  # decide has the guard look again
    # validate only for the embedded answerer's quote, where nothing of a model's draft may leave
    assert asking_for("generator") == {"generate", "repair", "validate"}
    assert asking_for("deps") == set()


def test_a_caller_may_set_a_question_and_options_only() -> None:
    assert Input.__annotations__.keys() == {"question", "options"}


@pytest.mark.parametrize(
    "names",
    [("graph.build",), ("graph.agent",), ("graph.service.cli",), ("nodes.guard", "nodes.generate")],
    ids="+".join,
)
def test_importing_opens_no_file_of_home_and_no_socket(tmp_path: Path, names: tuple[str, ...]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = {k: v for k, v in os.environ.items() if not k.startswith("CORDON_")} | {"CORDON_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", WATCH, str(home), *names], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert list(home.iterdir()) == []


def test_the_watch_sees_what_it_should(tmp_path: Path) -> None:
    (tmp_path / "opens.py").write_text(
        "import os, socket\nopen(os.environ['X'] + '/f', 'w').close()\nsocket.socket().bind(('127.0.0.1', 0))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "X": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", WATCH, str(tmp_path), "opens"], env=env, capture_output=True, text=True, timeout=60
    )
    assert {event for event, _ in json.loads(done.stdout)} >= {"open", "socket.bind"}


def test_the_command_line_draws_the_same_words() -> None:
    from graph.service.diagram import mermaid

    text = mermaid()
    assert all(word in text for word in ("BLOCK", "ALLOW_WITH_GUARDRAILS", "ALLOW", "fail_closed"))
