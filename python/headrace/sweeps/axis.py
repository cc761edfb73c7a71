"""Axes of a sweep: the fields that it varies, and their values."""

import contextlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from headrace._core import ScenarioError
from headrace.document_io import without_option
from headrace.simulate.scenario import Quantified, Scenario

Value: TypeAlias = Any
"""A value of a field, as TOML has it: a text, a number, a truth value, a list or a table."""
Scale: TypeAlias = Literal["linear", "log"]

RANGE = re.compile(
    r"^\s*(?P<low>.+?)\s*\.\.\s*(?P<high>.+?)\s*(?::\s*(?P<scale>log|linear|lin)?(?P<count>\d+)?\s*)?$"
)
WHOLE = ("count", "bytes")
"""Quantities that are whole numbers."""
MOST_VALUES = 1_000_000
"""Most values of one axis."""


class WrongAxis(ValueError):
    """An axis cannot be read; the message says what is expected."""


@dataclass(frozen=True)
class Range:
    """All values between two ends."""

    low: str
    high: str
    scale: Scale = "linear"
    count: int | None = None
    """Number of values in a full design; samplers choose their own."""


@dataclass(frozen=True)
class Axis:
    """Fields that change together, with the values that they take."""

    paths: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...] = ()
    """Values of all paths, row by row; empty for a range."""
    range: Range | None = None

    @property
    def name(self) -> str:
        """The paths as one word."""
        return ",".join(self.paths)


Vary: TypeAlias = Mapping[Any, Any] | Sequence[Axis]
"""Values by path or by a tuple of paths, or axes."""


def parse(text: str) -> Axis:
    """Read an axis as the command line gives it.

    Args:
        text: `path=a,b,c`, `path=low..high:5`, `path=low..high:log5`, `path=low..high` (for
            samplers), or linked fields: `path,other=(a,b),(c,d)`.

    Returns:
        The axis.

    Raises:
        WrongAxis: The text is none of these.
    """
    left, equals, right = text.partition("=")
    paths = tuple(path.strip() for path in left.split(","))
    if not equals or not all(paths) or not right.strip():
        raise WrongAxis(
            f"--vary {text!r}: expected path=value,value, such as clients.count=4,8,16, or"
            " path=low..high:5"
        )
    if len(set(paths)) < len(paths):
        raise WrongAxis(f"--vary {text!r}: a path is named twice")
    if len(paths) > 1:
        return Axis(paths, tuple(_row(item, paths, text) for item in split(right, text)))
    match = RANGE.match(right)
    # A value in quotes or brackets may have dots: a path such as "a/../b".
    if match and "," not in right and right.lstrip()[0] not in "\"'([{":
        return Axis(paths, range=_range(match, text))
    return Axis(paths, tuple((_value(item),) for item in split(right, text)))


def of_mapping(values: Mapping[Any, Any]) -> list[Axis]:
    """Return the axes of a mapping as Python gives it.

    Args:
        values: Sequences of values, or a text such as "1 MiB..16 MiB:log5", by path; sequences of
            tuples by a tuple of paths.

    Raises:
        WrongAxis: A text is no range, or a tuple has another length than its paths.
    """
    axes = []
    for key, given in values.items():
        paths = (key,) if isinstance(key, str) else tuple(key)
        if isinstance(given, str):
            try:
                axes.append(parse(f"{','.join(paths)}={given}"))
            except WrongAxis as error:
                raise WrongAxis(str(error).removeprefix("--vary ")) from None
            continue
        if not isinstance(given, Iterable):
            raise WrongAxis(f"{','.join(paths)}: expected a list of values, such as [{given}]")
        rows = [tuple(each) if len(paths) > 1 else (each,) for each in given]
        if not rows:
            raise WrongAxis(f"{','.join(paths)}: expected at least one value")
        if wrong := next((row for row in rows if len(row) != len(paths)), None):
            raise WrongAxis(f"{','.join(paths)}: expected {len(paths)} values, not {wrong}")
        axes.append(Axis(paths, tuple(rows)))
    return axes


def axes_of(vary: Vary) -> list[Axis]:
    """Return the axes of a sweep or a search. Raises WrongAxis if there are none, or two alike."""
    axes = list(vary) if isinstance(vary, Sequence) else of_mapping(vary)
    if not axes:
        raise WrongAxis("nothing varies: give at least one path with values")
    check_distinct(axes)
    return axes


def check_distinct(axes: Iterable[Axis]) -> None:
    """Raise WrongAxis if two axes vary one field."""
    known: set[str] = set()
    for axis in axes:
        for path in axis.paths:
            if path in known:
                raise WrongAxis(f"{path} is varied twice: give its values once")
            known.add(path)


