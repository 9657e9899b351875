"""field: documents, questions and calls that went wrong for people who use products like this one, each with its right
result. `python -m evals.suites.field DIR [--only WORDS]`

`datasets/field.jsonl` says of each case of a folder (inputs/, evaluation data, not part of the project) what is right.
Files go through the ingestion, each case as a tenant of its own, questions through
`Agent.ask`, calls to a real service:

    files, gone, remove   what is put into the folder of the case, taken out of it, or removed by id; `also` goes on
    has, lacks, once, order, matches, longest   of the text as it is read: words, regular expressions, characters a line
    refused, notes, told  words of the reason for a quarantine, of what was not read, of any outcome
    documents, withheld   how many there are
    asks, qa, masks, shown, calls   questions to these documents, to the folder QA; sentences that masking leaves; HTTP
    either                one of several results is right
    special               a function here, by the case's id
    elsewhere             what a case needs that is not here, and the test that has it: not counted
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from evals.material import own_set
from evals.serving import WIDE, Served, serving
from evals.task import Metric, NoData, Output, Row, Rows, Sample, Scores, Task
from graph.agent import Agent, Reply
from graph.knowledge.ingest import Outcome
from graph.settings import load

Case = Mapping[str, Any]
SLOWER = 2.0  # times: how much longer the last of many turns may take than the first ones


class World:
    """The inputs, and an agent or a service over a home of its own."""

    def __init__(self, inputs: Path, scratch: Path) -> None:
        self.inputs, self.scratch = inputs, scratch
        self.settings = load(environ={}, home=scratch / "home", out=scratch / "out", artifacts=False, **WIDE)
        self._opened = ExitStack()
        self._agent: Agent | None = None
        self._served: Served | None = None
        self.run = ""

    @property
    def agent(self) -> Agent:
        if self._agent is None:
            self._agent = self._opened.enter_context(Agent(self.settings))
            self._agent.ingest([self.inputs / "QA"], tenant_id="U1")
        return self._agent

    @property
    def served(self) -> Served:
        """The service, in place of the agent: one process has a home at a time."""
        if self._served is None:
            assert self.agent
            self._opened.close()
            self._agent = None
            self._served = self._opened.enter_context(serving(self.settings))
        return self._served

    def close(self) -> None:
        self._opened.close()

    def texts(self, tenant: str) -> list[str]:
        space = self.agent.deps.index.space(tenant)
        return [space.text(record.doc_id) for record in space.records()] if space else []

    def ingested(self, case: Case, tenant: str) -> list[Outcome]:
        """Outcomes of what a step brings, and of what it takes away."""
        folder = self.scratch / tenant
        folder.mkdir(exist_ok=True)
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
        for name in case.get("files", ()):
            source = self.inputs / name
            if source.is_dir():
                shutil.copytree(source, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
            else:
                shutil.copyfile(source, folder / source.name)
        if "text" in case:
            lines = (case["text"].format(n=n) for n in range(case["times"]))
            (folder / "long.txt").write_text("".join(lines), encoding="utf-8")
        for name in case.get("gone", ()):
            (folder / name).unlink()
        if "remove" in case:
            self.agent.remove(case["remove"], tenant_id=tenant)
        new = {p.name for p in folder.rglob("*") if before.get(p) != p.stat().st_mtime_ns}
        found = self.agent.ingest([folder], tenant_id=tenant) if any(folder.iterdir()) else []
        return [one for one in found if Path(one.name).name in new or one.status in ("missing", "removed")]


def faults(case: Case, world: World, tenant: str) -> Iterator[str]:
    """What is wrong of a case, a few words each."""
    if "calls" in case:
        yield from over_http(case, world)
        return
    yield from conversation(case.get("qa", ()), world.agent, "U1", tenant)
    for text, shown in case.get("masks", ()):
        if shown not in (masked := world.agent.mask(text)["text"]):
            yield f"masked {masked!r}"
    if case["id"] in SPECIAL:
        yield from SPECIAL[case["id"]](world)
    steps = [case, *({**step, "id": case["id"]} for step in case.get("also", ()))]
    for step in steps if {"files", "text"} & case.keys() else ():
        outcomes = world.ingested(step, tenant)
        if either := step.get("either"):
            ways = [list(step_faults({key: value}, outcomes, world, tenant)) for key, value in either.items()]
            yield from min(ways, key=len)
        else:
            yield from step_faults(step, outcomes, world, tenant)


def step_faults(step: Case, outcomes: Sequence[Outcome], world: World, tenant: str) -> Iterator[str]:
    refused = [one for one in outcomes if one.status in ("quarantined", "failed")]
    reasons = " ".join(one.reason for one in refused)
    yield from (
        f"not refused with {word!r}: {reasons[:90]!r}" for word in step.get("refused", ()) if word not in reasons
    )
    if not step.keys() & {"refused", "either"}:
        yield from (f"refused: {one.name}: {one.reason[:90]}" for one in refused)
    notes = " ".join(note for one in outcomes for note in one.notes)
    yield from (
        f"no note of {word!r}: {notes!r}" for word in step.get("notes", ()) if word.lower() not in notes.lower()
    )
    told = " ".join(one.reason for one in outcomes)
    yield from (f"not told {word!r}: {told!r}" for word in step.get("told", ()) if word not in told)
    texts = world.texts(tenant)
    if len(texts) != step.get("documents", len(texts)):
        yield f"{len(texts)} documents"
    yield from text_faults(step, "\n\n".join(texts))
    for one in world.agent.documents(tenant_id=tenant) if step.keys() & {"shown", "withheld"} else ():
        masked = world.agent.document(one["doc_id"], tenant_id=tenant)["text"]
        yield from (f"masked: {word!r}" for word in step.get("shown", ()) if word not in masked)
        kept_back = world.agent.withheld(one["doc_id"], tenant_id=tenant)
        if len(kept_back) != step.get("withheld", len(kept_back)):
            yield f"withheld: {[row['text'][:60] for row in kept_back]}"
    for turn in step.get("asks", ()):
        yield from conversation([turn], world.agent, tenant, tenant)


def text_faults(step: Case, text: str) -> Iterator[str]:
    longest = max(map(len, re.split(r"(?<=\.)\s", text)), default=0)
    text = " ".join(text.split())
    yield from (f"not read: {words!r}" for words in step.get("has", ()) if words not in text)
    yield from (f"read: {words!r}" for words in step.get("lacks", ()) if words in text)
    yield from (f"{text.count(words)} times: {words!r}" for words in step.get("once", ()) if text.count(words) != 1)
    yield from (f"nothing like {form!r}" for form in step.get("matches", ()) if not re.search(form, text))
    at = 0
    for words in step.get("order", ()):
        found = text.find(words, at)
        if found < 0:
            yield f"not in its order: {words!r}"
        at = max(at, found + len(words))
    if longest > step.get("longest", longest):
        yield f"a sentence of {longest} characters"


def conversation(turns: Sequence[Case], agent: Agent, tenant: str, thread: str) -> Iterator[str]:
    """Each question by itself, or all of them one after the other where the first says that others follow."""
    together = bool(turns) and turns[0].get("follows")
    for number, turn in enumerate(turns):
        name = thread if together else f"{thread}-{number}"
        reply = agent.ask(turn["q"], tenant_id=tenant, user_id="field", thread_id=name, memory="buffer")
        yield from (f"{turn['q'][:40]!r}: {fault}" for fault in reply_faults(turn, reply))


def reply_faults(turn: Case, reply: Reply) -> Iterator[str]:
    text = " ".join(reply.answer.split()).lower()
    if reply.decision == turn.get("decision_not"):
        yield reply.decision
    if turn.get("silent") and reply.decision != "no_answer":
        yield f"answered {text[:70]!r}"
    for group in turn.get("has", ()):
        if not any(
            one[5:] in reply.safety_flags if one.startswith("flag:") else one.lower() in text
            for one in group.split("|")
        ):
            yield f"not answered {group!r}: {text[:90]!r}"
    yield from (f"answered {words!r}" for words in turn.get("lacks", ()) if words.lower() in text)
    pages = [citation["page"] for citation in reply.citations]
    if "page" in turn and turn["page"] not in pages:
        yield f"page {pages}"


def over_http(case: Case, world: World) -> Iterator[str]:
    with world.served.client() as client:
        for call in case["calls"]:
            with ThreadPoolExecutor(4) as pool:
                jobs = [pool.submit(one_call, client, call, world) for _ in range(call.get("together", 1))]
            for job in jobs:
                yield from job.result()


def one_call(client: httpx.Client, call: Case, world: World) -> list[str]:
    given: dict[str, Any] = {"json": call["json"]} if "json" in call else {}
    if "raw" in call:
        given = {"content": call["raw"], "headers": {"Content-Type": call.get("type", "application/json")}}
    if "key" in call:
        given["headers"] = {"Authorization": f"Bearer {call['key']}"}
    if name := call.get("upload_file"):
        given["files"] = {"files": (name, (world.inputs / name).read_bytes())}
    elif "upload" in call:
        given["files"] = {"files": (call["upload"][0], call["upload"][1].encode())}
    path = call["path"].format(run=world.run)  # of the answer before
    answer = client.request(call["method"], path, **given)
    wanted = call["status"] if isinstance(call["status"], list) else [call["status"]]
    said = f"{call['method']} {call['path']}"
    found = [] if answer.status_code in wanted else [f"{said}: {answer.status_code} {answer.text[:90]!r}"]
    if call["path"] == "/v1/ask" and answer.status_code == 200:
        world.run = answer.json()["run_id"]
    if "files" in given and answer.status_code == 202:
        until = time.monotonic() + 60
        while (job := client.get(answer.headers["Location"]).json())["done"] < job["total"]:
            if time.monotonic() > until:
                return [f"{said}: the job does not end"]
            time.sleep(0.1)
    if start := call.get("begins"):
        return found + ([] if answer.content.startswith(start.encode("latin-1")) else [f"{said}: other bytes"])
    found += [
        f"{said}: without {words!r}: {answer.text[:90]!r}" for words in call.get("has", ()) if words not in answer.text
    ]
    found += [f"{said}: with {words!r}" for words in call.get("lacks", ()) if words in answer.text]
    if count := call.get("count"):
        found += [] if answer.text.count(count[0]) >= count[1] else [f"{said}: {answer.text.count(count[0])} times"]
    return found


def replaced_while_asked(world: World) -> Iterator[str]:
    """A document is replaced again and again while three people ask about it: old or new, never neither."""
    folder = world.scratch / "replaced"
    folder.mkdir()

    def replace(crowns: int) -> None:
        (folder / "pool.md").write_text(f"# Pool rules\n\nThe pool costs {crowns} crowns.\n", encoding="utf-8")
        world.agent.ingest([folder], tenant_id="V03")

    def ask(number: int) -> str:
        return str(world.agent.ask("What does the pool cost?", tenant_id="V03", user_id=f"u{number}").answer)

    replace(12)
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask, number) for number in range(18)]
        for crowns in (19, 12, 19, 12):
            replace(crowns)
    for job in asked:
        if not re.search(r"\b(?:12|19) crowns", job.result()):
            yield f"answered {job.result()[:80]!r}"


def many_turns(world: World) -> Iterator[str]:
    """The turns of a long conversation take as long as those of a new one."""
    seconds = []
    for number in range(40):
        begun = time.perf_counter()
        question = f"How many visitors did the museum have in {2022 + number % 3}?"
        world.agent.ask(question, tenant_id="U1", user_id="long", thread_id="long", memory="buffer")
        seconds.append(time.perf_counter() - begun)
    first, last = sorted(seconds[2:12])[5], sorted(seconds[-10:])[5]
    if last > SLOWER * first:
        yield f"{first:.2f} s a turn first, {last:.2f} s at last"


SPECIAL = {"V03": replaced_while_asked, "W03": many_turns}


def solved(world: World, sample: Sample) -> Output:
    begun = time.perf_counter()
    try:
        found = list(faults(sample.metadata, world, sample.id))
    except Exception as error:  # one case must not end the count
        found = [f"{type(error).__name__}: {error}"]
    return Output(metadata={"wrong": found, "seconds": time.perf_counter() - begun})


def scored(sample: Sample, output: Output) -> Scores:
    return {"right": not output.metadata["wrong"]}


def measured(rows: Rows) -> Iterator[Metric]:
    for group, part in rows.by("group"):
        yield part.rate(group, "right")
    yield rows.rate("all", "right")


def said(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if wrong := row["wrong"]:
            yield f"  {row.sample.id:<5} {'; '.join(wrong[:4])[:300]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.field", description="Count cases of the field.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="with the folder inputs/")
    parser.add_argument("--only", default="", metavar="WORDS", help="cases whose id or group begins with this")
    options = parser.parse_args()
    if not (inputs := options.folder / "inputs").is_dir():
        raise NoData(f"there is no {inputs}.", hint="Name the folder that holds inputs/.")
    cases = [row for row in own_set("field") if any(row[key].startswith(options.only) for key in ("id", "group"))]
    counted = [row for row in cases if "elsewhere" not in row]
    counted.sort(key=lambda row: "calls" in row)  # the service takes the agent's place
    with tempfile.TemporaryDirectory() as scratch:
        world = World(inputs, Path(scratch))
        samples = [Sample(row["id"], row["id"], metadata=row) for row in counted]
        rows, metrics = Task("field", samples, partial(solved, world), scored, measured).run()
        world.close()
    for line in said(rows):
        sys.stdout.write(line + "\n")
    for metric in metrics:
        sys.stdout.write(f"{metric.name:<24} {metric.hits:>4} of {metric.n}\n")
    for row in cases:
        if "elsewhere" in row:
            sys.stdout.write(f"not counted: {row['id']} ({row['elsewhere']})\n")


if __name__ == "__main__":
    main()
