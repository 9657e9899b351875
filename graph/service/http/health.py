"""Is it alive, is it ready, how is it doing."""

from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from graph.service.http.problems import Problem
from graph.service.http.service import Served
from graph.settings import is_loopback

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
    ready = all(state == "ok" for state in checks.values())
    return JSONResponse({"status": "ready" if ready else "not ready", "checks": checks}, 200 if ready else 503)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request, service: Served) -> Response:
    """Prometheus text, of all tenants together: for the operator's key, and without a key for whom the setting
    CORDON_METRICS_ACCESS says. A tenant's key opens it from nowhere."""
    who = getattr(request.state, "caller", None)
    access = service.settings.metrics_access
    if access != "open" and not (who.may("observe") if who else access == "loopback" and _is_local(request)):
        raise Problem(403 if who else 401)
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _is_local(request: Request) -> bool:
    """Whether the request comes from this machine itself, not through a proxy on it, and asks for it by its own name: a
    page of another name that was pointed at this machine (DNS rebinding) asks by that name."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    host = request.headers.getlist("host")
    return len(host) == 1 and is_loopback(request.client.host) and is_loopback(_name(host[0]))


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
