"""The documents of a home, as an Agent gives them: ingest, list, read, remove; every text masked on its way out."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graph.context import PUBLIC, owner, valid_id, valid_tenant
from graph.deps import Deps
from graph.errors import BadInput, NotFound
from graph.knowledge.extensions import known
from graph.knowledge.ingest import Outcome, Readers, Source, files, ingest
from graph.settings import Settings
from graph.stores.spaces import Record, Space


class Library:
    """Each call names a tenant, or says `public=True` for the corpus that everybody reads."""

    settings: Settings
    deps: Deps

    def ingest(
        self,
        paths: Sequence[str | Path] | str | Path,
        *,
        tenant_id: str = "",
        public: bool = False,
        regulation: bool = False,
        kind: str = "",
        progress: Callable[[Outcome], None] = lambda outcome: None,
        readers: Readers | None = None,
    ) -> list[Outcome]:
        """Index files, directories and URLs for a tenant, or for everybody with `public=True`. With `regulation` each
        file is an act of the Union: its structure is read, and its graph kept. `kind` says the same of any kind of
        document that has an extension (graph/knowledge/extensions.py). `readers`: who reads them, if not this process
        (graph/service/spread.py)."""
        whose = owner(tenant_id, public)
        given = [paths] if isinstance(paths, str | Path) else list(paths)
        if "" in given:
            raise BadInput("a path is empty.", hint="Name a file or a directory; `.` is this one.")
        if odd := [str(p) for p in given if re.match(r"(?!https?://)[a-z][a-z0-9+.-]*://", str(p), re.I)]:
            raise BadInput(f"{odd[0][:60]!r} is no address that can be read.", hint="http and https are.")
        pages = [str(p) for p in given if re.match("https?://", str(p), re.I)]
        local = [Path(p) for p in given if str(p) not in pages]
        kind = known("regulation" if regulation else kind)
        outcomes = self.ingest_sources(list(files(local, whose, kind=kind)), progress=progress, readers=readers)
        if pages:
            from graph.knowledge.web import pages as fetched

            with fetched(pages, whose, self.settings) as (sources, failed):
                for outcome in failed:
                    progress(outcome)
                outcomes += failed + self.ingest_sources(sources, progress=progress, readers=readers)
        return outcomes

    def ingest_sources(
        self,
        sources: Sequence[Source],
        *,
        progress: Callable[[Outcome], None] = lambda outcome: None,
        readers: Readers | None = None,
    ) -> list[Outcome]:
        """Index what a manifest names (graph/knowledge/manifest.py)."""
        from graph.knowledge.inspection import inspect

        return ingest(sources, self.deps.index, self.settings, inspect=inspect, progress=progress, readers=readers)

    def documents(self, *, tenant_id: str = "", public: bool = False) -> list[dict[str, Any]]:
        """What is known of each document of a tenant, or of the public ones, by id."""
        space = self.deps.index.space(owner(tenant_id, public))
        return [_described(record) for record in space.records()] if space else []

    def document(self, doc_id: str, *, tenant_id: str = "", public: bool = False) -> dict[str, Any]:
        """One document with its text, masked. Raises BadInput, in the same words for unknown and foreign ids."""
        from graph.policy import pii

        space, record = self._record(doc_id, tenant_id, public)
        keep = self.deps.public.of(owner(tenant_id, public), record.visibility)
        return _described(record) | {"text": pii.mask(space.text(doc_id), keep=keep).text}

    def _record(self, doc_id: str, tenant_id: str, public: bool) -> tuple[Space, Record]:
        space = self.deps.index.space(owner(tenant_id, public))
        record = space.record(doc_id) if space and _is_text(doc_id) else None
        if space is None or record is None:
            raise _no_document(doc_id)
        return space, record

    def withheld(self, doc_id: str, *, tenant_id: str = "", public: bool = False) -> list[dict[str, Any]]:
        """The sentences that the guard withholds of a document (graph/audit/withheld.py). Raises as `document` does."""
        from graph.audit import withheld

        return withheld.listed(*self._record(doc_id, tenant_id, public), self.deps.detector)

    def decide(
        self,
        doc_id: str,
        *,
        release: Sequence[int | str] = (),
        confirm: Sequence[int | str] = (),
        note: str = "",
        user_id: str = "local",
        tenant_id: str = "",
        public: bool = False,
    ) -> list[dict[str, Any]]:
        """Show sentences of this list from now on, or confirm that they are rightly withheld, by `n` or `sha256`; the
        list as it is then. Raises as `document` does, and BadInput for a sentence that is not on it."""
        from graph.audit import withheld

        said: dict[withheld.Says, Sequence[int | str]] = {"released": release, "confirmed": confirm}
        space, record = self._record(doc_id, tenant_id, public)
        by = valid_id(user_id, "user")
        return withheld.decide(
            self.deps.journal, self.deps.samples, space, record, said, by=by, note=note, detector=self.deps.detector
        )

    def regulations(self, *, tenant_id: str = "", public: bool = False) -> list[Any]:
        """The acts of a tenant, or the public ones, with their graphs (graph/regulation/act.py)."""
        from graph.regulation import store

        space = self.deps.index.space(owner(tenant_id, public))
        return store.acts(space) if space else []

    def provision(self, doc_id: str, node: int, *, tenant_id: str = "", public: bool = False) -> dict[str, Any]:
        """A provision of an act that the tenant may read, with its text, masked. Raises BadInput as `document` does."""
        from graph.policy import pii
        from graph.regulation import store

        index = self.deps.index
        spaces = [index.space(PUBLIC)] if public else [space for _, space in index.visible(valid_tenant(tenant_id))]
        for space in filter(None, spaces):
            for act in store.acts(space):
                if act.doc_id == doc_id and 0 <= node < len(act.nodes):
                    one, last = act.nodes[node], act.nodes[act.nodes[node].last]
                    text = pii.mask(space.text(doc_id)[one.start : last.end]).text
                    known = {"doc_id": doc_id, "path": one.path, "name": one.name, "title": one.title, "page": one.page}
                    return known | {"text": text}
        raise _no_document(doc_id)

    def remove(self, doc_id: str, *, tenant_id: str = "", public: bool = False) -> None:
        """Forget a document: text, words and vectors."""
        whose = owner(tenant_id, public)
        space = self.deps.index.space(whose)
        if space is None or not _is_text(doc_id) or not space.remove(doc_id):
            raise _no_document(doc_id)
        self.deps.index.spaces.settle(whose)


def _described(record: Record) -> dict[str, Any]:
    from graph.policy import pii

    known = asdict(record)
    del known["uploader"], known["listed"], known["reading"]  # for comparing alone
    del known["decisions"]  # `withheld` tells them
    return known | {key: pii.mask(known[key]).text for key in ("filename", "title", "source")}


def _is_text(doc_id: str) -> bool:
    """Whether it could be stored: what came as bytes that are no UTF-8 holds half characters, and names nothing."""
    return not re.search("[\ud800-\udfff]", doc_id)


def _no_document(doc_id: str) -> NotFound:
    return NotFound(f"there is no document {doc_id[:80]!r}.", hint="`cordon docs list` shows what there is.")
