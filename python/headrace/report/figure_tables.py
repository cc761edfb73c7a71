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

from headrace.design.figure import Figure, Unit, by_key
from headrace.design.quantities import DAY, HOUR, YEAR
from headrace.report.plain_text import plain, plain_line
from headrace.report.units import figure as digits

DECIMAL = ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
BINARY = (
    (1 << 60, "EiB"),
    (1 << 50, "PiB"),
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
)
TIMES = ((YEAR, "years"), (DAY, "d"), (HOUR, "h"), (60.0, "min"))
"""Units of times; a time is shown in the largest that gives at least 2."""
SHORTEST = 2.0
LEAST, MOST = 0.01, 1e9
"""Numbers outside this range are shown with an exponent."""
MOST_TERMS = 8
"""Terms of a sum that a table shows."""
NAMES: dict[str, str] = {"t (cooling)": "tons"}
"""Units that read differently in tables."""


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
            plain_line(it.title),
            plain_line(value_text(it, currency)),
            plain_line(arithmetic(it)),
            plain_line(it.source),
        )
        for it in figures
    ]


def arithmetic(figure: Figure) -> str:
    """Return the formula of a figure with the text of each input in place of its name."""
    texts = {it.name: it.text for it in figure.inputs if it.name}
    if not texts:
        return figure.formula
    # The longest name first: "disks" is also a part of "spare disks".
    names = "|".join(re.escape(name) for name in sorted(texts, key=len, reverse=True))
    return re.sub(rf"(?<![\w-])(?:{names})(?![\w-])", lambda it: texts[it[0]], figure.formula)


def value_text(figure: Figure, currency: str = "") -> str:
    """Return the value of a figure with its unit, and its standard error if it has one.

    Capacities are in decimal and in binary units: "80 TB (72.8 TiB)".
    """
    text = quantity(figure.value, figure.unit, currency)
    if figure.standard_error is None:
        return text
    return f"{text} \N{PLUS-MINUS SIGN} {quantity(figure.standard_error, figure.unit, currency)}"


def quantity(value: float, unit: Unit, currency: str = "") -> str:
    """Return a value of a figure's unit as text."""
    if unit == "1":
        return number(value)
    if unit == "B":
        decimal = scaled(value, DECIMAL)
        return f"{decimal} ({scaled(value, BINARY)})" if abs(value) >= 1 << 10 else decimal
    if unit == "B/s":
        return f"{scaled(value, DECIMAL)}/s"
    if unit == "s":
        return time(value)
    if unit == "1/s":
        return f"{number(value)}/s"
    if unit.startswith("money"):
        named = f" {currency}" if currency else ""
        return number(value) + named + unit.removeprefix("money")
    return f"{number(value)} {NAMES.get(unit, unit)}"


def size_text(amount: float) -> str:
    """Return bytes in decimal units only, as the arithmetic has them: "80 TB"."""
    return scaled(amount, DECIMAL)


def precise_size_text(amount: float) -> str:
    """Return bytes to six digits, for differences of sizes that are almost equal."""
    for factor, unit in DECIMAL:
        if amount >= factor:
            return f"{amount / factor:.6g} {unit}"
    return f"{amount:.6g} B"


def number(value: float) -> str:
    """Return a number of at least three significant digits, without needless zeros.

    A number just below 1 keeps the digits that tell it from 1, as availabilities need.
    """
    size = abs(value)
    if not math.isfinite(value):
        return "infinite" if size == math.inf else "unknown"
    if value == round(value) and size < MOST:
        return f"{value:,.0f}"
    if size < LEAST or size >= MOST:
        return f"{value:.2e}"
    if 0.99 < size < 1:
        return f"{value:.{math.ceil(-math.log10(1 - size)) + 1}f}".rstrip("0")
    decimals = 3 if size < 1 else 2 if size < 10 else 1 if size < 1000 else 0
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Return bytes in the largest of the units that gives at least 1."""
    for factor, unit in units:
        # Numbers that round to 1 of the next unit are shown in it.
        if abs(value) >= factor * (1 - 1e-9):
            return f"{number(round(value / factor, 9))} {unit}"
    return f"{number(value)} B"


def time(seconds: float) -> str:
    """Return a time in the largest unit that gives at least 2; a year has 8760 hours."""
    if not math.isfinite(seconds):
        return number(seconds)
    for factor, unit in TIMES:
        if abs(seconds) >= SHORTEST * factor:
            return f"{number(seconds / factor)} {unit}"
    if abs(seconds) >= 1 or seconds == 0:
        return f"{number(seconds)} s"
    return f"{digits(1e3 * seconds)} ms"


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


def assumptions(lines: Iterable[str]) -> list[Text]:
    """Return a heading and the assumptions of a result, one a line."""
    return [Text("\nAssumptions", style="bold"), *(Text(f"  {plain(it)}") for it in lines)]


def _abridged(arithmetic: str) -> str:
    """Return a long sum with its first and last terms only; JSON has all of them."""
    terms = arithmetic.split(" + ")
    if len(terms) <= MOST_TERMS or "(" in arithmetic:
        return arithmetic
    return " + ".join((*terms[: MOST_TERMS - 2], f"... ({len(terms)} terms)", terms[-1]))


def _notes(figures: Sequence[Figure]) -> list[Text]:
    """Return each note once, with the titles of the figures that have it."""
    titles: dict[str, list[str]] = {}
    for it in figures:
        if it.note:
            titles.setdefault(it.note, []).append(it.title)
    return [
        Text(plain_line(f"{', '.join(named)}: {note}"), style="yellow")
        for note, named in titles.items()
    ]


def figures_document(figures: Iterable[Figure]) -> dict[str, dict[str, Any]]:
    """Return figures by their keys as plain values, for JSON.

    A value that is infinite or unknown is null, as JSON has no other.
    """
    return {key: _document(it) for key, it in by_key(figures).items()}


def _document(figure: Figure) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(figure)
    del fields["key"]
    for name in ("value", "standard_error"):
        if fields[name] is not None and not math.isfinite(fields[name]):
            fields[name] = None
    return fields | {"text": value_text(figure), "arithmetic": arithmetic(figure)}
