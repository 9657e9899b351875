"""The chain: how a line of the journal is written, bound to the one before, and proven by its bytes.

A line is canonical JSON: keys in order, no white space, ASCII, no NaN. Its hashes are taken over pieces of these very
bytes, so what reads the same and is written otherwise (a key given twice, other white space, other escapes, another
order) has another hash. Nothing is written out again to prove it, which is what makes a long journal quick to prove.
"""

import hashlib
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # the reader of one string, in C
from typing import Any, NoReturn

Entry = dict[str, Any]
GENESIS = "0" * 64
# What an erasure takes out of a run's line. Decision, verdict, codes, figures and times stay.
PERSONAL = frozenset(
    {
        "user_id", "thread_id", "query", "question_sha256", "plan", "rewrite", "rewrite_sha256", "filters_applied",
        "retrieved_doc_ids", "retrieved", "cited", "error", "answer_sha256", "artifacts", "note",
    }
)  # fmt: skip
_UNBOUND = frozenset({"hash", "salt", "erased"})
_SEALED = PERSONAL | {"salt"}
_WRITER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_value = json.JSONDecoder(parse_constant=_no_number).scan_once  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Broken:
    """Where the chain does not hold: line number from 1, and why."""

    line: int
    why: str


@dataclass(frozen=True)
class Link:
    """What the next line is bound to: a line's place and hash."""

    seq: int
    hash: str


@dataclass(frozen=True)
class Followed:
    """How far lines follow one another: the last one's link, the one asked for by its place, and what does not hold."""

    last: Link
    asked: Link | None
    broken: Broken | None


def canonical(value: Any) -> str:
    """Raises ValueError or TypeError for what JSON cannot hold."""
    return _WRITER.encode(value)


def line_of(entry: Entry) -> bytes:
    return canonical(entry).encode() + b"\n"


def needle(field: str, begins: str) -> bytes:
    """Bytes that every line has whose field is a text that begins so. Others may have them too."""
    return canonical({field: begins})[1:-2].encode()


def digest(entry: Entry) -> str:
    """SHA-256 of the entry as canonical JSON, without `hash` and without what `personal_sha256` stands for."""
    left_out = _UNBOUND | (PERSONAL if "personal_sha256" in entry else frozenset())
    return _sha256(canonical({key: value for key, value in entry.items() if key not in left_out}))


def chained(entry: Entry, last: Link | None) -> Entry:
    """The entry as it is written after that line. What is personal is bound by a salted hash of its own: nobody can
    guess a question from it, and it can be erased later."""
    entry = {**entry, "seq": last.seq + 1 if last else 1, "prev": last.hash if last else GENESIS}
    if PERSONAL & entry.keys():
        entry["salt"] = secrets.token_hex(16)
        entry["personal_sha256"] = _sha256(canonical({key: entry[key] for key in _SEALED & entry.keys()}))
    return entry | {"hash": digest(entry)}


def without_personal(entry: Entry, receipt_id: str) -> Entry:
    """The entry as an erasure leaves it. Its hash still holds."""
    return {key: value for key, value in entry.items() if key not in _SEALED} | {"erased": receipt_id}


def proven(line: bytes) -> Entry:
    """The entry of a line, given without its newline. Raises ValueError unless it is, byte for byte, as it was
    written or as an erasure left it."""
    try:
        return _proven(line.decode("ascii"))
    except (KeyError, IndexError, StopIteration, RecursionError) as error:
        raise ValueError("the line is no entry") from error


def _proven(text: str) -> Entry:
    entry: Entry = {}
    bound: list[str] = []
    sealed: list[str] = []
    last_key, at, before = "", 0, "{"
    while text[at] == before and text[at + 1] == '"':
        begin = at + 1
        key, at = scanstring(text, begin + 1)
        if key <= last_key or text[at] != ":":
            raise ValueError("the keys are not in order")
        entry[key], at = _value(text, at + 1)
        if key in _SEALED:
            sealed.append(text[begin:at])
        elif key not in _UNBOUND:
            bound.append(text[begin:at])
        elif text[begin:at] != canonical({key: entry[key]})[1:-1]:
            raise ValueError("a value is not canonical")
        last_key, before = key, ","
    if text[at:] != "}" or entry["hash"] != _sha256(f"{{{','.join(bound)}}}"):
        raise ValueError("the line was changed")
    erased = "erased" in entry
    if sealed and (erased or entry["personal_sha256"] != _sha256(f"{{{','.join(sealed)}}}")):
        raise ValueError("what is personal was changed")
    if not sealed and not erased and "personal_sha256" in entry:
        raise ValueError("what is personal was taken out")
    return entry


def follow(lines: Iterable[bytes], ask: int | None = None) -> Followed:
    """Prove the lines (without newlines) one after the other: each as it was written, in order, bound to the one
    before, and erased only where a receipt says so. `ask` is the place of a line whose hash is wanted."""
    last, asked = Link(0, GENESIS), None
    erased: dict[str, set[int]] = {}
    for number, line in enumerate(lines, 1):
        try:
            entry = proven(line)
            here = Link(entry["seq"], entry["hash"])
            if "erased" in entry:
                erased.setdefault(entry["erased"], set()).add(number)
            if entry.get("kind") == "erasure":
                # The chain is whole up to here, so a line's place is its number.
                erased.setdefault(entry["receipt_id"], set()).difference_update(entry["lines"])
            prev = entry["prev"]
        except (ValueError, KeyError, TypeError):
            return Followed(last, asked, Broken(number, "the line was changed after it was written"))
        if prev != last.hash or here.seq != last.seq + 1:
            return Followed(last, asked, Broken(number, "a line before it is missing, added or out of order"))
        last = here
        if here.seq == ask:
            asked = here
    left = sorted(number for numbers in erased.values() for number in numbers)
    return Followed(last, asked, Broken(left[0], "the line was erased without a receipt") if left else None)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
