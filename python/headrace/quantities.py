"""Quantities as people read and write them: numbers with their units.

One grammar reads them, that of scenarios: `2 w`, `12 hours`, `0.2 ms`, `1,000,000 h`, `64 KiB`.
Numbers are written with three significant digits or more. A year has 8760 h, as data sheets count
it.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from headrace._core import parse_bytes, parse_rate, parse_seconds, parse_span

MINUTE = 60.0
HOUR = 3600.0
DAY = 24 * HOUR
WEEK = 7 * DAY
YEAR = 365 * DAY
HOURS_A_YEAR = YEAR / HOUR
HOURS_A_MONTH = HOURS_A_YEAR / 12

LONGEST = 1e9 * YEAR
"""Seconds of the longest time: products of several such times stay finite."""
SHORTEST = 1e-3
MOST_POWER_ON_HOURS = 400_000
"""Power-on hours above which a counter is in another unit or damaged: 45 years."""

LEAST, LARGEST = 0.0005, 1e15
"""Numbers outside this range are written with an exponent."""
MOST_YEARS = 1e6
"""Times of more years are written with three digits."""
NOT_KNOWN = "\N{EN DASH}"

DECIMAL = ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
BINARY = (
    (1 << 60, "EiB"),
    (1 << 50, "PiB"),
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
)
MULTIPLES = ((YEAR, "years"), (DAY, "d"), (HOUR, "h"), (MINUTE, "min"))
"""Multiples of a second; a time is written in the largest that gives at least `FEWEST`."""
FEWEST = 2.0
PARTS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
"""Parts of a second; a time is written in the largest that gives at least 1."""
ROUNDED = 6
"""Significant digits of measured amounts in documents."""
ROUNDS_TO_1 = 0.99995
"""Amounts from this part of a unit on are written in it: 999.95 of the smaller one are 1,000."""
MOST_BINARY = 10**6
"""Number of a unit above which a larger unit gives a shorter size."""


class ShownFigure(NamedTuple):
    """How a figure of a run is shown."""

    words: str
    factor: float
    """Factor from the unit of results to the one that is shown."""
    unit: str

    @property
    def label(self) -> str:
        """The words with the unit, unless they have it themselves."""
        return self.words if self.unit in ("1/s", "") else f"{self.words} ({self.unit})"


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
    "accelerators": ShownFigure("accelerators", 1.0, ""),
    "au": ShownFigure("accelerator utilisation", 100.0, "%"),
    "samples": ShownFigure("samples/s", 1.0, "1/s"),
    "score": ShownFigure("IO500 score", 1.0, ""),
}
"""Figures of a run by name."""


def parse_time(text: str, *, zero: bool = False) -> float:
    """Return the seconds of a time such as "1,000,000 h", "14 d" or "5 y".

    Args:
        text: A number and a unit: s, ms, us, ns, min, h, d, w, month or y.
        zero: Accept 0.

    Raises:
        ValueError: The text is no such time, or out of range; the message says what to write.
    """
    expected = 'expected a time such as "12 h", "14 d" or "1.2e6 h"'
    try:
        seconds = parse_span(text)
    except ValueError as error:
        raise ValueError(f"{expected}: {error}" if str(error) else expected) from None
    if seconds == 0 and zero:
        return 0.0
    if not SHORTEST <= seconds <= LONGEST:
        least = f"0, or {SHORTEST:g} s" if zero else f"{SHORTEST:g} s"
        raise ValueError(f"{expected}: it must be {least} or more, and at most 1e9 y")
    return seconds


def parse_probability(text: str) -> float:
    """Return a probability such as 0.99 or "99 %". Raises ValueError."""
    number = text.strip().removesuffix("%")
    try:
        value = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise ValueError('expected a probability between 0 and 1, such as 0.99 or "99 %"')
    return value


def figure(value: float | None) -> str:
    """Return a measured number: at least three significant digits; a dash for None.

    A number from `LEAST` to `LARGEST` has no exponent.
    """
    if value is None:
        return NOT_KNOWN
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else "infinite"
    size = abs(value)
    if size == 0:
        return "0"
    if size < LEAST or size >= LARGEST:
        return f"{value:.2e}"
    if size < 1:
        return f"{value:.{2 - math.floor(math.log10(size))}f}"
    # What rounds up to 100 has the digits of 100.
    return f"{value:,.{2 if size < 99.995 else 1 if size < 999.95 else 0}f}"


def number(value: float) -> str:
    """Return a number as `figure` does, without needless zeros.

    A number just below 1 keeps the digits that tell it from 1, as availabilities need. One with
    two decimals at most keeps them, as prices do.
    """
    size = abs(value)
    if math.isfinite(value) and value == round(value) and size < LARGEST:
        return f"{value:,.0f}"
    if 0.99 < size < 1:
        return f"{value:.{math.ceil(-math.log10(1 - size)) + 1}f}".rstrip("0")
    if 1 <= size < LARGEST and value == round(value, 2):
        return _short(f"{value:,.2f}")
    return _short(figure(value))


def _short(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def milliseconds(seconds: float | None) -> str:
    """Return a time in ms, without the unit."""
    return figure(None if seconds is None else 1e3 * seconds)


def megabytes(amount: float | None) -> str:
    """Return bytes in MB, or bytes per second in MB/s, without the unit."""
    return figure(None if amount is None else 1e-6 * amount)


def percent(share: float | None) -> str:
    """Return a share in %, without the unit."""
    return NOT_KNOWN if share is None else f"{100 * share:.1f}"


def percent_text(share: float, decimals: int = 0, *, sign: bool = False) -> str:
    """Return a share in % with its unit, such as "12 %"; a difference has its sign: "+12 %"."""
    return f"{100 * share:{'+' if sign else ''},.{decimals}f} %"


def probability_text(value: float) -> str:
    """Return a probability: in percent, or with an exponent where it is small."""
    if value == 0:
        return "0"
    if value < 1e-4:
        return f"{value:.3g}"
    if 0.999 < value < 1:
        return f"{_short(f'{100 * value:.{math.ceil(-math.log10(1 - value)) - 1}f}')} %"
    return f"{100 * value:.3g} %"


def numbered(count: float, noun: str, plural: str | None = None) -> str:
    """Return a number of things, such as "1 file" or "2,000 files"."""
    return f"{whole(count)} {noun if count == 1 else plural or f'{noun}s'}"


def whole(count: float | None) -> str:
    """Return a count; means of counts may have decimals."""
    if count is None:
        return NOT_KNOWN
    return f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"


def whole_or_power(count: int) -> str:
    """Return a count with all its digits, or as a power of ten if they are many."""
    return f"{count:,}" if count < 10**15 else f"{Decimal(count):.6e}"


def scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Return bytes in the largest of the units that gives at least 1."""
    for factor, unit in units:
        if abs(value) >= factor * ROUNDS_TO_1:
            return f"{_short(figure(value / factor))} {unit}"
    return f"{_short(figure(value))} B"


