"""Pages of documents as pictures, for who follows a citation."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from graph.errors import DocumentError
from graph.service.http.problems import Problem
from graph.service.http.service import Reader, Served

router = APIRouter(prefix="/v1", tags=["documents"])
_PNG: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
}
# A picture of a document is nobody's to keep, and nothing that a browser may take for something else.
HEADERS = {
    "Cache-Control": "private, no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


@router.get("/documents/{doc_id}/pages/{page}.png", response_class=Response, responses=_PNG)
async def picture(
    doc_id: str,
    page: Annotated[int, Path(ge=0, le=100_000, description="0: where the quote stands, of other files than PDFs")],
    who: Reader,
    service: Served,
    run: Annotated[str, Query(min_length=4, max_length=64, description="a run of one's own")],
    citation: Annotated[int, Query(ge=1, le=10_000, description="of that run, by its number: of this document")],
) -> Response:
    """A page of a PDF or an office file as it looks: the quote marked, what is masked or withheld painted over, images
    left blank. The header X-Cordon-Page says how far down the `mark` begins (0 to 1, or none), how many `pages` there
    are, and for page 0 which `page` it is."""
    source: dict[str, Any] = {"run_id": run, "citation": citation, **who.person}
    try:
        drawn = await service.work(who, lambda: service.agent.page_picture(doc_id, page, **source))
    except DocumentError as error:
        raise Problem(
            422, f"There is no picture of this page: {error}. {error.hint}".strip(), code=error.reason
        ) from None
    position = f"mark={'none' if drawn.mark is None else format(drawn.mark, '.3f')}; pages={drawn.pages}"
    position += "" if page else f"; page={drawn.page}"
    return Response(drawn.png, media_type="image/png", headers={**HEADERS, "X-Cordon-Page": position})
