"""Results side by side: figures, ratios, and whether they differ by more than chance."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl
import sqlalchemy as sa

from headrace import kinds
from headrace.environment import Difference, differences
from headrace.fields import to_document
from headrace.store import queries, rows
from headrace.store.errors import StoreError
from headrace.store.figures import FIGURES
from headrace.store.filters import By
from headrace.store.record import (
    BY_CHANCE,
    NO_CALLS,
    ScenarioField,
    changed_fields,
    scenario_fields,
)
from headrace.store.samples import Group, Key, Merged, group
from headrace.store.significance import difference

FEWEST = 2
RUNS_BY_CHANCE = {f"run.{name}" for name in BY_CHANCE}

TABLE = pl.Schema(
    {
        "operation": pl.String(),
        "figure": pl.String(),
        "group": pl.String(),
        "value": pl.Float64(),
        "samples": pl.UInt32(),
        "ratio": pl.Float64(),
        "ratio_low": pl.Float64(),
        "ratio_high": pl.Float64(),
        "p": pl.Float64(),
    }
)


class GroupSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A compared group of results. Lists have each value once."""

    group: str
    ids: list[str]
    names: list[str]
    kinds: list[str]
    versions: list[str]
    calls: list[str | None]
    scenarios: list[str | None]
    """Digests of the scenarios."""
    seeds: list[int | None]
    started: str
    last_started: str
    samples: int
    """Samples of the figure that has the most."""


@dataclass(frozen=True)
class Comparison:
    """Results or groups of them, compared with the first."""

    groups: Sequence[GroupSummary]
    """Compared groups of results."""
    table: pl.DataFrame
    """One row for each figure of a group. `ratio` is over the first group's; `ratio_low` and
    `ratio_high` are its 95 % confidence interval, and `p` the probability of such a difference by
    chance, where there are samples."""
    notes: Sequence[str]
    """Notes that a reader needs to interpret the comparison."""
    differences: Sequence[Difference] = ()
    """Environment keys, and versions of Headrace, in which measurements differ."""
    changes: Sequence[ScenarioField] = ()
    """Fields in which the scenarios differ."""

    def json(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        fields = {
            "groups": to_document(self.groups),
            "figures": self.table.to_dicts(),
            "changes": to_document(self.changes),
            "notes": list(self.notes),
            "differences": [{"key": item.key, "values": item.values} for item in self.differences],
        }
        return kinds.with_kind("comparison", fields)

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.groups)} groups, {self.table.height} figures>"

    def _repr_html_(self) -> str:
        return kinds.html("comparison", self.json())


def of_results(
    connection: sa.Connection, ids: Sequence[str], step: str | None = None
) -> Comparison:
    """Compare results, each with the first. Raises StoreError if there is only one."""
    whole = list(dict.fromkeys(queries.found(connection, identifier) for identifier in ids))
    if len(whole) < FEWEST:
        raise StoreError("one result cannot be compared: expected the identifiers of two or more")
    _check_step(connection, whole, step)
    groups = [group(connection, run_id, [run_id], step=step) for run_id in whole]
    return _compared(connection, groups, By.DATE)


def of_groups(
    connection: sa.Connection,
    chosen: queries.Filter,
    by: By,
    merged: Merged,
    step: str | None = None,
) -> Comparison:
    """Compare results by version or by date, the oldest first. Raises StoreError if all are of
    one version or date, and of the same calls."""
    # The oldest first.
    ids = queries.identifiers(connection, chosen)[::-1]
    # Measurements by different calls are not comparable.
    members: dict[str, dict[str | None, list[str]]] = {}
    for run in rows.runs(connection, ids):
        label = run.version if by is By.VERSION else run.started[: len("2026-11-22")]
        members.setdefault(label, {}).setdefault(run.calls, []).append(run.id)
    if sum(map(len, members.values())) < FEWEST:
        said = f"all {len(ids)} are of {by} {next(iter(members))}" if members else "there is none"
        raise StoreError(f"nothing to compare by {by} in these results: {said}")
    _check_step(connection, ids, step)
    return _compared(
        connection,
        [
            group(connection, _named(label, calls, len(of_each) > 1), of_it, merged, step)
            for label, of_each in members.items()
            for calls, of_it in of_each.items()
        ],
        by,
    )


def _check_step(connection: sa.Connection, ids: Sequence[str], step: str | None) -> None:
    """Raise StoreError if none of these results has the step."""
    if step is None:
        return
    steps = queries.steps(connection, ids)
    if step not in steps:
        named = ", ".join(sorted(steps, key=_natural)) or "load sweeps"
        raise StoreError(f'--step "{step}": no such step in these results: expected one of {named}')


def _named(label: str, calls: str | None, several: bool) -> str:
    """A group's name, with its calls where others of the same version or date had others."""
    return f"{label}, {_by_calls(calls)}" if several else label


def _by_calls(calls: str | None) -> str:
    return "calls not said" if calls is None else f"{calls} calls"


