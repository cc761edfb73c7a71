"""Directories that benchmarks may use."""

from fastapi import APIRouter, HTTPException, Response

from headrace.web.api.errors import answer
from headrace.web.directories import list_directory
from headrace.web.jobs import RefusedRequest
from headrace.web.site import site

router = APIRouter(prefix="/directories", tags=["directories"])


@router.get("")
def directories(path: str | None = None) -> Response:
    """List the subdirectories of an allowed directory; without `path`, the allowed directories."""
    try:
        return answer(list_directory(site().settings, site().paths, path))
    except RefusedRequest as error:
        raise HTTPException(422, str(error)) from None
    except OSError as error:
        raise HTTPException(404, f"{path}: {error.strerror}") from None
