"""cited pages: whether the page that a citation names holds its quote, as the PDF library alone finds it.
`python -m evals.suites.cited_pages [COLLECTION…]`

Only the PDFs of a collection are ingested; every question that was written for it is asked (evals/suites/handbooks.py),
whatever it is about. A quote is looked for by its letters and digits on each page of the file, over a page end too.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pypdfium2

from evals.material import data_directory, own_set
from evals.suites.reading import plain
from graph.agent import Agent
from graph.knowledge.manifest import sources
from graph.settings import load

COLLECTIONS = ("openchain", "hcph", "guides18f", "federal_security")
LEAST = 12  # letters of a quote that is looked for: a shorter one stands on many pages


def letters(text: str) -> str:
    return "".join(plain(text))


def verdict(pages: Sequence[str], citation: Mapping[str, Any]) -> str:
    """ "right", "wrong" or not looked for: masked, too short, or in another order in the library's own text."""
    quote = letters(citation["quote"])
    if "[REDACTED]" in citation["quote"] or len(quote) < LEAST or quote not in "".join(pages):
        return "not looked for"
    first, last = citation["page"], citation["page_end"] or citation["page"]
    named = "".join(pages[first - 1 : last])
    ends = quote in named and (first == last or quote not in named[len(pages[first - 1]) :])
    return "right" if ends and (first == last or quote not in pages[first - 1]) else "wrong"


def asked(collection: str) -> Counter[str]:
    """How many citations of PDFs have each verdict."""
    folder = data_directory() / "collections" / collection
    given = [s for s in sources(folder / "ingest.csv", folder / "tenant_acl.csv") if s.path.suffix.lower() == ".pdf"]
    texts: dict[str, list[str]] = {}
    for source in given:
        with pypdfium2.PdfDocument(source.path) as pdf:
            texts[source.doc_id] = [letters(page.get_textpage().get_text_range()) for page in pdf]
    found: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as scratch,
        Agent(load(environ={}, home=Path(scratch), artifacts=False)) as agent,
    ):
        agent.ingest_sources(given)
        tenants = {source.tenant_id for source in given} - {"public"}
        for row in own_set(f"handbooks/{collection}"):
            for tenant in sorted(tenants):
                reply = agent.ask(row["question"], tenant_id=tenant, user_id="reader")
                for citation in reply.citations:
                    said = verdict(texts[citation["doc_id"]], citation)
                    found[said] += 1
                    if said == "wrong":
                        sys.stderr.write(f"{citation['filename']} p. {citation['page']}: {citation['quote'][:90]!r}\n")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m evals.suites.cited_pages", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("names", nargs="*", metavar="COLLECTION", help=f"all by default: {', '.join(COLLECTIONS)}")
    for name in parser.parse_args().names or COLLECTIONS:
        found = asked(name)
        sys.stdout.write(f"{name}: {', '.join(f'{count} {said}' for said, count in sorted(found.items()))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
