"""Blocks of a result: notes, tables, charts and records.

A view returns blocks, with values in SI units. They do not know where they are shown. The renderers
of this folder show them on a terminal, in a page, in a picture and as CSV.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias

from headrace.plain_text import plain
from headrace.render.units import TEXT, Unit

Record: TypeAlias = dict[str, Any]
"""Figures by the names of columns of a CSV file."""


@dataclass(frozen=True)
class Note:
    """A statement."""

    text: str
    name: str = ""
    """What it is about, in bold before the text."""
    style: Literal["", "warning", "error", "minor"] = ""
    """Minor statements are dimmed on a terminal."""
    level: Literal["", "warning", "note", "good"] = ""
    """Importance of a finding, by which a terminal colours `name`."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    values: Sequence[Any]
    """A value for each row, in SI units; None where there is none."""
    unit: Unit = TEXT
    spare: int = 0
    """Narrow terminals omit columns from the highest number down; 0 is always shown."""
    half_widths: Sequence[float | None] = ()
    """Half-widths of the values' 95 % confidence intervals, where there are any."""
    absent: str = ""
    """Text of a cell without a value: `NOT_KNOWN` where there should be one."""
    marks: Sequence[str] = ()
    """Signs behind the values, which the caption of the table explains."""

    def cells(self) -> Iterator[str]:
        """Yield the text of each row."""
        for row, value in enumerate(self.values):
            half = self.half_widths[row] if self.half_widths else None
            text = self.absent if value is None else self.unit.text(value)
            if half is not None:
                text += f" ± {self.unit.text(half)}"
            yield text + (self.marks[row] if self.marks else "")


@dataclass(frozen=True)
class Table:
    """Rows of values, by columns."""

    title: str
    columns: Sequence[Column]
    names: int = 1
    """Number of leading columns that name a row."""
    sections: Sequence[int] = ()
    """Rows before which a line is drawn."""
    caption: str = ""
    narrow_caption: str = ""
    """Caption where columns are omitted, instead of their names."""
    redirected_width: int | None = None
    """Greatest width where there is no terminal; None for no limit."""
    is_plain: bool = False
    """Whether a terminal shows it without title and lines."""

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of each row, without control characters."""
        columns = (map(plain, column.cells()) for column in self.columns)
        return list(zip(*columns, strict=True))

    @classmethod
    def of_rows(
        cls,
        title: str,
        headings: Sequence[str],
        rows: Iterable[Sequence[str]],
        names: int = 1,
        spare: Sequence[str] = (),
        sections: Sequence[int] = (),
        **options: Any,
    ) -> Self:
        """Return a table of texts, with fields of the table such as its caption as `options`.

        Narrow terminals omit the columns `spare`, the first first.
        """
        values = list(zip(*rows, strict=True)) or [()] * len(headings)
        ranks = {name: len(spare) - at for at, name in enumerate(spare)}
        columns = [
            Column(name, texts, spare=ranks.get(name, 0))
            for name, texts in zip(headings, values, strict=True)
        ]
        return cls(title, columns, names, sections, **options)


@dataclass(frozen=True)
class Axis:
    """An axis of a chart."""

    name: str = ""
    unit: Unit = TEXT
    scale: Literal["linear", "log", "log2", "nines", "names"] = "linear"
    """On an axis of nines, shares below 1 have as much room for each nine as for the one before."""
    ticks: Sequence[float] = ()
    """Values that are written below the axis, one by one; by default those of a scale."""
    most: float | None = None
    """End of the axis, in SI units; by default beyond the largest value."""
    base: float = 0.0
    """Value, in SI units, at which bars begin."""

    @property
    def label(self) -> str:
        """The name with its unit."""
        if self.name and self.unit.name:
            return f"{self.name} ({self.unit.name})"
        return self.name or self.unit.name


@dataclass(frozen=True)
class Line:
    """A line, a row of bars, or marks. Values are in SI units; None where there is none."""

    name: str
    x: Sequence[Any]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    """Lower ends of ranges around the values, and the upper ones."""
    high: Sequence[float | None] = ()
    is_reference: bool = False
    """Whether it is what the others are compared with, such as a limit; with ranges, a band."""
    shape: Literal["line", "level", "bar", "mark"] = "line"
    """A level line keeps each value up to the next x."""
    texts: Sequence[str] = ()
    """Texts beside bars or marks; by default the values of bars."""
    group: str = ""
    """Lines of one group have the same colour and differ by their dashes."""
    x_low: Sequence[float | None] = ()
    x_high: Sequence[float | None] = ()

    @classmethod
    def of_means(
        cls,
        name: str,
        x: Sequence[Any],
        means: Sequence[float | None],
        half_widths: Sequence[float | None],
        shape: Literal["line", "bar", "mark"] = "line",
    ) -> Self:
        """Return a line of means with their intervals, unless there are none."""
        if all(half is None for half in half_widths):
            return cls(name, x, means, shape=shape)
        low, high = (
            [
                None if mean is None else mean + sign * (half or 0.0)
                for mean, half in zip(means, half_widths, strict=True)
            ]
            for sign in (-1, 1)
        )
        return cls(name, x, means, low, high, shape=shape)


@dataclass(frozen=True)
class Span:
    """A part of an axis that has a name."""

    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class Chart:
    """Lines over an axis."""

    picture: str
    """Name of the file that has it. Charts of one name are panels of one picture."""
    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    marks: Mapping[str, float] = field(default_factory=dict)
    """Values of the x axis that have a name."""
    spans: Sequence[Span] = ()
    """Parts of the x axis that have a name."""
    is_stacked: bool = False
    """Whether the bars of a name lie on each other."""
    empty: str = "no figures"
    """Why there are no values."""
    topic: str = ""
    """Where many charts are in a row and each has a topic, a page shows those of one."""
    statistic: str = ""
    """What the values are of repeats, such as means with their intervals."""


@dataclass(frozen=True)
class HeatMap:
    """Values over two axes of names."""

    picture: str
    title: str
    x: Axis
    y: Axis
    columns: Sequence[str]
    rows: Sequence[str]
    values: Sequence[Sequence[float | None]]
    """A row of values, in SI units, for each of `rows`."""
    unit: Unit
    most: float | None = None
    """End of the scale, which then begins at 0."""
    downwards: bool = False
    """Whether the first row is the uppermost."""
    topic: str = ""


@dataclass(frozen=True)
class Records:
    """Figures for programs, by the names of columns of a CSV file."""

    rows: Sequence[Record]


@dataclass(frozen=True)
class Headline:
    """The few figures that a reader reports, by their names. Pages show them as cards."""

    figures: Mapping[str, str]


Block: TypeAlias = Note | Table | Chart | HeatMap | Records | Headline
View: TypeAlias = Sequence[Block]


def bars(
    picture: str,
    title: str,
    across: str,
    y: Axis,
    series: Mapping[str, Mapping[str, float | None]],
    *,
    is_stacked: bool = False,
) -> list[Chart]:
    """Return a chart with a bar for each name of each series; none where there is no name."""
    names = list(dict.fromkeys(name for values in series.values() for name in values))
    lines = [
        Line(label, names, [values.get(name) for name in names], shape="bar")
        for label, values in series.items()
    ]
    x = Axis(across, scale="names")
    return [Chart(picture, title, x, y, lines, is_stacked=is_stacked)] if names else []
