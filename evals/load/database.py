"""What the PostgreSQL store finds and costs, beside the embedded one; a server of its own, removed afterwards.

    python -m evals.load.database rankings                  nDCG@10 of both on Cranfield, CISI and the shipped corpus
    python -m evals.load.database sizes --chunks 10000      one space of so many chunks: putting, asking, recall, bytes,
                                                            and what ten tenants of 100 chunks wait: alone on a
                                                            server of their own, beside it, in turn with it
    python -m evals.load.database index --chunks 100000     settings of the index: recall@10 against every one compared
    python -m evals.load.database questions                 transactions and round trips of a question

Chunks, vectors and questions are those of evals.load.search. Times are of the clock, so on a machine with nothing else
to do; recall, nDCG and bytes do not hang on it. Run it with OMP_NUM_THREADS=1, in a checkout.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle, product
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import psycopg

from evals.load import search, stub, tenants
from evals.load.__main__ import QUESTIONS
from evals.material import data_directory, rows
from evals.process import ROOT, cpu_s
from evals.suites.retrieval import TENANT, fill, ndcg
from graph.administration.moving import PARTS
from graph.agent import Agent
from graph.context import ReadScope
from graph.knowledge.embeddings import shared
from graph.knowledge.index import CANDIDATES, Index
from graph.knowledge.manifest import sources
from graph.settings import load
from graph.stores.embedded import Embedded
from graph.stores.postgres import Postgres
from graph.stores.postgres.database import Database
from graph.stores.postgres.migrate import migrate
from graph.stores.postgres.space import EF_CONSTRUCTION, M
from graph.stores.spaces import Spaces
from tests.support.postgres import OWNER, Server, server

OTHERS = 10  # tenants beside a large one
OPTIONS = (
    "-c autovacuum=on -c shared_buffers=512MB -c max_wal_size=2GB"
    " -c maintenance_work_mem=512MB -c max_parallel_maintenance_workers=1"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["rankings", "sizes", "index", "questions"])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument(
        "--settings", default=f"{M}/{EF_CONSTRUCTION}", help="of the index: m/ef_construction, comma separated"
    )
    given = parser.parse_args()
    with server(options=OPTIONS) as running:
        migrate(running.url("prepared", OWNER), running.url("prepared"))
        if given.what == "rankings":
            rankings(running)
        elif given.what == "sizes":
            sizes(running, given.chunks)
        elif given.what == "questions":
            questions(running)
        else:
            near(running, given.chunks, [tuple(map(int, one.split("/"))) for one in given.settings.split(",")])
    return 0


@contextmanager
def opened(running: Server) -> Iterator[tuple[Postgres, str]]:
    name = running.database(like="prepared")
    stores = Postgres(running.url(name), connections=4, wait_s=10)
    yield stores, name
    stores.close()
    running.drop(name)


# -- the same rankings ----------------------------------------------------------------------------------------------


def rankings(running: Server) -> None:
    for name in ("cranfield", "cisi"):
        data = data_directory() / "retrieval"
        queries = [(row["text"], row["relevant"]) for row in rows(data / f"{name}_queries.jsonl.gz")]
        with tempfile.TemporaryDirectory() as folder:
            one = Embedded(Path(folder) / "home")
            filled = Index(one.spaces(shared().name), shared())
            fill(filled, list(rows(data / f"{name}_docs.jsonl.gz")))
            filled.close()
            beside(running, name, one, TENANT, queries)
    with tempfile.TemporaryDirectory() as folder:
        with Agent(load(environ={}, home=Path(folder) / "home", artifacts=False)) as agent:
            agent.ingest_sources(sources(ROOT / "corpus/manifest.csv", ROOT / "corpus/tenant_acl.csv"))
        asked = [json.loads(line) for line in (ROOT / "evals/datasets/answers.jsonl").read_text().splitlines()]
        one = Embedded(Path(folder) / "home")
        for tenant in ("U1", "U2", "U3", "U4"):
            mine = [row for row in asked if row["tenant"] == tenant and row["doc_ids"]]
            queries = [(row["question"], dict.fromkeys(row["doc_ids"], 1.0)) for row in mine]
            beside(running, f"shipped corpus, {tenant}", one, tenant, queries)


def beside(running: Server, name: str, one: Embedded, tenant: str, queries: Sequence[tuple[str, Any]]) -> None:
    with opened(running) as (other, _):
        PARTS["documents"](one, other, shared().name)  # moved, and compared
        both = [Index(stores.spaces(shared().name), shared()) for stores in (one, other)]
        gains: list[list[float]] = [[], []]
        alike, apart = 0, 0.0
        for text, relevant in queries:
            hits = [index.search(ReadScope(tenant), text, 10) for index in both]
            for told, found in zip(gains, hits, strict=True):
                told.append(ndcg(list(dict.fromkeys(hit.doc_id for hit in found)), relevant))
            alike += [hit.chunk_id for hit in hits[0]] == [hit.chunk_id for hit in hits[1]]
            scores = [{hit.chunk_id: hit.score for hit in found} for found in hits]
            apart = max([apart, *(abs(scores[0][c] - scores[1][c]) for c in scores[0].keys() & scores[1].keys())])
        means = [statistics.fmean(told) if queries else 0.0 for told in gains]
        print(
            f"{name}: nDCG@10 embedded {means[0]:.4f}, PostgreSQL {means[1]:.4f}; {alike} of {len(queries)} lists of"
            f" ten the same, scores at most {apart:.6f} apart",
            flush=True,
        )
        for index in both:
            index.close()


# -- what a question asks -------------------------------------------------------------------------------------------


def questions(running: Server, count: int = 60, warm: int = 20) -> None:
    """Over the shipped corpus, with a thread and buffer memory; the first ones open what there is."""
    asked = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    taken: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, stub.running(0) as model, ExitStack() as patched:
        settings = load(
            environ=model, home=Path(folder) / "home", artifacts=False, database_url=running.url("prepared")
        )
        agent = patched.enter_context(Agent(settings))
        agent.ingest_sources(sources(ROOT / "corpus/manifest.csv", ROOT / "corpus/tenant_acl.csv"))
        for n in range(warm + count):
            if n == warm:
                for of, name, what in (
                    (Database, "transaction", "transactions"),
                    (psycopg.Cursor, "execute", "statements, those that begin one too"),
                    (psycopg.Connection, "wait", "round trips"),
                ):
                    patched.enter_context(patch.object(of, name, _counting(getattr(of, name), taken, what)))
            row = asked[n % len(asked)]
            agent.ask(row["question"], tenant_id=row["tenant"], thread_id=f"t{n % 50}", memory="buffer")
    told = ", ".join(f"{taken[what] / count:.1f} {what}" for what in sorted(taken))
    print(f"a question, in the mean (n = {count}): {told}")


def _counting(work: Callable[..., Any], taken: "Counter[str]", what: str) -> Callable[..., Any]:
    def counted(*given: Any, **known: Any) -> Any:
        taken[what] += 1
        return work(*given, **known)

    return counted


# -- what a size costs ----------------------------------------------------------------------------------------------


def sizes(running: Server, count: int) -> None:
    asked = search.questions()
    known = search.Known(asked)
    with opened(running) as (stores, name), server(options=OPTIONS) as apart:
        migrate(apart.url("prepared", OWNER), apart.url("prepared"))
        few = Postgres(apart.url("prepared"), connections=4, wait_s=10)
        spaces, alone = stores.spaces(known.name), few.spaces(known.name)
        for n, into in product(range(OTHERS), (spaces, alone)):
            tenants._fill(into, n, np.random.default_rng(n))
        index, times = Index(spaces, known), []
        print("before there is a large one:", flush=True)
        others(alone, spaces, {})
        space = spaces.space(search.TENANT, create=True)
        assert space is not None
        begun = time.perf_counter()
        search.fill(space, count)
        print(
            f"{count} chunks: put in {time.perf_counter() - begun:.0f} s (their texts and vectors made too)", flush=True
        )
        begun = time.perf_counter()
        exact = [set(found(space, known, question, 10)) for question in asked]
        spaces.sync(search.TENANT)
        print(f"settled in {time.perf_counter() - begun:.0f} s", flush=True)
        after = [set(found(space, known, question, 10)) for question in asked]
        told = statistics.fmean(len(a & b) / 10 for a, b in zip(exact, after, strict=True))
        large = cycle(asked)
        for of, database in ((apart, "prepared"), (running, name)):  # as a server that has run for a while has done
            with of.admin(database) as admin:
                admin.execute("VACUUM ANALYZE")
        others(alone, spaces, {"in turn with it": lambda n: index.search(ReadScope(search.TENANT), next(large), 10)})
        few.close()
        before = time.process_time(), cpu_s(running.pid)
        for question in asked:
            begun = time.perf_counter()
            index.search(ReadScope(search.TENANT), question, 10)
            times.append((time.perf_counter() - begun) * 1_000)
        spent, served = (
            (now - then) * 1_000 / len(asked)
            for now, then in zip((time.process_time(), cpu_s(running.pid)), before, strict=True)
        )
        with running.admin(name) as admin:
            [(size,)] = admin.execute(f"SELECT pg_database_size('{name}')").fetchall()
        print(
            f"search: median {statistics.median(times):.1f} ms, p95 {statistics.quantiles(times, n=20)[-1]:.1f} ms by"
            f" the clock; processor, in the mean: {spent:.1f} ms of the worker, {served:.1f} of the database;"
            f" recall@10 of the nearest {told:.3f} (n = {len(asked)}); database {size / 2**20:.0f} MB",
            flush=True,
        )


def others(alone: Spaces, spaces: Spaces, more: dict[str, Callable[[int], object]], rounds: int = 60) -> None:
    """What a small tenant waits on a server of its own (`alone`), and on the one that has the large one (`spaces`):
    after an answer of another small one, and after what `more` does. In turn, so that all meet the same machine."""
    dice = np.random.default_rng(0)
    ways: dict[str, tuple[Spaces, Callable[[int], object]]] = {
        "alone": (alone, lambda n: tenants._ask(alone, n, dice)),
        "beside it": (spaces, lambda n: tenants._ask(spaces, n, dice)),
        **{way: (spaces, first) for way, first in more.items()},
    }
    took: dict[str, list[float]] = {way: [] for way in ways}
    for number, n in product(range(rounds + 1), range(OTHERS)):
        for way in Random(number * OTHERS + n).sample([*ways], len(ways)):
            of, first = ways[way]
            first((n + 1) % OTHERS)
            begun = time.perf_counter()
            tenants._ask(of, n, dice)
            took[way] += [(time.perf_counter() - begun) * 1_000] * (number > 0)  # the first round opens what there is
    for way, times in took.items():
        drawn = np.random.default_rng(0).integers(len(times), size=(1_000, len(times)))
        medians = [np.median(np.array(of)[drawn], axis=1) for of in (times, took["alone"])]
        low, high = np.quantile(medians[0] / medians[1], [0.025, 0.975])
        print(
            f"{OTHERS} tenants of {tenants.CHUNKS} chunks, {way}: {tenants._told(times)} by the clock;"
            f" {np.median(times) / np.median(took['alone']):.2f} times (95%: {low:.2f} to {high:.2f})",
            flush=True,
        )


def found(space: Any, known: search.Known, question: str, limit: int) -> list[str]:
    """The nearest alone: no word of it is asked for."""
    vector = known.embed([question])[0]
    answer = space.find(vector, [], limit)
    return [one.chunk_id for one in answer.candidates]


def near(running: Server, count: int, settings: Sequence[tuple[int, ...]]) -> None:
    """Recall of the ten nearest among the candidates that a search takes, for settings of the index."""
    asked = search.questions()
    questions = search.Known(asked).embed(asked)
    vectors = _vectors(count)
    best = [set(np.argsort(-(vectors @ one), kind="stable")[:10].tolist()) for one in questions]
    with opened(running) as (stores, name), running.admin(name) as admin:
        stores.spaces("index").space("T", create=True)
        admin.execute("SET search_path = cordon, public; SET maintenance_work_mem = '512MB'")
        with admin.cursor().copy("COPY vectors_1 (tenant, id, embedding) FROM STDIN") as copy:
            for number, one in enumerate(vectors.tolist()):
                copy.write_row(("T", number, str(one)))
        admin.execute("ANALYZE vectors_1")
        begun = time.perf_counter()
        for one in questions[:20].tolist():
            _nearest(admin, "embedding", one, 0)
        print(f"{count} vectors, all compared: {(time.perf_counter() - begun) * 50:.1f} ms a question", flush=True)
        for m, ef in settings:
            begun = time.perf_counter()
            half = f"(embedding::halfvec({vectors.shape[1]}))"
            what = f"hnsw ({half} halfvec_ip_ops) WITH (m = {m}, ef_construction = {ef})"
            admin.execute(f"CREATE INDEX near ON vectors_1 USING {what}")
            built = time.perf_counter() - begun
            [(size,)] = admin.execute("SELECT pg_relation_size('near')").fetchall()
            for wide in (100, 200, 400):
                admin.execute(f"SET hnsw.ef_search = {wide}")
                begun = time.perf_counter()
                found = [set(_nearest(admin, half, one, 2 * CANDIDATES)[:10]) for one in questions.tolist()]
                spent = (time.perf_counter() - begun) * 1_000 / len(questions)
                told = statistics.fmean(len(a & b) / 10 for a, b in zip(best, found, strict=True))
                print(
                    f"m {m}, ef_construction {ef} (built in {built:.0f} s, {size / 2**20:.0f} MB), ef_search {wide}:"
                    f" recall@10 {told:.3f} (n = {len(questions)}), {spent:.1f} ms a question",
                    flush=True,
                )
            admin.execute("DROP INDEX near")


def _nearest(admin: Any, column: str, one: list[float], among: int) -> list[int]:
    """By the index, then by the whole vectors; without `among` by these alone."""
    inner = "SELECT id, embedding FROM vectors_1"
    if among:
        inner += f" ORDER BY {column} <#> '{one}'::halfvec({len(one)}) LIMIT {among}"
    sql = f"SELECT id FROM ({inner}) AS one ORDER BY embedding <#> '{one}'::vector, id LIMIT 10"
    return [number for (number,) in admin.execute(sql)]


def _vectors(count: int) -> np.ndarray:
    """As evals.load.search makes them for its chunks, without these."""
    dice, noise = Random(0), np.random.default_rng(0)
    texts = search._chunks()
    dice.shuffle(texts)
    base = shared().embed([text[: search._OPENING] for text in texts[: search._BASE]])
    cut = [["x"] for _ in base]
    return np.array([search._varied(cut, base, number, dice, noise)[1] for number in range(count)])


if __name__ == "__main__":
    raise SystemExit(main())
