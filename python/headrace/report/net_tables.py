"""Figures of nets of one's own as tables."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from headrace.quantities import written_time

if TYPE_CHECKING:
    from rich.console import RenderableType

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


def net_tables(result: "NetResult") -> "Iterator[RenderableType]":
    """Yield tables of places and stations, transitions, probes, monitors and stores, and how it
    ended."""
    for key, title, columns in (
        ("nodes", "place or station", NODES),
        ("transitions", "transition", TRANSITIONS),
        ("probes", "probe", PROBES),
    ):
        table = _table(result, key, title, columns)
        if table is not None:
            yield table
            yield ""
    monitors = monitor_table(result)
    if monitors is not None:
        yield monitors
        yield ""
    if result.runs[0]["stores"]:
        end = "at the end" if len(result.runs) == 1 else "at the end of the first run"
        yield _stores(result.runs[0]["stores"], end)
        yield ""
    yield from how_it_ended(result)


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
        of = f" in {unmeasured} of {runs} runs" if runs > 1 else ""
        yield f"nothing was measured{of}: the run ended in its warm-up"


def monitor_table(result: "NetResult") -> Table | None:
    """Return the table of monitors; None without any."""
    return _table(result, "monitors", "monitor", MONITORS)


def _table(result: "NetResult", key: str, title: str, columns: Mapping[str, str]) -> Table | None:
    rows = result.rows(key)
    if not rows:
        return None
    table = Table(box=None, pad_edge=False)
    table.add_column(title)
    for column in columns.values():
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*cells(row, columns))
    return table


def cells(row: Mapping[str, Any], columns: Mapping[str, str]) -> list[str]:
    """Return a row of figures as texts, its name first."""
    return [row["path"], *(_figure(row, figure) for figure in columns)]


def _stores(stores: Sequence[Mapping[str, Any]], end: str) -> Table:
    """Return a table of the fields of stores at the end of a run."""
    table = Table(box=None, pad_edge=False)
    for title in ("store", "field", end):
        table.add_column(title, overflow="fold")
    copies = Counter(store["path"] for store in stores)
    for store in stores:
        path = store["path"]
        name = path if copies[path] == 1 else f"{path} [{store['copy']}]"
        for field, value in store["fields"].items():
            table.add_row(Text(name), field, Text(value))
    return table


def _figure(row: Mapping[str, Any], figure: str) -> str:
    value = row[figure]
    if value is None:
        return "—"
    half_width = row.get(f"{figure}_half_width")
    return f"{value:,.5g}" + (f" ± {half_width:.2g}" if half_width else "")
