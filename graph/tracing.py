"""Nothing about a run leaves the machine unless the operator turned tracing on (requirement A14)."""

import os

from graph.errors import BadSettings
from graph.settings import Settings

_SWITCHES = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
    "LANGSMITH_OTEL_ENABLED",
)


def refuse_uninvited(settings: Settings) -> None:
    """Raise BadSettings when the environment would trace and the settings do not ask for it.

    A trace holds questions and evidence; a variable left over from another project must not send them away.
    """
    on = [name for name in _SWITCHES if os.environ.get(name, "").strip().lower() not in ("", "0", "false", "no", "off")]
    if on and settings.tracing == "off":
        raise BadSettings(
            f"{on[0]} is set, which would send traces to a server, but CORDON_TRACING does not ask for it.",
            hint=f"Unset {on[0]}, or set CORDON_TRACING=langsmith.",
        )
