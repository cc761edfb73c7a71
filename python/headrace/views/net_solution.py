"""Figures of the numerical solution of a net."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from headrace.quantities import written_time
from headrace.render.blocks import Headline, Note, Table, View
from headrace.views.net import shown_figure

if TYPE_CHECKING:
    from headrace.net import NetSolution

TABLES = {
    "nodes": ("place or station", ("path", "mean_inside", "utilisation")),
    "transitions": ("transition", ("path", "throughput")),
    "probabilities": ("condition", ("condition", "probability")),
}
"""Kind of the elements, and figures of each table."""
HEADINGS = {"mean_inside": "tokens", "throughput": "per second"}
"""Headings of figures that are not their names."""


def view(solution: "NetSolution") -> View:
    """Return the tables of the steady state and of each time, and the notes."""
    counts = {"markings": f"{solution.markings:,}", "with duration": f"{solution.tangible:,}"}
    return [Headline(counts), *_tables(solution), *(Note(line) for line in solution.notes)]


def _tables(solution: "NetSolution") -> Iterator[Note | Table]:
    for state in solution.states:
        time = state["time"]
        when = "in the steady state" if time is None else f"at {written_time(time)}"
        yield Note(f"{when}:")
        for key, (element, (name, *figures)) in TABLES.items():
            rows = [
                [row[name], *(shown_figure(row, figure) for figure in figures)]
                for row in state[key]
            ]
            if rows:
                headings = [element, *(HEADINGS.get(figure, figure) for figure in figures)]
                yield Table.of_rows(f"{element}s {when}", headings, rows, is_plain=True)
                yield Note("")
