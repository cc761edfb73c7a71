"""Jobs: submit, list, watch, cancel, remove, and their files."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Self

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse, StreamingResponse
from nicegui import run

from headrace.fields import decode_json
from headrace.progress_events import Progress
from headrace.web.access.requests import user_of
from headrace.web.api.errors import answer
from headrace.web.jobs import Job, JobRequest, JobState, RefusedRequest, UnwritableJob
from headrace.web.jobs.commands import WITHHELD, runnable
from headrace.web.jobs.forms import CommandForm
from headrace.web.jobs.watch import JobView
from headrace.web.site import site

router = APIRouter(tags=["jobs"])


class RequestDocument(msgspec.Struct, frozen=True):
    """A request with the names of its input files instead of their texts."""

    command: tuple[str, ...]
    values: dict[str, Any]
    inputs: list[str]
    title: str


class JobDocument(msgspec.Struct, frozen=True):
    """A job as the API shows it; see `Job`."""

    id: str
    owner: str
    request: RequestDocument
    created: float
    state: JobState
    started: float | None
    ended: float | None
    status: int | None
    message: str
    result: str | None
    cancelled: bool
    measures: bool
    starts: int
    title: str
    seconds: float | None

    @classmethod
    def of(cls, job: Job, **more: Any) -> Self:
        """Return the document of a job."""
        request = job.request
        inputs = sorted(request.inputs)
        own = msgspec.structs.asdict(job) | {
            "request": RequestDocument(request.command, request.values, inputs, request.title)
        }
        return cls(**own, title=job.title, seconds=job.seconds, **more)


class JobWithResult(JobDocument, frozen=True, kw_only=True):
    """A job, with the document of its result once it has ended."""

    place: int | None
    document: Any


class CommandDocument(CommandForm, frozen=True):
    """A command that jobs may run."""

    measures: bool = False


class ProgressLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the progress; see `Progress`."""

    line: int
    time: float
    title: str = ""
    done: float = 0.0
    total: float | None = None
    text: str = ""
    figures: dict[str, Any] = {}

    @classmethod
    def of(cls, number: int, progress: Progress) -> Self:
        """Return a line with its number."""
        return cls(number, **msgspec.structs.asdict(progress))


@router.get("/jobs")
def jobs(
    state: Annotated[
        list[JobState] | None, Query(description="Only jobs in this state; can be repeated.")
    ] = None,
    owner: Annotated[str | None, Query(description="Only jobs of this user.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Largest number of jobs.")] = 100,
    skip: Annotated[int, Query(ge=0, description="Number of newest jobs to skip.")] = 0,
) -> Response:
    """List jobs, the newest first."""
    matching = site().jobs.jobs(state, owner)
    return answer([JobDocument.of(one) for one in matching[skip : skip + limit]])


@router.post("/jobs", status_code=201)
async def submit(request: Request) -> Response:
    """Submit a job: `{"command": ["run"], "values": {"file": "input:a.toml"}, "inputs": {…}}`.

    `GET /commands` lists the commands and their parameters.
    """
    body, user = await request.body(), user_of(request)

    def submitted() -> Job:
        return site().jobs.submit(decode_json(body, JobRequest), user.name)

    try:
        return answer(JobDocument.of(await asyncio.to_thread(submitted)), 201)
    except UnwritableJob as error:
        raise HTTPException(507, str(error)) from None
    except RefusedRequest as error:
        raise HTTPException(422, {"message": str(error), "field": error.field}) from None
    except ValueError as error:
        raise HTTPException(422, {"message": str(error), "field": None}) from None


@router.get("/commands")
def commands() -> Response:
    """List the commands that jobs may run, with their parameters."""
    forms = []
    for command, form in site().forms.items():
        if (entry := runnable(command)) is None:
            continue
        fields = [field for field in form.fields if field.name not in WITHHELD]
        shown = msgspec.structs.asdict(form) | {"fields": tuple(fields)}
        forms.append(CommandDocument(**shown, measures=entry.measures))
    return answer(forms)


@router.get("/jobs/{identifier}")
def job(identifier: str) -> Response:
    """Return a job, with the document of its result once it has ended."""
    saved = _found(identifier)
    directory = site().jobs.directory(identifier)
    return answer(
        JobWithResult.of(
            saved,
            place=site().jobs.place(identifier),
            document=directory.document() if saved.state.ended else None,
        )
    )


