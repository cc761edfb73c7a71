"""Monitors: hosts with their states, samples, events, rules and agents."""

import time
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request, Response

from headrace.fields import decode_json
from headrace.monitors.history import MOST_POINTS, History, series_of
from headrace.monitors.service import HostStatus
from headrace.web.access.requests import user_of
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


def _host(name: str) -> HostStatus:
    found = site().monitors.host(name)
    if found is None:
        raise HTTPException(404, f"there is no host {name}")
    return found


def _operator(request: Request) -> None:
    if not user_of(request).operator:
        raise HTTPException(403, "only operators may do this")


@router.get("/hosts")
def hosts() -> list[dict[str, Any]]:
    """List all hosts with their states, the reasons of these, and the offsets of their clocks."""
    return [msgspec.to_builtins(it) for it in site().monitors.hosts()]


@router.get("/hosts/{name}")
def host(name: str) -> dict[str, Any]:
    """Return a host with its states and its newest sample."""
    latest = site().monitors.latest(name)
    return {
        **msgspec.to_builtins(_host(name)),
        "sample": None if latest is None else latest._asdict(),
    }


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
) -> dict[str, Any]:
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
    names = list(dict.fromkeys(it for row in rows for it in row.names))
    wanted = names if figure is None else [it for it in figure if it in names]
    if len(wanted) > MOST_FIGURES and len(wanted) * len(rows) > MOST_FIGURES * MOST_POINTS:
        raise HTTPException(422, f"{len(wanted)} figures: choose some by figure=NAME")
    found = series_of(rows, wanted)
    return {
        "resolution": next(it for it, number in RESOLUTIONS.items() if number == level),
        "times": [row.time for row in rows],
        "seconds": [row.seconds for row in rows],
        "figures": {
            key: {
                it: [None if value != value else value for value in getattr(series, it).tolist()]
                for it in ("mean", "smallest", "largest")
            }
            for key, series in found.items()
        },
    }


@router.get("/events")
def events(
    host: str | None = None,
    begin: float = 0.0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[dict[str, Any]]:
    """List changes of states, the newest first."""
    return [
        msgspec.to_builtins(it) for it in site().monitors.history.events(host, begin, most=limit)
    ]


@router.get("/rules")
def rules() -> dict[str, Any]:
    """Return the rules in order of precedence, and the text of the server's own rules."""
    monitors = site().monitors
    return {
        "rules": [msgspec.to_builtins(it) for it in monitors.rules()],
        "own": monitors.own_rules(),
    }


@router.put("/rules")
async def set_rules(request: Request) -> dict[str, Any]:
    """Replace the server's own rules: `{"own": "[disk-slow]\\nsamples = 10"}`. For operators.

    An error names line and column.
    """
    _operator(request)
    try:
        wanted = decode_json(await request.body(), RulesRequest)
        site().monitors.set_own_rules(wanted.own)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    return rules()


@router.post("/agents", status_code=201)
async def add_agent(request: Request) -> dict[str, Any]:
    """Add an agent: `{"url": "http://node1:8181", "token": "…"}`. For operators.

    The token is saved in the server's data directory and never returned.
    """
    _operator(request)
    try:
        wanted = decode_json(await request.body(), AgentRequest)
        name = site().monitors.add_agent(wanted.url, wanted.token, wanted.name)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    built: dict[str, Any] = msgspec.to_builtins(_host(name))
    return built


@router.delete("/agents/{name}", status_code=204)
def remove_agent(name: str, request: Request, history: bool = False) -> Response:
    """Stop asking an agent; with `history=true` remove its history. For operators."""
    _operator(request)
    try:
        site().monitors.remove_agent(name, with_history=history)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    return Response(status_code=204)
