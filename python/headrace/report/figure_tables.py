"""Figures of a design in tables and documents, with the arithmetic behind each."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headrace.design.figure import Figure, by_key
from headrace.plain_text import plain_line
from headrace.quantities import quantity

MOST_TERMS = 8
"""Terms of a sum that a table shows."""


class FigureRow(NamedTuple):
    """A figure as the cells of a table."""

    title: str
    value: str
    arithmetic: str
    """Formula with the inputs put in; empty if the figure is an input itself."""
    source: str


def figure_rows(figures: Iterable[Figure], currency: str = "") -> list[FigureRow]:
    """Return the cells of each figure, in the order of the figures.

    Args:
        figures: The figures.
        currency: Name of the catalogue's currency, such as "USD".
    """
    return [
        FigureRow(
            plain_line(figure.title),
            plain_line(value_text(figure, currency)),
            plain_line(arithmetic(figure)),
            plain_line(figure.source),
        )
        for figure in figures
    ]


def arithmetic(figure: Figure) -> str:
    """Return the formula of a figure with the text of each input in place of its name."""
    texts = {entry.name: entry.text for entry in figure.inputs if entry.name}
    if not texts:
        return figure.formula
    # The longest name first: "disks" is also a part of "spare disks".
    names = "|".join(re.escape(name) for name in sorted(texts, key=len, reverse=True))
    return re.sub(rf"(?<![\w-])(?:{names})(?![\w-])", lambda pair: texts[pair[0]], figure.formula)


def value_text(figure: Figure, currency: str = "") -> str:
    """Return the value of a figure with its unit, and its standard error if it has one.

    Capacities are in decimal and in binary units: "80 TB (72.8 TiB)".
    """
    text = quantity(figure.value, figure.unit, currency)
    if figure.standard_error is None:
        return text
    return f"{text} \N{PLUS-MINUS SIGN} {quantity(figure.standard_error, figure.unit, currency)}"


def figure_table(
    title: str, figures: Sequence[Figure], currency: str = "", show_arithmetic: bool = True
) -> RenderableType:
    """Return figures as a table with their arithmetic, and their notes below it.

    Args:
        title: Title of the table.
        figures: The figures, in the order of the rows.
        currency: Name of the catalogue's currency.
        show_arithmetic: Whether a column shows the formula with the inputs put in.
    """
    table = Table(
        title=Text(f"\n{title}"),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
    )
    table.add_column("figure", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    if show_arithmetic:
        table.add_column("arithmetic", overflow="fold")
    for row in figure_rows(figures, currency):
        cells = [Text(row.title), Text(row.value)]
        if show_arithmetic:
            cells.append(Text(f"= {_abridged(row.arithmetic)}" if row.arithmetic else ""))
        table.add_row(*cells)
    return Group(table, *_notes(figures))


def _abridged(arithmetic: str) -> str:
    """Return a long sum with its first and last terms only; JSON has all of them."""
    terms = arithmetic.split(" + ")
    if len(terms) <= MOST_TERMS or "(" in arithmetic:
        return arithmetic
    return " + ".join((*terms[: MOST_TERMS - 2], f"... ({len(terms)} terms)", terms[-1]))


def _notes(figures: Sequence[Figure]) -> list[Text]:
    """Return each note once, with the titles of the figures that have it."""
    titles: dict[str, list[str]] = {}
    for figure in figures:
        if figure.note:
            titles.setdefault(figure.note, []).append(figure.title)
    return [
        Text(plain_line(f"{', '.join(named)}: {note}"), style="yellow")
        for note, named in titles.items()
    ]


def figures_document(figures: Iterable[Figure]) -> dict[str, dict[str, Any]]:
    """Return figures by their keys as plain values, for JSON.

    A value that is infinite or unknown is null, as JSON has no other.
    """
    return {key: _document(value) for key, value in by_key(figures).items()}


def _document(figure: Figure) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(figure)
    del fields["key"]
    for name in ("value", "standard_error"):
        if fields[name] is not None and not math.isfinite(fields[name]):
            fields[name] = None
    return fields | {"text": value_text(figure), "arithmetic": arithmetic(figure)}
