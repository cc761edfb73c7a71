"""Files that users upload, for jobs to read: `upload:NAME`."""

from collections.abc import AsyncIterator
from typing import Self

import msgspec
from fastapi import APIRouter, HTTPException, Request, Response, UploadFile

from headrace.web.access.requests import user_of
from headrace.web.api.errors import CONFLICT, NOT_FOUND, TOO_LARGE, answer
from headrace.web.site import site
from headrace.web.uploads import CHUNK, RefusedUpload, UploadedFile

router = APIRouter(prefix="/files", tags=["files"])


class FileDocument(UploadedFile, frozen=True):
    """An uploaded file, and how requests name it."""

    in_requests: str = msgspec.field(default="", name="value")

    @classmethod
    def of(cls, file: UploadedFile) -> Self:
        """Return the document of a file."""
        return cls(**msgspec.structs.asdict(file), in_requests=file.value)


STREAM = {"requestBody": {"content": {"application/octet-stream": {}}, "required": True}}


@router.get("")
def files(request: Request) -> Response:
    """List your uploaded files by name."""
    return answer([FileDocument.of(file) for file in site().uploads.files(user_of(request).name)])


@router.post("", status_code=201, responses=TOO_LARGE | CONFLICT)
async def upload(request: Request, file: UploadFile) -> Response:
    """Upload a file as multipart/form-data. A file is not replaced: delete it first."""

    async def chunks() -> AsyncIterator[bytes]:
        while chunk := await file.read(CHUNK):
            yield chunk

    return await _store(request, file.filename or "", chunks())


@router.put("/{name}", status_code=201, responses=TOO_LARGE | CONFLICT, openapi_extra=STREAM)
async def upload_stream(request: Request, name: str) -> Response:
    """Upload a file whose content is the body. A file is not replaced: delete it first."""
    return await _store(request, name, request.stream())


@router.delete("/{name}", status_code=204, responses=NOT_FOUND)
def remove(request: Request, name: str) -> None:
    """Delete an uploaded file. Jobs that were ordered with it keep it."""
    if not site().uploads.remove(user_of(request).name, name):
        raise HTTPException(404, "you have no such file")


async def _store(request: Request, name: str, content: AsyncIterator[bytes]) -> Response:
    try:
        stored = await site().uploads.store(user_of(request).name, name, content)
    except RefusedUpload as error:
        raise HTTPException(error.status, str(error)) from None
    return answer(FileDocument.of(stored), 201)
