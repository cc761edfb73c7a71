"""The gain from more of a resource, less time in a component, or another kind: what-if studies."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from headrace import kinds
from headrace._core import ScenarioError, replication_seed
from headrace.alternatives import (
    GROUPS,
    Alternative,
    Group,
    LeftOut,
    alternatives,
    group,
    group_of,
    is_at_most,
)
from headrace.document_io import as_sets
from headrace.intervals import half_width
from headrace.progress_events import OnStep
from headrace.quantities import duration
from headrace.simulate.outcome import Document
from headrace.simulate.parallel_runs import ParallelRuns
from headrace.simulate.result import Result
from headrace.simulate.scenario import Quantified, Scenario, ScenarioSource, load
from headrace.simulate.schedulers import check_trust
from headrace.simulate.trust import Trust, trust_of
from headrace.sweeps.engines import On, check_engine
from headrace.sweeps.execution import run_points
from headrace.sweeps.task import Figures, Report, figures, warm_up
from headrace.sweeps.whatif_report import EFFECT, Change, Kind, LeftOutKind
from headrace.table_export import TableExport

if TYPE_CHECKING:
    from headrace.render.style import NotebookFigure as Figure

LOAD = ("run.*", "lab.*", "clients.count", "clients.processes", "workload.*")
"""Fields of the load and of the simulation, which are no resources."""
HOW_IT_ASKS = (
    "workload.*.transfer",
    "workload.*.request",
    "workload.*.buffers",
    "workload.*.io.buffer",
    "workload.*.loaders",
    "workload.*.prefetch",
)
"""Fields of a workload that change only how the same work is done."""
MOST_PAIRED = 40
"""Most single changes that are combined."""

POWERS = {"seconds": -1}
"""The power of the factor that should help; of all other quantities more should."""
LARGEST_FACTOR = 1e6
"""Amounts stay finite with it."""

SCHEMA = pl.Schema(
    {
        "path": pl.String(),
        "kind": pl.Enum(["quantity", "level", "pair"]),
        "group": pl.Enum(GROUPS),
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
        "what": pl.String(),
        "caution": pl.String(),
        "sets": pl.List(pl.String()),
        "error": pl.String(),
    }
)


@dataclass(frozen=True)
class WhatIf(TableExport):
    """Result of a what-if study: the gain from each change of a scenario.

    Examples:
        >>> gains = hr.whatif("scenarios/striped-read.toml", only=["servers.device.read_rate"])
        >>> gains.frame["throughput_gain"].round(2).to_list()
        [1.98]
        >>> gains.plot()
        <NotebookFigure size ...>
        >>> gains.json() == gains.document, gains.document["kind"]
        (True, 'whatif')
    """

    frame: pl.DataFrame
    """One row for each change, largest gain first; see `whatif`."""
    nothing: list[str]
    """Fields that are 0: there is nothing to change by a factor."""
    baseline: Result
    """The scenario as it is, its first replication."""
    factor: float
    replications: int
    runs: int
    wall_s: float
    left_out: list[LeftOut] = field(default_factory=list)
    """Kinds and levels that the scenario cannot have as it is."""

    def json(self) -> Document:
        """Return the document that `headrace whatif --json` prints."""
        return self.document

    @property
    def document(self) -> Document:
        """All figures."""
        document = self.baseline.document
        kept = ("seed", "version", "simulated_seconds", "throughput", "latency", "bottleneck")
        fields = {
            "scenario": document["scenario"],
            "factor": self.factor,
            "replications": self.replications,
            "runs": self.runs,
            "wall_seconds": self.wall_s,
            "baseline": {key: document[key] for key in kept},
            "changes": self.frame.to_dicts(),
            "nothing": self.nothing,
            "left_out": [
                msgspec.to_builtins(LeftOutKind(kind.path, kind.after, kind.group, kind.error))
                for kind in self.left_out
            ],
        }
        return kinds.with_kind("whatif", fields)

    def plot(self) -> "Figure":
        """Draw the gains of the changes that help."""
        return kinds.picture("whatif", self.json(), "whatif")

    def __repr__(self) -> str:
        helps = self.frame.filter(pl.col("effect") == "helps").height
        return f"<WhatIf of {self.baseline.name!r}: {helps} of {self.frame.height} changes help>"

    def _repr_html_(self) -> str:
        return kinds.html("whatif", self.json())


@dataclass(frozen=True)
class _Trial:
    """A change of the scenario, before or after its runs."""

    row: Change
    sets: Mapping[str, Any]
    """Values as they were given."""

    def with_(self, **fields: Any) -> "_Trial":
        """Return the change with other columns."""
        return _Trial(msgspec.structs.replace(self.row, **fields), self.sets)

    @property
    def failed(self) -> bool:
        """True if there is no such scenario, or its run failed."""
        return self.row.effect == "failed"


def whatif(
    scenario: ScenarioSource,
    *,
    by: float = 2.0,
    only: Sequence[str] = (),
    kinds: bool = True,
    quantities: bool = True,
    cost: Group = "system",
    pairs: int = 0,
    processes: int | None = None,
    on: On = "threads",
    progress: bool | OnStep | None = None,
    trust: bool | Trust = False,
) -> WhatIf:
    """Change each resource of a scenario in turn, and rank the changes by their gain.

    Every rate, size and count is multiplied by `by`, and every time divided by it. Where that makes
    throughput or latency worse, or is invalid, the opposite change is tried as well. Every section
    that may have another kind, and every field with named values, gets each of the others.

    Parameters:
        scenario: The scenario to change, or a path, a text or a dictionary, as `load` accepts.
        by: Factor of each change, above 1.
        only: Patterns of fields to change, such as `servers.*`. By default all fields except the
            number of clients and processes, the workload and `run`.
        kinds: Whether to try other kinds and levels.
        quantities: Whether to try other amounts.
        cost: Most expensive group of changes: `setting`, `configuration`, `hardware` or `system`.
        pairs: How many of the best single changes to combine in pairs.
        processes: Number of parallel runs; by default one for each core.
        on: Engine that runs the changes, as in `sweep`.
        progress: Whether to show a progress bar; by default on a terminal and in Jupyter. A
            function is called with the completed runs, the known runs, and a title.
        trust: As in `run`.

    Returns:
        The study. Its `frame` has one row for each change, largest gain first.
        `kind` is `quantity`, `level` or `pair`; `group` tells the cost of the change.
        `throughput_gain` is the ratio of bytes (without any, of operations) a second over the whole
        run. `latency_p95_gain` is the ratio by which the 95th percentile of latency over all
        requests is shorter. With `run.replications`
        above 1, equal seeds are compared: gains are means, and `…_half_width` is half the width of
        their 95 % confidence intervals. `effect` is `none` if no gain differs from 1 by more than 1
        % and by more than its interval. It is `failed` if the run failed; `error` then gives the
        reason. `sets` has the values for `--set`. Units are in the column names.

    Raises:
        ValueError: for a factor that is not above 1, or a pattern that matches no field; otherwise
            as `run`.

    Examples:
        >>> gains = hr.whatif("scenarios/striped-read.toml", only=["servers.count"])
        >>> gains.frame["after"].to_list()
        ['8']
    """
    scenario = load(scenario)
    _check(by, kinds, quantities, cost, pairs)
    others, left_out = alternatives(scenario, _chooser(only)) if kinds else ([], [])
    every = scenario.quantities
    _check_patterns(only, every, [*(other.path for other in others), *(it.path for it in left_out)])
    others = [other for other in others if is_at_most(other.group, cost)]
    left_out = [kind for kind in left_out if is_at_most(kind.group, cost)]
    chosen = [
        quantity
        for quantity in (_chosen(every, only) if quantities else [])
        if is_at_most(group_of(quantity.path), cost)
    ]
    started = time.monotonic()
    trusted = trust_of(trust)
    check_trust([scenario], trusted)
    check_engine(on)
    where = f"threads:{processes}" if processes and on == "threads" else on
    with ParallelRuns("what if: as it is", processes, progress, trusted) as runs:
        results = runs.results(_replications(scenario))
        baseline = _figures(results, scenario)
        spent = statistics.mean(result.document["wall_seconds"] for result in results)
        trials = _Trials(scenario, baseline, spent, runs, where, trusted)
        done: list[_Trial] = []
        tried = [each for each in chosen if each.amount != 0]
        for direction in (1, -1):
            changes = [new for each in tried if (new := _change(scenario, each, by, direction))]
            # Kinds and levels have no opposite.
            levels = [_level(other) for other in others] if direction == 1 else []
            found = trials.run([*(change for change in changes if not change.failed), *levels])
            found += [change for change in changes if change.failed]
            known = {trial.row.path for trial in done if trial.failed}
            done += [trial for trial in found if trial.row.path not in known or not trial.failed]
            other_way = {trial.row.path for trial in found if _is_worse(trial.row)}
            tried = [each for each in tried if each.path in other_way]
        if pairs:
            done += trials.run(_pairs(done, pairs))
    return WhatIf(
        _ranked([trial.row for trial in done]),
        [each.path for each in chosen if each.amount == 0],
        results[0],
        by,
        len(results),
        len(results) + trials.count,
        time.monotonic() - started,
        left_out,
    )


def _check(by: float, kinds: bool, quantities: bool, cost: str, pairs: int) -> None:
    if not 1 < by <= LARGEST_FACTOR:
        expected = f"a number above 1, up to {LARGEST_FACTOR:,.0f}, such as 2"
        raise ValueError(f"a factor of {by:g}: expected {expected}")
    if not (kinds or quantities):
        raise ValueError("neither kinds nor quantities: expected one of them, or both")
    group(cost)
    if not (pairs == 0 or 2 <= pairs <= MOST_PAIRED):
        raise ValueError(f"pairs of {pairs} changes: expected 2 to {MOST_PAIRED}, or 0 for none")


def _fits(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _chooser(only: Sequence[str]) -> Callable[[str], bool] | None:
    """Return whether a path is meant, as a function; None for the default."""
    return (lambda path: _fits(path, only)) if only else None


def _check_patterns(
    only: Sequence[str], every: Sequence[Quantified], others: Sequence[str]
) -> None:
    """Raise ValueError for a pattern that means no field."""
    paths = [*(each.path for each in every), *others, *(f"{each}.kind" for each in others)]
    for pattern in only:
        if not any(fnmatchcase(path, pattern) for path in paths):
            sections = dict.fromkeys(f"{each.path.split('.')[0]}.*" for each in every)
            raise ValueError(
                f"no quantity of the scenario fits {pattern!r}, and no kind or level: expected a "
                f"path, or a pattern such as {' or '.join(sections)}"
            )


def _chosen(every: list[Quantified], only: Sequence[str]) -> list[Quantified]:
    if only:
        return [each for each in every if _fits(each.path, only)]
    return [each for each in every if not _fits(each.path, LOAD) or _fits(each.path, HOW_IT_ASKS)]


def _replications(scenario: Scenario) -> list[Scenario]:
    """Return the replications as scenarios, so that equal seeds are compared."""
    loaded = scenario.loaded
    seeds = (replication_seed(loaded.seed, number) for number in range(loaded.replications))
    return [scenario.with_({"run.seed": seed, "run.replications": 1}) for seed in seeds]


def _change(scenario: Scenario, before: Quantified, by: float, direction: int) -> _Trial | None:
    """Return the change of one field, which has failed if there is no such scenario; None if the
    field stays the same."""
    factor = by ** (direction * POWERS.get(before.quantity, 1))
    amount = before.amount * factor
    if before.quantity in ("bytes", "count"):
        amount = max(round(amount), 1)
    if amount == before.amount:
        return None
    value = before.value(amount)
    sets = {before.path: value}
    trial = _trial("quantity", before.path, group_of(before.path), before.text, str(value), sets)
    trial = trial.with_(quantity=before.quantity, factor=factor)
    try:
        changed = scenario.with_(sets)
    except ScenarioError as error:
        return trial.with_(effect="failed", error=error.message)
    after = next((one for one in changed.quantities if one.path == before.path), None)
    if after is None:
        return None
    return trial.with_(after=after.text, factor=after.amount / before.amount)


def _level(one: Alternative) -> _Trial:
    trial = _trial("level", one.path, one.group, one.before, one.after, one.sets)
    return trial.with_(what=one.what, caution=one.caution or None)


def _trial(
    kind: Kind, path: str, group: Group, before: str, after: str, sets: Mapping[str, Any]
) -> _Trial:
    row = Change(path=path, kind=kind, group=group, before=before, after=after, sets=as_sets(sets))
    return _Trial(row, sets)


def _pairs(trials: Sequence[_Trial], count: int) -> list[_Trial]:
    """Return every two of the best changes that do not concern the same field."""
    best: dict[str, _Trial] = {}
    for trial in sorted(trials, key=lambda entry: _rank(entry.row)):
        if trial.row.effect == "helps":
            best.setdefault(trial.row.path, trial)
    chosen = list(best.values())[:count]
    pairs = []
    for number, one in enumerate(chosen):
        for other in chosen[number + 1 :]:
            if _overlap(one.sets, other.sets):
                continue
            # The more expensive first: a system's preset must not undo what was set over it.
            first, second = sorted((one, other), key=lambda row: -GROUPS.index(row.row.group))
            pair = _trial(
                "pair",
                f"{first.row.path} + {second.row.path}",
                first.row.group,
                f"{first.row.before or '-'} + {second.row.before or '-'}",
                f"{first.row.after} + {second.row.after}",
                {**first.sets, **second.sets},
            )
            cautions = dict.fromkeys(
                row.row.caution for row in (first, second) if row.row.caution is not None
            )
            pairs.append(pair.with_(caution="; ".join(cautions) or None))
    return pairs


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two changes concern the same field, or a field and its section."""
    return any(
        f"{a}.".startswith(f"{_section(b)}.") or f"{b}.".startswith(f"{_section(a)}.")
        for a in one
        for b in other
    )


