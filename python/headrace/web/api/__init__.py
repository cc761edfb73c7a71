"""The JSON API, below `/api`. Its description is `/api/openapi.json`."""

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from headrace import __version__
from headrace.web.access.permissions import NotAllowed
from headrace.web.api import (
    design,
    directories,
    drafts,
    files,
    jobs,
    monitors,
    profiles,
    results,
    scenarios,
)
from headrace.web.api.errors import COMMON, describe
from headrace.web.design.drafts import DraftError

ROUTERS = (
    jobs.router,
    files.router,
    directories.router,
    monitors.router,
    profiles.router,
    results.router,
    scenarios.router,
    design.router,
    *drafts.routers,
)
"""To add a part of the API takes a file here and a line there."""


def create_api() -> FastAPI:
    """Return the application of the API."""
    # No pages of FastAPI's own: they load their scripts from elsewhere.
    api = FastAPI(
        title="Headrace",
        version=__version__,
        description="Jobs, files and results of headrace serve. Errors have the text in `detail`.",
        docs_url=None,
        redoc_url=None,
        responses=COMMON,
    )

    @api.exception_handler(NotAllowed)
    def not_allowed(_request: Request, error: NotAllowed) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 403)

    @api.exception_handler(DraftError)
    def no_draft(_request: Request, error: DraftError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, error.status)

    for router in ROUTERS:
        api.include_router(router)
    describe(api)
    return api
