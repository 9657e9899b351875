"""How long a sender is waited for. Bytes that arrive earn time, so that neither silence nor a trickle holds a place."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from graph.service.http.problems import Problem

T = TypeVar("T", bound=object)
BODY_S = 20  # for a JSON body
UPLOAD_S = 30  # between two pieces of an upload
BYTES_A_SECOND = 4_096  # slower than this over time and the time runs out


class SlowClientTimeout:
    """`at_most_s` is what it begins with and never exceeds. Raises Problem 408 when it is used up."""

    def __init__(self, at_most_s: float) -> None:
        self._at_most_s = self.left_s = at_most_s

    async def wait(self, pending: Awaitable[T]) -> T:
        """What comes. Only this waiting counts, not what is done with the bytes in between."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout(self.left_s):
                return await pending
        except TimeoutError:
            raise Problem(408, headers={"Connection": "close"}) from None
        finally:
            self.left_s -= loop.time() - begun

    def earn(self, size: int) -> None:
        """Add the time that so many bytes earn."""
        self.left_s = min(self._at_most_s, self.left_s + size / BYTES_A_SECOND)
