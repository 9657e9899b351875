"""What is installed with Cordon: `python -m evals.security.supply_chain audit | bill FILE | licences`.

All read the pins of requirements/*.txt. `audit` has pip-audit ask for known vulnerabilities of each, and fails when it
could not ask for every one; `bill` writes a bill of materials (CycloneDX 1.6); `licences` lists them and
fails on one that is unknown or not allowed.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNREAD = 4  # exit code
_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[\w,-]+\])?==([^\s;\\]+)", re.M)
# Permissive, or copyleft that ends at the file or the library: in the words of packages, SPDX or not.
ALLOWED = frozenset(
    {
        *(
            "MIT",
            "MIT-0",
            "MIT-CMU",
            "MIT License",
            "0BSD",
            "BSD License",
            "BSD-2-Clause",
            "BSD-3-Clause",
            "Zlib",
            "CC0-1.0",
        ),
        *(
            "3-Clause BSD License",
            "ISC License (ISCL)",
            "ISC",
            "PSF-2.0",
            "CNRI-Python",
            "Python Software Foundation License",
        ),
        *("Apache-2.0", "Apache Software License", "Apache License", "Version 2.0"),
        *("MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)", "GNU Lesser General Public License v2 or later (LGPLv2+)"),
        *("LGPL-3.0-only",),
    }
)
# Looked at one by one. Not installed here: what other platforms need, so there is no metadata to read.
SETTLED = {
    "colorama": ("BSD License", "Windows alone"),
    "pywin32": ("Python Software Foundation License", "Windows alone"),
    "httpx2-jsfetch": ("not read", "Emscripten alone, where Cordon does not run"),
    "pypdfium2": (
        "BSD-3-Clause, Apache-2.0, dependency licenses",
        "what PDFium is built of has its licences in the package",
    ),
    "kubernetes-validate": ("Apache-2.0", "as its LICENSE says; for tests alone"),
    "partd": ("BSD-3-Clause", "as its LICENSE says"),
    "langserve": ("Other/Proprietary License", "the extra `langserve`: not for hosted services"),
    "langgraph-api": ("Elastic-2.0", "the extra `studio`: not for hosted services"),
    "langgraph-runtime-inmem": ("Elastic-2.0", "the extra `studio`: not for hosted services"),
}


@dataclass(frozen=True)
class Pin:
    name: str
    version: str
    of: tuple[str, ...]  # the files of requirements/ that name it


def pins(folder: Path = ROOT / "requirements") -> list[Pin]:
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(folder.glob("*.txt")):
        for name, version in _PIN.findall(path.read_text(encoding="utf-8")):
            found.setdefault((name.lower(), version), []).append(path.stem)
    return [Pin(name, version, tuple(of)) for (name, version), of in sorted(found.items())]


def asked(of: list[Pin]) -> dict[Pin, list[str]]:
    """Ids of the known vulnerabilities of each pin that pip-audit could ask for. It takes one version of a name at a
    time, passes over what it cannot find, and calls that clean: so what it says of each is counted here."""
    answers: dict[Pin, list[str]] = {}
    left = list(of)
    while left:
        once = {pin.name: pin for pin in reversed(left)}
        left = [pin for pin in left if once[pin.name] != pin]
        for told in _pip_audit(once.values()):
            if "vulns" in told:
                names = [" ".join([one["id"], *one.get("aliases", [])]) for one in told["vulns"]]
                answers[once[told["name"].lower()]] = names
    return answers


def _pip_audit(of: Iterable[Pin]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "pins.txt"
        listed.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in of), encoding="utf-8")
        quiet = ["--disable-pip", "--no-deps", "--format", "json", "--progress-spinner", "off"]
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(listed), *quiet]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return list(json.loads(done.stdout)["dependencies"])
    except (ValueError, KeyError, TypeError):
        return []


def audit(of: list[Pin], ask: Callable[[list[Pin]], dict[Pin, list[str]]] = asked) -> tuple[int, list[str]]:
    """How many were audited, and a line for each known vulnerability."""
    answers = ask(of)
    found = [f"{p.name} {p.version} ({', '.join(p.of)}): {one}" for p in of for one in answers.get(p, [])]
    return len(answers), found


def licence(name: str) -> str:
    """As the package says it, alternatives and parts in one line; "" when nothing tells."""
    if name in SETTLED:
        return SETTLED[name][0]
    try:
        told: Any = importlib.metadata.metadata(name)  # its type has no `get`
    except importlib.metadata.PackageNotFoundError:
        return _listed_before().get(name, "")  # what only `make model` or `make docs` installs
    classed = [line.split(" :: ")[-1] for line in told.get_all("Classifier") or [] if line.startswith("License ::")]
    first = (told.get("License") or "").strip().partition("\n")[0][:80]
    return told.get("License-Expression") or " OR ".join(classed) or first


@cache
def _listed_before() -> dict[str, str]:
    """By package, what `make licences` read where everything was installed."""
    text = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| (\S+) \| \S+ \| (.*?) \|", text, re.M))


def unsettled(name: str, said: str) -> bool:
    """Whether it is unknown or not allowed. One of several alternatives is enough; all parts must be allowed."""
    if name in SETTLED:
        return False
    parts = [re.split(r" AND |, ", part) for part in said.split(" OR ")]
    return not any(all(one in ALLOWED or one.strip("()") in ALLOWED for one in part) for part in parts)


def bill(of: list[Pin]) -> dict[str, Any]:
    """A CycloneDX 1.6 document; the same for the same pins and the same installed metadata."""
    parts = []
    for pin in of:
        address = f"pkg:pypi/{pin.name}@{pin.version}"
        said = licence(pin.name)
        parts.append(
            {
                "type": "library",
                "bom-ref": address,
                "name": pin.name,
                "version": pin.version,
                "purl": address,
                "licenses": [{"license": {"name": said}}] if said else [],
                "properties": [{"name": "cordon:requirements", "value": ",".join(pin.of)}],
            }
        )
    own = {
        "type": "application",
        "name": "cordon",
        "version": importlib.metadata.version("cordon"),
        "bom-ref": "cordon",
    }
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": parts,
    }


def listed(of: list[Pin]) -> str:
    lines = [
        "# Licences",
        "",
        "Of everything pinned in `requirements/`, as the packages say. Written by `make licences`.",
        "",
    ]
    lines += ["| package | version | licence | installed by | note |", "|---|---|---|---|---|"]
    lines += [
        f"| {p.name} | {p.version} | {licence(p.name)} | {', '.join(p.of)} | {SETTLED.get(p.name, ('', ''))[1]} |"
        for p in of
    ]
    return "\n".join([*lines, ""])


def main(argv: list[str]) -> int:
    of = pins()
    match argv:
        case ["audit"]:
            done, found = audit(of)
            print("\n".join([*found, f"{done} of {len(of)} pins audited, {len(found)} known vulnerabilities."]))
            if done < len(of):
                print("The vulnerability database could not be read for all: no pass. Try again.", file=sys.stderr)
            return 1 if found else 0 if done == len(of) else UNREAD
        case ["bill", file]:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_text(json.dumps(bill(of), indent=2) + "\n", encoding="utf-8")
            print(f"{len(of)} components in {file}")
            return 0
        case ["licences"]:
            (ROOT / "docs" / "licences.md").write_text(listed(of), encoding="utf-8")
            wrong = [
                f"{p.name} {p.version}: {said or 'unknown'}" for p in of if unsettled(p.name, said := licence(p.name))
            ]
            print("\n".join(wrong) or f"{len(of)} licences, all allowed or settled: docs/licences.md")
            return 1 if wrong else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
