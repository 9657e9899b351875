"""LangGraph's checkpoints in its own tables, each call in one transaction that sees one thread."""

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg.rows import dict_row

from graph.errors import Unavailable
from graph.stores.checkpoints import AFTER
from graph.stores.postgres.database import Database

_Blobs = list[tuple[Any, ...]]
_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
_LATEST = 'SELECT max(checkpoint_id COLLATE "C") FROM checkpoints WHERE thread_id = %s'
_KEEP_LATEST = """
    WITH latest AS (SELECT max(checkpoint_id COLLATE "C") AS id FROM checkpoints WHERE thread_id = %(thread)s),
    older AS (DELETE FROM checkpoints USING latest WHERE thread_id = %(thread)s AND checkpoint_id COLLATE "C" < id),
    writes AS (
        DELETE FROM checkpoint_writes USING latest WHERE thread_id = %(thread)s AND checkpoint_id COLLATE "C" < id
    )
    DELETE FROM checkpoint_blobs AS b USING latest WHERE thread_id = %(thread)s AND NOT EXISTS (
        SELECT 1 FROM checkpoints AS c WHERE c.thread_id = %(thread)s AND c.checkpoint_id COLLATE "C" >= latest.id
        AND c.checkpoint_ns = b.checkpoint_ns AND c.checkpoint -> 'channel_versions' ->> b.channel = b.version
    )"""
_WRITING = 0x77726974  # the class of the advisory locks of those who write a thread's state


class PostgresCheckpoints:
    """LangGraph's saver, made on first use."""

    def __init__(self, database: Database, serde: SerializerProtocol) -> None:
        self._database, self._serde = database, serde
        self._saver: _Saver | None = None

    @property
    def saver(self) -> "_Saver":
        if self._saver is None:
            with self._database.transaction():  # so that what cannot work says so at once
                self._saver = _Saver(self._database, self._serde)
        return self._saver

    def close(self) -> None:
        self._saver = None

    def outages(self) -> AbstractContextManager[None]:
        return self._database.outages()

    def latest(self, thread: str) -> str:
        [(latest,)] = self._database.rows("", _LATEST, thread, name=thread)
        return latest or ""

    def forget(self, threads: Collection[str]) -> int:
        erased = 0
        for thread in threads:
            with self._database.transaction(name=thread) as cursor:
                gone = [cursor.execute(f"DELETE FROM {of} WHERE thread_id = %s", [thread]).rowcount for of in _TABLES]
                erased += bool(gone[0])
        return erased


class _Text:
    """A string in a channel, wrapped: LangGraph would write a plain one without the serializer."""

    def __init__(self, text: str) -> None:
        self.text = text


class _Saver(PostgresSaver):
    """As LangGraph's, on connections of the pool."""

    def __init__(self, database: Database, serde: SerializerProtocol) -> None:
        super().__init__(None, serde=serde)  # type: ignore[arg-type]
        self._database = database
        self._at = threading.local()

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator["psycopg.Cursor[Any]"]:
        with self._database.transaction(name=self._at.thread) as cursor:
            if (after := self._at.after) is not None:
                self._still_last(cursor, self._at.thread, after)
            cursor.row_factory = dict_row
            yield cursor
            if self._at.puts:
                cursor.execute(_KEEP_LATEST, {"thread": self._at.thread})

    def _still_last(self, cursor: "psycopg.Cursor[Any]", thread: str, after: str) -> None:
        """The lock on a thread is lost with its connection, so another turn may have come in between. Of two turns that
        go on from the same state the first is kept; the second raises Unavailable."""
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_WRITING, thread])
        [(latest,)] = cursor.execute(_LATEST, [thread]).fetchall()
        if (latest or "") != after:
            raise Unavailable("another turn of this conversation came in between.", hint="Ask again.")

    def _of(self, config: RunnableConfig | None, *, after: str | None = None, puts: bool = False) -> None:
        self._at.thread, self._at.after = config["configurable"]["thread_id"] if config else "", after
        self._at.puts = puts

    def list(self, config: RunnableConfig | None, **known: Any) -> Iterator[CheckpointTuple]:
        self._of(config)
        return iter(list(super().list(config, **known)))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self._of(config)
        return super().get_tuple(config)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self._of(config, after=config["configurable"].get(AFTER), puts=True)
        values = checkpoint["channel_values"]
        wrapped = {key: _Text(value) if isinstance(value, str) else value for key, value in values.items()}
        return super().put(config, {**checkpoint, "channel_values": wrapped}, metadata, new_versions)

    def _dump_blobs(
        self, thread_id: str, checkpoint_ns: str, values: dict[str, Any], versions: ChannelVersions
    ) -> _Blobs:
        plain = {key: value.text if isinstance(value, _Text) else value for key, value in values.items()}
        return super()._dump_blobs(thread_id, checkpoint_ns, plain, versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._of(config)
        super().put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        self._of({"configurable": {"thread_id": thread_id}})
        super().delete_thread(thread_id)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        self._of(config)
        return super().get_delta_channel_history(config=config, channels=channels)
