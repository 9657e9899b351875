"""The invariants of docs and design as functions: what a run left behind goes in, violations come out, [] when it holds.

Each is used twice: on the system as it is, and on a system with its guard broken, where it must find something.
"""

import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from graph.agent import Agent
from graph.context import key_of
from graph.policy import grounding, pii
from graph.policy.answer import prose, refusals
from graph.policy.text.sentences import split
from graph.state import INPUT_KEYS, THREAD_KEYS, State
from tests.support.models import sources_in

VOLATILE = frozenset({"run_id", "timestamp", "timings_ms", "artifacts"})
NO_ANSWERS = frozenset(
    {
        refusals.EMPTY_KNOWLEDGE_BASE,
        refusals.NOT_IN_DOCUMENTS,
        *map(refusals.withheld, refusals.DROPPED),
        refusals.TOO_SHORT,
        refusals.EMPTY_QUESTION,
        refusals.NOTHING_ASKED,
    }
)


def state_of(agent: Agent, tenant: str, thread: str, user: str = "local") -> dict[str, Any]:
    """The thread's state as the checkpointer holds it."""
    config = {"configurable": {"thread_id": key_of(tenant, user, thread)}}
    return dict(agent.turns.graph.get_state(config).values)


def journal_of(agent: Agent) -> list[dict[str, Any]]:
    return list(agent.deps.journal.entries())


def stable(reply: dict[str, Any]) -> dict[str, Any]:
    """The reply without what differs from run to run by nature."""
    kept = {key: value for key, value in reply.items() if key not in VOLATILE}
    return kept | {"usage": _usage(kept["usage"])} if "usage" in kept else kept


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Without the prompt's tokens: the nonce of its tags is new in every prompt, and not always as many tokens long."""
    return {key: value for key, value in usage.items() if key != "prompt_tokens"}


# -- I1 ---------------------------------------------------------------------------------------------------------


def wrong_tenant(tenant: str, reply: dict[str, Any], entry: dict[str, Any]) -> list[str]:
    """I1: everything a run says of itself names the tenant of the credential."""
    found = [f"reply says {reply['tenant_id']}"] if reply["tenant_id"] != tenant else []
    found += [f"journal says {entry['tenant_id']}"] if entry["tenant_id"] != tenant else []
    found += [
        f"cites {c['doc_id']} of {c['tenant_id']}"
        for c in reply["citations"]
        if c["tenant_id"] not in (tenant, "public")
    ]
    named = [f for f in entry["filters_applied"] if f.startswith("tenant:")]
    return found + [f"filtered by {f}" for f in named if f != f"tenant:{tenant}"]


# -- I2 ---------------------------------------------------------------------------------------------------------


def differing(replies: Sequence[dict[str, Any]]) -> list[str]:
    """I2: one question of one tenant has one verdict."""
    verdicts = {json.dumps(r["verdict"], sort_keys=True) for r in replies}
    return [] if len(verdicts) <= 1 else sorted(verdicts)


def lowered(by_rules: dict[str, Any], with_model: dict[str, Any]) -> list[str]:
    """I2: a model's opinion never lowers what the rules found."""
    order = ("ALLOW", "ALLOW_WITH_GUARDRAILS", "BLOCK")
    found = []
    if order.index(with_model["action"]) < order.index(by_rules["action"]):
        found.append(f"{by_rules['action']} became {with_model['action']}")
    if with_model["risk_score"] < by_rules["risk_score"]:
        found.append(f"risk {by_rules['risk_score']} became {with_model['risk_score']}")
    return found


# -- I3 ---------------------------------------------------------------------------------------------------------


def called_after_block(reply: dict[str, Any], calls: Iterable[str]) -> list[str]:
    """I3: a blocked run calls neither the generator nor the index."""
    if reply["verdict"]["action"] != "BLOCK":
        return []
    return [f"called {name}" for name in calls] + (["model_calls > 0"] if reply["usage"]["model_calls"] else [])


# -- I4 ---------------------------------------------------------------------------------------------------------


