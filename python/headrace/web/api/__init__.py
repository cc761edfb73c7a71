"""The JSON API, below `/api`. Its description is `/api/openapi.json`."""

from fastapi import FastAPI

from headrace import __version__
from headrace.web.api import design, jobs, results

ROUTERS = (jobs.router, results.router, design.router)
"""To add a part of the API takes a file here and a line there."""


def create_api() -> FastAPI:
    """Return the application of the API."""
    # No pages of FastAPI's own: they load their scripts from elsewhere.
    api = FastAPI(title="Headrace", version=__version__, docs_url=None, redoc_url=None)
    for router in ROUTERS:
        api.include_router(router)
    return api
