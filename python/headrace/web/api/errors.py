"""Answers of the API: records as JSON, error documents, and its security as OpenAPI has it."""

from typing import Any, TypeAlias

import msgspec
from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field

Responses: TypeAlias = dict[int | str, dict[str, Any]]


def answer(record: object, status: int = 200) -> Response:
    """Return the answer with a record, or a list of records, as JSON."""
    return Response(msgspec.json.encode(record), status, media_type="application/json")


class Error(BaseModel):
    """An error."""

    detail: str | dict[str, Any] | list[dict[str, Any]] = Field(
        description="What is wrong, in words; with `message` and `field` for a job that is refused;"
        " a list for parameters of the request itself."
    )


def _of(status: int, description: str) -> Responses:
    return {status: {"model": Error, "description": description}}


NOT_FOUND = _of(404, "There is no such thing.")
FORBIDDEN = _of(403, "The user may not do this.")
CONFLICT = _of(409, "The name is taken.")
TOO_LARGE = _of(413, "The file is too large, or the user's quota is used up.")
REFUSED = _of(422, "The request is not valid, or not allowed.")
COMMON = (
    _of(400, "The request cannot be read.")
    | NOT_FOUND
    | _of(401, "There is no token or session, or it has ended.")
    | _of(403, "The request comes from a page of another site, or the user may not do this.")
    | REFUSED
    | _of(429, "Too many requests: wait for the seconds of Retry-After.")
)
"""Errors that every request may have."""


def describe(api: FastAPI) -> None:
    """Add the ways to log in to the description of the API."""

    def description() -> dict[str, Any]:
        if api.openapi_schema is None:
            schema = get_openapi(
                title=api.title,
                version=api.version,
                description=api.description,
                routes=api.routes,
                servers=[{"url": "/api"}],
            )
            schema.setdefault("components", {})["securitySchemes"] = {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of headrace serve user add, or of the printed link.",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "headrace-PORT",
                    "description": "The cookie of a login in the browser.",
                },
            }
            # With --no-login nobody logs in.
            schema["security"] = [{"token": []}, {"session": []}, {}]
            api.openapi_schema = schema
        return api.openapi_schema

    api.openapi = description  # type: ignore[method-assign]
