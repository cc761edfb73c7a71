"""The gain from more of a resource, or from less time in a component: what-if studies."""

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import polars as pl

from headrace._core import RunError, ScenarioError, student_quantile
from headrace.simulate.frames import Document
from headrace.simulate.parallel_runs import OnProgress, ParallelRuns
from headrace.simulate.result import Result
from headrace.simulate.scenario import Quantified, Scenario
from headrace.simulate.schedulers import check_trust
from headrace.simulate.trust import Trust, trust_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOAD = ("run.*", "lab.*", "clients.count", "clients.processes", "workload.*")
"""Fields of the load and of the simulation, which are no resources."""
HOW_IT_ASKS = (
    "workload.*.transfer",
    "workload.*.request",
    "workload.*.buffers",
    "workload.*.io.buffer",
)
"""Fields of a workload that change only how the same work is done."""
EFFECT = 0.01
"""Largest change of a gain that counts as none."""
CONFIDENCE = 0.95

POWERS = {"seconds": -1}
"""The power of the factor that should help; of all other quantities more should."""

SCHEMA = pl.Schema(
    {
        "path": pl.String(),
        "quantity": pl.String(),
        "before": pl.String(),
        "after": pl.String(),
        "factor": pl.Float64(),
        "effect": pl.Enum(["helps", "harms", "none", "failed"]),
        "throughput_gain": pl.Float64(),
        "throughput_gain_half_width": pl.Float64(),
        "latency_p95_gain": pl.Float64(),
        "latency_p95_gain_half_width": pl.Float64(),
        "throughput_bytes_per_s": pl.Float64(),
        "operations_per_s": pl.Float64(),
        "latency_p95_s": pl.Float64(),
        "error": pl.String(),
    }
)


@dataclass(frozen=True)
class WhatIf:
    """Result of a what-if study: the gain from each change of a scenario."""

    table: pl.DataFrame
    """One row for each change, largest gain first; see `whatif`."""
    nothing: list[str]
    """Fields that are 0: there is nothing to change by a factor."""
    baseline: Result
    """The scenario as it is, its first replication."""
    factor: float
    replications: int
    runs: int
    wall_s: float

    def json(self) -> Document:
        """Return the document that `headrace whatif --json` prints."""
        document = self.baseline.document
        kept = ("seed", "version", "simulated_seconds", "throughput", "latency", "bottleneck")
        return {
            "scenario": document["scenario"],
            "factor": self.factor,
            "replications": self.replications,
            "runs": self.runs,
            "wall_seconds": self.wall_s,
            "baseline": {key: document[key] for key in kept},
            "changes": self.table.to_dicts(),
            "nothing": self.nothing,
        }

    def plot(self) -> "Figure":
        """Draw the gains of the changes that help."""
        from headrace.report.figures import gains

        return gains.draw(self.baseline.name, self.factor, self.table)

    def __repr__(self) -> str:
        helps = self.table.filter(pl.col("effect") == "helps").height
        return f"<WhatIf of {self.baseline.name!r}: {helps} of {self.table.height} changes help>"

    def _repr_html_(self) -> str:
        from headrace.report.html import as_html
        from headrace.report.whatif_tables import what_if

        return as_html(what_if(self.json()))


@dataclass(frozen=True)
class _Change:
    """One field with another value."""

    before: Quantified
    after: Quantified
    scenario: Scenario


@dataclass(frozen=True)
class _Figures:
    """Figures of one run, over all operations."""

    bytes_per_s: float
    operations_per_s: float
    p95_s: float

    def rate(self, moves_bytes: bool) -> float:
        return self.bytes_per_s if moves_bytes else self.operations_per_s


def whatif(
    scenario: Scenario,
    *,
    by: float = 2.0,
    only: Sequence[str] = (),
    processes: int | None = None,
    progress: bool | OnProgress | None = None,
    trust: bool | Trust = False,
) -> pl.DataFrame:
    """Change each resource of a scenario in turn, and rank the changes by their gain.

    Every rate, size and count is multiplied by `by`, and every time divided by it. Where that makes
    throughput or latency worse, or is invalid, the opposite change is tried as well.

    Parameters:
        scenario: The scenario to change.
        by: Factor of each change, above 1.
        only: Patterns of fields to change, such as `servers.*`. By default all fields except the
            number of clients and processes, the workload and `run`.
        processes: Number of parallel runs; by default one for each core.
        progress: Whether to show a progress bar; by default on a terminal and in Jupyter. A
            function is called with the completed runs, the known runs, and a title.
        trust: As in `run`.

    Returns:
        One row for each change, largest gain first. `throughput_gain` is the ratio of bytes
        (without any, of operations) a second over the whole run. `latency_p95_gain` is the ratio by
        which the 95th percentile of latency over all requests is shorter. With `run.replications`
        above 1, equal seeds are compared: gains are means, and `…_half_width` is half the width of
        their 95 % confidence intervals. `effect` is `none` if no gain differs from 1 by more than 1
        % and by more than its interval. It is `failed` if the run failed; `error` then gives the
        reason. Units are in the column names.

    Raises:
        ValueError: for a factor that is not above 1, or a pattern that matches no field; otherwise
            as `run`.
    """
    found = study(scenario, by=by, only=only, processes=processes, progress=progress, trust=trust)
    return found.table


