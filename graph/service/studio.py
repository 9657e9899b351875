"""LangGraph Server and Studio: who asks, and a door that masks before the server writes anything down.

Studio has no log-in of its own for a local server, so it speaks for one tenant that the operator names
(CORDON_STUDIO_TENANT), and for those groups of it that the operator names (CORDON_STUDIO_GROUPS). Without a tenant
every request is turned away.
"""

import asyncio
import json
from typing import Any

from langgraph_sdk import Auth
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from graph.checkpoints import masked
from graph.context import groups_of, space_name, valid_tenant
from graph.policy import pii
from graph.policy.question import masked_values
from graph.service.http.bodies import replayed
from graph.settings import load

auth = Auth()


@auth.authenticate
async def studio_user(headers: dict[str, str]) -> Any:
    """Studio's one tenant and its groups, whatever the request says of itself."""
    settings = await asyncio.to_thread(load)
    tenant = settings.studio_tenant
    if not tenant:
        raise Auth.exceptions.HTTPException(
            status_code=401, detail="Set CORDON_STUDIO_TENANT to the tenant Studio speaks for."
        )
    groups = sorted(groups_of(settings.studio_groups))
    return {"identity": "studio", "tenant_id": valid_tenant(tenant), "groups": groups, "is_authenticated": True}


@auth.on
async def own_things(ctx: Any, value: dict[str, Any]) -> dict[str, Any]:
    """Threads and runs belong to the tenant and the groups that made them, and only they find them: a thread's state
    holds what these groups may read."""
    owner = {"owner": space_name(str(ctx.user["tenant_id"]), ctx.user["groups"])}
    if isinstance(value.get("metadata"), dict):
        value["metadata"].update(owner)
    else:
        value["metadata"] = dict(owner)
    return owner


@auth.on.assistants
async def the_graph(ctx: Any, value: dict[str, Any]) -> bool:
    """The graph itself is nobody's: Studio must find it to show it."""
    return True


class MaskBody:
    """Masks personal data in every JSON body before the server stores it (a run's input is written first of all)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH"):
            await self.app(scope, receive, send)
            return
        parts, more = [], True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        body = _masked(b"".join(parts))
        headers = [(k, v) for k, v in scope["headers"] if k != b"content-length"]
        scope = {**scope, "headers": [*headers, (b"content-length", str(len(body)).encode())]}
        await self.app(scope, replayed(body, receive), send)


def _masked(body: bytes) -> bytes:
    try:
        return json.dumps(masked(_with_masked_values(json.loads(body)))).encode()
    except (ValueError, RecursionError):
        return body if not body.strip() else b"null"


def _with_masked_values(value: Any) -> Any:
    """Note beside each question what masking takes out of it, for `admit`; such notes from outside are dropped."""
    if isinstance(value, list):
        return [_with_masked_values(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {key: _with_masked_values(item) for key, item in value.items() if key != masked_values.OPTION}
    if isinstance(question := value.get("question"), str):
        options = value.get("options") if isinstance(value.get("options"), dict) else {}
        value["options"] = {**options, masked_values.OPTION: masked_values.from_question(question, pii.find(question))}
    return value


app = Starlette(middleware=[Middleware(MaskBody)])
# LangGraph Server asks for these lists, which newer Starlette no longer has.
for _name in ("on_startup", "on_shutdown"):
    if not hasattr(app.router, _name):
        setattr(app.router, _name, [])
