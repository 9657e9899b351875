"""Check an answer again, later and without a model: each citation against the document it names, each sentence against
its quotes.

A quote is masked, so the document's text is masked again, whole and chunk by chunk, and the quote must be exactly what
then stands at its place. An answer is only as good as its worst citation.
"""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal, TypeGuard

from graph.context import PUBLIC, Principal, ReadScope, valid_tenant, whose
from graph.errors import BadInput
from graph.knowledge.index import Index
from graph.policy import grounding, pii
from graph.policy.answer import counted, prose, refusals, table
from graph.policy.evidence import access, places, withholding
from graph.policy.evidence.redaction import Edit, redact, to_shown
from graph.policy.grounding import entailment
from graph.policy.text import defang, structure
from graph.policy.threats.detector import Detector
from graph.public import PublicValues
from graph.stores.spaces import Record, Space, StoredChunk

Status = Literal["verified", "moved", "missing", "altered"]
_FIELDS: dict[str, tuple[type, ...]] = {
    "n": (int,), "doc_id": (str,), "filename": (str,), "tenant_id": (str,), "visibility": (str,),
    "page": (int, type(None)), "sheet": (str, type(None)), "section": (str,), "chunk_id": (str,),
    "score": (int, float), "quote": (str,), "start": (int,), "end": (int,), "sha256": (str,),
}  # fmt: skip
_HASH = re.compile(r"[0-9a-f]{64}")
_MARKS = re.compile(r"\[\d+\]|[\s•-]")


@dataclass(frozen=True)
class Checked:
    """What became of one citation. `start` and `end` say where its quote stands now, when the document has moved on."""

    n: Any
    doc_id: str
    status: Status
    why: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Report:
    """What became of each citation and each sentence of an answer."""

    citations: list[Checked]
    sentences: list[str]  # what is wrong with the sentences, in words

    @property
    def ok(self) -> bool:
        """Nothing is wrong with the sentences, and each citation is verified."""
        return not self.sentences and all(c.status == "verified" for c in self.citations)

    def as_json(self) -> dict[str, Any]:
        """The form in which commands and services give it."""
        return {"ok": self.ok, "citations": [asdict(c) for c in self.citations], "sentences": self.sentences}


@dataclass(frozen=True)
class _Now:
    """What a reply is compared with."""

    tenant: str
    index: Index
    detector: Detector | None
    lists: PublicValues | None
    reader: ReadScope | None
    encoder: entailment.Encoder

    def space(self, c: dict[str, Any]) -> Space | None:
        """The space that has the document; where several have one of its name, the one with this very file."""
        if c.get("visibility") == "public":
            return self.index.space(PUBLIC)
        spaces = self.index.tenant_spaces(self.tenant)
        if self.reader is not None:
            spaces = [space for where, space in self.index.visible(self.reader) if where != "public"]
        records = [(space, record) for space in spaces if (record := space.record(str(c.get("doc_id"))))]
        same = [space for space, record in records if record.sha256 == c.get("sha256")]
        return next(iter([*same, *(space for space, _ in records)]), None)

    def denied(self, space: Space, record: Record) -> bool:
        """Whether the reader may not see the document; for the operator, whether nobody of the space may."""
        groups = self.reader.groups if self.reader else whose(space.name)[1]
        asker = Principal(self.tenant, "verify", groups=groups)
        return access.denied(asker, space.name, record.visibility, record.expires, record.groups) is not None

    def keep(self, c: dict[str, Any]) -> pii.Public:
        """What the citation shows because it is public, or was when it was made."""
        if self.lists is None:
            return pii.NOTHING
        ever = self.lists.for_tenant(self.tenant, "public" if c.get("visibility") == "public" else "private", ever=True)
        texts = [text for text in (c.get("quote"), c.get("section")) if isinstance(text, str)]
        return pii.Public(frozenset(form for text in texts for form in pii.mask(text, keep=ever).public))

    def redacted(self, record: Record, raw: str, keep: pii.Public) -> list[tuple[str, list[Edit]]]:
        """A passage as it was shown at first, and after each decision on its document: the answer was made at one of
        these times."""
        orders = [((a, b), withholding.digest(raw[a:b])) for a, b in withholding.ranges(raw, self.detector)]
        released: set[str] = set()
        ways = {tuple(place for place, _ in orders)}
        for decision in record.decisions:
            (released.add if decision["says"] == "released" else released.discard)(decision["sha256"])
            ways.add(tuple(place for place, sha256 in orders if sha256 not in released))
        personal = pii.mask(raw, keep=keep).spans
        return [redact(raw, withheld, personal) for withheld in ways]


