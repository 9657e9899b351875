"""Everything from one store into another that is empty: moved, read again, and compared."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Literal, TypeVar

import numpy as np
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from graph.audit.chain import is_run
from graph.checkpoints import MaskingSerializer
from graph.context import PUBLIC, key_of
from graph.errors import BadInput, Unavailable
from graph.stores import Stores
from graph.stores.checkpoints import Checkpoints
from graph.stores.spaces import Space
from graph.waiting import thread_of

ROWS: tuple[Literal["false_positives", "withheld"], ...] = ("false_positives", "withheld")
T = TypeVar("T")


def move(
    source: Stores, target: Stores, embeddings: str, progress: Callable[[str], None] = lambda line: None
) -> dict[str, int]:
    """Copy all of `source`, which nobody else may use meanwhile; `progress` hears of each part. Returns how many of
    each kind were copied. After a failure the target has a part of it: empty it, then begin again.

    Raises BadInput when the target is not empty, Unavailable when what it returns is not what went in.
    """
    lease = source.hold()
    try:
        _empty(target, embeddings)
        moved: dict[str, int] = {}
        for name, part in PARTS.items():
            moved[name] = part(source, target, embeddings)
            progress(f"{moved[name]} {name}")
        return moved
    finally:
        lease.release()


def _empty(target: Stores, embeddings: str) -> None:
    spaces = target.spaces(embeddings)
    content = spaces.names() or target.keys.all() or next(target.journal.newest(), None)
    spaces.close()
    if content:
        raise BadInput("there is something already where all is to be moved.", hint="Name an empty one.")


def _documents(source: Stores, target: Stores, embeddings: str) -> int:
    old, new, count = source.spaces(embeddings), target.spaces(embeddings), 0
    for name in old.names():
        space, copy = old.space(name), new.space(name, create=True)
        assert space is not None and copy is not None
        for record in space.records():
            whole = space.whole(record.doc_id)
            assert whole is not None
            copy.put(whole.record, whole.text, whole.chunks, whole.vectors, whole.words)
            for by in {by for by, _ in whole.judged.values()}:
                copy.judge(by, {chunk: judgement for chunk, (of, judgement) in whole.judged.items() if of == by})
            if file := space.original(record.doc_id):
                copy.keep_original(record.doc_id, record.sha256, file)
            count += 1
        for attachment in space.attachments():
            copy.attach(attachment.doc_id, attachment.sha256, space.attachment(attachment.doc_id))
        new.sync(name)
        for record in space.records():
            _same(_content(space, record.doc_id), _content(copy, record.doc_id), f"the document {record.doc_id}")
        _same(space.count(), copy.count(), "the number of documents")
    _same(sorted(old.names()), sorted(new.names()), "the spaces")
    old.close()
    new.close()
    return count


def _content(space: Space, doc_id: str) -> object:
    whole = space.whole(doc_id)
    assert whole is not None
    original = hashlib.sha256(space.original(doc_id)).digest()
    return {**vars(whole), "vectors": np.ascontiguousarray(whole.vectors).tobytes()}, space.attachment(doc_id), original


def _tenants(source: Stores) -> list[str]:
    """The tenants that the journal or a key names, and `PUBLIC`."""
    named = {str(entry.get("tenant_id", "")) for entry in source.journal.entries()}
    return sorted({PUBLIC, *named, *(key.tenant_id for key in source.keys.all())} - {""})


def _turns(source: Stores, target: Stores, _: str) -> int:
    count = 0
    for tenant in _tenants(source):
        for turn in (turns := source.conversations.all(tenant)):
            fields = (turn.shown, turn.gist, turn.vector, turn.audiences, turn.name)
            target.conversations.add(tenant, turn.user, turn.thread, *fields)
        _same([*map(_plain, turns)], [*map(_plain, target.conversations.all(tenant))], "the turns")
        count += len(turns)
    return count


def _plain(turn: object) -> dict[str, object]:
    return {**vars(turn), "vector": None if (vector := vars(turn)["vector"]) is None else vector.tolist()}


def _threads(source: Stores, target: Stores, _: str) -> int:
    """The last checkpoint of each thread: a turn needs no other."""
    old, new, count = source.checkpoints(MaskingSerializer()), target.checkpoints(MaskingSerializer()), 0
    for thread in _named(source):
        last = _last(old, thread)
        if last is None:
            continue
        config: RunnableConfig = {"configurable": {**last.config["configurable"], "checkpoint_id": None}}
        versions = last.checkpoint["channel_versions"]
        at = new.saver.put(config, last.checkpoint, last.metadata, versions)
        for task, channel, value in last.pending_writes or []:
            new.saver.put_writes(at, [(channel, value)], task)
        again = _last(new, thread)
        assert again is not None
        _same((last.checkpoint, last.pending_writes), (again.checkpoint, again.pending_writes), f"the thread {thread}")
        count += 1
    old.close()
    new.close()
    return count


def _named(source: Stores) -> list[str]:
    """The threads of conversations, and those of what waits or waited for a reviewer."""
    names: dict[str, None] = {}
    for entry in source.journal.entries():
        if is_run(entry) and "thread_id" in entry:
            names[key_of(entry["tenant_id"], entry["user_id"], entry["thread_id"])] = None
            if entry.get("final_decision") == "pending_review":
                names[thread_of(entry["tenant_id"], entry["run_id"])] = None
        elif entry.get("says") == "appealed":
            names[thread_of(entry["tenant_id"], entry["run"])] = None
    return list(names)


def _last(checkpoints: Checkpoints, thread: str) -> CheckpointTuple | None:
    with checkpoints.outages():
        return checkpoints.saver.get_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": ""}})


def _keys(source: Stores, target: Stores, _: str) -> int:
    keys = source.keys.all()
    if keys:
        _same(source.keys.pepper(), target.keys.pepper(source.keys.pepper()), "the pepper of the keys")
    for key in keys:
        stored = source.keys.find(key.key_id)
        assert stored is not None
        target.keys.add(*stored)
        _same(stored, target.keys.find(key.key_id), f"the key {key.key_id}")
    return len(keys)


def _lists(source: Stores, target: Stores, _: str) -> int:
    lists = {tenant: value for tenant in _tenants(source) if (value := source.lists.load(tenant).value)}
    for tenant, value in lists.items():
        target.lists.change(tenant, lambda _, value=value: value)  # type: ignore[misc]
        _same(value, target.lists.load(tenant).value, "what is public")
    return len(lists)


def _uploads(source: Stores, target: Stores, _: str) -> int:
    jobs = list(source.uploads.jobs())
    for job in jobs:
        target.uploads.begin(job.job_id)
        for number in range(len(job.files)):
            for block in _blocks(source, job.job_id, number):
                with target.uploads.file(job.job_id, number) as out:
                    out.write(block)
        target.uploads.save(job)
    _same(jobs, list(target.uploads.jobs()), "the uploads")
    return len(jobs)


def _blocks(source: Stores, job_id: str, number: int) -> Iterator[bytes]:
    """A file of the job, if it is still there: one that was read is not."""
    with suppress(FileNotFoundError), source.uploads.local(job_id, number) as path, open(path, "rb") as file:  # noqa: PTH123
        yield file.read()


def _samples(source: Stores, target: Stores, _: str) -> int:
    count = 0
    for name in ROWS:
        for row in (rows := source.rows(name).all()):
            target.rows(name).append(row)
        _same(rows, target.rows(name).all(), "the samples")
        count += len(rows)
    return count


def _journal(source: Stores, target: Stores, _: str) -> int:
    before = source.journal.prove()
    if before.broken is not None:
        raise Unavailable(f"the journal does not verify: {before.says}.", hint="Mend that first: cordon audit verify.")
    if not before.entries:
        return 0
    after = target.journal.begin(source.journal.lines())
    _same((before.entries, before.head), (after.entries, after.head), "the journal")
    return after.entries


# The journal comes last: a store that has one was moved whole.
PARTS: dict[str, Callable[[Stores, Stores, str], int]] = {
    "documents": _documents,
    "turns": _turns,
    "threads": _threads,
    "keys": _keys,
    "lists": _lists,
    "uploads": _uploads,
    "samples": _samples,
    "journal": _journal,
}


def _same(before: T, after: T, what: str) -> None:
    if before != after:
        raise Unavailable(f"{what} came out another than it went in.", hint="Empty the new store, and begin again.")
