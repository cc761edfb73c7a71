"""Laws of lifetimes and durations as the command line has them: `weibull:1.12,461386h`."""

import math
from collections.abc import Callable
from itertools import pairwise

from headrace.design.reliability.question import (
    Bathtub,
    Constant,
    Duration,
    Exponential,
    HazardTable,
    LifetimeLaw,
    NoScrub,
    Scrub,
    ScrubPeriod,
    Weibull,
    WeibullPart,
)
from headrace.quantities import YEAR, parse_time

LIFETIMES = (
    'expected a lifetime such as "weibull:1.12,461386h" (shape, scale, perhaps the least time),'
    ' "exponential:1000000h", "bathtub:0.6,2000000h/1200000h/4,80000h" (infant mortality,'
    ' constant, wear-out) or "table:0y=0.05,1y=0.014,4y=0.12" (failures a year from each age on)'
)
DURATIONS = (
    'expected a time such as "12 h", or a law such as "weibull:2,12h,6h" (shape, scale, least'
    ' time), "exponential:12h" or "constant:12h"'
)
SCRUBS = 'expected a period such as "168 h", a law such as "weibull:3,168h,6h", or "none"'
MOST_SHAPE = 100.0


def parse_lifetime(text: str) -> LifetimeLaw:
    """Return the law of a lifetime. Raises ValueError, which says what to write."""
    kind, _, rest = text.partition(":")
    match kind.strip().lower():
        case "exponential":
            return Exponential(_time(rest, LIFETIMES))
        case "weibull":
            return _weibull(rest, LIFETIMES)
        case "bathtub":
            return _bathtub(rest)
        case "table":
            return _table(rest)
    raise ValueError(LIFETIMES)


def parse_duration(text: str) -> Duration:
    """Return the law of a length of time; a plain time is the mean of an exponential one.

    Raises ValueError, which says what to write.
    """
    kind, colon, rest = text.partition(":")
    if not colon:
        return Exponential(_time(text, DURATIONS))
    match kind.strip().lower():
        case "exponential":
            return Exponential(_time(rest, DURATIONS))
        case "constant":
            return Constant(_time(rest, DURATIONS))
        case "weibull":
            return _weibull(rest, DURATIONS)
    raise ValueError(DURATIONS)


def parse_scrub(text: str) -> Scrub:
    """Return how scrubbing is done. Raises ValueError, which says what to write."""
    kind, colon, rest = text.partition(":")
    name = kind.strip().lower()
    if name == "none" and not colon:
        return NoScrub()
    if name == "weibull":
        return _weibull(rest, SCRUBS)
    return ScrubPeriod(_time(rest if name == "period" else text, SCRUBS))


def mean_seconds(law: Duration) -> float:
    """Return the mean of a length of time."""
    match law:
        case Constant():
            return law.seconds
        case Exponential():
            return law.mean
        case Weibull():
            return law.location + law.scale * math.gamma(1 + 1 / law.shape)
    return law.bytes / law.bytes_per_second


def hazard(law: LifetimeLaw) -> Callable[[float], float]:
    """Return a law's hazard in failures a second as a function of the age in seconds."""
    match law:
        case Exponential():
            return lambda _: 1 / law.mean
        case Weibull():
            return _weibull_hazard(law.shape, law.scale, law.location)
        case Bathtub():
            parts = [
                _weibull_hazard(law_.shape, law_.scale, law_.location)
                for law_ in (law.infant, law.wear_out)
            ]
            constant = 0.0 if law.constant_mean is None else 1 / law.constant_mean
            return lambda age: constant + sum(part(age) for part in parts)
    steps = tuple(zip(law.ages, law.hazards, strict=True))
    return lambda age: next((rate for begin, rate in reversed(steps) if age >= begin), 0.0)


def _weibull_hazard(shape: float, scale: float, location: float) -> Callable[[float], float]:
    def at(age: float) -> float:
        if age <= location:
            return 0.0
        return float(shape / scale * ((age - location) / scale) ** (shape - 1))

    return at


def _weibull(text: str, expected: str) -> Weibull:
    part = _weibull_part(text, expected)
    return Weibull(part.shape, part.scale, part.location)


def _weibull_part(text: str, expected: str) -> WeibullPart:
    fields = [word.strip() for word in text.split(",")]
    if not 2 <= len(fields) <= 3:
        raise ValueError(expected)
    location = 0.0 if len(fields) == 2 else _time(fields[2], expected, zero=True)
    return WeibullPart(_shape(fields[0], expected), _time(fields[1], expected), location)


def _bathtub(text: str) -> Bathtub:
    fields = text.split("/")
    if len(fields) != 3:
        raise ValueError(LIFETIMES)
    constant = fields[1].strip()
    return Bathtub(
        infant=_weibull_part(fields[0], LIFETIMES),
        constant_mean=None if constant in ("", "none") else _time(constant, LIFETIMES),
        wear_out=_weibull_part(fields[2], LIFETIMES),
    )


def _table(text: str) -> HazardTable:
    ages, hazards = [], []
    for entry in text.split(","):
        age, equals, rate = entry.partition("=")
        if not equals:
            raise ValueError(LIFETIMES)
        ages.append(_time(age, LIFETIMES, zero=True))
        hazards.append(_number(rate, LIFETIMES) / YEAR)
    rising = all(before < after for before, after in pairwise(ages))
    if ages[0] != 0 or not rising:
        raise ValueError(f"{LIFETIMES}: its ages must rise, and begin with 0y")
    if min(hazards) < 0 or hazards[-1] == 0:
        raise ValueError(f"{LIFETIMES}: its rates must be 0 or more, the last one above 0")
    return HazardTable(tuple(ages), tuple(hazards))


def _shape(text: str, expected: str) -> float:
    value = _number(text, expected)
    if not 1 / MOST_SHAPE <= value <= MOST_SHAPE:
        raise ValueError(f"{expected}: the shape must be between 0.01 and {MOST_SHAPE:g}")
    return value


def _number(text: str, expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(expected) from None
    if not math.isfinite(value):
        raise ValueError(expected)
    return value


def _time(text: str, expected: str, *, zero: bool = False) -> float:
    try:
        return parse_time(text, zero=zero)
    except ValueError as error:
        reason = str(error).partition(": ")[2]
        raise ValueError(f"{expected}{': ' + reason if reason else ''}") from None


def found_probability(spares: int, missing: float) -> float:
    """Return the probability that a failed disk finds a spare.

    P(N < spares) with N Poisson of mean `missing`.

    Args:
        spares: Spares of the pool when none is missing.
        missing: Failures of the pool's disks in a restocking time, on average.
    """
    if spares == 0:
        return 0.0
    # It takes a quarter of a second to import.
    from scipy.special import gammaincc

    return float(gammaincc(spares, missing))


def read_error_probability(bytes_read: float, bit_error_rate: float) -> float:
    """Return the probability that one or more bits of `bytes_read` cannot be read.

    1 - (1 - BER)^bits, by way of logarithms: in double precision 1 - 1e-16 has an error of 11 %.

    Args:
        bytes_read: Bytes that are read.
        bit_error_rate: Probability that a bit cannot be read, below 1.
    """
    return -math.expm1(8 * bytes_read * math.log1p(-bit_error_rate))
