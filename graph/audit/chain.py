"""The chain: how a line of the journal is written, bound to the one before, and proven by its bytes.

A line is canonical JSON: keys in order, no white space, ASCII, no NaN. Its hashes are taken over pieces of these very
bytes, so what reads the same and is written otherwise (a key given twice, other white space, other escapes, another
order) has another hash. Nothing is written out again to prove it, which is what makes a long journal quick to prove.

The lines of each tenant are a chain of their own as well, over what its own people may see of them: numbers and hashes
that hang on no other tenant's line. So a tenant can keep its lines and prove them alone (graph/audit/tenant_chain.py).
"""

import hashlib
import json
import re
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from graph.errors import Unavailable
from graph.stores.journal import Broken, Entry, Link, Proof

GENESIS = "0" * 64
# What an erasure takes out of a run's line. Decision, verdict, codes, figures and times stay.
PERSONAL = frozenset(
    {
        "user_id", "thread_id", "query", "question_sha256", "plan", "rewrite", "rewrite_sha256", "filters_applied",
        "retrieved_doc_ids", "retrieved", "cited", "error", "answer_sha256", "artifacts", "note",
        "doc_id", "document_sha256", "uploader", "sentence_sha256", "follow_up", "understood", "groups",
    }
)  # fmt: skip
_UNBOUND = frozenset({"hash", "salt", "erased"})
_SEALED = PERSONAL | {"salt"}
# What the hash of a tenant's own chain leaves out: whatever hangs on other tenants' lines.
_OF_ALL = _UNBOUND | {"seq", "prev", "lines", "tenant_hash"}
_WRITER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
_DEPTH = 8
_SEALED_KEYS = tuple(sorted(key.encode() for key in _SEALED))
_UNHASHED_KEYS = frozenset(key.encode() for key in _SEALED | _UNBOUND)
_UNSHARED_KEYS = frozenset(key.encode() for key in _SEALED | _OF_ALL)
# The four keys stand together, since keys are in order; no text can contain them, since its quotes are escaped.
_OWN = re.compile(
    rb'"tenant_hash":"([0-9a-f]{64})","tenant_id":"((?:[^"\\]|\\.)*)","tenant_prev":"([0-9a-f]{64})","tenant_seq":(\d+)[,}]'
)


def _pattern() -> re.Pattern[bytes]:
    """A member at the top of a line: (its key, all of it). Brackets and what is in them count as they stand, to _DEPTH.
    White space and NaN do not match. Nothing is tried twice: the time grows with the bytes alone."""
    text = rb'"[ !#-\[\]-~]*+(?:\\["\\bfnrtu][ !#-\[\]-~]*+)*+"'
    plain = rb"[-+.0-9eE%s]++"
    inside = text
    for _ in range(_DEPTH):
        inside = rb"(?:%s|[\[{](?:%s|%s)*+[\]}])" % (text, plain % b"aflnrstu:,", inside)
    return re.compile(rb'[{,](?="([a-z0-9_]++)")("[a-z0-9_]++":(?:%s|%s))' % (plain % b"aflnrstu", inside))


_MEMBER = _pattern()


@dataclass(frozen=True)
class Followed:
    """How far lines follow one another: the last link, the links at the places asked for, and the first break."""

    last: Link
    links: list[Link]
    broken: Broken | None


def canonical(value: Any) -> str:
    """Raises ValueError or TypeError for what JSON cannot hold."""
    return _WRITER.encode(value)


def check(entry: Entry) -> None:
    """Raises ValueError or TypeError for an entry that could not be written, or not be proven afterwards."""
    _members(canonical(entry).encode())


def line_of(entry: Entry) -> bytes:
    """The entry as it stands in the journal, newline included. Raises as `canonical` does."""
    return canonical(entry).encode() + b"\n"


