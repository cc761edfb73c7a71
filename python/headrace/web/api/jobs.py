"""Jobs: submit, list, watch, cancel."""

from typing import Any

import msgspec
from fastapi import APIRouter, HTTPException, Request
from starlette.concurrency import run_in_threadpool

from headrace.web.access.requests import user_of
from headrace.web.jobs import Job, JobRequest, RefusedRequest
from headrace.web.site import site

router = APIRouter(prefix="/jobs", tags=["jobs"])


def job_document(job: Job) -> dict[str, Any]:
    """Return a job as JSON."""
    return {**msgspec.to_builtins(job), "title": job.title}


@router.get("")
def jobs() -> list[dict[str, Any]]:
    """List all jobs, the newest first."""
    return [job_document(it) for it in site().jobs.jobs()]


@router.post("", status_code=201)
async def submit(request: Request) -> dict[str, Any]:
    """Submit a job: `{"command": ["run"], "values": {"file": "input:a.toml"}, "inputs": {…}}`."""
    try:
        wanted = msgspec.json.decode(await request.body(), type=JobRequest)
        owner = user_of(request).name
        return job_document(await run_in_threadpool(site().jobs.submit, wanted, owner))
    except (msgspec.MsgspecError, RefusedRequest) as error:
        raise HTTPException(422, str(error)) from None


@router.get("/{identifier}")
def job(identifier: str) -> dict[str, Any]:
    """Return a job, with its document once it has ended."""
    found = site().jobs.job(identifier)
    if found is None:
        raise HTTPException(404, f"there is no job {identifier}")
    directory = site().jobs.directory(identifier)
    return {**job_document(found), "document": directory.document()}
