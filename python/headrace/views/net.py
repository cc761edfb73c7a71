"""Figures of a net: its places, stations, transitions, probes, monitors and stores."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace.quantities import written_time
from headrace.render.blocks import Headline, Note, Table, View
from headrace.views import monitors

if TYPE_CHECKING:
    from headrace.net import NetResult

NODES = {
    "arrivals": "arrivals",
    "inside": "at the end",
    "throughput": "per second",
    "mean_inside": "tokens",
    "mean_queue": "waiting",
    "service": "service s",
    "residence": "residence s",
    "utilisation": "utilisation",
}
TRANSITIONS = {"firings": "firings", "throughput": "per second"}
PROBES = {
    "count": "values",
    "mean": "mean",
    "deviation": "deviation",
    "least": "least",
    "most": "most",
}
MONITORS = {
    "count": "count",
    "rate": "per second",
    "mean": "mean",
    "deviation": "deviation",
    "least": "least",
    "most": "most",
}
TABLES = {
    "nodes": ("Places and stations", "place or station", NODES),
    "transitions": ("Transitions", "transition", TRANSITIONS),
    "probes": ("Probes", "probe", PROBES),
    "monitors": ("Monitors", "monitor", MONITORS),
}
"""Title, heading of the names, and figures of each table."""


def view(result: "NetResult", names: Sequence[str] | None = None) -> View:
    """Return the tables of figures and stores, how the runs ended, and named monitors over time."""
    tables = [*figure_tables(result), *_stores(result)]
    notes = [Note(line) for line in how_it_ended(result)]
    charts = () if names is None else monitors.view(result, names)
    firings = f"{result.runs[0]['firings']:,}"
    head = Headline({"firings": firings, "runs": str(len(result.runs))})
    return [head, *charts, *(block for table in tables for block in (table, Note(""))), *notes]


def figure_tables(result: "NetResult", keys: Sequence[str] = tuple(TABLES)) -> Iterator[Table]:
    """Yield the tables of `TABLES` that have rows."""
    for key in keys:
        title, name, columns = TABLES[key]
        rows = [
            [row["path"], *(shown_figure(row, figure) for figure in columns)]
            for row in result.rows(key)
        ]
        if rows:
            yield Table.of_rows(title, (name, *columns.values()), rows, is_plain=True)


def how_it_ended(result: "NetResult") -> Iterator[str]:
    """Yield how the runs ended, and what collectors left out."""
    for row in result.rows("monitors"):
        if row["left_out"]:
            yield f"{row['path']}: {row['left_out']:,} rows are beyond its limit and left out"
    first = result.runs[0]
    at = written_time(first["time"])
    end = {
        "time": f"ended at {at}",
        "quiet": f"nothing can happen after {at}",
        "deadlock": f"deadlock at {at}: tokens wait in "
        + ", ".join(f"{path} ({tokens})" for path, tokens in first["standing"]),
        "breakpoint": f"ended at {at} by the monitor {first.get('stopped_by')}",
    }[result.stop]
    stops = Counter(run["stop"] for run in result.runs)
    if len(stops) > 1:
        others = ", ".join(f"{number} by {stop}" for stop, number in stops.most_common())
        yield f"ends of the runs: {others}; of the first:"
    unmeasured = sum(run["measured"] == 0 for run in result.runs)
    runs = len(result.runs)
    which = "the first run " if runs > 1 and len(stops) == 1 else ""
    yield f"{which}{end}; {first['firings']:,} firings" + (
        f"; means of {runs} runs" if runs > 1 else ""
    )
    if unmeasured:
        part = f" in {unmeasured} of {runs} runs" if runs > 1 else ""
        yield f"nothing was measured{part}: the run ended in its warm-up"


def _stores(result: "NetResult") -> Iterator[Table]:
    """Yield the table of the fields of stores at the end of a run, if there are any."""
    stores = result.runs[0]["stores"]
    copies = Counter(store["path"] for store in stores)
    rows = [
        (path if copies[path] == 1 else f"{path} [{store['copy']}]", field, value)
        for store in stores
        for path in [store["path"]]
        for field, value in store["fields"].items()
    ]
    end = "at the end" if len(result.runs) == 1 else "at the end of the first run"
    if stores:
        yield Table.of_rows("Stores", ("store", "field", end), rows, 3, is_plain=True)


def shown_figure(row: Mapping[str, Any], figure: str) -> str:
    """Return a figure of a row, with its half width if it has one."""
    value = row[figure]
    if value is None:
        return "—"
    half_width = row.get(f"{figure}_half_width")
    return f"{value:,.5g}" + (f" ± {half_width:.2g}" if half_width else "")
