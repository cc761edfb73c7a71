"""Figures of a simulation's document as pages show them."""

from collections.abc import Mapping
from typing import Any

from headrace.quantities import duration, megabytes, milliseconds, size, whole

Document = Mapping[str, Any]


def main_figures(document: Document) -> dict[str, str]:
    """Return the figures that a reader looks at first, with their units, by name."""
    latency = document["latency"].get("all", {})
    figures = {}
    if both := document.get("synced_writes"):
        figures["write and sync together"] = f"{megabytes(both['throughput'])} MB/s"
    for name, rate in document["throughput"].items():
        if rate:
            into = document["operations"].get(name, {}).get("into")
            label = f"{name} into {into}" if into else f"{name} throughput"
            figures[label] = f"{megabytes(rate)} MB/s"
        elif document["operations"].get(name, {}).get("bytes"):
            figures[f"{name} throughput"] = "no time"
    if latency.get("count"):
        figures["requests"] = whole(latency["count"])
    for key, name in (
        ("mean", "mean latency"),
        ("p50", "median latency"),
        ("p95", "p95 latency"),
        ("p99", "p99 latency"),
        ("max", "highest latency"),
    ):
        if latency.get(key) is not None:
            figures[name] = f"{milliseconds(latency[key])} ms"
    if unwritten := document.get("unwritten"):
        figures["not written at the end"] = size(sum(unwritten.values()))
    figures["simulated time"] = duration(document["simulated_seconds"])
    return figures