def unreadable(prompts: Iterable[str], tenant: str, texts: dict[str, list[str]]) -> list[str]:
    """I4: no line of a document that only others may read stands in a prompt. `texts`: space → its documents' texts."""
    mine = {line for owner in (tenant, "public") for text in texts.get(owner, []) for line in _lines(text)}
    foreign = {
        line: owner
        for owner, documents in texts.items()
        if owner not in (tenant, "public")
        for text in documents
        for line in _lines(text)
        if line not in mine
    }
    shown = {line for prompt in prompts for text in sources_in(prompt).values() for line in _lines(text)}
    return [f"shows {line[:60]!r} of {foreign[line]}" for line in sorted(shown & foreign.keys())]


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= 25}


def texts_of(agent: Agent, tenants: Iterable[str]) -> dict[str, list[str]]:
    """The masked text of every document, space by space."""
    found = {}
    for tenant in tenants:
        space = agent.deps.index.space(tenant)
        found[tenant] = [_masked(space.text(r.doc_id), pii.mask, pii.level) for r in space.records()] if space else []
    return found


@cache
def _masked(text: str, mask: Callable[[str], pii.Masked], level: str) -> str:
    """Most of the time of these checks; the documents are the same in all of them."""
    return mask(text).text


# -- I5 ---------------------------------------------------------------------------------------------------------

_DIGESTS = re.compile(r"[0-9a-f]{16,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.+-]+Z?")


def personal(places: dict[str, Any], planted: Iterable[str]) -> list[str]:
    """I5: no planted value, in whatever form, and nothing that the detectors would mask, in any of the places."""
    digits = {value: _digits(value)[-10:] for value in planted}
    found = []
    looked: dict[str, list[str]] = {}  # the same words stand in many places
    for place, value in places.items():
        for text in strings(value):
            if text not in looked:
                bare = _digits(text)
                here = [f"{raw!r} in {text[:60]!r}" for raw, tail in digits.items() if tail and tail in bare]
                spans = pii.find(text) if not _DIGESTS.fullmatch(text) else ()
                looked[text] = here + [f"{s.type} {text[s.start : s.end]!r}" for s in spans]
            found += [f"{place}: {what}" for what in looked[text]]
    return found


def _digits(text: str) -> str:
    """Runs of digits with what people write between them taken out; words keep runs apart."""
    plain = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in unicodedata.normalize("NFKC", text))
    return re.sub(r"(?<=\d)[^\w\n]{1,3}(?=\d)", "", plain)


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys too."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def on_disk(home: Path, out: Path | None = None, database: str = "") -> dict[str, Any]:
    """What a home, or the database of this URL, and an artefact folder hold of runs: checkpoints (rows and decoded),
    journal, artefacts. Not the index."""
    places = _in_database(database) if database else _in_home(home)
    for file in sorted(out.rglob("*")) if out and out.exists() else []:
        if file.suffix == ".json":
            places[str(file)] = json.loads(file.read_text())
        elif file.suffix == ".pdf":
            places[str(file)] = pdf_text(file)
        elif file.is_file():
            places[str(file)] = file.read_text()
        places[f"name {file.name}"] = re.sub(r"^\d{8}_\d{6}_", "", file.name).replace("_", " ")
    return places


def _in_home(home: Path) -> dict[str, Any]:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    places: dict[str, Any] = {}
    serde = JsonPlusSerializer()
    with sqlite3.connect(home / "checkpoints.db") as db:
        for table, columns in (("checkpoints", "type, checkpoint"), ("writes", "type, value")):
            for n, (kind, blob) in enumerate(db.execute(f"SELECT {columns} FROM {table}")):
                value = serde.loads_typed((kind, blob))
                # Not the versions of channels: digits drawn by chance, of which some look like a telephone number.
                places[f"{table}[{n}]"] = value["channel_values"] if table == "checkpoints" else value
        places["checkpoint metadata"] = [row[0] for row in db.execute("SELECT metadata FROM checkpoints")]
    db.close()
    journal = home / "audit" / "journal.jsonl"
    places["journal"] = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    return places


