"""`cordon chat`: a conversation in the terminal."""

import sys
from collections.abc import Collection
from typing import Any, get_args

from graph.agent import Agent, Reply
from graph.context import valid_groups, valid_id, valid_tenant
from graph.errors import CordonError
from graph.options import MemoryType, Mode, Style
from graph.service.render import console, show_reply, show_sources, show_why

HELP = "/clear forget this conversation · /mode buffer|summary|none · /sources · /why · /exit"
MEMORIES: dict[str, MemoryType] = {kind: kind for kind in get_args(MemoryType)}


class Repl:
    """One conversation. Raises BadInput for an unusable id or group."""

    def __init__(
        self,
        agent: Agent,
        tenant: str,
        user: str,
        thread: str,
        memory: MemoryType,
        mode: Mode,
        style: Style,
        groups: Collection[str] = (),
    ) -> None:
        self._agent, self._groups = agent, valid_groups(groups)
        self._who: dict[str, Any] = {
            "tenant_id": valid_tenant(tenant),
            "user_id": valid_id(user, "user"),
            "thread_id": valid_id(thread, "thread"),
        }
        self._memory, self._mode, self._style = memory, mode, style
        self._last: Reply | None = None

    def run(self) -> None:
        """Read until /exit or the end of input. Ctrl-C clears the line, Ctrl-D leaves."""
        out = console()
        ask = self._prompt()
        if sys.stdin.isatty():
            out.print(f"Tenant {self._who['tenant_id']}, memory {self._memory}. {HELP}", style="dim", markup=False)
        while True:
            try:
                line = ask().strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if line in ("/exit", "/quit"):
                return
            try:
                if line.startswith("/"):
                    self._command(line)
                elif line:
                    self._last = self._agent.ask(
                        line,
                        **self._who,
                        groups=self._groups,
                        memory=self._memory,
                        mode=self._mode,
                        style=self._style,
                    )
                    show_reply(self._last, out)
                    out.print()
            except CordonError as error:  # one bad line does not end a conversation
                out.print(f"{error} {error.hint}".strip(), style="red", markup=False)

    def _prompt(self) -> Any:
        if not sys.stdin.isatty():
            return _line
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import InMemoryHistory

        # In memory only: a history file would keep questions unmasked on disk.
        session: Any = PromptSession(history=InMemoryHistory())
        return lambda: session.prompt(f"{self._who['tenant_id']}> ")

    def _command(self, line: str) -> None:
        out = console()
        name, _, argument = line.partition(" ")
        match name:
            case "/clear":
                self._agent.clear(**self._who)
                self._last = None
                out.print("The conversation is forgotten.")
            case "/mode" if argument.strip() in MEMORIES:
                self._memory = MEMORIES[argument.strip()]
                out.print(f"Memory is now {self._memory}.")
            case "/mode":
                out.print(f"/mode takes {', '.join(MEMORIES)}; it is {self._memory}.", markup=False)
            case "/sources" if self._last:
                show_sources(self._last, out)
            case "/why" if self._last:
                show_why(self._last)
            case "/sources" | "/why":
                out.print("Nothing was asked yet.")
            case _:
                out.print(HELP, markup=False)


def _line() -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
