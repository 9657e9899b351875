"""Cordon's public face: `from cordon import Agent, Settings, Reply`.

    with Agent(Settings(home="./.cordon")) as agent:
        agent.ingest(["handbook.pdf"], tenant_id="physics")
        print(agent.ask("Who signs travel requests?", tenant_id="physics").answer)

What stands here keeps its name and its meaning between versions; `graph` beneath it does not promise that.
"""

from graph.agent import Agent, Reply, VerifiedSentence
from graph.errors import BadInput, BadSettings, CordonError, Forbidden, NotFound, Unavailable
from graph.settings import Settings

__all__ = [
    "Agent",
    "BadInput",
    "BadSettings",
    "CordonError",
    "Forbidden",
    "NotFound",
    "Reply",
    "Settings",
    "Unavailable",
    "VerifiedSentence",
]
