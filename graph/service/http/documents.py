"""Documents and the jobs that read them in."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request, Response
from pydantic import ConfigDict, Field

from graph.context import MOST_GROUPS, groups_of, valid_groups
from graph.errors import BadInput, NotFound
from graph.knowledge.extensions import known
from graph.service.http import uploads
from graph.service.http.jobs import shown
from graph.service.http.null_as_unset import NullAsUnset
from graph.service.http.paging import After, Limit, page
from graph.service.http.problems import Problem
from graph.service.http.readiness import free_mb
from graph.service.http.service import Deleter, Reader, Releaser, Served, Service, Uploader
from graph.service.http.slow_client import UPLOAD_S

T = TypeVar("T")
router = APIRouter(prefix="/v1", tags=["documents"])
_FILES = {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "anyOf": [{"required": ["files"]}, {"required": ["file"]}],
                    "properties": {"files": _FILES, "file": _FILES},
                    "additionalProperties": False,
                }
            }
        },
    }
}


Groups = Annotated[
    list[Annotated[str, Field(max_length=5_000)]] | None,
    Query(max_length=MOST_GROUPS, description="of the tenant, by name, divided by commas"),
]


@router.post("/documents", status_code=202, openapi_extra=_FORM)
async def upload(
    request: Request,
    response: Response,
    who: Uploader,
    service: Served,
    kind: Annotated[str, Query(description="of which kind the files are: regulation, for acts of the Union")] = "",
    regulation: Annotated[bool, Query(description="the same as kind=regulation")] = False,
    groups: Groups = None,
) -> dict[str, Any]:
    """Take files (the form field `files` or `file`, as often as wanted) and give back the job that reads them. With
    `groups` they are for these groups alone: the key's own, or any for an admin."""
    kind, shared = known(kind or ("regulation" if regulation else "")), _named(groups)
    if shared == frozenset():
        raise Problem(422, "groups: it names none. Leave it out where the files are for all of the tenant.")
    if shared and who.principal.role != "admin" and not shared <= who.principal.groups:
        raise Problem(403, "This key may upload for its own groups, and for no others.")
    if await asyncio.to_thread(service.jobs.crowded, who.principal.tenant_id):
        raise Problem(429, "Too many uploads are waiting to be read.", headers={"Retry-After": "30"})
    settings = service.settings
    if free_mb(settings) < settings.min_free_mb + settings.max_upload_mb:  # answers need room for their records
        raise Problem(503, "There is no room on the disk for uploads now.", headers={"Retry-After": "300"})
    job_id = await _of_jobs(service.jobs.begin)
    try:
        received = await uploads.receive(
            request,
            partial(service.jobs.file, job_id),
            settings.max_file_mb * 2**20,
            settings.max_upload_mb * 2**20,
            min(UPLOAD_S, settings.request_s),
            room=lambda: free_mb(settings) >= settings.min_free_mb,
        )
    except BaseException:
        await _discard(service, job_id)
        raise
    try:
        accept = partial(service.jobs.accept, job_id, who.principal, received, kind=kind, groups=shared or ())
        job = await asyncio.to_thread(accept)
    except OSError:
        await _discard(service, job_id)
        raise Problem(503, "The upload could not be stored.") from None
    response.headers["Location"] = f"/v1/jobs/{job_id}"
    return shown(job)


@router.get("/documents")
async def documents(who: Reader, service: Served, limit: Limit = None, after: After = None) -> dict[str, Any]:
    """The tenant's own documents and the public ones, by `visibility` and id: those that the key's groups may read, and
    all of them for an admin. `groups` are those of the key that share a document."""
    p, agent = who.principal, service.agent
    groups = None if who.may("delete") else p.groups
    rows = await service.work(
        who, lambda: agent.documents(tenant_id=p.tenant_id, groups=groups) + agent.documents(public=True)
    )
    # A public document may have the id of an own one, so `next` says which of the two is meant.
    return page(
        "documents", rows, limit, after, lambda row: f"{row['visibility']}:{row['doc_id']}", lambda row: row["doc_id"]
    )


