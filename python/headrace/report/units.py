"""Formats of figures: a few digits, in fitting units."""

from collections.abc import Sequence
from typing import NamedTuple

from headrace._core import parse_bytes, parse_seconds

LARGEST = 1e15
"""Figures from here on are shown with an exponent."""


class ShownFigure(NamedTuple):
    """How a figure of a run is shown."""

    words: str
    factor: float
    """Factor from the unit of results to the one that is shown."""
    unit: str

    @property
    def label(self) -> str:
        """The words with the unit, unless they have it themselves."""
        return self.words if self.unit == "1/s" else f"{self.words} ({self.unit})"


SHOWN_FIGURES = {
    "throughput": ShownFigure("throughput", 1e-6, "MB/s"),
    "synced_writes": ShownFigure("write and sync together", 1e-6, "MB/s"),
    "operations": ShownFigure("operations/s", 1.0, "1/s"),
    "latency": ShownFigure("mean latency", 1e3, "ms"),
    "latency_p50": ShownFigure("median latency", 1e3, "ms"),
    "latency_p95": ShownFigure("p95 latency", 1e3, "ms"),
    "latency_p99": ShownFigure("p99 latency", 1e3, "ms"),
    "latency_max": ShownFigure("highest latency", 1e3, "ms"),
    "simulated_seconds": ShownFigure("simulated time", 1.0, "s"),
}
"""Figures of a run by name."""


def figure(value: float | None) -> str:
    """Three digits or more, without an exponent where that is short."""
    if value is None:
        return "\N{EN DASH}"
    size = abs(value)
    if size == 0:
        return "0"
    if size < 0.0005 or size >= LARGEST:
        return f"{value:.1e}"
    decimals = 3 if size < 1 else 2 if size < 100 else 1 if size < 1000 else 0
    return f"{value:,.{decimals}f}"


def milliseconds(seconds: float | None) -> str:
    """A time in ms, without the unit."""
    return figure(None if seconds is None else 1e3 * seconds)


def megabytes(amount: float | None) -> str:
    """Bytes in MB, or bytes per second in MB/s, without the unit."""
    return figure(None if amount is None else 1e-6 * amount)


def percent(share: float | None) -> str:
    """A share in %, without the unit."""
    return "\N{EN DASH}" if share is None else f"{100 * share:.1f}"


def numbered(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number of things, such as "1 file" or "2,000 files"."""
    return f"{whole(count)} {noun if count == 1 else plural or f'{noun}s'}"


def whole(count: float | None) -> str:
    """A count; means of counts may have decimals."""
    if count is None:
        return "\N{EN DASH}"
    return f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"


def size(amount: float) -> str:
    """Bytes with their unit."""
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if abs(amount) >= factor:
            return f"{figure(amount / factor)} {unit}"
    return f"{whole(amount)} B"


def binary_size(amount: int) -> str:
    """Format bytes as scenarios have them: a whole number of the largest binary unit that divides
    them."""
    for unit, one in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if amount >= one and amount % one == 0:
            return f"{amount // one} {unit}"
    return f"{amount} B"


MOST_BINARY = 10**6
"""Number of a unit above which a larger unit gives a shorter size."""


def short_size(amount: int) -> str:
    """Format bytes as scenarios have them, or rounded where that would be long."""
    text = binary_size(amount)
    return text if int(text.split()[0]) < MOST_BINARY else size(amount)


def duration(seconds: float) -> str:
    """A time with its unit."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(seconds) >= factor:
            return f"{figure(seconds / factor)} {unit}"
    return f"{figure(seconds)} s"


def amounts(values: Sequence[object]) -> tuple[list[float], str] | None:
    """Return values of a scenario's field as numbers with their common unit.

    Args:
        values: Numbers, or texts such as `64 KiB`, `0.2 ms` and `1 Gbit/s`.

    Returns:
        The numbers and their unit, which is empty for plain numbers; None for other values.
    """
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(str(value)) for value in values], ""
    for unit, parse in (("B", parse_bytes), ("s", parse_seconds), ("B/s", _rate)):
        try:
            return [float(parse(str(value))) for value in values], unit
        except ValueError:
            continue
    return None


def _rate(text: str) -> float:
    amount, slash, time = text.rpartition("/")
    if not slash or time.strip() != "s":
        raise ValueError(f"{text}: expected a rate such as 1 Gbit/s")
    if amount.endswith("bit"):
        return parse_bytes(amount.removesuffix("bit") + "B") / 8
    return parse_bytes(amount)
