"""schemathesis over the service's own OpenAPI document, and requests no client would send: every one gets an answer,
and none of them is a 5xx.

    python -m evals.security.fuzz --cases 20000        half an hour; the test-suite runs a few hundred

Generated data that fit the document and data that do not, to every operation, as an admin and as a member (and as an
auditor where only that may), seed after seed until `--cases` different requests were sent. Then the tables of
evals.security.hostile. Exit 1 when anything found a server error or a broken connection.
"""

import argparse
import copy
import json
import logging
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.security import hostile
from evals.serving import QUESTIONS, WIDE, Served, serving, small_home
from graph.settings import load

TENANT = "U1"
ROLES = {
    "admin": "^/",
    "member": "^/",
    "auditor": "^/v1/audit(/head)?$",
    "reviewer": "^/v1/reviews",
    "operator": "^/metrics$",
}  # and what each is let loose on
PER_OPERATION = 200  # tries a round; what one has sent before is not sent again
OPTIONS = {
    "--checks": "not_a_server_error",
    "--suppress-health-check": "all",
    "--request-timeout": "60",
    "--warnings": "off",
    "--generation-database": "none",
    "--mode": "all",
}


@dataclass
class Findings:
    """`cases` are the lines of `generated`, each with the role; `said` is what schemathesis complained of."""

    cases: list[dict[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def different(self) -> int:
        return len({case["digest"] for case in self.cases})

    @property
    def broken(self) -> list[dict[str, Any]]:
        return [case for case in self.cases if not 100 <= case["status"] < 500]


def fuzz(served: Served, cases: int, *, paths: str = "", each: int = PER_OPERATION) -> Findings:
    """Rounds until so many different cases were sent: each role the document's border cases, then seeds at random."""
    found, seed = Findings(), 0
    document = described(served)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "openapi.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        while found.different < cases:
            before = found.different
            for role, allowed in ROLES.items():
                _round(found, served, path, role, paths or allowed, seed, each)
                seed += 1  # another one for each, so that a member does not send what the admin has sent
                if found.different >= cases:
                    break
            if found.different == before:
                raise RuntimeError("the rounds found no new case")
    return found


def _round(found: Findings, served: Served, path: Path, role: str, paths: str, seed: int, each: int) -> None:
    phases = "coverage" if seed < len(ROLES) else "fuzzing"
    tally, begun = path.with_name("tally"), time.monotonic()
    headers = [f"Authorization: Bearer {served.keys[TENANT, role]}", "Accept: application/json, text/event-stream"]
    command = [sys.executable, "-m", "evals.security.generated", str(tally), "run", str(path), "--url", served.url]
    command += [
        "--continue-on-failure",
        "--no-color",
        "--generation-unique-inputs",
        "--phases",
        phases,
        "--include-path-regex",
        paths,
    ]
    command += ["--max-examples", str(each), "--seed", str(seed)]
    command += [part for option in OPTIONS.items() for part in option]
    command += [part for header in headers for part in ("--header", header)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not re.search(r"\d generated", done.stdout):
        raise RuntimeError(done.stdout[-2_000:] + done.stderr[-2_000:])
    with tally.open(encoding="utf-8") as lines:
        cases = [{**json.loads(line), "role": role} for line in lines]
    found.cases += cases
    if done.returncode:
        found.said.append(done.stdout)
        print(done.stdout, file=sys.stderr)
    spent_s = time.monotonic() - begun
    print(f"{phases} as {role}, seed {seed}: {len(cases):,} in {spent_s:.0f} s", file=sys.stderr, flush=True)


def described(served: Served) -> dict[str, Any]:
    """The service's document, with the doors it leaves out, and with ids that exist beside the generated ones."""
    with served.client(TENANT, "admin") as client:
        document: dict[str, Any] = client.get("/openapi.json").json()
        job = client.post("/v1/documents", files={"files": ("curlew.md", b"The curlew valve is open.\n")}).json()[
            "job_id"
        ]
        for role in ("admin", "member"):
            with served.client(TENANT, role) as owner:
                asked = {"question": QUESTIONS[TENANT], "thread_id": "t1", "memory": "buffer"}
                owner.post("/v1/ask", json=asked).raise_for_status()
        ids = [found["doc_id"] for found in client.get("/v1/documents").json()["documents"]]
    known = {"thread_id": ["t1"], "doc_id": ids, "job_id": [job], "name": ["page.css"], "file_path": ["index.html"]}
    known |= {"model_id": ["cordon"], "model": ["cordon"], "role": ["user"], "content": [QUESTIONS[TENANT]]}
    document["paths"] |= _left_out()
    found: dict[str, Any] = _with_known(document, known)
    return found


def _left_out() -> dict[str, Any]:
    from graph.service.mcp import TOOLS

    def page(*names: str) -> dict[str, Any]:
        parameters = [{"name": n, "in": "path", "required": True, "schema": {"type": "string"}} for n in names]
        return {"get": {"parameters": parameters, "responses": {"200": {"description": "a page"}}}}

    calls = [
        {
            "type": "object",
            "required": ["jsonrpc", "id", "method", "params"],
            "properties": {
                "jsonrpc": {"const": "2.0"},
                "id": {"type": ["integer", "string"]},
                "method": {"const": "tools/call"},
                "params": {
                    "type": "object",
                    "required": ["name", "arguments"],
                    "properties": {"name": {"const": name}, "arguments": tool.arguments.model_json_schema()},
                },
            },
        }
        for name, tool in TOOLS.items()
    ]
    body = {"required": True, "content": {"application/json": {"schema": {"oneOf": calls}}}}
    return {
        "/mcp": {"post": {"requestBody": body, "responses": {"200": {"description": "JSON-RPC"}}}},
        "/page/{name}": page("name"),
        "/agent/playground/{file_path}": page("file_path"),
        "/": page(),
        "/docs": page(),
        "/openapi.json": page(),
    }


def _with_known(node: Any, known: dict[str, list[str]]) -> Any:
    """A copy in which parameters and properties of these names may also have the values that exist."""
    if isinstance(node, list):
        return [_with_known(item, known) for item in node]
    if not isinstance(node, dict):
        return copy.deepcopy(node)
    made = {name: _with_known(value, known) for name, value in node.items()}
    if isinstance(node.get("name"), str) and node["name"] in known and "in" in node and "schema" in node:
        made["schema"] = {"anyOf": [made["schema"], {"enum": known[node["name"]]}]}
    properties = made.get("properties")
    if isinstance(properties, dict):
        for name in properties.keys() & known.keys():
            properties[name] = {"anyOf": [properties[name], {"enum": known[name]}]}
    return made


class Unexpected(logging.Handler):
    """What the service logs as an error while it is asked: one inside a stream that had begun shows in no status."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(f"{record.name}: {record.getMessage()} {getattr(record, 'told', '')} {record.exc_info or ''}")


def table(found: Findings) -> str:
    """A table: for each operation and mode how many, how many of them different, and what the answers were."""
    lines = [f"{'operation':38} {'role':8} {'mode':9} {'cases':>6} {'differ':>6}   statuses"]
    rows: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for case in found.cases:
        rows.setdefault((case["operation"], case["role"], case["mode"]), []).append(case)
    for (operation, role, mode), cases in sorted(rows.items()):
        statuses = Counter(case["status"] for case in cases)
        shown = ", ".join(f"{status}: {n:,}" for status, n in sorted(statuses.items()))
        different = len({case["digest"] for case in cases})
        lines.append(f"{operation:38} {role:8} {mode:9} {len(cases):6,} {different:6,}   {shown}")
    modes = Counter(case["mode"] for case in found.cases)
    shown = ", ".join(f"{n:,} {mode}" for mode, n in sorted(modes.items()))
    lines.append(f"{len(found.cases):,} cases, {found.different:,} different ones ({shown})")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000, help="how many different ones")
    parser.add_argument("--paths", default="", help="regular expression: generated cases to these alone")
    given = parser.parse_args()
    answers: list[hostile.Answer] = []
    logging.disable(logging.WARNING)
    unexpected = Unexpected()
    with tempfile.TemporaryDirectory() as folder:
        settings = load(environ={}, home=small_home(Path(folder)), out=Path(folder) / "out", artifacts=False, **WIDE)
        with serving(settings) as served:
            found = fuzz(served, given.cases, paths=given.paths)
            with served.client() as client:
                document = client.get("/openapi.json").json()
            for role in ("admin", "member"):
                answers += hostile.attack(served.url, served.keys[TENANT, role], document)
    print(table(found))
    print(*found.said, sep="\n")
    print(hostile.table(answers))
    wrong = sum(not answer.sound for answer in answers)
    print(f"generated: {len(found.broken)} server errors or broken connections in {len(found.cases):,} cases")
    print(f"by hand: {wrong} wrong answers in {len(answers):,} requests")
    print(f"errors in the service's log: {len(unexpected.told)}", *unexpected.told, sep="\n")
    return 1 if found.broken or found.said or wrong or unexpected.told else 0


if __name__ == "__main__":
    sys.exit(main())