def _compared(connection: sa.Connection, groups: Sequence[Group], by: By) -> Comparison:
    first = groups[0]
    for one in groups:
        if not one.values:
            raise StoreError(
                f"{one.label} has no figure that can be compared ({_kinds(one)}): expected results"
                " with throughput, rates or latency; headrace results show shows each"
            )
    for other in groups[1:]:
        if not first.values.keys() & other.values.keys():
            raise StoreError(
                f"{first.label} and {other.label} have no figure in common: expected results of the"
                f" same points ({_kinds(first)}; {_kinds(other)})"
            )
    figures = [
        {"operation": key[0], "figure": key[1], "group": group_.label, **_row(first, group_, key)}
        for key in _keys(groups)
        for group_ in groups
        if key in group_.values
    ]
    different = list(_differences(groups, by))
    return Comparison(
        [_described(each) for each in groups],
        pl.DataFrame(figures, schema=TABLE),
        [*_notes(groups), *(f"Different {item.sentence()}." for item in different)],
        different,
        list(_changes(connection, groups)),
    )


def _changes(connection: sa.Connection, groups: Sequence[Group]) -> Iterator[ScenarioField]:
    """Yield the fields in which the newest scenarios of the groups differ. Groups of several
    results have several seeds."""
    newest = [max(one.runs, key=lambda run: (run.started, run.id)).id for one in groups]
    texts = queries.scenarios(connection, newest)
    several = any(len(one.runs) > 1 for one in groups)
    for path, values in changed_fields([scenario_fields(texts[key]) for key in newest]).items():
        if not (several and path in RUNS_BY_CHANCE):
            yield ScenarioField(path, values)


def _differences(groups: Sequence[Group], by: By) -> Iterator[Difference]:
    """Return the differences between the environments of the groups' measurements. A simulation
    does not depend on the machine."""
    if by is not By.VERSION:
        versions = {
            it.label: " and ".join(dict.fromkeys(run.version for run in it.runs)) for it in groups
        }
        if len(set(versions.values())) > 1:
            yield Difference("version", versions)
    measured = {
        one.label: [dict(one.environments[run.id]) for run in one.runs if not run.simulated]
        for one in groups
    }
    yield from differences(measured)


def _kinds(members: Group) -> str:
    """Return the kinds of results in words."""
    kinds = ", ".join(sorted({run.kind for run in members.runs}))
    return f"{members.label}: {kinds} of {', '.join(sorted({run.name for run in members.runs}))}"


def _keys(groups: Sequence[Group]) -> list[Key]:
    """Every figure that one of them has, operation by operation."""
    keys = dict.fromkeys(key for one in groups for key in one.values)
    operations = sorted(dict.fromkeys(operation for operation, _ in keys), key=_natural)
    operations.sort(key=lambda part: part == "all")
    return [(each, figure) for each in operations for figure in FIGURES if (each, figure) in keys]


def _natural(text: str) -> list[tuple[float, str]]:
    """Numbers in order of size, the rest in order of letters."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(float(part), "") if place % 2 else (0.0, part) for place, part in enumerate(parts)]


def _row(first: Group, other: Group, key: Key) -> dict[str, float | None]:
    value, samples = other.values[key], other.samples.get(key, ())
    row: dict[str, float | None] = {"value": value, "samples": len(samples)}
    if other is first or not first.values.get(key):
        return row
    ratio = value / first.values[key]
    if not math.isfinite(ratio):
        return row
    row["ratio"] = ratio
    change = difference(first.samples.get(key, ()), samples)
    if change is not None:
        row |= {"ratio_low": change.low, "ratio_high": change.high, "p": change.p}
    return row


def _described(members: Group) -> GroupSummary:
    def every(field: str) -> list[Any]:
        return list(dict.fromkeys(getattr(run, field) for run in members.runs))

    started = sorted(run.started for run in members.runs)
    return GroupSummary(
        group=members.label,
        ids=every("id"),
        names=every("name"),
        kinds=every("kind"),
        versions=every("version"),
        calls=every("calls"),
        scenarios=every("scenario_sha256"),
        seeds=every("seed"),
        started=started[0],
        last_started=started[-1],
        samples=max(map(len, members.samples.values()), default=0),
    )


def _notes(groups: Sequence[Group]) -> Iterator[str]:
    for it in groups:
        scenarios = {run.scenario_sha256 for run in it.runs}
        if len(scenarios) > 1:
            yield f"{it.label} has results of {len(scenarios)} different scenarios."
        if it.merged:
            yield f"Percentiles of {it.label} are over all operations of its results."
        if max(map(len, it.samples.values()), default=0) < FEWEST:
            yield (
                f"Of {it.label} there is one sample: whether it differs by more than chance cannot "
                "be told. Replications (run.replications), other seeds or repeats give more."
            )
    yield from _calls_noted(groups)
    first = groups[0]
    for one in groups[1:]:
        several = [key for key in one.samples if _varied(first, one, key)]
        still = [key for key in several if not _varies(first, key) and not _varies(one, key)]
        if several and len(still) == len(several):
            yield f"Neither {first.label} nor {one.label} varies: any difference is significant."


def _calls_noted(groups: Sequence[Group]) -> Iterator[str]:
    """Return the calls by which the groups were measured, if they differ."""
    calls = {one.label: one.runs[0].calls for one in groups}
    if len(set(calls.values())) == 1:
        return
    for each in groups:
        by = calls[each.label]
        if by == NO_CALLS:
            yield f"{each.label} made no calls (null): its figures show the benchmark's own cost."
        elif by is not None:
            yield f"{each.label} was measured by {by} calls."
        elif any(not run.simulated for run in each.runs):
            yield f"The calls of {each.label} are unknown."


def _varied(first: Group, other: Group, key: Key) -> bool:
    return min(len(side.samples.get(key, ())) for side in (first, other)) >= FEWEST


def _varies(members: Group, key: Key) -> bool:
    return len(set(members.samples[key])) > 1