def read(line: bytes, where: str) -> Entry:
    """The entry of a line, not proven. Raises Unavailable when it is none."""
    try:
        entry: Entry = json.loads(line)
        _ = entry["seq"], entry["hash"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unavailable(
            f"the journal is damaged at {where}, so nothing can be recorded or read.",
            hint="`cordon audit verify` shows where. Put journal.jsonl and journal.head aside as evidence; new ones "
            "begin.",
        ) from error
    return entry


def is_run(entry: Entry) -> bool:
    """Whether it records a run, and not a flag, an erasure or a released sentence."""
    return bool(entry.get("kind", "run") == "run")


def needle(field: str, begins: str) -> bytes:
    """Bytes that stand in every line whose `field` is a text that begins with `begins`; others may have them, too."""
    return canonical({field: begins})[1:-2].encode()


def digest(entry: Entry) -> str:
    """SHA-256 of the entry as canonical JSON, without `hash` and without what `personal_sha256` stands for."""
    return _digest(entry, _UNBOUND)


def tenant_digest(entry: Entry) -> str:
    """As `digest`, without what hangs on other tenants' lines: the hash in the tenant's own chain."""
    return _digest(entry, _OF_ALL)


def _digest(entry: Entry, left_out: frozenset[str]) -> str:
    left_out |= PERSONAL if "personal_sha256" in entry else frozenset()
    return _hashed({key: value for key, value in entry.items() if key not in left_out})


def _hashed(entry: Entry) -> str:
    return hashlib.sha256(canonical(entry).encode()).hexdigest()


def tenant_link(line: bytes) -> tuple[str, Link] | None:
    """Whose line it is, and its place and hash in that tenant's chain; None for one of no tenant's chain."""
    match = _OWN.search(line)
    return (json.loads(b'"%s"' % match[2]), Link(int(match[4]), match[1].decode())) if match else None


def chained(entry: Entry, last: Link | None, own: Link | None) -> Entry:
    """The entry as it is written after that line, and after that one of its tenant. What is personal is bound by a
    salted hash of its own: nobody can guess a question from it, and it can be erased later."""
    entry = {**entry, "seq": last.seq + 1 if last else 1, "prev": last.hash if last else GENESIS}
    if entry.get("tenant_id"):
        entry |= {"tenant_seq": own.seq + 1 if own else 1, "tenant_prev": own.hash if own else GENESIS}
    if PERSONAL & entry.keys():
        entry["salt"] = secrets.token_hex(16)
        entry["personal_sha256"] = _hashed({key: entry[key] for key in _SEALED & entry.keys()})
    if "tenant_seq" in entry:
        entry["tenant_hash"] = tenant_digest(entry)
    return entry | {"hash": digest(entry)}


def without_personal(entry: Entry, receipt_id: str) -> Entry:
    """The entry as an erasure leaves it. Its hash still holds."""
    return {key: value for key, value in entry.items() if key not in _SEALED} | {"erased": receipt_id}


def proven(line: bytes) -> dict[bytes, bytes]:
    """The members of a line (given without its newline) as they stand there, by key: b"seq" → b'"seq":12'.

    Raises ValueError unless the line is, byte for byte, as it was written or as an erasure left it."""
    members = _members(line)
    sealed = [member for key in _SEALED_KEYS if (member := members.get(key))]
    bound = [member for key, member in members.items() if key not in _UNHASHED_KEYS]
    if members.get(b"hash") != b'"hash":"%s"' % _sha256(bound):
        raise ValueError("the line was changed")
    if b"erased" in members:
        if sealed:
            raise ValueError("a line without what is personal has it still")
    elif members.get(b"personal_sha256") != (b'"personal_sha256":"%s"' % _sha256(sealed) if sealed else None):
        raise ValueError("what is personal was changed")
    if b"tenant_seq" in members:
        shared = [member for key, member in members.items() if key not in _UNSHARED_KEYS]
        if members.get(b"tenant_hash") != b'"tenant_hash":"%s"' % _sha256(shared):
            raise ValueError("the hash in its tenant's chain is another")
    return members


def _members(line: bytes) -> dict[bytes, bytes]:
    pairs = _MEMBER.findall(line)
    members = dict(pairs)
    if len(members) != len(pairs) or list(members) != sorted(members):
        raise ValueError("the keys are not in order")
    if line != b"{%s}" % b",".join(members.values()):
        raise ValueError("this is not an entry as one is written")
    return members


def follow(lines: Iterable[bytes], ask: Collection[int] = ()) -> Followed:
    """Prove the lines (without newlines) one after the other: each as it was written, in order, bound to the one
    before it and to its tenant's one before, and erased only where a receipt says so. `ask` are places of lines
    whose hashes are wanted."""
    last, links, wanted = Link(0, GENESIS), list[Link](), set(ask)
    owns: dict[bytes, Link] = {}
    erased: dict[bytes, set[int]] = {}
    for number, line in enumerate(lines, 1):
        try:
            members = proven(line)
            if b"erased" in members:
                erased.setdefault(members[b"erased"][len(b'"erased":') :], set()).add(number)
            if members.get(b"kind") == b'"kind":"erasure"':
                receipt = json.loads(line)
                named = erased.setdefault(canonical(receipt["receipt_id"]).encode(), set())
                named.difference_update(receipt["lines"])  # places, which are the numbers of a whole chain's lines
        except (ValueError, KeyError, TypeError):
            return Followed(last, links, Broken(number, "the line was changed after it was written"))
        if members.get(b"prev") != b'"prev":"%s"' % last.hash.encode() or members.get(b"seq") != b'"seq":%d' % number:
            return Followed(last, links, Broken(number, "a line before it is missing, added or out of order"))
        if not _goes_on(members, owns):
            return Followed(last, links, Broken(number, "a line of its tenant before it is missing or out of order"))
        last = Link(number, members[b"hash"][8:-1].decode())
        if number in wanted:
            links.append(last)
    left = sorted(number for numbers in erased.values() for number in numbers)
    return Followed(last, links, Broken(left[0], "the line was erased without a receipt") if left else None)


def prove(lines: Iterable[bytes], head: Link | None, ask: Collection[int] = (), *, beside: str = "") -> Proof:
    """What the lines prove together with `head`, the last link as it was stored apart (number 0 before the first line).
    `head` is None where it is missing; `beside` then names what is missing. `ask` as for `follow`."""
    followed = follow(lines, {*ask, head.seq} if head else ask)
    entries, last = followed.last.seq, followed.last.hash
    by_place = {link.seq: link for link in followed.links}
    if followed.broken is not None:
        return Proof(entries, last, followed.broken)
    if head is None and entries:
        doubt = f"{entries} entries follow one another; without {beside}, a cut end would not show; last {last}"
        return Proof(entries, last, doubt=doubt)
    if head is None or not head.seq:
        return Proof(entries, last, doubt="the journal is empty: nothing is proven")
    if head.seq not in by_place:
        what = "the journal was cut" if entries else "the journal was emptied"
        return Proof(entries, last, Broken(entries + 1, f"{what}: {head.seq} entries were written"))
    if by_place[head.seq] != head:
        return Proof(entries, last, Broken(head.seq, "the line is not the one that was written there"))
    return Proof(entries, last, asked=followed.links)


def _goes_on(members: dict[bytes, bytes], owns: dict[bytes, Link]) -> bool:
    """Whether the line continues its tenant's chain; `owns` has the last link of each. Lines that are older than such
    chains stand in none."""
    tenant = members.get(b"tenant_id", b"")
    last = owns.get(tenant, Link(0, GENESIS))
    if b"tenant_seq" not in members:
        return last.seq == 0
    owns[tenant] = Link(last.seq + 1, members[b"tenant_hash"][15:-1].decode())
    bound = b'"tenant_prev":"%s"' % last.hash.encode(), b'"tenant_seq":%d' % (last.seq + 1)
    return bound == (members.get(b"tenant_prev"), members[b"tenant_seq"])


def _sha256(members: list[bytes]) -> bytes:
    return hashlib.sha256(b"{%s}" % b",".join(members)).hexdigest().encode()
