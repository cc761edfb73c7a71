"""Designs: drafts of worksheets, checks, recommendations, flow diagrams, solutions, figures."""

from typing import Any

import msgspec
from fastapi import APIRouter, HTTPException, Request, Response
from nicegui import run

from headrace import _core
from headrace._core import ScenarioError
from headrace.commands import parameters
from headrace.commands.design import CALCULATIONS, record
from headrace.design import forms
from headrace.design.catalogue_file import DEFAULT
from headrace.design.evaluation import Solution
from headrace.web.access.requests import user_of
from headrace.web.api.drafts import TEXT, body_of, read
from headrace.web.api.errors import answer
from headrace.web.design.calculations import calculate
from headrace.web.design.catalogues import catalogue_names, open_catalogue
from headrace.web.design.drafts import Drafts
from headrace.web.design.figures import DesignView, FrontPoint, designs_of, front_points
from headrace.web.design.sheet import check_sheet, load_sheet, sheet_error
from headrace.web.design.solving import COMMAND, REPORT_HTML, solution_of, solve_request
from headrace.web.jobs import RefusedRequest
from headrace.web.site import site

router = APIRouter(prefix="/design", tags=["design"])

REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:;"
    " frame-ancestors 'self'"
)
"""Content Security Policy of a report: nothing in it runs or loads."""


class SheetRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worksheet and the catalogue that it is compared with."""

    toml: str
    """Text of the worksheet."""
    catalogue: str = DEFAULT
    """Name of a catalogue, as `GET /design/catalogues` lists them."""


class SolveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A search for a draft."""

    catalogue: str = DEFAULT
    values: dict[str, Any] = {}
    """Parameters of `headrace design solve`: budget, seed, everything."""


class SolutionDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The designs of a search as points."""

    chosen: int | None
    enumerated: int
    discarded: dict[str, int]
    unsure: list[str]
    designs: list[FrontPoint]


SHEET = body_of({"toml": TEXT, "catalogue": TEXT}, ["toml"])
SOLVE = body_of({"catalogue": TEXT, "values": {"type": "object"}}, [])
VALUES = body_of({}, [])
SVG: dict[str, Any] = {"content": {"image/svg+xml": {}}}


@router.get("/schema")
def schema() -> Response:
    """Return the JSON Schema of worksheets."""
    return Response(_core.document_schema("worksheet"), media_type="application/schema+json")


@router.get("/examples")
def examples() -> dict[str, str]:
    """Return the example worksheets: their texts by name."""
    return {name: forms.example(name) for name in forms.examples()}


@router.get("/catalogues")
def catalogues(request: Request) -> dict[str, str]:
    """List the catalogues that the user can choose: names with their titles."""
    return catalogue_names(site().settings, user_of(request).name)


@router.get("/drafts/{name}/flow.svg", response_class=Response, responses={200: SVG})
def draft_flow(name: str, request: Request) -> Response:
    """Draw the data flow of a draft as SVG."""
    return _flow(request, _text(request, name))


@router.post("/drafts/{name}/solve", status_code=201, openapi_extra=SOLVE)
async def solve(name: str, request: Request) -> dict[str, str]:
    """Search a design for a draft, as a job; return the job's identifier."""
    body, owner = await read(request, SolveRequest), user_of(request).name
    text = await run.io_bound(_text, request, name)
    try:
        order = solve_request(site().settings, owner, name, text or "", body.catalogue, body.values)
        job = await run.io_bound(site().jobs.submit, order, owner)
    except RefusedRequest as error:
        raise HTTPException(422, str(error)) from None
    if job is None:
        raise HTTPException(503, "the server ends")
    return {"id": job.id}


@router.post("/check", openapi_extra=SHEET)
async def check(request: Request) -> Response:
    """Check a worksheet as `headrace design check` does: error, unknown answers, contradictions."""
    body, owner = await read(request, SheetRequest), user_of(request).name

    def checked() -> Response:
        result = check_sheet(body.toml, _catalogue(owner, body.catalogue), _uploads(owner))
        return answer(result)

    return await run.io_bound(checked) or Response(status_code=503)


@router.post("/recommend", openapi_extra=SHEET)
async def recommend(request: Request) -> Response:
    """Recommend for each zone, as `headrace design recommend --json` does: the choices."""
    body, owner = await read(request, SheetRequest), user_of(request).name

    def choices() -> Response:
        from headrace.design.recommendation import load_rules
        from headrace.design.recommendation import recommend as choose

        try:
            sheet = load_sheet(body.toml, _uploads(owner)).worksheet
        except ScenarioError as error:
            raise _refused(body.toml, error) from None
        chosen = choose(sheet, _catalogue(owner, body.catalogue), load_rules(None))
        return answer(list(chosen))

    return await run.io_bound(choices) or Response(status_code=503)


