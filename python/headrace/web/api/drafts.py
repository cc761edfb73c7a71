"""Drafts of a user: worksheets, scenarios, nets."""

from typing import Any

import msgspec
from fastapi import APIRouter, HTTPException, Request, Response
from nicegui import run

from headrace.fields import decode_json
from headrace.web.access.requests import user_of
from headrace.web.api.errors import answer
from headrace.web.design.drafts import DraftKind, Drafts
from headrace.web.site import site


class DraftRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A draft to save."""

    toml: str
    """Text of the draft."""
    before: str | None = None
    """The text that the change began with; null replaces any."""


class RenameRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another name of a draft."""

    name: str


def body_of(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """Return the description of a body in JSON."""
    schema = {"type": "object", "properties": properties, "required": required}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


TEXT = {"type": "string"}
DRAFT = body_of({"toml": TEXT, "before": TEXT}, ["toml"])
RENAME = body_of({"name": TEXT}, ["name"])


async def read(request: Request, kind: type[Any]) -> Any:
    """Return the body of a request. Raises HTTPException."""
    try:
        return decode_json(await request.body() or b"{}", kind)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None


def draft_routes(part: str, kind: DraftKind) -> APIRouter:
    """Return the calls on drafts of a kind, below a part of the API. They raise DraftError."""
    router = APIRouter(prefix=f"/{part}/drafts", tags=[part])

    def stored() -> Drafts:
        return Drafts(site().settings, kind)

    @router.get("")
    def drafts(request: Request) -> Response:
        """List the user's drafts, the last changed first."""
        return answer(list(stored().drafts(user_of(request).name)))

    @router.get("/{name}")
    def draft(name: str, request: Request) -> dict[str, str]:
        """Return a draft with its text."""
        return {"name": name, "toml": stored().text(user_of(request).name, name)}

    @router.put("/{name}", openapi_extra=DRAFT)
    async def save(name: str, request: Request) -> Response:
        """Save a draft: `{"toml": "…"}`.

        With `before`, the text that the change began with, the status is 409 if the draft has been
        changed elsewhere.
        """
        body, owner = await read(request, DraftRequest), user_of(request).name
        return answer(await run.io_bound(stored().save, owner, name, body.toml, body.before))

    @router.post("/{name}/rename", openapi_extra=RENAME)
    async def rename(name: str, request: Request) -> dict[str, str]:
        """Rename a draft: `{"name": "new name"}`."""
        body = await read(request, RenameRequest)
        stored().rename(user_of(request).name, name, body.name)
        return {"name": body.name}

    @router.delete("/{name}", status_code=204)
    def remove(name: str, request: Request) -> None:
        """Remove a draft."""
        stored().remove(user_of(request).name, name)

    return router


routers = (
    draft_routes("design", "worksheets"),
    draft_routes("scenarios", "scenarios"),
    draft_routes("nets", "nets"),
)