def verify(
    reply: Any,
    index: Index,
    detector: Detector | None = None,
    lists: PublicValues | None = None,
    reader: ReadScope | None = None,
    encoder: entailment.Encoder = entailment.margins,
) -> Report:
    """Each citation and each sentence of a reply object, compared with the documents that `reader` may read now; with
    all of the tenant's where there is no reader, as for the operator. `detector` and `encoder` are to be those with
    which the answer was made; `lists` tell what is or was public. Raises BadInput for what is no reply object."""
    tenant, sentences, citations = _parts(reply)
    now = _Now(reader.tenant if reader else tenant, index, detector, lists, reader, encoder)
    used = {n for s in sentences for n in s["citations"]}
    numbers = [c.get("n") for c in citations]
    checked = []
    for citation in citations:
        result = _citation(citation, now)
        if result.status == "verified" and (numbers.count(result.n) > 1 or result.n not in used):
            result = Checked(result.n, result.doc_id, "altered", "no sentence, or no single one, goes by its number")
        checked.append(result)
    return Report(checked, _sentences(reply, sentences, citations, now))


def _parts(reply: Any) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]]]:
    hint = "Give the answer.json of a run, or what `cordon ask --json` printed."
    if not isinstance(reply, dict) or reply.get("version") != 1 or not isinstance(reply.get("answer"), str):
        raise BadInput("this is no answer: a reply object of version 1 was expected.", hint=hint)
    sentences, citations = reply.get("sentences"), reply.get("citations")
    if not _objects(sentences) or not _objects(citations) or not isinstance(reply.get("tenant_id"), str):
        raise BadInput("this is no answer: sentences, citations or tenant_id are not there.", hint=hint)
    for sentence in sentences:
        cited = sentence.get("citations")
        if not isinstance(sentence.get("text"), str) or not isinstance(cited, list):
            raise BadInput("this is no answer: a sentence lacks its text or its citations.", hint=hint)
        if not all(type(n) is int for n in cited):
            raise BadInput("this is no answer: a sentence names a source by something else than a number.", hint=hint)
    return valid_tenant(reply["tenant_id"]), sentences, citations