def _section(path: str) -> str:
    """A kind stands for its whole section."""
    return path.removesuffix(".kind")


def _figures(results: Sequence[Result], scenario: Scenario) -> list[Figures]:
    warm_up_s = warm_up(scenario.loaded)
    return [figures(msgspec.convert(result.document, Report), warm_up_s) for result in results]


def _rate(figures: Figures, moves_bytes: bool) -> float:
    return figures.throughput if moves_bytes else figures.operations


def _p95(figures: Figures) -> float:
    """Return the 95th percentile of latency in seconds; 0 without any operation."""
    return figures.latency.p95 or 0.0


@dataclass
class _Trials:
    """Runs of changes, compared with the scenario as it is."""

    scenario: Scenario
    baseline: Sequence[Figures]
    run_s: float
    """Duration of a run."""
    runs: ParallelRuns
    on: str
    trust: Trust
    count: int = 0
    """Runs so far."""

    def run(self, changes: Sequence[_Trial]) -> list[_Trial]:
        """Run every change with every seed, and return them with their gains."""
        if not changes:
            return []
        number = len(changes) * len(self.baseline)
        about = duration(number * self.run_s / min(self.runs.processes, number))
        self.runs.title(f"what if: {number} runs, about {about}")
        before = self.count
        results = run_points(
            self.scenario,
            [dict(change.sets) for change in changes],
            replications=len(self.baseline),
            on=self.on,
            progress=lambda done, known: self.runs.more(before + done, before + known),
            trust=self.trust,
        )
        self.count += number
        by_point: dict[int, list[Any]] = {}
        for run in results.runs:
            by_point.setdefault(run.point, []).append(run)
        return [self._measured(change, by_point[at]) for at, change in enumerate(changes)]

    def _measured(self, change: _Trial, runs: Sequence[Any]) -> _Trial:
        if error := next((run.error for run in runs if run.error), ""):
            return change.with_(effect="failed", error=error)
        takes_time = any(each.operations > 0 for each in self.baseline)
        if takes_time and all(run.figures.simulated_seconds == 0 for run in runs):
            # Its throughput is unlimited: nothing that it still uses has a cost in the scenario.
            return change.with_(effect="helps")
        figures: list[Figures] = [run.figures for run in runs]
        moves_bytes = any(each.throughput > 0 for each in self.baseline)
        pairs = list(zip(self.baseline, figures, strict=True))
        throughput = _mean(
            [_ratio(_rate(new, moves_bytes), _rate(old, moves_bytes)) for old, new in pairs]
        )
        latency = _mean([_ratio(_p95(old), _p95(new)) for old, new in pairs])
        differs = [
            gain
            for gain, width in (throughput, latency)
            if gain is not None and abs(gain - 1) > max(EFFECT, width or 0.0)
        ]
        return change.with_(
            effect="none" if not differs else "helps" if max(differs) > 1 else "harms",
            throughput_gain=throughput[0],
            throughput_gain_half_width=throughput[1],
            latency_p95_gain=latency[0],
            latency_p95_gain_half_width=latency[1],
            throughput_bytes_per_s=statistics.mean(each.throughput for each in figures)
            if moves_bytes
            else None,
            operations_per_s=statistics.mean(each.operations for each in figures),
            latency_p95_s=statistics.mean(map(_p95, figures)),
        )


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
    return statistics.mean(known), half_width(known)


def _is_worse(row: Change) -> bool:
    """Return whether the opposite change may be better."""
    if row.effect == "failed":
        return True
    gains = (row.throughput_gain, row.latency_p95_gain)
    return any(gain is not None and gain < 1 - EFFECT for gain in gains)


def _rank(row: Change) -> tuple[float, float, int, str]:
    """Throughput gain first; of equal ones the latency's, then the cheaper."""
    throughput = row.throughput_gain or 0.0
    latency = row.latency_p95_gain or 0.0
    return -round(throughput / EFFECT), -latency, GROUPS.index(row.group), row.path


def _ranked(rows: Sequence[Change]) -> pl.DataFrame:
    """Sort the changes by throughput gain, largest first; equal gains are sorted by latency."""
    return pl.DataFrame(
        [msgspec.to_builtins(row) for row in sorted(rows, key=_rank)], schema=SCHEMA
    )
