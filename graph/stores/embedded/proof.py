"""What a journal's bytes and its head prove, in one sentence that never says more than that."""

from collections.abc import Collection, Iterator
from pathlib import Path

from graph.audit import chain
from graph.stores.embedded.head import Head
from graph.stores.journal import Broken, Proof


def prove(journal: Path, head: Head, ask: Collection[int] = ()) -> Proof:
    last = head.read()  # before the journal: lines may be added while it is read, and none is taken away
    if journal.exists():
        return chain.prove(whole_lines(journal), last, ask, beside=head.path.name)
    if last is None:
        return Proof(0, "", doubt="there is no journal: nothing is proven")
    return Proof(0, chain.GENESIS, Broken(1, f"the journal is gone: {last.seq} entries were written"))


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
                        chain.proven(line)
                    except ValueError:
                        return
                    yield line
