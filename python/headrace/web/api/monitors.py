"""Monitors: hosts with their states, samples, events, rules and agents."""

import time
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request, Response

from headrace.fields import decode_json
from headrace.monitors.history import MOST_POINTS, History, series_of
from headrace.monitors.rules import Rule
from headrace.monitors.service import HostStatus
from headrace.web.access.permissions import Action, Kind, require
from headrace.web.access.requests import user_of
from headrace.web.api.errors import answer
from headrace.web.site import site

router = APIRouter(prefix="/monitors", tags=["monitors"])

RESOLUTIONS = {"samples": 0, "10s": 1, "1min": 2, "15min": 3}
MOST_FIGURES = 100
"""Figures of an answer."""


class AgentRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent to add."""

    url: str
    token: str = ""
    name: str = ""


class RulesRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The server's own rules in TOML."""

    own: str


class SampleDocument(msgspec.Struct, frozen=True):
    """Figures of an interval."""

    number: int
    end: float
    seconds: float
    figures: Mapping[str, float]


class HostDocument(HostStatus, frozen=True):
    """A host with its newest sample."""

    sample: SampleDocument | None = None


class FigureSamples(msgspec.Struct, frozen=True):
    """A figure over time."""

    mean: list[float]
    smallest: list[float]
    largest: list[float]


class Samples(msgspec.Struct, frozen=True):
    """Figures over time."""

    resolution: str
    times: list[float]
    seconds: list[float]
    figures: dict[str, FigureSamples]


class RulesDocument(msgspec.Struct, frozen=True):
    """The rules in order of precedence, and the text of the server's own rules."""

    rules: list[Rule]
    own: str


def _host(name: str) -> HostStatus:
    seen = site().monitors.host(name)
    if seen is None:
        raise HTTPException(404, f"there is no host {name}")
    return seen


@router.get("/hosts")
def hosts() -> Response:
    """List all hosts with their states, the reasons of these, and the offsets of their clocks."""
    return answer(site().monitors.hosts())


@router.get("/hosts/{name}")
def host(name: str) -> Response:
    """Return a host with its states and its newest sample."""
    latest = site().monitors.latest(name)
    status = msgspec.structs.asdict(_host(name))
    sample = None if latest is None else SampleDocument(**latest._asdict())
    return answer(HostDocument(**status, sample=sample))


@router.get("/hosts/{name}/samples")
def samples(
    name: str,
    begin: Annotated[
        float | None, Query(description="Seconds since the epoch; by default 5 minutes ago.")
    ] = None,
    end: Annotated[float | None, Query(description="Seconds since the epoch; now.")] = None,
    figure: Annotated[
        list[str] | None, Query(description="Only these figures; can be repeated.")
    ] = None,
    resolution: Annotated[
        Literal["auto", "samples", "10s", "1min", "15min"],
        Query(description="auto: the finest that the history still has."),
    ] = "auto",
) -> Response:
    """Return figures over time: means, smallest and largest values; null where unknown.

    `times` are the starts of the intervals; for samples, their ends.
    """
    _host(name)
    now = time.time()
    end = now if end is None else end
    begin = end - 300.0 if begin is None else begin
    if not begin < end:
        raise HTTPException(422, "begin: expected a time before end")
    history: History = site().monitors.history
    auto = history.level_for(begin, end, now)
    level = RESOLUTIONS.get(resolution, auto)
    rows = history.rows(name, begin, end, level)
    names = list(dict.fromkeys(each for row in rows for each in row.names))
    chosen = names if figure is None else [key for key in figure if key in names]
    if len(chosen) > MOST_FIGURES and len(chosen) * len(rows) > MOST_FIGURES * MOST_POINTS:
        raise HTTPException(422, f"{len(chosen)} figures: choose some by figure=NAME")
    lines = series_of(rows, chosen)
    return answer(
        Samples(
            resolution=next(key for key, number in RESOLUTIONS.items() if number == level),
            times=[row.time for row in rows],
            seconds=[row.seconds for row in rows],
            # An unknown value is null.
            figures={
                key: FigureSamples(
                    series.mean.tolist(), series.smallest.tolist(), series.largest.tolist()
                )
                for key, series in lines.items()
            },
        )
    )


@router.get("/events")
def events(
    host: str | None = None, begin: float = 0.0, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> Response:
    """List changes of states, the newest first."""
    return answer(site().monitors.history.events(host, begin, most=limit))


@router.get("/rules")
def rules() -> Response:
    """Return the rules in order of precedence, and the text of the server's own rules."""
    monitors = site().monitors
    return answer(RulesDocument(list(monitors.rules()), monitors.own_rules()))


@router.put("/rules")
async def set_rules(request: Request) -> Response:
    """Replace the server's own rules: `{"own": "[disk-slow]\\nsamples = 10"}`. For operators.

    An error names line and column.
    """
    require(user_of(request), Action.CHANGE, Kind.RULES)
    try:
        body = decode_json(await request.body(), RulesRequest)
        site().monitors.set_own_rules(body.own)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    return rules()


@router.post("/agents", status_code=201)
async def add_agent(request: Request) -> Response:
    """Add an agent: `{"url": "http://node1:8181", "token": "…"}`. For operators.

    The token is saved in the server's data directory and never returned.
    """
    require(user_of(request), Action.CREATE, Kind.AGENT)
    try:
        body = decode_json(await request.body(), AgentRequest)
        name = site().monitors.add_agent(body.url, body.token, body.name)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    return answer(_host(name), 201)


@router.delete("/agents/{name}", status_code=204)
def remove_agent(name: str, request: Request, history: bool = False) -> Response:
    """Stop asking an agent; with `history=true` remove its history. For operators."""
    require(user_of(request), Action.REMOVE, Kind.AGENT)
    try:
        site().monitors.remove_agent(name, with_history=history)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    return Response(status_code=204)
