"""The documents of a home, as an Agent gives them: ingest, list, read, remove; every text masked on its way out.

With `groups`, a call sees what somebody in these groups may read of the tenant's documents; with None, which is for
the tenant's administrators, all of them.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graph.context import PUBLIC, ReadScope, owner, space_name, valid_groups, valid_id, whose
from graph.deps import Deps
from graph.errors import BadInput, NotFound
from graph.knowledge.extensions import known
from graph.knowledge.folders import is_folder
from graph.knowledge.ingest import Outcome, Readers, Source, files, ingest, recognised, without_file
from graph.knowledge.sync import Sync
from graph.knowledge.versions import families
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
        groups: Collection[str] = (),
        regulation: bool = False,
        kind: str = "",
        sync: bool = False,
        progress: Callable[[Outcome], None] = lambda outcome: None,
        readers: Readers | None = None,
    ) -> list[Outcome]:
        """Index files, directories and URLs for a tenant, for some of its groups, or for everybody with `public=True`.
        With `regulation` each file is an act of the Union: its structure is read, and its graph kept. `kind` says the
        same of any kind of document that has an extension (graph/knowledge/extensions.py). `readers`: who reads them,
        if not this process (graph/service/spread.py). Documents that came from one of the directories and whose file
        is gone come last, as "missing"; with `sync` they are removed. Then a directory without any file raises
        BadInput: it may be one that is not mounted."""
        tenant, shared = owner(tenant_id, public), valid_groups(groups)
        if public and shared:
            raise BadInput("what is public is for everybody, not for groups.", hint="Name a tenant, or no groups.")
        places = [paths] if isinstance(paths, str | Path) else list(paths)
        if "" in places:
            raise BadInput("a path is empty.", hint="Name a file or a directory; `.` is this one.")
        if odd := [str(p) for p in places if re.match(r"(?!https?://)[a-z][a-z0-9+.-]*://", str(p), re.I)]:
            raise BadInput(f"{odd[0][:60]!r} is no address that can be read.", hint="http and https are.")
        pages = [str(p) for p in places if re.match("https?://", str(p), re.I)]
        local = [Path(p) for p in places if str(p) not in pages]
        kind = known("regulation" if regulation else kind)
        sources = recognised(list(files(local, tenant, groups=shared, kind=kind)), self.deps.index)
        filled = {source.within for source in sources}
        if sync and (empty := [path for path in local if is_folder(path) and path not in filled]):
            raise BadInput(
                f"{str(empty[0])!r} has no file: nothing was removed.",
                hint="Is it mounted? Remove its documents with `cordon docs rm`, or leave --sync out.",
            )
        outcomes = self.ingest_sources(sources, progress=progress, readers=readers)
        for gone in without_file(local, sources, outcomes, self.deps.index, sync=sync):
            progress(gone)
            outcomes.append(gone)
        if pages:
            from graph.knowledge.web import pages as fetched

            with fetched(pages, tenant, self.settings, shared) as (fetched_sources, failed):
                for outcome in failed:
                    progress(outcome)
                outcomes += failed + self.ingest_sources(fetched_sources, progress=progress, readers=readers)
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

        for tenant in {whose(name)[0] for source in sources for name in source.spaces}:
            self._tidy(tenant)
        return ingest(sources, self.deps.index, self.settings, inspect=inspect, progress=progress, readers=readers)

    def sync(
        self,
        source: str | Path,
        *,
        tenant_id: str = "",
        public: bool = False,
        groups: Collection[str] = (),
        allow_removal: bool = False,
        progress: Callable[[Outcome], None] = lambda outcome: None,
    ) -> list[Outcome]:
        """Bring the documents that came from a folder or an address (graph/knowledge/origins) in step with it: what is
        new or changed is indexed, what has another name there keeps its id, what is gone is removed. Documents from
        anywhere else stay. One outcome a file.

        Raises BadInput, having removed nothing, where more than half of the documents would go (and more than 3), or
        all of them because the source is empty, unless with `allow_removal`; BadInput, DocumentError or Unavailable
        where the source cannot be read, or has more files than `sync_files`.
        """
        from graph.knowledge import origins
        from graph.knowledge.inspection import inspect

        tenant, shared = owner(tenant_id, public), valid_groups(groups)
        if public and shared:
            raise BadInput("what is public is for everybody, not for groups.", hint="Name a tenant, or no groups.")
        space, index = space_name(tenant, shared), self.deps.index  # opening it clears what a killed run left
        with origins.opened(str(source), self.settings) as origin:
            run = Sync(origin, space, tenant, index, self.settings, inspect, progress)
            try:
                return run(allow_removal=allow_removal)
            finally:
                self._tidy(tenant)

    def documents(
        self, *, tenant_id: str = "", public: bool = False, groups: Collection[str] | None = None
    ) -> list[dict[str, Any]]:
        """What is known of each document of a tenant, or of the public ones, by id. Of the groups that share a
        document, only those that were named are listed. `versions` has the ids of all its versions, oldest first, where
        there are several (graph/knowledge/versions.py)."""
        records = [record for _, space in self._spaces(tenant_id, public, groups) for record in space.records()]
        family = families(records)
        return [
            _described(record, groups) | {"versions": family.get(record.doc_id, [])}
            for record in sorted(records, key=lambda one: (one.doc_id, one.groups))
        ]

    def document(
        self, doc_id: str, *, tenant_id: str = "", public: bool = False, groups: Collection[str] | None = None
    ) -> dict[str, Any]:
        """One document with its text, masked. Raises NotFound, in the same words for unknown and foreign ids and for
        those of other groups; BadInput where, with `groups` None, several documents have the id."""
        from graph.policy import pii

        _, space, record = self._record(doc_id, tenant_id, public, groups)
        keep = self.deps.public.for_tenant(owner(tenant_id, public), record.visibility)
        return _described(record, groups) | {"text": pii.mask(space.text(doc_id), keep=keep).text}

    def _spaces(self, tenant_id: str, public: bool, groups: Collection[str] | None) -> list[tuple[str, Space]]:
        """(name, space): first that of exactly these groups, then others that are shared, last the whole tenant's."""
        whole, index = owner(tenant_id, public), self.deps.index
        if public:
            spaces = [space for space in [index.space(PUBLIC)] if space]
        elif groups is None:
            spaces = index.tenant_spaces(whole)
        else:
            reader = ReadScope(whole, valid_groups(groups))
            spaces = [space for where, space in index.visible(reader) if where != "public"]
        named = space_name(whole, groups or ())
        return sorted(
            ((space.name, space) for space in spaces), key=lambda one: (one[0] != named, one[0] == whole, one[0])
        )

    def _record(
        self, doc_id: str, tenant_id: str, public: bool, groups: Collection[str] | None
    ) -> tuple[str, Space, Record]:
        """(name of the space, space, record). Raises as `document` does."""
        matches = [
            (name, space, record)
            for name, space in self._spaces(tenant_id, public, groups)
            if _is_text(doc_id) and (record := space.record(doc_id))
        ]
        if not matches:
            raise _no_document(doc_id)
        if len(matches) > 1 and groups is None:
            raise BadInput(
                f"there are {len(matches)} documents {doc_id[:80]!r}: {'; '.join(_for_whom(m[0]) for m in matches)}.",
                hint="Say which by its groups, or by no groups for the one that all of the tenant reads.",
            )
        return matches[0]

    def withheld(
        self, doc_id: str, *, tenant_id: str = "", public: bool = False, groups: Collection[str] | None = None
    ) -> list[dict[str, Any]]:
        """The sentences that the guard withholds of a document (graph/audit/withheld.py). Raises as `document` does."""
        from graph.audit import withheld

        _, space, record = self._record(doc_id, tenant_id, public, groups)
        return withheld.listed(space, record, self.deps.detector)

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
        groups: Collection[str] | None = None,
    ) -> list[dict[str, Any]]:
        """Show sentences of this list from now on, or confirm that they are rightly withheld, by `n` or `sha256`; the
        list as it is then. Raises as `document` does, and BadInput for a sentence that is not on it."""
        from graph.audit import withheld

        decisions: dict[withheld.Says, Sequence[int | str]] = {"released": release, "confirmed": confirm}
        _, space, record = self._record(doc_id, tenant_id, public, groups)
        by, deps = valid_id(user_id, "user"), self.deps
        return withheld.decide(
            deps.journal, deps.samples, space, record, decisions, by=by, note=note, detector=deps.detector
        )

    def regulations(self, *, tenant_id: str = "", public: bool = False) -> list[Any]:
        """The acts of a tenant, or the public ones, with their graphs (graph/regulation/act.py)."""
        from graph.regulation import store

        return [act for _, space in self._spaces(tenant_id, public, None) for act in store.acts(space)]

    def provision(self, doc_id: str, node: int, *, tenant_id: str = "", public: bool = False) -> dict[str, Any]:
        """A provision of a tenant's act or a public one, with its text, masked. Raises NotFound as `document` does."""
        from graph.policy import pii
        from graph.regulation import store

        spaces = self._spaces(tenant_id, public, None) + ([] if public else self._spaces("", True, None))
        for _, space in spaces:
            for act in store.acts(space):
                if act.doc_id == doc_id and 0 <= node < len(act.nodes):
                    first, last = act.nodes[node], act.nodes[act.nodes[node].last]
                    text = pii.mask(space.text(doc_id)[first.start : last.end]).text
                    known = {
                        "doc_id": doc_id,
                        "path": first.path,
                        "name": first.name,
                        "title": first.title,
                        "page": first.page,
                    }
                    return known | {"text": text}
        raise _no_document(doc_id)

    def remove(
        self, doc_id: str, *, tenant_id: str = "", public: bool = False, groups: Collection[str] | None = None
    ) -> None:
        """Forget a document: text, words and vectors. Raises as `document` does."""
        name, *_ = self._record(doc_id, tenant_id, public, groups)
        if not self.deps.index.remove(name, doc_id, "removed"):
            raise _no_document(doc_id)
        self.deps.index.spaces.sync(name)
        self._tidy(whose(name)[0])

    def _tidy(self, tenant: str) -> None:
        """Drop the spaces of groups in which no document is left: a tenant may have only so many. Not in a service:
        another process may be about to fill one."""
        spaces = self.deps.index.spaces
        for name in () if self.deps.serves else spaces.audiences(tenant):
            spaces.drop(name, if_empty=True)


def _described(record: Record, groups: Collection[str] | None) -> dict[str, Any]:
    from graph.policy import pii

    known = asdict(record)
    del known["uploader"], known["listed"], known["reading"], known["folder"], known["stamp"]  # for comparing alone
    del known["decisions"]  # `withheld` tells them
    known["groups"] = [group for group in record.groups if groups is None or group in groups]
    known["notes"] = [pii.mask(note).text for note in record.notes]
    known["fields"] = [[pii.mask(text).text for text in pair] for pair in record.fields]
    return known | {key: pii.mask(known[key]).text for key in ("filename", "title", "source")}


def _for_whom(name: str) -> str:
    groups = sorted(whose(name)[1])
    return f"for {', '.join(groups)}" if groups else "for all of the tenant"


def _is_text(doc_id: str) -> bool:
    """Whether an id could be stored: bytes that are no UTF-8 come as lone surrogates, and name no document."""
    return not re.search("[\ud800-\udfff]", doc_id)


def _no_document(doc_id: str) -> NotFound:
    return NotFound(f"there is no document {doc_id[:80]!r}.", hint="`cordon docs list` shows what there is.")
