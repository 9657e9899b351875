"""How long the page takes to load in Chromium, and a picture of a document's page to be made.

    python -m evals.load.page                      12 loads, 12 pictures, a second apart
    python -m evals.load.page --pictures 1000 --pause 0.15

The service runs in this process. A picture is one of a page of a Word file, asked for by HTTP and never taken from
memory; the first, for which LibreOffice lays the file out, is told apart. Needs `make dev`, Chromium and LibreOffice.
"""

import argparse
import io
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from docx import Document

from evals.serving import WIDE, Served, serving, small_home
from graph.settings import load

PAGES = 20
QUESTION = "How long does the heron ferry take?"
_LOADED = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def loads(served: Served, times: int) -> list[float]:
    """Seconds until the page has loaded, each in a profile of its own; the first, which starts Chromium, left out."""
    from playwright.sync_api import sync_playwright

    spent = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_FLAGS)
        for _ in range(times + 1):
            page = chromium.new_context().new_page()
            page.goto(served.url)
            page.wait_for_selector("#key:visible")
            spent.append(page.evaluate(_LOADED) / 1_000)
            page.context.close()
        chromium.close()
    return spent[1:]


def pictures(served: Served, times: int, pause_s: float) -> tuple[float, list[float], list[int]]:
    """Seconds of the first picture, of each further one, and MB of this process after the first and the last."""
    document = Document()
    for number in range(PAGES):
        document.add_heading(f"Ferry {number}", 1)
        for part in range(12):
            document.add_paragraph(
                f"Ferry {number} sails on day {part} of the month and carries {part + number} people. " * 4
            )
        document.add_page_break()  # type: ignore[no-untyped-call]
    document.add_paragraph("The heron ferry takes twelve minutes.")
    stream = io.BytesIO()
    document.save(stream)
    with served.client() as client:
        client.post("/v1/documents", files={"file": ("ferries.docx", stream.getvalue())}).raise_for_status()
        reply: dict[str, Any] = {}
        for _ in range(60):  # until it is ingested
            reply = client.post("/v1/ask", json={"question": QUESTION}).raise_for_status().json()
            if any(one["filename"] == "ferries.docx" for one in reply["citations"]):
                break
            time.sleep(0.5)
        cited = next(one for one in reply["citations"] if one["filename"] == "ferries.docx")
        spent, memory = [], []
        for at in range(times + 1):
            served.service.agent._pictures.forget()
            begun = time.perf_counter()
            path = f"/v1/documents/{cited['doc_id']}/pages/{at % PAGES + 1}.png"
            client.get(path, params={"run": reply["run_id"], "citation": cited["n"]}).raise_for_status()
            spent.append(time.perf_counter() - begun)
            memory.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 10**6)
            time.sleep(pause_s)
    return spent[0], spent[1:], [memory[0], memory[-1]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.load.page", description="The page, and pictures of pages.")
    parser.add_argument("--loads", type=int, default=12)
    parser.add_argument("--pictures", type=int, default=12)
    parser.add_argument("--pause", type=float, default=1.0, metavar="S")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        settings = load(
            environ={}, home=small_home(base), out=base / "out", artifacts=False, **{**WIDE, "keep_originals": True}
        )
        with serving(settings) as served:
            print("page loaded", _told(loads(served, options.loads)))
            first, further, memory = pictures(served, options.pictures, options.pause)
            print(f"first picture {first:.2f} s\npictures", _told(further))
            print(f"memory {memory[0]} MB after the first, {memory[1]} MB after the last")


def _told(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    most = ordered[int(0.9 * len(ordered))]
    return f"median {statistics.median(seconds):.3f} s, nine of ten within {most:.3f} s (n={len(seconds)})"


if __name__ == "__main__":
    main()
