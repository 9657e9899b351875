"""schemathesis over the service's own OpenAPI document: every case gets an answer, and none of them is a 5xx.

    python -m evals.fuzz --cases 20000        takes minutes; the test-suite runs a few hundred

The service answers with a model that says one sentence at once, so that the time goes into requests. Exit 1 when a
case found a server error or a broken connection.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from evals.serving import WIDE, serving, small_home
from graph.settings import load

CHECKS = "not_a_server_error"
# hypothesis-jsonschema 0.23 asks Hypothesis for `many.more()`, which newer versions turned into an iteration.
_BOOT = """
import warnings
warnings.simplefilter("ignore")
from hypothesis.internal.conjecture.utils import many
if not hasattr(many, "more"):
    def more(self):
        if not hasattr(self, "_steps"):
            self._steps = iter(self.__enter__())
        return next(self._steps, self) is None
    many.more = more
import schemathesis.cli
schemathesis.cli.schemathesis()
"""


def fuzz(url: str, key: str, per_operation: int, *, paths: str = "^/", seed: int = 1) -> tuple[int, str]:
    """(cases sent, what schemathesis said when it was not content). Raises RuntimeError when it could not run."""
    options = {
        "--header": f"Authorization: Bearer {key}",
        "--checks": CHECKS,
        "--phases": "fuzzing",
        "--include-path-regex": paths,
        "--exclude-path-regex": "playground",
        "--max-examples": str(per_operation),
        "--seed": str(seed),
        "--suppress-health-check": "all",
        "--request-timeout": "30",
        "--warnings": "off",
        "--generation-database": "none",
    }
    command = [sys.executable, "-c", _BOOT, "run", f"{url}/openapi.json", "--continue-on-failure", "--no-color"]
    command += [part for option in options.items() for part in option]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    found = re.search(r"(\d[\d,]*) generated", done.stdout)
    if not found:
        raise RuntimeError(done.stdout[-2_000:] + done.stderr[-2_000:])
    return int(found[1].replace(",", "")), "" if done.returncode == 0 else done.stdout


def operations(url: str) -> int:
    import httpx

    paths = httpx.get(f"{url}/openapi.json", trust_env=False).json()["paths"]
    return sum(len(methods) for path, methods in paths.items() if "playground" not in path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000, help="about how many")
    parser.add_argument("--paths", default="^/", help="regular expression")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = load(environ={}, home=small_home(Path(folder)), out=Path(folder) / "out", artifacts=False, **WIDE)
        with serving(settings) as served:
            each = max(1, given.cases // operations(served.url))
            cases, said = fuzz(served.url, served.keys["U1", "admin"], each, paths=given.paths)
    print(said or f"{cases} cases, no server error, no broken connection")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
