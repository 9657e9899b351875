"""The OpenAPI document: that a key is asked for, what an error looks like and which ones an address may give."""

from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from graph.service.http.authentication import is_open
from graph.service.http.problems import BY_STATUS
from graph.service.http.reply import Error, Reply

_REF = "#/components/schemas/{model}"
_ERROR = {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}
_REPLY = {"$ref": _REF.format(model="Reply")}
_EVENTS = {"type": "string", "description": "server-sent events: `sentence`…, `reply`, `done`; or `error`"}
_ANYWHERE = (400, 401, 408, 413, 415, 429, 500, 503)  # of the layers before the routes
_BEHIND_THE_GATE = (403, 504)


def describe(app: FastAPI) -> None:
    """Complete the document of this application, when it is first asked for."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(generate())  # FastAPI keeps the document, so this is done once
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(document: dict[str, Any]) -> None:
    _, ours = models_json_schema([(Error, "serialization"), (Reply, "serialization")], ref_template=_REF)
    components = document.setdefault("components", {})
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    schemas = {**components.get("schemas", {}), **ours["$defs"]}
    components["schemas"] = {k: v for k, v in schemas.items() if k not in ("HTTPValidationError", "ValidationError")}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            _errors(path, operation, shut=not is_open(method.upper(), path))
    ask = document["paths"]["/v1/ask"]["post"]["responses"]
    ask["200"]["content"] = {"application/json": {"schema": _REPLY}, "text/event-stream": {"schema": _EVENTS}}
    ask["503"]["content"] = {"application/json": {"schema": {"anyOf": [_REPLY, _ERROR["application/json"]["schema"]]}}}
    for path in ("/v1/chat/completions", "/v1/responses"):
        response = document["paths"][path]["post"]["responses"]["200"]
        response["content"]["text/event-stream"] = {"schema": {"type": "string"}}
    ready = document["paths"]["/readyz"]["get"]["responses"]
    ready["503"]["content"] = {"application/json": {"schema": {"type": "object"}}}


def _errors(path: str, operation: dict[str, Any], *, shut: bool) -> None:
    parameters = operation.get("parameters", [])
    possible = {*_ANYWHERE, *(_BEHIND_THE_GATE if shut else ())}
    if path == "/metrics":
        possible.add(403)
    if parameters or "requestBody" in operation:
        possible.add(422)
    if path == "/v1/audit/head" or any(p["in"] == "path" or p["name"] in ("after", "before") for p in parameters):
        possible.add(404)
    if shut:
        operation["security"] = [{"key": []}]
    responses = operation["responses"]
    for status in sorted(possible):
        responses.setdefault(str(status), {"description": BY_STATUS[status][1]})
    for status, response in responses.items():
        if status >= "400":
            response["content"] = _ERROR
