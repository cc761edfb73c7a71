"""The figures of a result as rows of a table, in SI units, for programs that read CSV."""

from collections.abc import Iterator, Mapping
from typing import Any

from headrace.store.record import current_kind

Row = dict[str, Any]
Document = Mapping[str, Any]


def rows(document: Document) -> list[Row]:
    """A row for each operation, point or message, by the kind of the result."""
    return list(ROWS[current_kind(document["kind"])](document))


def _operations(document: Document) -> Iterator[Row]:
    """A row for each operation of a measurement."""
    for name, counted in document["operations"].items():
        yield {
            "operation": name,
            "count": counted["count"],
            "bytes": counted["bytes"],
            "per_second": counted["per_second"],
            "throughput_bytes_per_s": document["throughput"].get(name),
            **_times("latency", document["latency"].get(name)),
            **_times("response", document.get("latency_from_intended", {}).get(name)),
        }


def _steps(document: Document) -> Iterator[Row]:
    """Yield a row for each operation at each step of a load sweep."""
    for step in document["steps"]:
        known = {
            "step": step["name"],
            **{
                key: step.get(key)
                for key in (
                    "client_hosts",
                    "requested_per_second",
                    "achieved_per_second",
                    "operations_per_second",
                )
                if key in step
            },
        }
        if step.get("partial"):
            continue
        for row in _operations(step):
            yield known | row


def _jobs(document: Document) -> Iterator[Row]:
    """A row for the reads, the writes and the syncs of each job."""
    for job in document["jobs"]:
        known = {
            key: job[key]
            for key in (
                "name",
                "stage",
                "pattern",
                "block",
                "queue_depth",
                "processes",
                "calls",
                "direct",
                "requested_per_second",
            )
        }
        for operation, of_it in job["operations"].items():
            yield {
                **known,
                "operation": operation,
                "count": of_it["count"],
                "bytes": of_it["bytes"],
                "per_second": of_it["per_second"],
                "throughput_bytes_per_s": of_it["throughput"],
                **_times("latency", of_it["latency"]),
                **_times("response", of_it.get("latency_from_intended")),
                "in_flight_mean": job["in_flight"]["mean"],
                "cache_hit_rate": job["cache_hit_rate"],
            }


def _summary(document: Document) -> Iterator[Row]:
    """A row for each point of a study."""
    for point in document["summary"]:
        yield {key: value for key, value in point.items() if not isinstance(value, list | dict)}


def _messages(document: Document) -> Iterator[Row]:
    """A row for each size of a message."""
    for it in document["messages"]:
        yield {
            "size": it["size"],
            "count": it["count"],
            "throughput_bytes_per_s": it["throughput"],
            **_times("latency", it["latency"]),
        }


def _mixes(document: Document) -> Iterator[Row]:
    """A row for each operation of each mix that was tuned."""
    for name, mix in document["mixes"].items():
        for operation, weight in mix["weights"].items():
            yield {
                "mix": name,
                "distance": mix["measured_distance"],
                "operation": operation,
                "weight": weight,
            }


def _times(of: str, latency: Document | None) -> Row:
    return {f"{of}_{name}_s": value for name, value in (latency or {}).items() if name != "count"}


ROWS = {
    "measured": _operations,
    "load-sweep": _steps,
    "jobs": _jobs,
    "study": _summary,
    "network": _messages,
    "tuning": _mixes,
}