def _objects(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _citation(c: dict[str, Any], now: _Now) -> Checked:
    def checked(status: Status, why: str, start: int | None = None, end: int | None = None) -> Checked:
        return Checked(c.get("n"), str(c.get("doc_id", ""))[:200], status, why, start, end)

    for key, types in _FIELDS.items():
        if key not in c or not isinstance(c[key], types) or isinstance(c[key], bool):
            return checked("altered", f"its {key} is not there or of another kind")
    if c["visibility"] not in ("private", "public") or not _HASH.fullmatch(c["sha256"]) or not 0 <= c["score"] <= 1:
        return checked("altered", "its visibility, hash or score is none")
    if not c["quote"] or not 0 <= c["start"] < c["end"]:
        return checked("altered", "it quotes nothing")
    space = now.space(c)
    record = space.record(c["doc_id"]) if space else None
    if space is None or record is None or now.denied(space, record):
        return checked("missing", "there is no such document that this tenant may read")
    if (record.tenant_id, record.visibility) != (c["tenant_id"], c["visibility"]):
        return checked("altered", "the document belongs to somebody else")
    text, keep = space.text(c["doc_id"]), now.keep(c)
    if record.sha256 != c["sha256"]:
        at = _whereabouts(c["quote"], text, keep)
        if at is None:
            return checked("moved", "the document has changed, and the quote is no longer in it")
        return checked("moved", "the document has changed; the quote is still in it", *at)
    chunk = space.chunk(c["chunk_id"])
    if chunk is None:
        return checked("missing", "the passage it names is not in the index")
    why = _unfit(c, record, chunk, text, keep, now)
    return checked("altered", why) if why else checked("verified", "", c["start"], c["end"])


def _unfit(c: dict[str, Any], record: Record, chunk: StoredChunk, text: str, keep: pii.Public, now: _Now) -> str:
    """What does not fit a document that is still the same, or ""."""
    if chunk.doc_id != c["doc_id"]:
        return "the passage is of another document"
    if not chunk.start <= c["start"] < c["end"] <= chunk.end:
        return "the range is not in the passage"
    sheet = pii.mask(chunk.sheet).text if chunk.sheet else None
    page, page_end, row = places.locate(chunk.page, chunk.places, c["start"] - chunk.start, c["end"] - chunk.start)
    name = pii.mask(record.filename).text
    actual, cited = [page, page_end, row], [c["page"], c.get("page_end"), c.get("row")]
    if "page_end" not in c:  # an answer of an earlier version names the page on which the passage begins
        actual, cited = [chunk.page], [c["page"]]
    path, at = pii.mask(chunk.section).text, c["start"] - chunk.start
    ways = now.redacted(record, text[chunk.start : chunk.end], keep)
    sections = {structure.section(path, seen, to_shown(edits, at)) for seen, edits in ways}
    if [*actual, sheet, name] != [*cited, c["sheet"], c["filename"]] or c["section"] not in sections:
        return "its page, sheet, section or file name is another"
    return "" if _stands(c, chunk, text, keep) else "the quote is not what stands there"


def _stands(c: dict[str, Any], chunk: StoredChunk, text: str, keep: pii.Public) -> bool:
    """Whether the quote is the masked slice, masked as a part of its chunk or of the whole document."""
    for begin, end in ((chunk.start, chunk.end), (0, len(text))):
        masked = _masked(text[begin:end], keep)
        start, stop = masked.to_masked(c["start"] - begin, c["end"] - begin)
        # A range that cuts a masked value open has the same masked slice: only the way back tells the two apart.
        whole = masked.to_source(start, stop) == (c["start"] - begin, c["end"] - begin)
        if whole and masked.text[start:stop] == c["quote"]:
            return True
    return False


@lru_cache(maxsize=32)  # citations of one answer share documents
def _masked(text: str, keep: pii.Public) -> pii.Masked:
    return pii.mask(text, keep=keep)


def _whereabouts(quote: str, text: str, keep: pii.Public) -> tuple[int, int] | None:
    """Range of the text that, masked, is the quote."""
    masked = _masked(text, keep)
    at = masked.text.find(quote)
    return masked.to_source(at, at + len(quote)) if at >= 0 else None


def _sentences(
    reply: dict[str, Any], sentences: list[dict[str, Any]], citations: list[dict[str, Any]], now: _Now
) -> list[str]:
    wrong = []
    by_number = {c["n"]: c for c in citations if type(c.get("n")) is int and isinstance(c.get("quote"), str)}
    rest, notes = refusals.noted(reply["answer"].removeprefix(refusals.marked(reply["answer"])))
    for sentence in sentences:
        name = f"“{sentence['text'][:80]}”"
        absent = [n for n in sentence["citations"] if n not in by_number]
        if absent or not sentence["citations"]:
            wrong.append(f"{name} names no source that is there")
        elif not _supported(sentence, [by_number[n] for n in sentence["citations"]], now):
            wrong.append(f"{name} is not what its quotes say")
        shown = next((s for s in (sentence["text"], prose.indented(sentence["text"])) if s in reply["answer"]), "")
        if not shown:
            wrong.append(f"{name} is not in the answer")
        rest = rest.replace(shown, "", 1)
    if "assessment" in reply and sentences:
        if _spelled(reply["answer"]) != _spelled(_brief(reply)):
            wrong.append("the brief is not the one of its assessment and sentences")
    elif sentences and _MARKS.sub("", rest):
        wrong.append(f"the answer says more than its sentences: “{rest.strip()[:80]}”")
    if sentences and notes != [flag for flag in refusals.NOTES if flag in reply["safety_flags"]]:
        wrong.append("the notes behind the answer are not those that its flags say")
    if reply.get("table", []) not in ([], table.rows(citations)):
        wrong.append("the rows of the table are not those that its citations quote")
    wrong += _decided(reply, sentences)
    cited = {int(n) for n in re.findall(r"\[(\d+)\]", rest)}
    if sentences and cited != {n for s in sentences for n in s["citations"]}:
        wrong.append("the answer names other sources than its sentences")
    return wrong


def _brief(reply: dict[str, Any]) -> str:
    try:
        return prose.brief(reply["assessment"], reply["sentences"])
    except (KeyError, TypeError, AttributeError):
        return ""


def _spelled(brief: str) -> str:
    """Without the layout, and under the heading that briefs have now."""
    return " ".join(brief.replace("## What the documents require", "## What the documents say").split())


def _decided(reply: dict[str, Any], sentences: list[dict[str, Any]]) -> list[str]:
    """What does not fit the decision: only an `answer` has words of its own."""
    decision, answer = reply.get("decision"), reply["answer"]
    if decision == "answer":
        return [] if sentences else ["an answer without sentences"]
    fixed: dict[str, Callable[[str], bool]] = {
        "no_answer": refusals.says_nothing,
        "refusal": refusals.says_refused,
        "pending_review": lambda text: text in (refusals.PENDING, refusals.APPEALED),
        "unavailable": lambda text: text.startswith("Unavailable"),
    }
    if not isinstance(decision, str) or decision not in fixed:
        return ["it was decided neither to answer nor not to"]
    return [] if fixed[decision](answer) and not sentences else [f"a {decision} with words of its own"]


def _supported(sentence: dict[str, Any], cited: list[dict[str, Any]], now: _Now) -> bool:
    text, quotes = sentence["text"], [c["quote"] for c in cited]
    if any(text in (c["filename"], defang.text(c["filename"])) for c in cited if isinstance(c.get("filename"), str)):
        return True  # a document of a list goes by the name of its file
    if lines := counted.lines(text):
        as_read = [quotes, [defang.text(quote) for quote in quotes]]  # a link in a line was made dead
        return any(counted.places(lines, texts) is not None for texts in as_read)
    if sentence.get("doubted") is True and text.endswith(grounding.MARK):
        text = grounding.unmarked(text)
        read = ["\n".join(quotes), *quotes, *(passage for c in cited for passage in _passages(c, now))]
        supports = zip(grounding.supports(text, read, now.encoder), read, strict=True)
        return any(s.score >= grounding.SUPPORTED_FROM or grounding.doubted(s, text, part) for s, part in supports)
    if sentence.get("opinion") is True and grounding.exact(text, "\n".join(quotes)):
        return True  # the model is not asked again; numbers and names are checked
    if sentence.get("by_question") is True and any(grounding.says_all(text, quote) for quote in quotes):
        return True  # nor is the reader
    read = ["\n".join(quotes), *quotes]
    if any(one.score >= grounding.SUPPORTED_FROM for one in grounding.supports(text, read, now.encoder)):
        return True
    # As when it was let out: compared with the whole passage, whose best place must be the quote.
    return any(_supported_by(text, passage, c["quote"], now.encoder) for c in cited for passage in _passages(c, now))


def _passages(c: dict[str, Any], now: _Now) -> list[str]:
    """The cited passage as it is shown now; none where it is no longer there."""
    space = now.space(c)
    name = str(c.get("chunk_id"))
    stored = space.passages([name]).get(name) if space else None
    return [] if stored is None else [passage for passage, _ in now.redacted(stored.record, stored.text, now.keep(c))]


def _supported_by(text: str, passage: str, quote: str, encoder: entailment.Encoder) -> bool:
    support = grounding.support(text, passage, encoder)
    return support.score >= grounding.SUPPORTED_FROM and quote in [passage[a:b] for a, b in support.spans]
