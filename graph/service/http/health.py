"""Is it alive, is it ready, how is it doing."""

import ipaddress

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from graph.service.http.caller import Caller
from graph.service.http.problems import Problem
from graph.service.http.service import Served

router = APIRouter(tags=["operation"])
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


@router.get("/livez")
async def livez() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@router.get("/readyz", responses={503: {"description": "not ready; `checks` says why"}})
def readyz(service: Served) -> JSONResponse:
    """The home is ours, the model answers, there is room, and the journal can be written and ends in a whole line."""
    checks = service.readiness.look(service)
    ready = all(found == "ok" for found in checks.values())
    return JSONResponse({"status": "ready" if ready else "not ready", "checks": checks}, 200 if ready else 503)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request, service: Served) -> Response:
    """Prometheus text. Who may read it is the setting CORDON_METRICS_ACCESS; an auditor or admin always."""
    who = getattr(request.state, "caller", None)
    access = service.settings.metrics_access
    known = isinstance(who, Caller) and who.may("observe")
    if not (known or access == "open" or (access == "loopback" and _near(request))):
        raise Problem(403 if who else 401)
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _near(request: Request) -> bool:
    """Whether the request comes from this machine itself and was not handed on by a proxy on it."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
