"""/mcp"""

from typing import Any


def mount(app: Any, service: Any) -> None:
    return
