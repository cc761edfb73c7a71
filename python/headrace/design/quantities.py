"""Times, rates and probabilities as the design commands take them: numbers with their units."""

import math
import re

HOUR = 3600.0
DAY = 24 * HOUR
YEAR = 365 * DAY
"""Seconds of a year: 8760 h, as data sheets count it."""

UNITS = {
    "s": 1.0,
    "min": 60.0,
    "h": HOUR,
    "d": DAY,
    "w": 7 * DAY,
    "month": YEAR / 12,
    "y": YEAR,
}
"""Seconds of a unit."""
LONGEST = 1e9 * YEAR
"""Seconds of the longest time: products of several such times stay finite."""
SHORTEST = 1e-3
MOST_POWER_ON_HOURS = 400_000
"""Power-on hours above which a counter is in another unit or damaged: 45 years."""
_QUANTITY = re.compile(r"\s*([-+]?[\d_,.]*\d[\d_,.]*(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf))\s*(\S*)\s*")
_WORDS = {
    "sec": "s",
    "second": "s",
    "seconds": "s",
    "minute": "min",
    "minutes": "min",
    "hr": "h",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
    "week": "w",
    "weeks": "w",
    "months": "month",
    "yr": "y",
    "year": "y",
    "years": "y",
    "a": "y",
}


def parse_time(text: str, *, zero: bool = False) -> float:
    """Return the seconds of a time such as "1000000 h", "14 d" or "5 y".

    Args:
        text: A number and a unit: s, min, h, d, w, month or y. A year has 8760 h.
        zero: Accept 0.

    Raises:
        ValueError: The text is no such time, or out of range; the message says what to write.
    """
    expected = 'expected a time such as "12 h", "14 d" or "1.2e6 h"'
    number, unit = _parts(text, expected)
    factor = UNITS.get(_WORDS.get(unit.lower(), unit.lower()))
    if factor is None:
        names = ", ".join(UNITS)
        missing = "the unit is missing" if not unit else f"{unit!r} is no unit"
        raise ValueError(f"{expected}: {missing}; the units are {names}")
    seconds = number * factor
    if seconds == 0 and zero:
        return 0.0
    if not SHORTEST <= seconds <= LONGEST:
        least = f"0, or {SHORTEST:g} s" if zero else f"{SHORTEST:g} s"
        raise ValueError(f"{expected}: it must be {least} or more, and at most 1e9 y")
    return seconds


def parse_probability(text: str) -> float:
    """Return a probability such as 0.99 or "99 %". Raises ValueError."""
    expected = 'expected a probability between 0 and 1, such as 0.99 or "99 %"'
    number, unit = _parts(text, expected)
    if unit not in ("", "%"):
        raise ValueError(f"{expected}: {unit!r} is no unit of it")
    value = number / 100 if unit == "%" else number
    if not 0 < value < 1:
        raise ValueError(expected)
    return value


def _parts(text: str, expected: str) -> tuple[float, str]:
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(expected)
    try:
        number = float(found[1].replace(",", "").replace("_", ""))
    except ValueError:
        raise ValueError(expected) from None
    if not math.isfinite(number):
        raise ValueError(expected)
    return number, found[2]


def hours_text(seconds: float) -> str:
    """Format a time in hours, as data sheets have it."""
    hours = seconds / HOUR
    return f"{hours:,.0f} h" if 1000 <= hours < 1e15 else f"{hours:.4g} h"


def span_text(seconds: float) -> str:
    """Format a time in a unit that suits its size: hours, days or years."""
    for unit, name in ((YEAR, "years"), (DAY, "days"), (HOUR, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{_three_digits(seconds / unit)} {name}"
    return f"{_three_digits(seconds)} s"


def _three_digits(value: float) -> str:
    if value >= 1e7:
        return f"{value:.3g}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def probability_text(value: float) -> str:
    """Format a probability: in percent, or with an exponent where it is small."""
    if value == 0:
        return "0"
    if value < 1e-4:
        return f"{value:.3g}"
    return f"{100 * value:.3g} %"