def size(amount: float) -> str:
    """Return bytes in decimal units, such as "26.84 GB"."""
    return scaled(amount, DECIMAL)


def rate_text(bytes_per_second: float) -> str:
    """Return a rate in decimal units, such as "240 MB/s"."""
    return f"{size(bytes_per_second)}/s"


def precise_size(amount: float) -> str:
    """Return bytes to six digits, for differences of sizes that are almost equal."""
    factor, unit = next((entry for entry in DECIMAL if amount >= entry[0]), (1, "B"))
    return f"{amount / factor:.6g} {unit}"


def binary_size(amount: float) -> str:
    """Return bytes as scenarios have them: a whole number of the largest binary unit that divides
    them."""
    amount = round(amount)
    for unit, one in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if amount >= one and amount % one == 0:
            return f"{amount // one} {unit}"
    return f"{amount} B"


def short_size(amount: float) -> str:
    """Return bytes as scenarios have them, or rounded where that would be long."""
    text = binary_size(amount)
    return text if int(text.split()[0]) < MOST_BINARY else size(amount)


def duration(seconds: float) -> str:
    """Return a time with its unit, such as "2.5 years", "90 min" or "12.3 ms"."""
    size = abs(seconds)
    if seconds == 0:
        return "0 s"
    if not math.isfinite(seconds):
        return number(seconds)
    if size >= MOST_YEARS * YEAR:
        return f"{seconds / YEAR:,.3g} years"
    for factor, unit in MULTIPLES:
        if size >= FEWEST * factor:
            return f"{_short(figure(seconds / factor))} {unit}"
    factor, unit = next((part for part in PARTS if size >= part[0] * ROUNDS_TO_1), PARTS[-1])
    return f"{_short(figure(seconds / factor))} {unit}"


