"""Directories that benchmarks may use."""

from typing import Any

import msgspec
from fastapi import APIRouter, HTTPException

from headrace.web.directories import list_directory
from headrace.web.jobs import RefusedRequest
from headrace.web.site import site

router = APIRouter(prefix="/directories", tags=["directories"])


@router.get("")
def directories(path: str | None = None) -> dict[str, Any]:
    """List the subdirectories of an allowed directory; without `path`, the allowed directories."""
    try:
        found: dict[str, Any] = msgspec.to_builtins(
            list_directory(site().settings, site().paths, path)
        )
        return found
    except RefusedRequest as error:
        raise HTTPException(422, str(error)) from None
    except OSError as error:
        raise HTTPException(404, f"{path}: {error.strerror}") from None
