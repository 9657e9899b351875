"""schemathesis in a process of its own, with a line per answer: `python -m evals.security.generated TALLY run URL …`.

What follows TALLY is schemathesis' own command line. Each line of the file TALLY is a JSON object: the operation, the
mode (positive: data that fit the document, negative: that do not), the status (0 when the connection broke) and a
digest of what was sent, by which equal requests are counted once, whoever's key they come with.
"""

import hashlib
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any, TextIO


def mend() -> None:
    """hypothesis-jsonschema 0.23 asks Hypothesis for `many.more()`, which newer versions turned into an iteration."""
    from hypothesis.internal.conjecture.utils import many

    if hasattr(many, "more"):
        return

    def more(self: Any) -> bool:
        if not hasattr(self, "_steps"):
            self._steps = iter(self.__enter__())
        return next(self._steps, self) is None

    many.more = more  # type: ignore[attr-defined]


def hasten() -> None:
    """schemathesis gives Hypothesis each case's success as a target, and Hypothesis then climbs towards it from case to
    case, nearly all of which it has tried before: nine tenths of the time, and hardly a new request."""
    from schemathesis.generation import metrics

    metrics.maximize = lambda *given, **named: None


def tally(lines: TextIO) -> None:
    import schemathesis

    def tell(case: Any, status: int, request: Any) -> None:
        kind, body = str(request.headers.get("Content-Type")), request.body or b""
        data = body if isinstance(body, bytes) else str(body).encode("utf-8", "surrogatepass")
        if boundary := re.search(r"boundary=([0-9a-f]{32})$", kind):  # a new one for each request
            kind, data = kind[: boundary.start(1)], data.replace(boundary[1].encode(), b"")
        sent = f"{request.method} {request.url} {kind}\n".encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(sent + data)
        told = {
            "operation": f"{case.operation.method.upper()} {case.operation.path}",
            "mode": case.meta.generation.mode.value if case.meta else "",
            "status": status,
            "digest": digest.hexdigest()[:24],
        }
        lines.write(json.dumps(told) + "\n")

    @schemathesis.hook
    def after_call(context: Any, case: Any, response: Any) -> None:
        tell(case, response.status_code, response.request)

    @schemathesis.hook
    def after_network_error(context: Any, case: Any, request: Any) -> None:
        tell(case, 0, request)


def main() -> None:
    warnings.simplefilter("ignore")
    mend()
    hasten()
    import schemathesis.cli

    with Path(sys.argv.pop(1)).open("w", encoding="utf-8") as lines:
        tally(lines)
        schemathesis.cli.schemathesis()


if __name__ == "__main__":
    main()
