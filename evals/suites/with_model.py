"""with_model: the same questions asked of Cordon with a model behind it, of a plain chain with the same model, and of
the embedded answerer. `python -m evals.suites.with_model [COLLECTION…] --each N [--homes DIR]`

The model is that of the environment (OPENAI_BASE_URL, CORDON_MODEL). The chain is LangChain's: Chroma with the same
chunks and vectors, five passages, one prompt. Questions and documents are those of evals/suites/handbooks.py. All that
was answered goes to with_model.jsonl, to be read: `wrong` in it is left for a reader, who writes what is false in an
answer, and `--read FILE` counts that.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from evals.__main__ import tell
from evals.material import own_set
from evals.solvers import absent
from evals.suites import handbooks
from evals.task import Metric, Output, Rows, Sample, Scores, Task, jsonl, run
from graph.agent import Agent
from graph.context import PUBLIC
from graph.knowledge.embeddings import shared
from graph.models import wording
from graph.settings import load

PASSAGES = 5
PROMPT = """Use the following passages to answer the question. If you do not know the answer, say that you do not know.
Use three sentences at most.

{context}

Question: {question}
Answer:"""
WAYS = ("cordon", "chain", "embedded")


def asked(names: Sequence[str], each: int, ways: Sequence[str], homes: Path | None = None) -> Iterator[Task]:
    with ExitStack() as opened, tempfile.TemporaryDirectory() as scratch:
        asks = {name: _ways(name, homes or Path(scratch), opened, ways) for name in names}
        questions = [
            handbooks.sample(row | {"set": name, "way": way, "id": f"{way}:{row['id']}"})
            for name in names
            for row in _drawn(own_set(f"handbooks/{name}"), each)
            for way in ways
        ]
        yield Task(
            "with a model", questions,
            lambda s: asks[s.metadata["set"]][s.metadata["way"]](s), scored, measured, partial(replies),
        )  # fmt: skip


def _drawn(rows: Sequence[dict[str, Any]], each: int) -> list[dict[str, Any]]:
    """`each` of them, spread over the file; 0 for all."""
    return [rows[at * len(rows) // each] for at in range(min(each, len(rows)))] if each else list(rows)


def _ways(name: str, homes: Path, opened: ExitStack, ways: Sequence[str]) -> dict[str, Callable[[Sample], Output]]:
    """Ways to ask over one collection, which is ingested once."""
    with handbooks.ingested(name, homes):
        pass
    home = homes / name.removesuffix("_2")
    beside = home.with_name(f"{name} with the model")  # a home belongs to one process
    if not beside.exists():
        shutil.copytree(home, beside)
    embedded = opened.enter_context(handbooks.ingested(name, homes))
    made: dict[str, Callable[[Sample], Output]] = {"embedded": partial(_asked, embedded)}
    if "cordon" in ways:
        made["cordon"] = partial(_asked, opened.enter_context(Agent(load(home=beside, artifacts=False))))
    if "chain" in ways:
        made["chain"] = partial(_chained, embedded, {})
    return made


def _asked(agent: Agent, sample: Sample) -> Output:
    begun = time.monotonic()
    out = handbooks.answered(agent, sample)
    usage = out.raw["usage"]
    told = out.metadata["decision"] == "answer"
    return Output(
        " ".join(s["text"] for s in out.raw["sentences"]),
        out.sources,
        out.verdict,
        {
            "told": told,
            "sentences": [
                {"text": s["text"], "support": s["support"], "opinion": s.get("opinion", False)}
                for s in out.raw["sentences"]
            ],
            "confidence": out.raw["confidence"],
            "draft": out.raw.get("draft", ""),
            "flags": out.raw["safety_flags"],
            "seconds": round(time.monotonic() - begun, 1),
            "calls": usage["model_calls"],
            "tokens": usage["prompt_tokens"],
        },
    )


def _chained(agent: Agent, chains: dict[str, Any], sample: Sample) -> Output:
    """The chain of the question's tenant, made when it is first asked. It has no memory: follow-ups stand alone."""
    tenant = sample.metadata["tenant"]
    if tenant not in chains:
        chains[tenant] = plain_chain(agent, tenant)
    begun = time.monotonic()
    message = chains[tenant].invoke(sample.input)
    text = str(message.content)
    usage = message.usage_metadata or {}
    return Output(
        text,
        metadata={
            "told": not wording.unknown(text),
            "confidence": "",
            "draft": "",
            "flags": [],
            "seconds": round(time.monotonic() - begun, 1),
            "calls": 1,
            "tokens": usage.get("input_tokens", 0),
        },
    )


