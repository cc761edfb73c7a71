"""Profiles that jobs recorded."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import msgspec

from headrace.web.jobs import Job
from headrace.web.profile_charts import profile_document
from headrace.web.site import Site

COMMAND = ("profile", "record")
DIRECTORY = "profile"
"""Name of the profile directory in the directory of its job."""
REPORT = "report.html"


class ProfileEntry(msgspec.Struct, frozen=True):
    """A profile in the list."""

    id: str
    """Identifier of its job."""
    title: str
    owner: str
    state: str
    created: float
    """Seconds since the epoch."""
    name: str | None = None
    """Name of the application; None before the end."""
    verdict: str | None = None
    duration_s: float | None = None


def recordings(site: Site) -> Iterator[Job]:
    """Yield the jobs that record a profile, the newest first."""
    for job in site.jobs.jobs():
        if job.request.command == COMMAND and not job.request.values.get("again"):
            yield job


def directory_of(site: Site, identifier: str) -> Path:
    """Return the profile directory of a job."""
    return site.jobs.directory(identifier).path / DIRECTORY


def list_profiles(site: Site) -> list[ProfileEntry]:
    """Return all profiles, the newest first."""
    return [_entry(site, recording) for recording in recordings(site)]


def _entry(site: Site, job: Job) -> ProfileEntry:
    document: Mapping[str, Any] = {}
    if job.state.ended:
        document = profile_document(directory_of(site, job.id)) or {}
    return ProfileEntry(
        job.id,
        job.title,
        job.owner,
        str(job.state),
        job.created,
        document.get("name"),
        document.get("verdict"),
        document.get("duration_s"),
    )


def trace_of(site: Site, identifier: str, document: Mapping[str, Any]) -> Path | None:
    """Return the captured trace of a profile; None if there is none."""
    directory = directory_of(site, identifier)
    name = document.get("trace")
    if not name:
        return None
    path = (directory / str(name)).resolve()
    return path if path.is_relative_to(directory.resolve()) and path.is_file() else None


async def chunks(path: Path) -> AsyncIterator[bytes]:
    """Yield the content of a file."""
    async with await anyio.open_file(path, "rb") as file:
        while chunk := await file.read(1 << 20):
            yield chunk
