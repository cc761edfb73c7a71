"""Figures of nets of one's own as tables."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

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
    """Yield a table each of places and stations, transitions, probes, stores, and the end."""
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
    if first["stores"]:
        yield _stores(first["stores"])
        yield ""
    end = {
        "time": f"ended at {first['time']:g} s",
        "quiet": f"nothing can happen after {first['time']:g} s",
        "deadlock": f"deadlock at {first['time']:g} s: tokens wait in "
        + ", ".join(f"{path} ({tokens})" for path, tokens in first["standing"]),
    }[result.stop]
    runs = len(result.runs)
    yield f"{end}; {first['firings']:,} firings" + (f"; means of {runs} runs" if runs > 1 else "")


def _stores(stores: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of the fields of stores at the end of the first run."""
    table = Table(box=None, pad_edge=False)
    for title in ("store", "field", "at the end"):
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
