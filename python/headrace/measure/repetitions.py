"""A scenario measured several times over, each time with files of its own."""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

import polars as pl

from headrace import _core
from headrace.histograms import latencies
from headrace.interruption import STOP_EXCEPTIONS
from headrace.intervals import FEWEST, half_widths, means
from headrace.measure.benchmark import Progress, ended_early, measure
from headrace.measure.cache import cache_of_all
from headrace.measure.measurement import Measurement
from headrace.measure.removal import with_note

PERCENTILES = ("mean", "p50", "p95", "p99")
COUNTED = ("count", "bytes", "active_seconds", "prepare_seconds")
SUMMED = ("measured_seconds", "prepare_seconds")
MEANS = ("throughput", "counters", "load")
TIMES = {"latency": "service", "latency_from_intended": "response"}


def repeat(
    loaded: _core.Loaded,
    below: str | PathLike[str],
    repeats: int | None = None,
    *,
    calls: str = "posix",
    keep: bool = False,
    progress: Progress | None = None,
) -> Measurement:
    """Measure a scenario several times, as `measure` does, and merge the measurements.

    Without `repeats`, it is measured `run.replications` times, each time with another seed as in a
    simulation. With `repeats`, the seed is always the same.

    A repetition that ends early ends the measurement; it is included only if it is the first.

    Raises as `measure` does; KeyboardInterrupt on Ctrl-C while the first repetition's files are
    made.
    """
    each = [loaded] * repeats if repeats else _replications(loaded)
    repeats = len(each)
    done: list[Measurement] = []
    early: dict[str, Any] | None = None
    while len(done) < repeats and early is None:
        try:
            one = measure(each[len(done)], below, calls=calls, keep=keep, progress=progress)
        except STOP_EXCEPTIONS as error:
            if not done:
                raise
            done[-1].document["warnings"] += with_note(error)
            early = {"reason": "interrupted"}
            break
        early = ended_early(one.document)
        if early is None or not done:
            done.append(one)
        if early is None and one.stop_signal is not None and len(done) < repeats:
            early = {"reason": "interrupted"}
    if repeats == 1:
        return done[0]
    whole = merge_repetitions(done, repeats, early)
    # The seed is that of the first.
    whole.document["scenario"]["toml"], whole.document["seed"] = loaded.toml, loaded.seed
    return whole


def _replications(loaded: _core.Loaded) -> list[_core.Loaded]:
    """A scenario once for each of its replications."""
    if loaded.replications == 1:
        return [loaded]
    return [
        loaded.with_sets([f"run.seed={loaded.seed + number}", "run.replications=1"])
        for number in range(loaded.replications)
    ]


def merge_repetitions(
    measurements: Sequence[Measurement], wanted: int, early: dict[str, Any] | None = None
) -> Measurement:
    """Several measurements of one scenario as one.

    Rates are means over the repetitions, counts and times spent are sums, latencies are of all
    their operations, from the merged histograms. Added are `repetitions`, the figures of each,
    and `intervals`, half the widths of the 95 % confidence intervals of the means.
    """
    documents = [it.document for it in measurements]
    histograms = _numbered([it.histograms for it in measurements])
    document = dict(documents[-1])
    if "environment" in documents[0]:
        # With the start of the first.
        document["environment"] = documents[0]["environment"]
    document.pop("phases", None)
    document |= {key: sum(it[key] for it in documents) for key in SUMMED}
    document |= {key: means([it[key] for it in documents]) for key in MEANS if key in document}
    if any("unfinished" in it for it in documents):
        document["unfinished"] = _unfinished([it.get("unfinished") for it in documents])
    if "cache" in document:
        document["cache"] = cache_of_all([it["cache"] for it in documents])
    document["operations"] = _operations(documents)
    document["operation_groups"] = _operation_groups(documents, histograms)
    document |= {key: latencies(histograms, time) for key, time in TIMES.items() if key in document}
    if left_out := _left_out(documents):
        document["left_out"] = left_out
    if early is not None:
        document["stop"] = {"reason": early["reason"]}
        document |= {key: early[key] for key in ("error",) if key in early}
    warnings = {it["condition"]: it for one in documents for it in one["warnings"]}
    document["warnings"] = list(warnings.values())
    document["wanted_repeats"] = wanted
    document["repetitions"] = [_one(it) for it in documents]
    document["intervals"] = (
        half_widths([_of_interest(it) for it in documents]) if len(documents) >= FEWEST else {}
    )
    series, counters = (
        _numbered([getattr(it, name) for it in measurements]) for name in ("series", "counters")
    )
    return Measurement(document, series, counters, histograms)


