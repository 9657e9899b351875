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
    one: Stores, other: Stores, embeddings: str, told: Callable[[str], None] = lambda line: None
) -> dict[str, int]:
    """How many of each were moved; `told` hears of each part. Nothing uses the first one meanwhile, and it stays as it
    is. What was moved before it failed stays in the other one: empty it, then begin again.

    Raises BadInput when the other one is not empty, Unavailable when what came out is not what went in.
    """
    lease = one.hold()
    try:
        _empty(other, embeddings)
        moved: dict[str, int] = {}
        for name, part in PARTS.items():
            moved[name] = part(one, other, embeddings)
            told(f"{moved[name]} {name}")
        return moved
    finally:
        lease.release()


def _empty(other: Stores, embeddings: str) -> None:
    spaces = other.spaces(embeddings)
    there = spaces.names() or other.keys.all() or next(other.journal.newest(), None)
    spaces.close()
    if there:
        raise BadInput("there is something already where all is to be moved.", hint="Name an empty one.")


def _documents(one: Stores, other: Stores, embeddings: str) -> int:
    given, taken, count = one.spaces(embeddings), other.spaces(embeddings), 0
    for name in given.names():
        source, target = given.space(name), taken.space(name, create=True)
        assert source is not None and target is not None
        for record in source.records():
            whole = source.whole(record.doc_id)
            assert whole is not None
            target.put(whole.record, whole.text, whole.chunks, whole.vectors, whole.words)
            for by in {by for by, _ in whole.judged.values()}:
                target.judge(by, {chunk: judgement for chunk, (of, judgement) in whole.judged.items() if of == by})
            if file := source.original(record.doc_id):
                target.keep_original(record.doc_id, record.sha256, file)
            count += 1
        for attachment in source.attachments():
            target.attach(attachment.doc_id, attachment.sha256, source.attachment(attachment.doc_id))
        taken.sync(name)
        for record in source.records():
            _same(_content(source, record.doc_id), _content(target, record.doc_id), f"the document {record.doc_id}")
        _same(source.count(), target.count(), "the number of documents")
    _same(sorted(given.names()), sorted(taken.names()), "the spaces")
    given.close()
    taken.close()
    return count


def _content(space: Space, doc_id: str) -> object:
    whole = space.whole(doc_id)
    assert whole is not None
    original = hashlib.sha256(space.original(doc_id)).digest()
    return {**vars(whole), "vectors": np.ascontiguousarray(whole.vectors).tobytes()}, space.attachment(doc_id), original


def _tenants(one: Stores) -> list[str]:
    """All that the journal or a key names, and the public one."""
    named = {str(entry.get("tenant_id", "")) for entry in one.journal.entries()}
    return sorted({PUBLIC, *named, *(key.tenant_id for key in one.keys.all())} - {""})


def _turns(one: Stores, other: Stores, _: str) -> int:
    count = 0
    for tenant in _tenants(one):
        for turn in (turns := one.conversations.all(tenant)):
            kept = (turn.shown, turn.gist, turn.vector, turn.audiences, turn.name)
            other.conversations.add(tenant, turn.user, turn.thread, *kept)
        _same([_plain(turn) for turn in turns], [_plain(turn) for turn in other.conversations.all(tenant)], "the turns")
        count += len(turns)
    return count


def _plain(turn: object) -> dict[str, object]:
    return {**vars(turn), "vector": None if (vector := vars(turn)["vector"]) is None else vector.tolist()}


def _threads(one: Stores, other: Stores, _: str) -> int:
    """The last checkpoint of each: a turn needs no other."""
    given, taken, count = one.checkpoints(MaskingSerializer()), other.checkpoints(MaskingSerializer()), 0
    for thread in _named(one):
        last = _last(given, thread)
        if last is None:
            continue
        config: RunnableConfig = {"configurable": {**last.config["configurable"], "checkpoint_id": None}}
        versions = last.checkpoint["channel_versions"]
        at = taken.saver.put(config, last.checkpoint, last.metadata, versions)
        for task, channel, value in last.pending_writes or []:
            taken.saver.put_writes(at, [(channel, value)], task)
        again = _last(taken, thread)
        assert again is not None
        _same((last.checkpoint, last.pending_writes), (again.checkpoint, again.pending_writes), f"the thread {thread}")
        count += 1
    given.close()
    taken.close()
    return count


def _named(one: Stores) -> list[str]:
    """The threads of conversations, and those of what waits or waited for a reviewer."""
    names: dict[str, None] = {}
    for entry in one.journal.entries():
        if is_run(entry) and "thread_id" in entry:
            names[key_of(entry["tenant_id"], entry["user_id"], entry["thread_id"])] = None
            if entry.get("final_decision") == "pending_review":
                names[thread_of(entry["tenant_id"], entry["run_id"])] = None
        elif entry.get("says") == "appealed":
            names[thread_of(entry["tenant_id"], entry["run"])] = None
    return list(names)


def _last(kept: Checkpoints, thread: str) -> CheckpointTuple | None:
    with kept.outages():
        return kept.saver.get_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": ""}})


def _keys(one: Stores, other: Stores, _: str) -> int:
    keys = one.keys.all()
    if keys:
        _same(one.keys.pepper(), other.keys.pepper(one.keys.pepper()), "the pepper of the keys")
    for key in keys:
        found = one.keys.find(key.key_id)
        assert found is not None
        other.keys.add(*found)
        _same(found, other.keys.find(key.key_id), f"the key {key.key_id}")
    return len(keys)


def _lists(one: Stores, other: Stores, _: str) -> int:
    lists = {tenant: value for tenant in _tenants(one) if (value := one.lists.load(tenant).value)}
    for tenant, value in lists.items():
        other.lists.change(tenant, lambda _, value=value: value)  # type: ignore[misc]
        _same(value, other.lists.load(tenant).value, "what is public")
    return len(lists)


def _uploads(one: Stores, other: Stores, _: str) -> int:
    jobs = list(one.uploads.jobs())
    for job in jobs:
        other.uploads.begin(job.job_id)
        for number in range(len(job.files)):
            for block in _blocks(one, job.job_id, number):
                with other.uploads.file(job.job_id, number) as out:
                    out.write(block)
        other.uploads.save(job)
    _same(jobs, list(other.uploads.jobs()), "the uploads")
    return len(jobs)


def _blocks(one: Stores, job_id: str, number: int) -> Iterator[bytes]:
    """A file of the job, if it is still there: one that was read is not."""
    with suppress(FileNotFoundError), one.uploads.local(job_id, number) as path, open(path, "rb") as file:  # noqa: PTH123
        yield file.read()


def _samples(one: Stores, other: Stores, _: str) -> int:
    count = 0
    for name in ROWS:
        for row in (rows := one.rows(name).all()):
            other.rows(name).append(row)
        _same(rows, other.rows(name).all(), "the samples")
        count += len(rows)
    return count


def _journal(one: Stores, other: Stores, _: str) -> int:
    before = one.journal.prove()
    if before.broken is not None:
        raise Unavailable(f"the journal does not verify: {before.says}.", hint="Mend that first: cordon audit verify.")
    if not before.entries:
        return 0
    after = other.journal.begin(one.journal.lines())
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


def _same(given: T, taken: T, what: str) -> None:
    if given != taken:
        raise Unavailable(f"{what} came out another than it went in.", hint="Empty the new store, and begin again.")