def _in_database(url: str) -> dict[str, Any]:
    """As the server's own user, whom no policy holds."""
    import psycopg
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    from tests.support.postgres import WORKER

    places: dict[str, Any] = {}
    with psycopg.connect(url.replace(f"{WORKER}@", "postgres@")) as admin:
        admin.execute("SET search_path = cordon, public")
        for table in ("checkpoint_blobs", "checkpoint_writes"):
            for n, (kind, blob) in enumerate(admin.execute(f"SELECT type, blob FROM {table}")):
                places[f"{table}[{n}]"] = JsonPlusSerializer().loads_typed((kind, blob)) if blob else None
        # Without the versions of channels, too.
        rows = admin.execute("SELECT checkpoint -> 'channel_values', metadata FROM checkpoints")
        places["checkpoints"] = [list(row) for row in rows]
        places["journal"] = [json.loads(line) for (line,) in admin.execute("SELECT line FROM journal")]
        places["turns"] = [list(row) for row in admin.execute("SELECT turn, gist FROM turns")]
    return places


def pdf_text(path: Path) -> str:
    import pypdfium2

    with pypdfium2.PdfDocument(path) as pdf:
        parts = []
        for number in range(len(pdf)):
            page = pdf[number]
            words = page.get_textpage()
            parts.append(words.get_text_range())
            words.close()
            page.close()
    return "\n".join(parts)


# -- I6 ---------------------------------------------------------------------------------------------------------


def unfaithful(agent: Agent, tenant: str, reply: dict[str, Any], evidence: Sequence[dict[str, Any]]) -> list[str]:
    """I6: each citation is of this turn's evidence, and its quote stands in its document where it says."""
    found, ids = [], {e["chunk_id"] for e in evidence}
    numbers = {c["n"] for c in reply["citations"]}
    for sentence in reply["sentences"]:
        found += [f"sentence without citation: {sentence['text'][:60]!r}"] if not sentence["citations"] else []
        found += [f"[{n}] names no citation" for n in sentence["citations"] if n not in numbers]
    for c in reply["citations"]:
        if c["chunk_id"] not in ids:
            found.append(f"[{c['n']}] {c['chunk_id']} is no evidence of this turn")
        space = agent.deps.index.space("public" if c["visibility"] == "public" else tenant)
        record = space.record(c["doc_id"]) if space else None
        if space is None or record is None or record.sha256 != c["sha256"]:
            found.append(f"[{c['n']}] no document {c['doc_id']} of that hash")
            continue
        source = space.text(c["doc_id"])
        # Masked in its surroundings: a number is recognised by the words around it, also outside the quote.
        masked = pii.mask(source)
        if masked.text[slice(*masked.to_masked(c["start"], c["end"]))] != c["quote"]:
            found.append(
                f"[{c['n']}] {c['quote'][:60]!r} is not what stands at {c['start']}-{c['end']} of {c['doc_id']}"
            )
    return found


# -- I7 ---------------------------------------------------------------------------------------------------------


def unvalidated(reply: dict[str, Any]) -> list[str]:
    """I7: what leaves is a canonical refusal, a fixed "no", an outage that says so, or validated sentences only."""
    answer, decision = reply["answer"], reply["decision"]
    if decision != "answer" and (reply["sentences"] or reply["citations"]):
        return [f"{decision} with sentences"]
    if decision == "refusal":
        code = reply["refusal"]["code"]
        return [] if answer == refusals.TEXTS[code] == reply["refusal"]["text"] else [f"refusal {answer[:80]!r}"]
    if decision == "unavailable":
        return [] if answer.startswith("Unavailable: ") else [f"outage {answer[:80]!r}"]
    if decision == "no_answer":
        fixed = answer in NO_ANSWERS or re.fullmatch(
            re.escape(refusals.TOO_LONG).replace(re.escape("{limit:,}"), r"[\d,]+"), answer
        )
        return [] if fixed else [f"no_answer {answer[:80]!r}"]
    quotes = {c["n"]: c["quote"] for c in reply["citations"]}
    found, rest = [], answer.removeprefix(refusals.marked(answer))
    for note in reversed(refusals.NOTES.values()):
        rest = rest.strip().removesuffix(note)
    for s in reply["sentences"]:
        cited = [quotes[n] for n in s["citations"] if n in quotes]
        best = max((_support(s["text"], quote) for quote in [*cited, "\n".join(cited)]), default=0.0)
        if best < grounding.SUPPORTED_FROM:
            found.append(f"support {best} for {s['text'][:80]!r}")
        rest = rest.replace(s["text"] if s["text"] in rest else prose.indented(s["text"]), "", 1)
    if not reply["sentences"]:
        found.append("an answer without sentences")
    if "assessment" not in reply and re.sub(r"\[\d+\]|[\s-]", "", rest):
        found.append(f"beyond its sentences: {rest.strip()[:80]!r}")
    return found


