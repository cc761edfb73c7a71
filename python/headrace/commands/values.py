"""Values of parameters that are texts with units, and the errors that name them."""

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from headrace import _core, quantities
from headrace.commands.parameters import Value
from headrace.quantities import number

T = TypeVar("T")


def parsed(option: str, text: str, parse: Callable[[str], T]) -> T:
    """Parse an option's value. Raises ValueError, which names the option and its value."""
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f'{option} "{text}": {error}') from None


def time(option: str, text: str, *, zero: bool = False) -> float:
    """Return the seconds of an option such as --mttf "1000000 h". Raises ValueError."""
    return parsed(option, text, partial(quantities.parse_time, zero=zero))


def probability(option: str, text: str) -> float:
    """Return an option's probability. Raises ValueError."""
    return parsed(option, text, quantities.parse_probability)


def size(option: str, text: str) -> float:
    """Return the bytes of an option such as --capacity "2 TB". Raises ValueError."""
    expected = 'expected a size such as "4 TB" or "20 TiB"'
    try:
        amount = _core.parse_bytes(text)
    except ValueError as error:
        reason = str(error).partition(": ")[2]
        raise ValueError(
            f'{option} "{text}": {expected}{f": {reason}" if reason else ""}'
        ) from None
    if amount <= 0:
        raise ValueError(f'{option} "{text}": {expected}, more than 0')
    return float(amount)


def rate(option: str, text: str) -> float:
    """Return the bytes a second of an option such as --throughput "2 GB/s". Raises ValueError."""
    try:
        return _core.parse_rate(text)
    except ValueError as error:
        reason = str(error).partition(": ")[2]
        raise ValueError(
            f'{option} "{text}": expected a rate such as "100 MB/s", more than 0'
            + (f": {reason}" if reason else "")
        ) from None


def share(option: str, text: str) -> float:
    """Return the share of an option such as --growth "30 %" or 0.3. Raises ValueError."""
    parts = re.fullmatch(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)\s*", text)
    if parts is None:
        raise ValueError(f'{option} "{text}": expected a share such as "30 %" or 0.3')
    return float(parts[1]) / (100 if parts[2] else 1)


def read_by(
    metavar: str, parse: Callable[[str], object], write: Callable[[Any], str] = str
) -> Value:
    """Return the value that a function reads, whose errors do not name the option."""
    return Value(metavar, lambda option, text: parsed(option, text, parse), write)


def above_0(metavar: str, most: float, write: Callable[[float], str] = number) -> Value:
    """Return the value of a number above 0, up to a largest one."""

    def read(option: str, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        # A comparison with NaN is false.
        if not 0 < value <= most:
            raise ValueError(f"{option} {text}: expected a number above 0, up to {most:g}")
        return value

    return Value(metavar, read, write)


def span(
    least: float = quantities.SHORTEST, most: float = quantities.LONGEST, *, unit: float = 1.0
) -> Value:
    """Return the value of a time such as "30 s" or "5 min", or of a plain number.

    Parameters:
        least, most: Range in seconds.
        unit: Seconds of the unit of plain numbers.
    """

    def parse(text: str) -> float:
        try:
            time = float(text) * unit
            if not math.isfinite(time):
                raise ValueError
        except ValueError:
            time = _core.parse_seconds(text)
        if not least <= time <= most:
            shown = quantities.duration
            raise ValueError(f"expected {shown(least)} to {shown(most)}")
        return time

    return Value("TIME", partial(parsed, parse=parse), quantities.duration, is_early=True)


def _directory(_option: str, text: str) -> Path:
    # A variable that is not set is no directory, and least of all the one one happens to be in.
    if not text:
        raise ValueError("expected a directory; . is the current one")
    return Path(text)


DIRECTORY = Value("DIR", _directory, is_early=True)
SIZE = Value("SIZE", size, quantities.size)
RATE = Value("RATE", rate, quantities.rate_text)
SHARE = Value("SHARE", share, quantities.percent_text)
PROBABILITY = Value("P", probability, number)
TIME = Value("TIME", time, quantities.duration)
TIME_OR_0 = Value("TIME", partial(time, zero=True), quantities.duration)
HOURS = Value("TIME", time, quantities.hours_text)