@router.post("/flow", openapi_extra=SHEET, response_class=Response, responses={200: SVG})
async def flow(request: Request) -> Response:
    """Draw the data flow of a worksheet as SVG."""
    body = await read(request, SheetRequest)
    return await run.io_bound(_flow, request, body.toml) or Response(status_code=503)


@router.get("/solutions/{identifier}")
def solution(identifier: str) -> Response:
    """Return the designs of a search as points: cost, throughput, loss probability."""
    plan = _solution(identifier)
    return answer(
        SolutionDocument(
            chosen=plan.chosen,
            enumerated=plan.enumerated,
            discarded=plan.discarded,
            unsure=list(plan.unsure),
            designs=list(front_points(plan)),
        )
    )


@router.get("/solutions/{identifier}/designs/{place}/figures")
def figures(identifier: str, place: int) -> Response:
    """Return the figures of a design, each with formula, numbers, inputs and source."""
    return answer(list(_design(identifier, place).book))


@router.get("/solutions/{identifier}/designs/{place}/figures/{key}")
def figure(identifier: str, place: int, key: str) -> Response:
    """Return a figure. `figure` of an input is the key of the figure that it is."""
    book = _design(identifier, place).book
    if key not in book:
        raise HTTPException(404, f"there is no figure {key}")
    return answer(book.view(key))


@router.get("/solutions/{identifier}/report", response_class=Response)
def report(identifier: str) -> Response:
    """Return the report of a search as a page in which nothing runs or loads."""
    _solution(identifier)
    try:
        path = site().jobs.directory(identifier).download(REPORT_HTML)
    except RefusedRequest:
        raise HTTPException(404, "the search wrote no report") from None
    headers = {
        "content-security-policy": REPORT_POLICY,
        "x-frame-options": "SAMEORIGIN",
        "x-content-type-options": "nosniff",
    }
    return Response(path.read_bytes(), media_type="text/html; charset=utf-8", headers=headers)


@router.get("/calculate/{name}")
def calculation_schema(name: str) -> Response:
    """Return the JSON Schema of a calculation's parameters."""
    _require_calculation(name)
    return answer(parameters.schema(record(name)))


@router.post("/calculate/{name}", openapi_extra=VALUES)
async def calculation(name: str, request: Request) -> Response:
    """Compute figures: `capacity`, `reliability`, `spares`, `power`, `cost` or `growth`.

    The parameters are those of `headrace design NAME`, as `{"disks": 12, "disk_capacity": "4 TB"}`;
    a GET request returns their schema.
    """
    values = await read(request, dict[str, Any])
    _require_calculation(name)
    try:
        result = await calculate(site().forms["design", name], values)
    except RefusedRequest as error:
        raise HTTPException(422, str(error)) from None
    return answer(list(result))


def _require_calculation(name: str) -> None:
    if name not in CALCULATIONS:
        raise HTTPException(404, f"there is no calculator {name}")


def _text(request: Request, name: str) -> str:
    return Drafts(site().settings).text(user_of(request).name, name)


def _catalogue(owner: str, name: str) -> Any:
    try:
        return open_catalogue(site().settings, owner, name).catalogue
    except ScenarioError as error:
        raise HTTPException(422, str(error)) from None


def _flow(request: Request, text: str) -> Response:
    from headrace.report.data_flow import data_flow_svg

    try:
        worksheet = load_sheet(text, _uploads(user_of(request).name)).worksheet
    except ScenarioError as error:
        raise _refused(text, error) from None
    headers = {"content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'"}
    return Response(data_flow_svg(worksheet), media_type="image/svg+xml", headers=headers)


def _uploads(owner: str) -> Any:
    return site().settings.data / "uploads" / owner


def _refused(text: str, error: ScenarioError) -> HTTPException:
    problem = sheet_error(text, error)
    at = "" if problem.line is None else f"worksheet.toml:{problem.line}:{problem.column}: "
    return HTTPException(422, f"{at}{problem.message}")


def _solution(identifier: str) -> Solution:
    job = site().jobs.job(identifier)
    if job is None or job.request.command != COMMAND:
        raise HTTPException(404, f"there is no search {identifier}")
    try:
        plan = solution_of(site().jobs.directory(identifier))
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    if plan is None:
        raise HTTPException(404, "the search has no solution yet")
    return plan


def _design(identifier: str, place: int) -> DesignView:
    plan = _solution(identifier)
    if not 0 <= place < len(designs_of(plan)):
        raise HTTPException(404, f"there is no design {place}")
    return DesignView(plan, place)