def plain_chain(agent: Agent, tenant: str) -> Any:
    """Retriever, prompt and model over what the tenant may read, as LangChain's own tutorials make it."""
    from langchain_chroma import Chroma
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough
    from langchain_openai import ChatOpenAI

    settings = load()

    class MiniLM(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return shared().embed(texts).tolist()  # type: ignore[no-any-return]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    store = Chroma(f"with-model-{tenant}", MiniLM(), collection_metadata={"hnsw:space": "cosine"})
    for space in filter(None, (agent.deps.index.space(tenant), agent.deps.index.space(PUBLIC))):
        texts = {record.doc_id: space.text(record.doc_id) for record in space.records()}
        chunks = [chunk for doc_id in texts for chunk in space.chunks(doc_id)]
        for start in range(0, len(chunks), 500):
            store.add_documents([Document(texts[c.doc_id][c.start : c.end]) for c in chunks[start : start + 500]])
    chat = ChatOpenAI(
        model=settings.model, base_url=settings.openai_base_url or None, api_key=settings.openai_api_key,
        temperature=settings.temperature, max_completion_tokens=settings.max_tokens, timeout=settings.model_timeout_s,
    )  # fmt: skip

    def shown(found: list[Document]) -> str:
        return "\n\n".join(document.page_content for document in found)

    context = store.as_retriever(search_kwargs={"k": PASSAGES}) | RunnableLambda(shown)
    return {"context": context, "question": RunnablePassthrough()} | ChatPromptTemplate.from_template(PROMPT) | chat


def scored(sample: Sample, out: Output) -> Scores:
    missing = [group for group in sample.target["contains"] if len(absent(group, out.text)) == len(group)]
    told = out.metadata["told"]
    return {
        "told": told,
        "silent": not told,
        "held": bool(told and not missing),
        "dropped": out.metadata["draft"] == "dropped",
        "fallback": "extractive_fallback" in out.metadata["flags"],
        "seconds": out.metadata["seconds"],
        "calls": out.metadata["calls"],
        "tokens": out.metadata["tokens"],
        "words": len(out.text.split()) if told else 0,
    }


def measured(rows: Rows) -> Iterator[Metric]:
    for way, part in rows.by("way"):
        there, nothing = part.where(answerable=True), part.where(answerable=False)
        yield there.rate(f"{way}: the wanted words stand in the answer", "held")
        yield nothing.rate(f"{way}: silent when the answer is not there", "silent")
        yield there.rate(f"{way}: silent though the answer is there", "silent")
        yield part.mean(f"{way}: seconds", "seconds")
        yield part.mean(f"{way}: words shown", "words")
        if way == "cordon":
            yield part.rate("cordon: nothing of the draft left", "dropped")
            yield part.rate("cordon: quoted instead", "fallback")
            yield part.mean("cordon: calls of the model", "calls")


def replies(rows: Rows, out: Path) -> dict[str, Any]:
    jsonl(
        out / "with_model.jsonl",
        (
            {"id": row.sample.id, "question": row.sample.input, "wanted": row.sample.target["contains"],
             "answerable": row.sample.metadata["answerable"], "answer": row.output.text, **row.output.metadata,
             "held": bool(row["held"]), "wrong": None}
            for row in rows
        ),
    )  # fmt: skip
    return {}


def read(file: Path) -> None:
    """How many answers of each way a reader marked: `wrong` is "" where nothing of it is false."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for way in WAYS:
        judged = [r for r in rows if r["id"].startswith(f"{way}:") and r["told"] and r["wrong"] is not None]
        print(Metric.rate(f"{way}: answers with something false", sum(bool(r["wrong"]) for r in judged), len(judged)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.with_model", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="COLLECTION", default=list(handbooks.OPEN))
    parser.add_argument("--each", type=int, default=0, help="questions of a collection (default: all)")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--homes", type=Path, help="where what was ingested stays for the next time")
    parser.add_argument("--out", type=Path, default=Path("out/eval"))
    parser.add_argument("--read", type=Path, metavar="FILE", help="count what a reader marked in FILE, ask nothing")
    options = parser.parse_args()
    if options.read:
        read(options.read)
    else:
        options.out.mkdir(parents=True, exist_ok=True)
        task = asked(options.names, options.each, options.ways.split(","), options.homes)
        tell(run("with_model", task, options.out).metrics)


if __name__ == "__main__":
    main()
