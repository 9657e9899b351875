"""What people's sign-in uses: the provider, the sessions, and threads of its own, so that a slow provider holds up
nobody but those who sign in."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from graph.errors import BadSettings, Unavailable
from graph.service import sealing
from graph.service.sessions import Sessions
from graph.settings import Settings
from graph.stores.keys import KeyStore
from graph.stores.sessions import SessionStore

if TYPE_CHECKING:
    from graph.service.oidc.provider import Provider

T = TypeVar("T")
THREADS, WAITING = 4, 64


@dataclass
class People:
    """One for a service. Sign-in has four threads of its own, and at most 64 people in it at once."""

    provider: "Provider"
    sessions: Sessions
    seal_key: bytes  # of what a browser keeps while its person signs in
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS, "cordon-sign-in"))
    _busy: int = 0

    async def work(self, work: Callable[[], T]) -> T:
        """Raises Unavailable when too many wait already."""
        if self._busy >= WAITING:
            raise Unavailable("too many people sign in at the same time.", hint="Try again in a moment.")
        self._busy += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._busy -= 1

    def close(self) -> None:
        """Wait for who is signing in now, then close the sessions' store."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.sessions.close()


def people(settings: Settings, store: SessionStore, keys: KeyStore) -> People | None:
    """None unless a provider is set. Raises BadSettings when what speaks to it is not installed."""
    if not settings.oidc_issuer:
        return None
    if find_spec("authlib") is None or find_spec("joserfc") is None:
        raise BadSettings(
            "CORDON_OIDC_ISSUER is set, and what speaks OpenID Connect is not installed.",
            hint="pip install 'cordon[oidc]', or `make serve`, which has it.",
        )
    from graph.service.oidc.provider import Provider

    sessions = Sessions(store, keys, settings.oidc_idle_s, settings.oidc_session_s)
    return People(Provider(settings), sessions, sealing.derived(keys.pepper(), "sign-in"))
