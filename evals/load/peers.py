"""What Cordon adds to a question: it and a plain LangChain chain over the same chunks, vectors and model, turn by turn.

    python -m evals.load.peers DIRECTORY                a stub model that answers at once
    python -m evals.load.peers DIRECTORY --model 0.3    one that takes 300 ms
    python -m evals.load.peers DIRECTORY --embedded     the embedded model, too
    python -m evals.load.peers DIRECTORY --plot F.png   drawn, where matplotlib is (make dev)

The chain embeds the question, asks Chroma for as many passages as Cordon shows, and hands them to the same model: no
guard, no check, no record. Questions are made of the headings in the documents, so that they reach all over the
collection and few passages are met twice; each is asked in every way, in an order that changes. Times are medians over
the questions: of processor (this process, all threads) and on the clock.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from evals import figures
from evals.load import stub
from graph.agent import Agent
from graph.knowledge.embeddings import shared
from graph.settings import load

QUESTIONS, WARM = 66, 6
TENANT, TOP_K = "bench", 8
BARE = {"memory": "none", "thread_id": None}
SHIPPED = {"memory": "buffer", "thread_id": "bench"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--model", type=float, default=0.0, metavar="SECONDS", help="how long the stub model takes")
    parser.add_argument("--embedded", action="store_true")
    parser.add_argument("--kept", type=Path, help="a folder for what is made of the documents, used again when there")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, stub.running(given.model) as model:
        rows = _measured(Path(folder), indexed_home(given.kept or Path(folder), given.directory), model, given.embedded)
    for row in rows:
        cpu, wall = row["cpu_ms"] / rows[0]["cpu_ms"], row["ms"] / rows[0]["ms"]
        print(
            json.dumps(row)
            if given.json
            else f"{row['way']:<26} {row['cpu_ms']:7.1f} ms of processor ({cpu:5.2f})   "
            f"{row['ms']:7.1f} ms ({wall:5.2f})   n={row['n']}"
        )
    if given.plot:
        ways = [row["way"] for row in rows]
        figures.bars(given.plot, {"milliseconds of processor a question": {"": [row["cpu_ms"] for row in rows]}}, ways)
    return 0


def indexed_home(folder: Path, documents: Path) -> Path:
    """The home in a folder, with the documents in it, made where there is none."""
    home = folder / "home"
    if not home.exists():
        with _agent(home, {}) as agent:
            agent.ingest(documents, tenant_id=TENANT)
    return home


def _measured(folder: Path, indexed: Path, model: dict[str, str], embedded: bool) -> list[dict[str, Any]]:
    with ExitStack() as opened:
        asks: dict[str, Callable[[str], object]] = {}
        for name, settings, how in (
            ("Cordon, nothing kept", {**model, "CORDON_ARTIFACTS": "0"}, BARE),
            ("Cordon, artefacts", model, BARE),
            ("Cordon, as shipped", model, SHIPPED),
            *([("Cordon, embedded model", {}, SHIPPED)] if embedded else []),
        ):
            home = folder / name
            shutil.copytree(indexed, home)
            agent = opened.enter_context(_agent(home, settings))
            asks[name] = lambda q, agent=agent, how=how: agent.ask(q, tenant_id=TENANT, **how)  # type: ignore[misc]
        questions = fill_chroma(indexed, folder / "chroma")
        asks = {"plain LangChain chain": plain_chain(folder / "chroma", model["OPENAI_BASE_URL"]).invoke, **asks}
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in asks}
        order = Random(7)
        for n, question in enumerate(questions):
            for name in order.sample(list(asks), len(asks)):
                cpu, begun = time.process_time(), time.perf_counter()
                asks[name](question)
                if n >= WARM:
                    spent[name].append((time.process_time() - cpu, time.perf_counter() - begun))
    return [
        {
            "way": name,
            "cpu_ms": statistics.median(cpu for cpu, _ in took) * 1_000,
            "ms": statistics.median(wall for _, wall in took) * 1_000,
            "n": len(took),
        }
        for name, took in spent.items()
    ]


@contextmanager
def _agent(home: Path, settings: dict[str, str]) -> Iterator[Agent]:
    os.environ.update(settings)
    made = load(home=home, out=home / "out")
    for name in settings:
        del os.environ[name]
    with Agent(made) as agent:
        yield agent


def fill_chroma(home: Path, chroma: Path) -> list[str]:
    """Writes the home's chunks into Chroma as LangChain's own tutorials do; questions made of their headings."""
    from langchain_core.documents import Document

    with _agent(home, {}) as agent:
        space = agent.deps.index.space(TENANT)
        assert space is not None
        chunks = [chunk for record in space.records() for chunk in space.chunks(record.doc_id)]
        texts = {record.doc_id: space.text(record.doc_id) for record in space.records()}
    found = [Document(texts[c.doc_id][c.start : c.end], metadata={"section": c.section}) for c in chunks]
    store = _store(chroma)
    for start in range(0, len(found), 500):
        store.add_documents(found[start : start + 500])
    headings = {re.sub(r"[^\w\s,'-]", " ", c.section.split(" > ")[-1]).strip() for c in chunks}
    asked = sorted(f"What do we say about {h[:1].lower() + h[1:]}?" for h in headings if 2 <= len(h.split()) <= 8)
    return Random(11).sample(asked, min(QUESTIONS, len(asked)))


def plain_chain(chroma: Path, url: str) -> Any:
    """The peer, made as LangChain's own tutorials make it, over what `fill_chroma` wrote."""
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    prompt = ChatPromptTemplate.from_template(
        "Answer the question from the evidence.\n\n{context}\n\nQuestion: {question}"
    )
    chat = ChatOpenAI(model="stub", base_url=url, api_key=SecretStr("none"), temperature=0.3, max_completion_tokens=500)
    evidence = _store(chroma).as_retriever(search_kwargs={"k": TOP_K}) | RunnableLambda(_written)
    return {"context": evidence, "question": RunnablePassthrough()} | prompt | chat | StrOutputParser()


def _store(chroma: Path) -> Any:
    from langchain_chroma import Chroma
    from langchain_core.embeddings import Embeddings

    class MiniLM(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return shared().embed(texts).tolist()  # type: ignore[no-any-return]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    return Chroma("bench", MiniLM(), persist_directory=str(chroma))


def _written(documents: list[Any]) -> str:
    return "\n".join(
        f"<evidence-0 n={n} from={d.metadata['section']}>\n{d.page_content}\n</evidence-0>"
        for n, d in enumerate(documents, 1)
    )


if __name__ == "__main__":
    sys.exit(main())
