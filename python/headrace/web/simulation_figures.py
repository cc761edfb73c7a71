"""Figures of a simulation's document as pages show them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from headrace.quantities import duration, megabytes, milliseconds, size, whole

Document = Mapping[str, Any]

MOST_STATIONS = 15


class StationLoad(NamedTuple):
    """How busy a station was."""

    station: str
    utilisation: float
    busiest: float
    """Utilisation of the busiest of its copies."""


def main_figures(document: Document) -> dict[str, str]:
    """Return the figures that a reader looks at first, with their units, by name."""
    latency = document["latency"].get("all", {})
    found = {}
    if both := document.get("synced_writes"):
        found["write and sync together"] = f"{megabytes(both['throughput'])} MB/s"
    for name, rate in document["throughput"].items():
        if rate:
            into = document["operations"].get(name, {}).get("into")
            label = f"{name} into {into}" if into else f"{name} throughput"
            found[label] = f"{megabytes(rate)} MB/s"
        elif document["operations"].get(name, {}).get("bytes"):
            found[f"{name} throughput"] = "no time"
    if latency.get("count"):
        found["requests"] = whole(latency["count"])
    for key, name in (
        ("mean", "mean latency"),
        ("p50", "median latency"),
        ("p95", "p95 latency"),
        ("p99", "p99 latency"),
        ("max", "highest latency"),
    ):
        if latency.get(key) is not None:
            found[name] = f"{milliseconds(latency[key])} ms"
    if unwritten := document.get("unwritten"):
        found["not written at the end"] = size(sum(unwritten.values()))
    found["simulated time"] = duration(document["simulated_seconds"])
    return found


def busiest_stations(document: Document) -> list[StationLoad]:
    """Return the stations with a limited number of servers, the busiest first."""
    found = [
        StationLoad(it["station"], it["utilisation"], it["most_utilisation"])
        for it in document["stations"]
        if it["servers"] is not None and (it["visits"] or it.get("unfinished"))
    ]
    return sorted(found, key=lambda it: -it.utilisation)[:MOST_STATIONS]