def _counted(head: str, lines: list[str]) -> bool:
    """Whether the number is that of the lines, or the sum of the column that it names."""
    if head == f"{len(lines)} in all:":
        return True
    match = re.fullmatch(r"[$€£¥]?([\d,.]+) in all \((.+), (\d+) rows\):", head)
    if match is None or int(match[3]) != len(lines):
        return False
    cells = [re.search(rf"{re.escape(match[2])}: [$€£¥]?([\d,]+(?:\.\d+)?)", line) for line in lines]
    added = sum(float(cell[1].replace(",", "")) for cell in cells if cell)
    return all(cells) and abs(added - float(match[1].replace(",", ""))) < 0.01


def _support(claim: str, quote: str) -> float:
    """Support by the quote alone. Written out here, so that a broken grounding does not hide itself."""
    if re.match(r"[$€£¥]?[\d,.]+ in all[ :]", claim):
        head, *lines = claim.split("\n- ")
        read = quote.replace("<", "‹").replace(">", "›") if "‹" in claim else quote  # names in brackets are no tags
        return float(_counted(head, lines) and all(read.count(line) >= lines.count(line) for line in lines))
    if claim in quote:
        return 1.0
    words = [w for w in re.findall(r"\w+", claim.casefold()) if len(w) > 3 or w.isdigit()]
    held = set(re.findall(r"\w+", quote.casefold()))
    return sum(any(w[:5] == h[:5] for h in held) for w in words) / len(words) if words else float(bool(split(claim)))


# -- I8 ---------------------------------------------------------------------------------------------------------


def unrecorded(
    before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]], reply: dict[str, Any] | None
) -> list[str]:
    """I8: one run, one record, and it tells of that run; no reply without its record."""
    new = list(after[len(before) :])
    if reply is None:
        return [f"{len(new)} records of a run without reply"] if len(new) > 1 else []
    found = [f"{len(new)} records"] if len(new) != 1 else []
    if new and new[0]["run_id"] != reply["run_id"]:
        found.append("the record is of another run")
    if new and new[0]["final_decision"] != reply["decision"]:
        found.append(f"recorded {new[0]['final_decision']}, replied {reply['decision']}")
    return found


# -- I9 ---------------------------------------------------------------------------------------------------------

_BY_NATURE = frozenset({"turn", "started", "timings", "artifacts", "reply", "memory", "owner"})


def leftovers(fresh: dict[str, Any], used: dict[str, Any]) -> list[str]:
    """I9: after the same question, a thread with a past and one without hold the same turn."""
    keys = (State.__annotations__.keys() | fresh.keys() | used.keys()) - _BY_NATURE
    fresh, used = (
        {
            **s,
            "usage": _usage(s.get("usage", {})),
            "verdict": {k: v for k, v in s.get("verdict", {}).items() if k != "turn"},
        }
        for s in (fresh, used)
    )
    found = [
        f"{key}: {used.get(key)!r} instead of {fresh.get(key)!r}"
        for key in sorted(keys)
        if used.get(key) != fresh.get(key)
    ]
    was, now = stable(fresh.get("reply", {})), stable(used.get("reply", {}))
    return found + [
        f"reply.{key}: {now.get(key)!r}" for key in now if key != "thread_id" and now.get(key) != was.get(key)
    ]


def turn_keys() -> frozenset[str]:
    return frozenset(State.__annotations__) - THREAD_KEYS - INPUT_KEYS
