"""A study's document: medians, means and their intervals over the repeats."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from headrace import _core
from headrace.environment import Environment
from headrace.intervals import FEWEST, half_width
from headrace.measure.calls import POSIX
from headrace.measure.micro.study import RATE, THROUGHPUT, Study, called
from headrace.measure.resume import rank_count_field

KIND = "study"


def summed_up(
    study: Study,
    here: Mapping[str, str],
    environment: Environment,
    repeats: int,
    rows: Sequence[Mapping[str, Any]],
    warnings: Sequence[Mapping[str, str]],
    stop: Mapping[str, Any],
) -> dict[str, Any]:
    keys = list(study.points[0].parameters)
    by_point: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        by_point.setdefault((*(row[key] for key in keys), row["test"]), []).append(row)
    summary = []
    for (*values, test), of_point in by_point.items():
        rates = sorted(rate for row in of_point if (rate := _rate(row)) is not None)
        summary.append(
            {
                **dict(zip(keys, values, strict=True)),
                "test": test,
                "unit": of_point[0]["unit"],
                "median": statistics.median(rates) if rates else None,
                "mean": statistics.fmean(rates) if rates else None,
                "half_width": half_width(rates) if len(rates) >= FEWEST else None,
                "least": rates[0] if rates else None,
                "most": rates[-1] if rates else None,
                "repeats": len(rates),
                "cpu": statistics.median(row["cpu"] for row in of_point),
                "in_memory": any(row["in_memory"] for row in of_point),
            }
        )
    document: dict[str, Any] = {
        "kind": KIND,
        "benchmark": study.name,
        "scenario": {"name": f"bench {study.name}", "description": study.title},
        "version": _core.VERSION,
        "place": dict(here),
        "environment": environment,
        "calls": POSIX,
        "stop": dict(stop),
        "wanted_repeats": repeats,
        "parameters": keys,
        "sizes": list(study.sizes),
        "summary": summary,
        "repeats": [
            _catalogued(study, [(row, _rate(row)) for row in rows if row["repeat"] == repeat])
            for repeat in range(repeats)
        ],
        "warnings": list(warnings),
        "points": [
            {"parameters": dict(point.parameters), "scenario": point.scenario}
            for point in study.points
        ],
    }
    # The clients of each point's scenario, each with its processes.
    document |= rank_count_field()
    # The store catalogues one figure for each point and test.
    return document | _catalogued(study, [(it, it["median"]) for it in summary])


def _rate(row: Mapping[str, Any]) -> float | None:
    """Return bytes or operations a second; None if the time was 0."""
    amount: int = row["operations"] if row["unit"] == RATE else row["bytes"]
    return amount / row["seconds"] if row["seconds"] > 0 else None


def _catalogued(
    study: Study, figures: Sequence[tuple[Mapping[str, Any], float | None]]
) -> dict[str, Any]:
    throughput, rates = {}, {}
    for row, value in figures:
        if value is None:
            continue
        if row["unit"] == THROUGHPUT:
            throughput[_label(study, row)] = value
        else:
            rates[_label(study, row)] = {"per_second": value}
    return {"throughput": throughput, "operations": rates}


def _label(study: Study, row: Mapping[str, Any]) -> str:
    parameters = {key: row[key] for key in study.points[0].parameters}
    return f"{row['test']} {called(study, parameters)}".strip()
