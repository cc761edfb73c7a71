"""Figures of nets of one's own as tables."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from headrace.net import NetResult

NODES = {
    "arrivals": "arrivals",
    "throughput": "per second",
    "mean_inside": "tokens",
    "mean_queue": "waiting",
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


def net_tables(result: "NetResult") -> "Iterator[RenderableType]":
    """Yield a table each of places and stations, transitions, and probes, and how it ended."""
    for key, title, columns in (
        ("nodes", "place or station", NODES),
        ("transitions", "transition", TRANSITIONS),
        ("probes", "probe", PROBES),
    ):
        rows = result.rows(key)
        if not rows:
            continue
        table = Table(box=None, pad_edge=False)
        table.add_column(title)
        for column in columns.values():
            table.add_column(column, justify="right")
        for row in rows:
            table.add_row(row["path"], *(_figure(row, figure) for figure in columns))
        yield table
        yield ""
    first = result.runs[0]
    end = {
        "time": f"ended at {first['time']:g} s",
        "quiet": f"nothing can happen after {first['time']:g} s",
        "deadlock": f"deadlock at {first['time']:g} s: tokens wait in "
        + ", ".join(f"{path} ({tokens})" for path, tokens in first["standing"]),
    }[result.stop]
    runs = len(result.runs)
    yield f"{end}; {first['firings']:,} firings" + (f"; means of {runs} runs" if runs > 1 else "")


def _figure(row: Mapping[str, Any], figure: str) -> str:
    value = row[figure]
    if value is None:
        return "—"
    half_width = row.get(f"{figure}_half_width")
    return f"{value:,.5g}" + (f" ± {half_width:.2g}" if half_width else "")