def _unfinished(several: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """Requests that were due and never issued in any repetition."""
    found = [it for it in several if it and it["count"]]
    count = sum(it["count"] for it in found)
    names = dict.fromkeys(name for it in found for name in it["operations"])
    return {
        "count": count,
        "mean": sum(it["count"] * it["mean"] for it in found) / count if count else None,
        "max": max((it["max"] for it in found), default=None),
        "operations": {name: sum(it["operations"].get(name, 0) for it in found) for name in names},
    }


def _left_out(documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Count unsupported operations over all repetitions."""
    counts: dict[tuple[str, str, str], int] = {}
    for entry in (entry for it in documents for entry in it.get("left_out", ())):
        key = (entry["by"], entry["what"], entry["reason"])
        counts[key] = counts.get(key, 0) + entry["count"]
    return [
        {"by": by, "what": what, "reason": reason, "count": count}
        for (by, what, reason), count in counts.items()
    ]


def _operations(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Counts and rates by operation."""
    return {
        name: {"group": of_it[0]["group"], **_counted(of_it)}
        for name, of_it in _by_name(documents, "operations")
    }


def _operation_groups(
    documents: Sequence[dict[str, Any]], histograms: pl.DataFrame
) -> dict[str, Any]:
    """Counts, rates and latencies by group of operations."""
    times = {key: latencies(histograms, time, by="group") for key, time in TIMES.items()}
    return {
        name: {
            "operations": list(dict.fromkeys(each for it in of_it for each in it["operations"])),
            **_counted(of_it),
            "throughput": means([it["throughput"] for it in of_it]),
            **{key: of_each[name] for key, of_each in times.items() if key in of_it[0]},
        }
        for name, of_it in _by_name(documents, "operation_groups")
    }


def _by_name(
    documents: Sequence[dict[str, Any]], key: str
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each operation or group with its entries in the documents that have it."""
    for name in dict.fromkeys(name for it in documents for name in it[key]):
        yield name, [it[key][name] for it in documents if name in it[key]]


def _counted(of_it: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        **{key: sum(it[key] for it in of_it) for key in COUNTED},
        "per_second": means([it["per_second"] for it in of_it]),
    }


def _of_interest(document: dict[str, Any]) -> dict[str, Any]:
    """The figures that get an interval."""
    parts: dict[str, Any] = {
        "throughput": document["throughput"],
        "operations": {
            name: {"per_second": it["per_second"]} for name, it in document["operations"].items()
        },
        "operation_groups": {
            name: {
                "per_second": it["per_second"],
                "throughput": it["throughput"],
                **{key: _percentiles(it[key]) for key in TIMES if key in it},
            }
            for name, it in document["operation_groups"].items()
        },
    }
    if "load" in document:
        parts["load"] = document["load"]
    for key in TIMES:
        if key in document:
            parts[key] = {name: _percentiles(it) for name, it in document[key].items()}
    return parts


def _percentiles(latency: dict[str, Any]) -> dict[str, Any]:
    return {of: latency[of] for of in PERCENTILES}


def _one(document: dict[str, Any]) -> dict[str, Any]:
    """Return a repetition's figures without those that all repetitions share."""
    common = ("kind", "scenario", "seed", "version", "processes", "calls", "environment")
    return {key: value for key, value in document.items() if key not in common}


def _numbered(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tables of all repetitions, which are numbered from 1."""
    return pl.concat(
        table.with_columns(pl.lit(number, dtype=pl.UInt32).alias("repetition"))
        for number, table in enumerate(tables, 1)
    )
