"""What langgraph.json loads: the graph without a checkpointer, since the server brings its own.

No class is defined here: the server loads this file by its path, as a second module, so the rest of Cordon would know
another class."""

from graph.build import build_graph
from graph.deps import Deps
from graph.settings import load
from graph.tracing import refuse_uninvited

settings = load()
refuse_uninvited(settings)  # the server would send every stage's state to LangSmith
deps = Deps(settings)
_ = deps.detector, deps.thresholds  # raise now for what they lack
cordon = build_graph(deps).compile(name="cordon")
