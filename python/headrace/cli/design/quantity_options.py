"""Options that are numbers with units, and the errors that name them."""

import math
import re
from typing import Annotated, TypeAlias

import typer

from headrace import _core
from headrace.cli.options import parsed
from headrace.quantities import parse_probability, parse_time

Mttf: TypeAlias = Annotated[
    str | None,
    typer.Option("--mttf", metavar="TIME", help='Mean time to failure, such as "1000000 h".'),
]
FailureFactor: TypeAlias = Annotated[
    float,
    typer.Option(
        "--failure-factor",
        metavar="FACTOR",
        help="Observed failure rate over the rate of --mttf; studies found 2 to 10.",
    ),
]
CoolingOverhead: TypeAlias = Annotated[
    float,
    typer.Option(
        "--cooling-overhead",
        help="Watts of cooling and distribution for each watt of load: PUE - 1.",
    ),
]


def time(option: str, text: str, *, zero: bool = False) -> float:
    """Return the seconds of an option such as --mttf "1000000 h". Raises ValueError."""
    return parsed(option, text, lambda it: parse_time(it, zero=zero))


def probability(option: str, text: str) -> float:
    """Return an option's probability. Raises ValueError."""
    return parsed(option, text, parse_probability)


def size(option: str, text: str) -> float:
    """Return the bytes of an option such as --capacity "2 TB". Raises ValueError."""
    expected = 'expected a size such as "4 TB" or "20 TiB"'
    try:
        found = _core.parse_bytes(text)
    except ValueError as error:
        reason = str(error).partition(": ")[2]
        raise ValueError(
            f'{option} "{text}": {expected}{f": {reason}" if reason else ""}'
        ) from None
    if found <= 0:
        raise ValueError(f'{option} "{text}": {expected}, more than 0')
    return float(found)


def rate(option: str, text: str, example: str) -> float:
    """Return the bytes a second of an option such as --throughput "2 GB/s". Raises ValueError."""
    try:
        return _core.parse_rate(text)
    except ValueError as error:
        reason = str(error).partition(": ")[2]
        raise ValueError(
            f'{option} "{text}": expected a rate such as "{example}", more than 0'
            + (f": {reason}" if reason else "")
        ) from None


def share(option: str, text: str) -> float:
    """Return the share of an option such as --growth "30 %" or 0.3. Raises ValueError."""
    found = re.fullmatch(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*(%?)\s*", text)
    if found is None:
        raise ValueError(f'{option} "{text}": expected a share such as "30 %" or 0.3')
    return float(found[1]) / (100 if found[2] else 1)


SMALLEST, LARGEST = 1e-9, 1e12
"""Range of an option's number but 0: sums, products and quotients of a few stay finite."""


def check_number(
    option: str, value: float, least: float, example: str, most: float = LARGEST
) -> None:
    """Raise ValueError if an option's number is out of its range, or too near to 0 to compute
    with."""
    if not math.isfinite(value) or not least <= value <= most:
        raise ValueError(f"{option} {value:g}: expected {least:g} to {most:g}, such as {example}")
    if value and abs(value) < SMALLEST:
        raise ValueError(f"{option} {value:g}: expected 0, or at least {SMALLEST:g}")
