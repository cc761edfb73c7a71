"""Scenarios: examples, presets, schema, checks, quick runs, the net."""

from typing import Any

import msgspec
from fastapi import APIRouter, HTTPException, Request, Response

from headrace import _core
from headrace.document_io import as_sets
from headrace.fields import decode_json
from headrace.simulate.examples import example, examples, scenario_of_presets
from headrace.web.api.errors import answer
from headrace.web.quick_run import QuickError, Work
from headrace.web.site import site

router = APIRouter(prefix="/scenarios", tags=["scenarios"])


class ScenarioRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A scenario with other values of some fields."""

    toml: str
    """Text of the scenario."""
    sets: dict[str, Any] = {}
    """Values by path, such as `{"clients.count": 8}`."""


BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["toml"],
                    "properties": {
                        "toml": {"type": "string", "description": "Text of the scenario."},
                        "sets": {
                            "type": "object",
                            "description": 'Values by path, such as {"clients.count": 8}.',
                        },
                    },
                }
            }
        },
    }
}
"""Description of `ScenarioRequest`."""


@router.get("/examples")
def list_examples() -> list[dict[str, str]]:
    """List the examples of the package: name, title and description."""
    return [
        {"name": one.name, "title": one.title, "description": one.description} for one in examples()
    ]


@router.get("/examples/{name}")
def get_example(name: str) -> dict[str, str]:
    """Return an example with its text."""
    match = example(name)
    if match is None:
        raise HTTPException(404, f"there is no example {name}")
    text: dict[str, str] = msgspec.to_builtins(match)
    return text


@router.get("/presets")
def presets() -> dict[str, dict[str, str]]:
    """List the presets of systems and workloads, with their descriptions."""
    return {"systems": dict(_core.presets()), "workloads": dict(_core.workloads())}


@router.get("/presets/{system}/{workload}")
def preset_scenario(system: str, workload: str) -> dict[str, str]:
    """Return the text of a small scenario with two presets."""
    try:
        return {"toml": scenario_of_presets(system, workload)}
    except ValueError as error:
        raise HTTPException(404, str(error)) from None


@router.get("/schema")
def schema() -> Response:
    """Return the JSON Schema of scenarios."""
    return Response(_core.schema(), media_type="application/schema+json")


@router.post("/check", openapi_extra=BODY)
async def check(request: Request) -> Response:
    """Check a scenario.

    `error` is null, or has `message`, `line`, `column` and `text`. A correct scenario has its
    `name`, its complete `toml`, the same `explained` with the origin of each value, its
    `quantities` and `warnings`.
    """
    checked = await _ask("check", await _read(request))
    if isinstance(checked, QuickError):
        return answer({"error": checked})
    return answer({"error": None, **checked})


@router.post("/run", openapi_extra=BODY)
async def run(request: Request) -> Response:
    """Run a small scenario at once and return its result, as `headrace run --json` prints it.

    A run of more than 5 s of processor time or 2 GiB ends with status 422: submit it as a job.
    """
    return answer(_result(await _ask("run", await _read(request))))


@router.post("/net", openapi_extra=BODY)
async def net(request: Request) -> Response:
    """Return the `structure` of a scenario's net, and the net drawn as `svg`."""
    return answer(_result(await _ask("net", await _read(request))))


async def _read(request: Request) -> ScenarioRequest:
    body = await request.body()
    try:
        return decode_json(body, ScenarioRequest)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None


async def _ask(work: Work, request: ScenarioRequest) -> Any:
    result = await site().quick.ask(work, request.toml, as_sets(request.sets))
    return result.error or result.result


def _result(reply: Any) -> Any:
    if isinstance(reply, QuickError):
        at = f"scenario.toml:{reply.line}:{reply.column}: " if reply.line is not None else ""
        raise HTTPException(422, f"{at}{reply.message}")
    return reply
