"""Profiles that jobs recorded, and their reports."""

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import FileResponse

from headrace.web.api.errors import answer
from headrace.web.profiles import REPORT, directory_of, list_profiles
from headrace.web.site import site

router = APIRouter(prefix="/profiles", tags=["profiles"])

WITHOUT_SCRIPTS = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@router.get("")
def profiles() -> Response:
    """List the profiles, the newest first."""
    return answer(list_profiles(site()))


@router.get("/{identifier}/report", response_class=FileResponse)
def report(identifier: str, download: bool = False) -> FileResponse:
    """Return the report of a profile as one HTML file without scripts."""
    job = site().jobs.job(identifier)
    path = directory_of(site(), identifier) / REPORT if job is not None else None
    if path is None or not path.is_file():
        raise HTTPException(404, f"there is no report of a profile {identifier}")
    return FileResponse(
        path,
        media_type="text/html",
        filename=f"profile-{identifier}.html" if download else None,
        headers={"Content-Security-Policy": WITHOUT_SCRIPTS, "X-Frame-Options": "SAMEORIGIN"},
    )
