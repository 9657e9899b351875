"""A socket in front of PostgreSQL's that now and then cuts a connection: before or behind what was said on it, so that
what was asked is not done, or is done and nobody hears of it."""

import asyncio
import threading
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Self

_NAME = ".s.PGSQL.5432"


class Proxy:
    """`rate`: of the messages of clients, the share with which their connection ends. `cut` of them were."""

    def __init__(self, folder: Path, behind: Path, seed: int = 0) -> None:
        self.host, self.rate, self.cut = str(folder), 0.0, 0
        self._behind, self._dice = behind, Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        listening = asyncio.start_unix_server(self._serve, f"{self.host}/{_NAME}")
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        return self

    def __exit__(self, *exc: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        still = asyncio.all_tasks() - {asyncio.current_task()}
        for one in still:
            one.cancel()
        await asyncio.gather(*still, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, onward = await asyncio.open_unix_connection(f"{self._behind}/{_NAME}")
        except OSError:
            writer.close()
            return
        back = asyncio.ensure_future(_copy(there, writer))
        try:
            while data := await reader.read(1 << 16):
                ends = self._dice.random() < self.rate
                if not ends or self._dice.random() < 0.5:
                    onward.write(data)
                    await onward.drain()
                if ends:  # without an answer to it
                    self.cut += 1
                    break
        except OSError:
            pass  # it is gone
        finally:
            back.cancel()
            for one in (writer, onward):
                one.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
    finally:
        writer.close()