def study(
    scenario: Scenario,
    *,
    by: float = 2.0,
    only: Sequence[str] = (),
    processes: int | None = None,
    progress: bool | OnProgress | None = None,
    trust: bool | Trust = False,
) -> WhatIf:
    """Run a what-if study as `whatif` does, and return its baseline as well.

    Parameters:
        scenario: The scenario to change.
        by: Factor of each change, above 1.
        only: Patterns of fields to change.
        processes: Number of parallel runs; by default one for each core.
        progress: Whether to show a progress bar, or a callback.
        trust: As in `run`.

    Returns:
        The table of `whatif`, the fields that are 0, and the baseline.

    Raises:
        ValueError: as `whatif` does; otherwise as `run`.
    """
    if not (math.isfinite(by) and by > 1):
        raise ValueError(f"a factor of {by:g}: expected a number above 1, such as 2")
    chosen = _chosen(scenario.quantities, only)
    started = time.monotonic()
    seeds = _seeds(scenario)
    trusted = trust_of(trust)
    check_trust([scenario], trusted)
    with ParallelRuns("what if: as it is", processes, progress, trusted) as runs:
        results = runs.results(_with_seeds(scenario, seeds))
        warm_up_s = _warm_up(scenario)
        baseline = [_figures(result.document, warm_up_s) for result in results]
        spent = statistics.mean(result.document["wall_seconds"] for result in results)
        count = len(results)
        rows: list[dict[str, Any]] = []
        tried = [each for each in chosen if each.amount != 0]
        for direction in (1, -1):
            made = [_change(scenario, each, by, direction) for each in tried]
            changes = [change for change in made if isinstance(change, _Change)]
            number = len(changes) * len(seeds)
            count += number
            about = _about(number * spent / min(runs.processes, max(number, 1)))
            runs.title(f"what if: {number} runs, about {about}")
            each_run = [run for it in changes for run in _with_seeds(it.scenario, seeds)]
            ended = runs.results_or_errors(each_run)
            found = [
                _row(change, baseline, warm_up_s, ended[at * len(seeds) : (at + 1) * len(seeds)])
                for at, change in enumerate(changes)
            ]
            found += [change for change in made if isinstance(change, dict)]
            known = {row["path"] for row in rows if row["effect"] == "failed"}
            rows += [row for row in found if row["path"] not in known or row["effect"] != "failed"]
            other_way = {row["path"] for row in found if _is_worse(row)}
            tried = [each for each in tried if each.path in other_way]
    return WhatIf(
        _ranked(rows),
        [each.path for each in chosen if each.amount == 0],
        results[0],
        by,
        len(seeds),
        count,
        time.monotonic() - started,
    )


def _chosen(all: list[Quantified], only: Sequence[str]) -> list[Quantified]:
    def fits(path: str, patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(path, pattern) for pattern in patterns)

    if only:
        for pattern in only:
            if not any(fnmatchcase(each.path, pattern) for each in all):
                sections = dict.fromkeys(f"{each.path.split('.')[0]}.*" for each in all)
                raise ValueError(
                    f"no quantity of the scenario fits {pattern!r}: expected a path, or a "
                    f"pattern such as {' or '.join(sections)}"
                )
        return [each for each in all if fits(each.path, only)]
    return [each for each in all if not fits(each.path, LOAD) or fits(each.path, HOW_IT_ASKS)]


def _seeds(scenario: Scenario) -> list[int]:
    first = scenario.loaded.seed
    return list(range(first, first + scenario.loaded.replications))


def _with_seeds(scenario: Scenario, seeds: Sequence[int]) -> list[Scenario]:
    """Return the replications as scenarios, so that equal seeds are compared."""
    return [scenario.with_({"run.seed": seed, "run.replications": 1}) for seed in seeds]


