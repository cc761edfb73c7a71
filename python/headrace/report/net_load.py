"""Utilisation of a net's stations in a run, for the net diagram."""

from collections.abc import Iterable, Mapping
from typing import Any

from headrace.report.net_symbols import Load


def load_of(structure: Mapping[str, Any], stations: Iterable[Mapping[str, Any]]) -> dict[int, Load]:
    """The load of each station, by the number of its node."""
    loads = {
        station["station"]: Load(utilisation=station["utilisation"], mean_queue=station["queue"])
        for station in stations
        if station["servers"] is not None
    }
    found = {}
    pages = [structure["page"]]
    for page in pages:
        pages += page["pages"]
        for node in page["nodes"]:
            load = loads.get(f"{page['path']}/{node['name']}")
            if node["kind"] == "station" and load is not None:
                found[node["id"]] = load
    return found
