"""What langgraph.json loads: the graph without a checkpointer, since the server brings its own. Defines nothing else:
a file loaded by path is a second module, and a class defined in it would not be the one the rest of Cordon knows."""

from graph.build import build_graph
from graph.deps import Deps
from graph.settings import load
from graph.tracing import refuse_uninvited

settings = load()
refuse_uninvited(settings)  # the server would send every stage's state to LangSmith
deps = Deps(settings)
_ = deps.detector, deps.thresholds  # what it lacks is said now
cordon = build_graph(deps).compile(name="cordon")