def _change(
    scenario: Scenario, before: Quantified, by: float, direction: int
) -> _Change | dict[str, Any] | None:
    """The scenario with one field changed; why it cannot be, or nothing if it stays the same."""
    factor = by ** (direction * POWERS.get(before.quantity, 1))
    amount = before.amount * factor
    if before.quantity in ("bytes", "count"):
        amount = max(round(amount), 1)
    if amount == before.amount:
        return None
    value = before.value(amount)
    try:
        changed = scenario.with_({before.path: value})
    except ScenarioError as error:
        return _named(before, str(value), factor) | {"effect": "failed", "error": error.message}
    after = next((it for it in changed.quantities if it.path == before.path), None)
    return _Change(before, after, changed) if after else None


def _named(before: Quantified, after: str, factor: float) -> dict[str, Any]:
    return {
        "path": before.path,
        "quantity": before.quantity,
        "before": before.text,
        "after": after,
        "factor": factor,
    }


def _warm_up(scenario: Scenario) -> float:
    """Return the seconds before statistics begin."""
    return sum(each.amount for each in scenario.quantities if each.path == "run.warm_up")


def _figures(document: Document, warm_up_s: float) -> _Figures:
    """Return figures over the whole run, so that alternating operations are weighed by their
    time."""
    operations = document["operations"].values()
    kept_s = document["simulated_seconds"] - warm_up_s
    latency = document["latency"].get("all", {})
    if kept_s <= 0:
        return _Figures(0.0, 0.0, 0.0)
    return _Figures(
        sum(each["bytes"] for each in operations) / kept_s,
        latency.get("count", 0) / kept_s,
        latency.get("p95") or 0.0,
    )


def _row(
    change: _Change,
    baseline: Sequence[_Figures],
    warm_up_s: float,
    ended: Sequence[Result | RunError | ScenarioError],
) -> dict[str, Any]:
    before, after = change.before, change.after
    row = _named(before, after.text, after.amount / before.amount)
    failed = [error for error in ended if isinstance(error, Exception)]
    if failed:
        return row | {"effect": "failed", "error": str(failed[0])}
    documents = [result.document for result in ended if isinstance(result, Result)]
    figures = [_figures(document, warm_up_s) for document in documents]
    moves_bytes = any(each.bytes_per_s > 0 for each in baseline)
    pairs = list(zip(baseline, figures, strict=True))
    gains = {
        "throughput": [_ratio(new.rate(moves_bytes), old.rate(moves_bytes)) for old, new in pairs],
        "latency_p95": [_ratio(old.p95_s, new.p95_s) for old, new in pairs],
    }
    differs = []
    for name, each in gains.items():
        gain, half_width = _mean(each)
        row |= {f"{name}_gain": gain, f"{name}_gain_half_width": half_width}
        if gain is not None and abs(gain - 1) > max(EFFECT, half_width or 0.0):
            differs.append(gain)
    return row | {
        "effect": "none" if not differs else "helps" if max(differs) > 1 else "harms",
        "throughput_bytes_per_s": statistics.mean(each.bytes_per_s for each in figures)
        if moves_bytes
        else None,
        "operations_per_s": statistics.mean(each.operations_per_s for each in figures),
        "latency_p95_s": statistics.mean(each.p95_s for each in figures),
    }


def _ratio(one: float, other: float) -> float | None:
    """Return the ratio, or None if one value is missing."""
    if other > 0:
        return one / other
    return 1.0 if one == 0 else None


def _mean(gains: Sequence[float | None]) -> tuple[float | None, float | None]:
    """The mean, and half the width of its confidence interval if there are several."""
    known = [gain for gain in gains if gain is not None]
    if not known or len(known) < len(gains):
        return None, None
    if len(known) == 1:
        return known[0], None
    error = statistics.stdev(known) / math.sqrt(len(known))
    freedom = len(known) - 1
    return statistics.mean(known), student_quantile(0.5 + CONFIDENCE / 2, freedom) * error


def _is_worse(row: dict[str, Any]) -> bool:
    """Return whether the opposite change may be better."""
    if row["effect"] == "failed":
        return True
    gains = (row.get("throughput_gain"), row.get("latency_p95_gain"))
    return any(gain is not None and gain < 1 - EFFECT for gain in gains)


def _ranked(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Sort the changes by throughput gain, largest first; equal gains are sorted by latency."""

    def rank(row: dict[str, Any]) -> tuple[float, float, str]:
        throughput = row.get("throughput_gain") or 0.0
        latency = row.get("latency_p95_gain") or 0.0
        return (-round(throughput / EFFECT), -latency, row["path"])

    return pl.DataFrame(sorted(rows, key=rank), schema=SCHEMA)


def _about(seconds: float) -> str:
    if seconds < 1:
        return "a second"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
