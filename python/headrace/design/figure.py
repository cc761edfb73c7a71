"""Numbers that show their arithmetic: value, formula, inputs and source."""

from collections.abc import Iterable
from typing import Literal

import msgspec

Unit = Literal[
    "1",
    "B",
    "B/s",
    "s",
    "1/s",
    "%",
    "A",
    "VA",
    "W",
    "BTU/h",
    "t (cooling)",
    "U",
    "kg",
    "money",
    "money/month",
    "money/year",
    "money/TB",
    "money/(GB/s)",
    "W/TB",
    "TB/U",
]
"""Units of figures. "money" is the catalogue's currency; 1 TB = 1e12 B."""


class Input(msgspec.Struct, frozen=True):
    """One input of a formula."""

    name: str
    """The input as the formula has it."""
    text: str
    """Value with its unit, as a reader writes it."""
    source: str
    """Where the value comes from: `worksheet.toml:12`, a catalogue entry, a section, another
    figure's title."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number of a design, with all that is needed to compute it again."""

    key: str
    """Short name in lower case with `-`, unique in its group: `usable-capacity`."""
    title: str
    """Name in tables: "usable capacity"."""
    value: float
    unit: Unit
    formula: str
    """Right-hand side in words and signs: "raw capacity / (copies x RAID overhead)"."""
    inputs: tuple[Input, ...] = ()
    source: str = ""
    """Source of the formula: section of a document, manual page, or "definition"."""
    standard_error: float | None = None
    """Standard error of an estimate, in the unit of the value."""
    note: str = ""
    """Limits of the figure: an assumption, an answer that is missing."""


def by_key(figures: Iterable[Figure]) -> dict[str, Figure]:
    """Return figures by their keys, in their order.

    Raises:
        ValueError: Two figures have one key.
    """
    figures_: dict[str, Figure] = {}
    for figure in figures:
        if figure.key in figures_:
            raise ValueError(f"two figures have the key {figure.key}")
        figures_[figure.key] = figure
    return figures_
