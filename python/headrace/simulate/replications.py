"""Replications: runs of one scenario with different seeds, and their merged result."""

from collections.abc import Sequence
from typing import Any

import msgspec

from headrace.intervals import half_widths, means
from headrace.simulate.outcome import Document, MergedTables, Outcome
from headrace.training import Training, of_interest

SUMMED = ("wall_seconds", "events")
OF_THE_TRACE = ("left_out", "replays")
"""Counts that all replications have alike."""
KEYED = {
    "stations": ("station",),
    "breakdown": ("place",),
    "servers": ("server",),
    "copies": ("station", "server", "copy"),
    "caches": ("cache",),
    "trainings": ("workload",),
    "phases": ("workload", "phase", "operation"),
}
"""Tables, and the columns that name their rows."""


def merge_replications(outcomes: Sequence[Outcome], toml: str) -> Outcome:
    """Several replications as one outcome.

    Figures are means over the replications, except that `wall_seconds` and `events` are sums
    and a `max` is the largest. Two keys are added: `replications`, the figures of each, and
    `intervals`, half the widths of the 95 % confidence intervals of the means.
    """
    documents = [outcome.document for outcome in outcomes]
    first = documents[0]
    document = means([_averaged(document) for document in documents])
    document["scenario"] = first["scenario"] | {"toml": toml}
    document["seed"] = first["seed"]
    document["kind"], document["version"] = first["kind"], first["version"]
    for key in SUMMED:
        document[key] = sum(other[key] for other in documents)
    for key, names in KEYED.items():
        if key in first:
            document[key] = _rows([other.get(key, []) for other in documents], names)
    document["breakdown"].sort(key=lambda entry: -entry["share"])
    document["stop"] = _stop([other["stop"] for other in documents])
    document["bottleneck"] = _bottleneck(documents)
    for key in OF_THE_TRACE:
        if key in first:
            document[key] = first[key]
    if warnings := _warnings(documents):
        document["warnings"] = warnings
    document["replications"] = [_one(other) for other in documents]
    document["intervals"] = intervals(documents)
    return Outcome(
        {key: document[key] for key in _order(first, document)},
        MergedTables([outcome.tables for outcome in outcomes]),
    )


def _order(first: Document, document: Document) -> list[str]:
    """Return the keys of the merged document: those of the first, and what others added."""
    return list(dict.fromkeys([*(key for key in first if key in document), *document]))


def _averaged(document: Document) -> Document:
    own = ("kind", "scenario", "seed", "version", "stop", "bottleneck", "warnings")
    keys = (*own, *OF_THE_TRACE, *SUMMED, *KEYED)
    return {key: value for key, value in document.items() if key not in keys}


def _rows(tables: Sequence[list[Document]], names: tuple[str, ...]) -> list[Document]:
    """The mean of each row; a row that a replication lacks counts as zeros there."""
    by_name: dict[tuple[Any, ...], list[Document]] = {}
    for table in tables:
        for row in table:
            by_name.setdefault(tuple(row[name] for name in names), []).append(row)
    rows = []
    for group in by_name.values():
        row = means(group)
        if names == KEYED["breakdown"]:
            part = len(group) / len(tables)
            row |= {key: value * part for key, value in row.items() if key not in names}
        rows.append(row)
    return rows


def _bottleneck(documents: Sequence[Document]) -> Document:
    """Return the bottleneck that most replications name, from the first of them."""
    named = [document["bottleneck"]["station"] for document in documents]
    most = max(named, key=named.count)
    document = documents[named.index(most)]
    bottleneck: Document = dict(document["bottleneck"])
    bottleneck["sentence"] += (
        f" (Seed {document['seed']}; {named.count(most)} of {len(named)} replications name it.)"
    )
    return bottleneck


def _warnings(documents: Sequence[Document]) -> list[Document]:
    """Return the warnings of all replications: of those about one subject, the first."""
    every = [warning for document in documents for warning in document.get("warnings", [])]
    subjects = {(one["condition"], one["message"].split(":")[0]): one for one in reversed(every)}
    return list(reversed(subjects.values()))


def _stop(stops: Sequence[Document]) -> Document:
    """Return the reason of the end if all replications share it, and the worst of the
    precisions."""
    reasons = {stop["reason"] for stop in stops}
    stop: Document = {"reason": reasons.pop() if len(reasons) == 1 else None}
    precisions = [stop["precision"] for stop in stops if "precision" in stop]
    if precisions:
        got = [precision["got"] for precision in precisions]
        stop["precision"] = precisions[0] | {
            "got": None if None in got else max(got),
            "reached": all(precision["reached"] for precision in precisions),
        }
        drifts = [precision["drifts"] for precision in precisions if "drifts" in precision]
        if drifts:
            stop["precision"]["drifts"] = drifts[0]
    return stop


def _one(document: Document) -> Document:
    of_interest = _of_interest(document)
    del of_interest["groups"]
    return {
        "seed": document["seed"],
        "simulated_seconds": document["simulated_seconds"],
        "stop": document["stop"],
        **of_interest,
        "mean_latency": document["latency"].get("all", {}).get("mean"),
    }


def intervals(documents: Sequence[Document]) -> Document:
    """Half the widths of the confidence intervals, in the shape of the figures they are of."""
    return half_widths([_of_interest(document) for document in documents]) or {}


def _of_interest(document: Document) -> Document:
    """The figures that get an interval."""

    def part(record: Document) -> Document:
        return {
            "throughput": record["throughput"],
            "operations": {
                name: {"per_second": figures["per_second"]}
                for name, figures in record["operations"].items()
            },
            "latency": {
                name: {key: figures[key] for key in ("mean", "p50", "p95", "p99")}
                for name, figures in record["latency"].items()
            },
        }

    def group(record: Document) -> Document:
        share = record.get("share")
        return part(record) | ({"share": {"mean": share["mean"]}} if share else {})

    groups = {name: group(record) for name, record in document["groups"].items()}
    trainings = msgspec.convert(document.get("trainings", []), list[Training])
    return part(document) | {"groups": groups, "trainings": of_interest(trainings)}
