"""Files that users upload, for jobs to read: `upload:NAME`."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from fastapi import APIRouter, HTTPException, Request, UploadFile

from headrace.web.access.requests import user_of
from headrace.web.api.errors import CONFLICT, NOT_FOUND, TOO_LARGE
from headrace.web.site import site
from headrace.web.uploads import CHUNK, RefusedUpload, UploadedFile

router = APIRouter(prefix="/files", tags=["files"])
STREAM = {"requestBody": {"content": {"application/octet-stream": {}}, "required": True}}


@router.get("")
def files(request: Request) -> list[dict[str, Any]]:
    """List your uploaded files by name."""
    return [_document(it) for it in site().uploads.files(user_of(request).name)]


@router.post("", status_code=201, responses=TOO_LARGE | CONFLICT)
async def upload(request: Request, file: UploadFile) -> dict[str, Any]:
    """Upload a file as multipart/form-data. A file is not replaced: delete it first."""

    async def chunks() -> AsyncIterator[bytes]:
        while chunk := await file.read(CHUNK):
            yield chunk

    return await _store(request, file.filename or "", chunks())


@router.put("/{name}", status_code=201, responses=TOO_LARGE | CONFLICT, openapi_extra=STREAM)
async def upload_stream(request: Request, name: str) -> dict[str, Any]:
    """Upload a file whose content is the body. A file is not replaced: delete it first."""
    return await _store(request, name, request.stream())


@router.delete("/{name}", status_code=204, responses=NOT_FOUND)
def remove(request: Request, name: str) -> None:
    """Delete an uploaded file. Jobs that were ordered with it keep it."""
    if not site().uploads.remove(user_of(request).name, name):
        raise HTTPException(404, "you have no such file")


async def _store(request: Request, name: str, content: AsyncIterator[bytes]) -> dict[str, Any]:
    try:
        return _document(await site().uploads.store(user_of(request).name, name, content))
    except RefusedUpload as error:
        raise HTTPException(error.status, str(error)) from None


def _document(file: UploadedFile) -> dict[str, Any]:
    return {**msgspec.to_builtins(file), "value": file.value}