def split(text: str, whole: str) -> list[str]:
    """Split at commas outside of brackets and quotes.

    Raises:
        WrongAxis: A bracket or a quote is not closed, or a value is empty.
    """
    items, depth, quote, begin = [], 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            items.append(text[begin:at].strip())
            begin = at + 1
    items.append(text[begin:].strip())
    if quote or depth:
        raise WrongAxis(f"--vary {whole!r}: a bracket or a quote is not closed")
    if not all(items):
        raise WrongAxis(f"--vary {whole!r}: a value is empty")
    return items


def numbers(low: float, high: float, scale: Scale, count: int) -> list[float]:
    """Return `count` numbers from `low` to `high`, both included, equally spaced on a scale."""
    return [between(low, high, scale, at / max(count - 1, 1)) for at in range(count)]


def between(low: float, high: float, scale: Scale, part: float) -> float:
    """Return the number at a part (0 to 1) of the way from `low` to `high`."""
    if part in (0.0, 1.0):
        return high if part else low
    if scale == "log":
        return math.exp(math.log(low) + part * (math.log(high) - math.log(low)))
    return low + part * (high - low)


@dataclass(frozen=True)
class Continuum:
    """A range of a scenario's field in the unit of its quantity."""

    scenario: Scenario
    field: Quantified
    """The field with the lower end as its value."""
    high: float
    scale: Scale

    def value(self, part: float) -> Value:
        """Return the value at a part (0 to 1) of the way."""
        amount = between(self.field.amount, self.high, self.scale, part)
        return self.field.value(round(amount) if self.field.quantity in WHOLE else amount)

    def in_short(self, value: Value) -> Value:
        """Return a value as scenarios have it: `64 KiB` for `65536 B`.

        It takes the time of loading a scenario, which samples do not pay.
        """
        if not isinstance(value, str):
            return value
        # An amount between the ends may still be refused; its run then says why.
        with contextlib.suppress(ScenarioError):
            changed = self.scenario.with_({self.field.path: value})
            texts = (row[3] for row in changed.loaded.quantities() if row[0] == self.field.path)
            value = next(texts, value)
        return value


def quantity(scenario: Scenario, path: str) -> Quantified | None:
    """Return a field of a scenario, or None if it has no amount.

    A path may be written short: the only entry of a list needs no number.
    """
    return next((entry for entry in scenario.quantities if _is_path(entry.path, path)), None)


def continuum(axis: Axis, scenario: Scenario) -> Continuum:
    """Return the range of an axis for a scenario.

    Raises:
        WrongAxis: The ends are in the wrong order, or the field is no quantity.
        ScenarioError: An end is no value of the field.
    """
    path, span = axis.paths[0], axis.range
    assert span is not None
    ends = []
    for text in (span.low, span.high):
        try:
            loaded = scenario.loaded.with_sets([f"{path}={text}"])
        except ScenarioError as error:
            raise without_option(error) from None
        changed = Scenario(loaded)
        field = quantity(changed, path)
        if field is None:
            raise WrongAxis(f"{path} is no amount: list its values, such as {path}=a,b")
        ends.append(field)
    low, high = ends
    if not low.amount < high.amount:
        raise WrongAxis(f"{path}={span.low}..{span.high}: expected a larger end")
    if span.scale == "log" and low.amount <= 0:
        raise WrongAxis(f"{path}={span.low}..{span.high}: a log scale begins above 0")
    return Continuum(scenario, low, high.amount, span.scale)


def _is_path(full: str, short: str) -> bool:
    return full == short or re.sub(r"\.\d+(?=\.|$)", "", full) == short


def _row(item: str, paths: Sequence[str], text: str) -> tuple[Value, ...]:
    if not (item.startswith("(") and item.endswith(")")):
        letters = ",".join("abcdefgh"[: len(paths)])
        raise WrongAxis(f"--vary {text!r}: expected a value for each path: ({letters}),...")
    values = split(item[1:-1], text)
    if len(values) != len(paths):
        raise WrongAxis(f"--vary {text!r}: {item} has {len(values)} values for {len(paths)} paths")
    return tuple(_value(each) for each in values)


def _range(match: re.Match[str], text: str) -> Range:
    scale: Scale = "log" if match["scale"] == "log" else "linear"
    count = None if match["count"] is None else int(match["count"])
    if count is not None and not 2 <= count <= MOST_VALUES:
        raise WrongAxis(f"--vary {text!r}: expected 2 to {MOST_VALUES:,} values, not {count}")
    if ":" in match["high"]:
        raise WrongAxis(
            f"--vary {text!r}: expected the number of values behind the colon, such as :5 or :log5"
        )
    return Range(match["low"], match["high"], scale, count)


def _value(text: str) -> Value:
    """The text as `--set` takes it: a number stays one, so that tables sort it."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
