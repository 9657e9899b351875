"""What langgraph.json loads: the graph without a checkpointer, since the server brings its own. Defines nothing else:
a file loaded by path is a second module, and a class defined in it would not be the one the rest of Cordon knows."""

from graph.build import build_graph

cordon = build_graph().compile(name="cordon")