def hours_text(seconds: float) -> str:
    """Return a time in hours, as data sheets have it."""
    amount = seconds / HOUR
    return f"{amount:,.0f} h" if 1000 <= amount < LARGEST else f"{amount:.4g} h"


def written_time(seconds: float, digits: int = 9) -> str:
    """Return a time as documents have it, rounded to significant digits: "0.2 ms"."""
    units = (*PARTS, (1e-12, "ps"))
    factor, unit = next((part for part in units if seconds >= part[0]), PARTS[0])
    return f"{written_number(seconds / factor, digits)} {'us' if unit == 'µs' else unit}"


def measured_time(seconds: float) -> str:
    """Return a measured time as documents have it: "49.0888 us"."""
    return written_time(seconds, ROUNDED)


def written_rate(bytes_per_second: float, digits: int = 9) -> str:
    """Return a rate as documents have it, rounded to significant digits: "150 MB/s"."""
    factor, unit = next((entry for entry in DECIMAL[3:] if bytes_per_second >= entry[0]), (1, "B"))
    return f"{written_number(bytes_per_second / factor, digits)} {unit}/s"


def written_number(value: float, digits: int) -> str:
    """Return a number as documents have it, rounded to significant digits, without an exponent."""
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{float(text):.15f}".rstrip("0").rstrip(".")


def quantity(value: float, unit: str, currency: str = "") -> str:
    """Return a value of a design's figure, whose units `headrace.design.figure` has.

    Capacities are in decimal and in binary units: "80 TB (72.76 TiB)".
    """
    if unit == "1":
        return number(value)
    if unit == "B":
        decimal = size(value)
        return f"{decimal} ({scaled(value, BINARY)})" if abs(value) >= 1 << 10 else decimal
    if unit == "B/s":
        return rate_text(value)
    if unit == "s":
        return duration(value)
    if unit == "1/s":
        return f"{number(value)}/s"
    if unit.startswith("money"):
        named = f" {currency}" if currency else ""
        return number(value) + named + unit.removeprefix("money")
    return f"{number(value)} {'tons' if unit == 't (cooling)' else unit}"


def readable(value: float, unit: str, currency: str = "") -> str:
    """Return a quantity as `quantity` does, but from 1,000 on in kW or whole units of money."""
    if unit == "W" and abs(value) >= 1000:
        return f"{number(value / 1000)} kW"
    if unit == "money" and 1000 <= abs(value) < LARGEST:
        value = round(value)
    return quantity(value, unit, currency)


def amounts(values: Sequence[object]) -> tuple[list[float], str] | None:
    """Return values of a scenario's field as numbers with their common unit.

    Args:
        values: Numbers, or texts such as `64 KiB`, `0.2 ms` and `1 Gbit/s`.

    Returns:
        The numbers and their unit, which is empty for plain numbers; None for other values.
    """
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(str(value)) for value in values], ""
    for unit, parse in (("B", parse_bytes), ("s", parse_seconds), ("B/s", parse_rate)):
        try:
            return [float(parse(str(value))) for value in values], unit
        except ValueError:
            continue
    return None