@router.post("/jobs/{identifier}/cancel")
def cancel(identifier: str, request: Request) -> Response:
    """End a waiting or running job. Only its owner and operators may."""
    saved = _found(identifier)
    site().jobs.cancel(identifier, user_of(request))
    return answer(JobDocument.of(saved))


@router.delete("/jobs/{identifier}", status_code=204)
def remove(identifier: str, request: Request) -> None:
    """Remove a job that has ended, with its files. Its result stays in the store."""
    _found(identifier)
    try:
        site().jobs.remove(identifier, user_of(request))
    except RefusedRequest as error:
        raise HTTPException(409, str(error)) from None


@router.get("/jobs/{identifier}/log", response_class=PlainTextResponse)
def log(identifier: str) -> str:
    """Return the end of a job's log."""
    _found(identifier)
    return site().jobs.directory(identifier).log()


@router.get("/jobs/{identifier}/progress")
def progress(
    identifier: str,
    skip: Annotated[int, Query(ge=0, description="Number of lines to skip.")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Largest number of lines.")] = 1000,
) -> Response:
    """Return the progress line by line; `line` is the number of each, from 0."""
    _found(identifier)
    lines = site().jobs.directory(identifier).numbered_progress()
    shown = [(number, line) for number, line in lines if number >= skip][:limit]
    return answer([ProgressLine.of(number, line) for number, line in shown])


@router.get("/jobs/{identifier}/events", response_class=StreamingResponse)
async def events(
    identifier: str,
    skip: Annotated[int, Query(ge=0, description="Number of lines of the progress to skip.")] = 0,
) -> StreamingResponse:
    """Stream a job as server-sent events until it ends.

    The event `job` follows each change of its state. The event `progress` is a line of the
    progress; its identifier is the number of the line.
    """
    saved = _found(identifier)
    return StreamingResponse(
        _events(saved, skip), media_type="text/event-stream", headers={"cache-control": "no-store"}
    )


@router.get("/jobs/{identifier}/files")
def files(identifier: str) -> Response:
    """List the files of a job with their bytes."""
    _found(identifier)
    return answer(list(site().jobs.directory(identifier).files()))


@router.get("/jobs/{identifier}/files/{name:path}", response_class=FileResponse)
def file(identifier: str, name: str) -> FileResponse:
    """Download a file of a job."""
    _found(identifier)
    try:
        path = site().jobs.directory(identifier).download(name)
    except RefusedRequest as error:
        raise HTTPException(404, str(error)) from None
    # Never shown within the site: it may be a page that someone has written.
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def _found(identifier: str) -> Job:
    saved = site().jobs.job(identifier)
    if saved is None:
        raise HTTPException(404, f"there is no job {identifier}")
    return saved


async def _events(job: Job, skip: int) -> AsyncIterator[bytes]:
    changed = asyncio.Event()
    views: list[JobView] = []

    def on_change(view: JobView) -> None:
        views[:] = [view]
        changed.set()

    end = await site().watches.begin(job, on_change)
    state: JobState | None = None
    try:
        directory = site().jobs.directory(job.id)
        before = await run.io_bound(lambda: list(directory.numbered_progress()))
        next_line = skip
        for number, event in before or ():
            if number >= next_line:
                yield _event("progress", ProgressLine.of(number, event), number)
                next_line = number + 1
        while True:
            changed.clear()
            view = views[0]
            for number, event in list(view.recent):
                if number >= next_line:
                    yield _event("progress", ProgressLine.of(number, event), number)
                    next_line = number + 1
            if view.job.state is not state:
                state = view.job.state
                yield _event("job", JobDocument.of(view.job))
            if state.ended:
                return
            try:
                await asyncio.wait_for(changed.wait(), 15)
            except TimeoutError:
                # Lets a proxy keep the connection, and finds a client that has gone.
                yield b": waiting\n\n"
    finally:
        end()


def _event(name: str, content: msgspec.Struct, number: int | None = None) -> bytes:
    identifier = b"" if number is None else f"id: {number}\n".encode()
    return b"event: %s\n%sdata: %s\n\n" % (name.encode(), identifier, msgspec.json.encode(content))
