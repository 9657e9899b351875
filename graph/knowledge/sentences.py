"""Where sentences begin and end; the rules are in graph/policy, whose checks need them too."""

from graph.policy.sentences import split

__all__ = ["split"]
