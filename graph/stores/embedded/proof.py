"""What a journal's bytes and its head prove, in one sentence that never says more than that."""

from collections.abc import Collection, Iterator
from pathlib import Path

from graph.audit.chain import follow, proven
from graph.stores.embedded.head import Head
from graph.stores.journal import Broken, Proof


def prove(journal: Path, head: Head, ask: Collection[int] = ()) -> Proof:
    told = head.read()  # before the journal: lines may be added while it is read, and none is taken away
    there = journal.exists()
    if not there and told is None:
        return Proof(0, "", doubt="there is no journal: nothing is proven")
    found = follow(whole_lines(journal), {*ask, told.seq} if told else ask)
    entries, last = found.last.seq, found.last.hash
    asked = {link.seq: link for link in found.asked}
    if found.broken is not None:
        return Proof(entries, last, found.broken)
    if told is None:
        if not entries:
            return Proof(0, "", doubt="the journal is empty: nothing is proven")
        doubt = f"{entries} entries follow one another; without {head.path.name}, a cut end would not show; last {last}"
        return Proof(entries, last, doubt=doubt)
    if told.seq not in asked:
        what = "the journal was cut" if entries else "the journal was emptied" if there else "the journal is gone"
        return Proof(entries, last, Broken(entries + 1, f"{what}: {told.seq} entries were written"))
    if asked[told.seq] != told:
        return Proof(entries, last, Broken(told.seq, "the line is not the one that was written there"))
    return Proof(entries, last, asked=found.asked)


def whole_lines(journal: Path) -> Iterator[bytes]:
    """Every line without its newline. What stands behind the last newline is one, too, if it is a whole entry; half a
    line was left by a killed process, and the next append removes it."""
    if journal.exists():
        with journal.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield line[:-1]
                else:
                    try:
                        proven(line)
                    except ValueError:
                        return
                    yield line