@router.get("/documents/{doc_id}")
async def document(doc_id: str, who: Reader, service: Served) -> dict[str, Any]:
    """One document with its text, masked. Of several with the same id that of the key's groups comes first, then the
    tenant's, then the public one."""

    def work() -> dict[str, Any]:
        try:
            return service.agent.document(doc_id, tenant_id=who.principal.tenant_id, groups=who.principal.groups)
        except BadInput:
            return service.agent.document(doc_id, public=True)

    try:
        return await service.work(who, work)
    except BadInput:
        raise Problem(404) from None


@router.delete("/documents/{doc_id}", status_code=204)
async def remove(doc_id: str, who: Deleter, service: Served, groups: Groups = None) -> Response:
    """Remove one of the tenant's own documents, whichever groups it is for: text, words and vectors. Public ones are
    the operator's. Where several have the id, `groups` says which; empty, the one for all of the tenant."""
    shared, tenant = _named(groups), who.principal.tenant_id
    try:
        await service.work(who, lambda: service.agent.remove(doc_id, tenant_id=tenant, groups=shared))
    except NotFound:
        raise Problem(404) from None
    return Response(status_code=204)


Sentences = Annotated[
    list[Annotated[int, Field(ge=1, le=1_000_000)] | Annotated[str, Field(pattern="^[0-9a-f]{64}$")]],
    Field(max_length=1_000, description="of the list: each its `n`, or its `sha256`, which stays the same"),
]


class Decisions(NullAsUnset):
    model_config = ConfigDict(extra="forbid", strict=True)

    release: Sentences = Field(default_factory=list)
    confirm: Sentences = Field(default_factory=list)
    note: str = Field("", max_length=1_000, description="why; kept in the record, masked")


@router.get("/documents/{doc_id}/withheld")
async def withheld(doc_id: str, who: Releaser, service: Served) -> dict[str, Any]:
    """The sentences that the guard withholds of one of the tenant's own documents, and what was said of them."""
    p = who.principal
    rows = await service.work(who, lambda: service.agent.withheld(doc_id, tenant_id=p.tenant_id, groups=p.groups))
    return {"withheld": rows}


@router.post("/documents/{doc_id}/withheld")
async def decide(doc_id: str, body: Decisions, who: Releaser, service: Served) -> dict[str, Any]:
    """Show sentences of the list from now on, or confirm that they are rightly withheld. The later word counts."""
    return {
        "withheld": await service.work(who, lambda: service.agent.decide(doc_id, **body.model_dump(), **who.person))
    }


@router.get("/jobs")
async def jobs(who: Uploader, service: Served, limit: Limit = None, after: After = None) -> dict[str, Any]:
    """One's own uploads, the latest first: those under way, and those of the last seven days."""
    return page("jobs", await _of_jobs(service.jobs.all, who.principal), limit, after, lambda row: row["job_id"])


@router.get("/jobs/{job_id}")
async def job(job_id: str, who: Uploader, service: Served) -> dict[str, Any]:
    """How far an upload of one's own is: its state, and of each file the state and the reason."""
    row = await _of_jobs(service.jobs.get, job_id, who.principal)
    if row is None:
        raise Problem(404)
    return row


@router.delete("/jobs/{job_id}")
async def cancel(job_id: str, who: Uploader, service: Served) -> dict[str, Any]:
    """Stop before the next file. What is indexed already stays."""
    row = await _of_jobs(service.jobs.cancel, job_id, who.principal)
    if row is None:
        raise Problem(404)
    return row


async def _of_jobs(ask: Callable[..., T], *what: Any) -> T:
    try:
        return await asyncio.to_thread(ask, *what)
    except OSError:
        raise Problem(503, "Uploads cannot be stored or looked up now.") from None


async def _discard(service: Service, job_id: str) -> None:
    with suppress(OSError):  # what was never accepted goes with this process at last
        await asyncio.to_thread(service.jobs.discard, job_id)


def _named(groups: list[str] | None) -> frozenset[str] | None:
    """The groups named in the query; None where it names none."""
    return None if groups is None else valid_groups(name for text in groups for name in groups_of(text))
