"""Dirty bytes, hit ratios and queue lengths over time, from the frames of a run.

Frames are evenly spaced. Dirty bytes are those at the end of an interval. Hit ratios and queues
are those of the interval since the sample before; the first interval includes its start.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.interruption import import_numpy
from headrace.simulate.outcome import Document

import_numpy()

SAMPLES = 100
"""Samples of a run; up to twice as many are taken."""


def over_time(columns: Mapping[str, Any]) -> Document:
    """Return the part `over_time` of a result's document.

    Parameters:
        columns: The extension module's frames, which count from the start of the run.

    Returns:
        `time_s`, the ends of the intervals; `caches` and `stations`, lists of values by path and
        figure. A value is None where it does not exist.
    """
    time = columns["time_s"]
    kept = np.append(True, np.diff(time) > 0)
    # The end of the run may follow the last regular frame closely.
    if len(time) > 2 and time[-1] - time[-2] < 0.5 * (time[1] - time[0]):
        kept[-2] = False
    return {
        "time_s": time[kept][1:].tolist(),
        "caches": _caches(columns, len(time), kept),
        "stations": _stations(columns, len(time), np.diff(time[kept]), kept),
    }


def _caches(columns: Mapping[str, Any], frames: int, kept: NDArray[np.bool_]) -> Document:
    names: list[tuple[str, str]] = columns["gauge_names"]
    values = columns["gauges"].reshape(frames, -1)[kept]
    # The first sample follows what happens at the start: that is a part of the first interval.
    values[0] = 0
    gauges = {tuple(name): values[:, at] for at, name in enumerate(names)}
    caches: Document = {}
    for path in dict.fromkeys(path for path, _ in names):
        figures: Document = {}
        if (dirty := gauges.get((path, "dirty bytes"))) is not None:
            figures["dirty_bytes"] = dirty[1:].tolist()
        if (path, "hits") in gauges:
            counts = ("hits", "read ahead", "misses")
            hits, ahead, misses = (np.diff(gauges[path, count]) for count in counts)
            asked = hits + ahead + misses
            figures["hit_ratio"] = [
                float(hit) / float(both) if both else None
                for hit, both in zip(hits, asked, strict=True)
            ]
        if figures:
            caches[path] = figures
    return caches


def _stations(
    columns: Mapping[str, Any], frames: int, spans: NDArray[np.float64], kept: NDArray[np.bool_]
) -> Document:
    waited, arrivals, most = (
        columns[name].reshape(frames, -1)[kept] for name in ("waited_s", "arrivals", "most_queue")
    )
    stations: Document = {}
    for path, node in _nodes(json.loads(columns["structure"])["page"]):
        at = node["id"]
        # Without a number of servers nobody waits for one.
        if node["servers"] is None or not arrivals[-1, at]:
            continue
        queue = np.diff(waited[:, at]) / spans / node["copies"]
        stations[path] = {"queue": queue.tolist(), "most_queue": most[1:, at].tolist()}
    return stations


def _nodes(page: Document) -> Iterator[tuple[str, Document]]:
    for node in page["nodes"]:
        yield f"{page['path']}/{node['name']}", node
    for inner in page["pages"]:
        yield from _nodes(inner)
