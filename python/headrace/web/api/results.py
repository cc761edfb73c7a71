"""Results: search, show, label, compare, follow over time, export, remove."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response

from headrace.fields import decode_json
from headrace.store import StoreError, StoreFailure, make_filter
from headrace.store.listing import ResultEntry
from headrace.web.access.requests import user_of
from headrace.web.api.errors import answer
from headrace.web.result_export import CONTENT_TYPES, exported
from headrace.web.results import change_labels, remove
from headrace.web.site import site

router = APIRouter(prefix="/results", tags=["results"])

MOST = 1000
"""Results of one answer."""


class ResultPage(msgspec.Struct, frozen=True):
    """A page of results."""

    results: Sequence[ResultEntry]
    total: int
    damaged: Sequence[str]


def _refused(error: Exception) -> HTTPException:
    return HTTPException(503 if isinstance(error, StoreFailure) else 422, str(error))


@router.get("")
def results(
    search: str | None = None,
    kind: str | None = None,
    name: str | None = None,
    label: Annotated[list[str] | None, Query()] = None,
    since: str | None = None,
    host: str | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    skip: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """List results, the newest first; `label` is KEY=VALUE and can be repeated."""
    labels = {}
    for pair in label or ():
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise HTTPException(422, f"label {pair}: expected KEY=VALUE")
        labels[key] = value
    try:
        chosen = make_filter(kind, name, labels, since, limit, skip=skip, host=host, search=search)
        listed = site().store().listed(chosen)
    except (StoreError, StoreFailure, ValueError) as error:
        raise _refused(error) from None
    return answer(ResultPage(listed.entries, listed.total, listed.damaged))


@router.get("/export")
def export(ids: str, format: Literal["zip", "csv", "parquet", "json", "html"] = "zip") -> Response:
    """Export results (`ids`, separated by commas): an archive with all tables, a table of their
    figures, their documents, or a report."""
    identifiers = [word for word in ids.split(",") if word]
    if not 1 <= len(identifiers) <= MOST:
        raise HTTPException(422, f"ids: expected 1 to {MOST} identifiers")
    try:
        with tempfile.TemporaryDirectory(prefix="headrace-export-") as directory:
            content = exported(site().store(), identifiers, format, Path(directory))
    except (StoreError, StoreFailure) as error:
        raise _refused(error) from None
    name = f"results.{format}" if len(identifiers) > 1 else f"result-{identifiers[0]}.{format}"
    safe = "".join(letter for letter in name if letter.isalnum() or letter in ".-")
    return Response(
        content,
        media_type=CONTENT_TYPES[format],
        headers={"Content-Disposition": f'attachment; filename="{safe}"'},
    )


@router.get("/compare")
def compare(
    ids: str = "", by: str | None = None, name: str | None = None, step: str | None = None
) -> Response:
    """Compare results with the first, or those of a name by `version` or `date`."""
    identifiers = [word for word in ids.split(",") if word]
    try:
        return answer(site().store().compare(identifiers, by=by, name=name, step=step).json())
    except (StoreError, StoreFailure, ValueError) as error:
        raise _refused(error) from None


@router.get("/history")
def history(name: str, operation: str | None = None, figure: str | None = None) -> Response:
    """Return a figure of the results with a name over time, the oldest first.

    By default it is the first figure of the first operation that they have.
    """
    try:
        rows = site().store().history(make_filter(name=name, limit=MOST), operation, figure)
    except (StoreError, StoreFailure) as error:
        raise _refused(error) from None
    return answer([{**row, "started": row["started"].isoformat()} for row in rows.to_dicts()])


@router.get("/{identifier}")
def result(identifier: str) -> Response:
    """Return a result with its document."""
    try:
        return answer(site().store().shown(identifier))
    except StoreError as error:
        raise HTTPException(404, str(error)) from None
    except StoreFailure as error:
        raise _refused(error) from None


@router.patch("/{identifier}/labels")
async def label(identifier: str, request: Request) -> Mapping[str, str]:
    """Set labels, and remove those that are null: `{"disks": "new", "rack": null}`.

    Only the owner of the result and operators may. The server sets the labels `owner` and `job`.
    """
    try:
        changes = decode_json(await request.body(), dict[str, str | None])
        return change_labels(user_of(request), identifier, changes)
    except (ValueError, StoreError, StoreFailure) as error:
        raise _refused(error) from None


@router.delete("/{identifier}", status_code=204)
def remove_result(identifier: str, request: Request) -> None:
    """Remove a result with its tables. The identifier must be whole.

    Only the owner of the result and operators may.
    """
    try:
        remove(user_of(request), identifier)
    except KeyError:
        raise HTTPException(404, f"there is no result {identifier}") from None
    except StoreFailure as error:
        raise _refused(error) from None
