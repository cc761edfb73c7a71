"""Numbers that show their arithmetic: value, formula, inputs and source."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from headrace.quantities import quantity

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


Rule: TypeAlias = tuple[str, Callable[[Sequence[float]], float]]
"""How the values of several pools make that of a design: in words, and as a function."""
SUM: Rule = ("sum over the zones' servers", math.fsum)
MOST: Rule = ("most of the zones' servers", max)
LEAST: Rule = ("least of the zones' servers", min)


def combine(
    pools: Sequence[tuple[str, Sequence[Figure]]],
    rules: Mapping[str, Rule],
) -> tuple[Figure, ...]:
    """Return the figures of a design with several pools, and then those of each pool.

    Args:
        pools: Names of the zones of each pool, and its figures.
        rules: How their values make that of the design, by keys. One that a pool lacks is left out.
    """
    keyed = [by_key(figures) for _, figures in pools]
    whole = [
        msgspec.structs.replace(
            first,
            value=compute([figures[key].value for figures in keyed]),
            formula=words,
            inputs=tuple(
                Input(name, quantity(one.value, one.unit), f"figure: {name}")
                for (zones, _), figures in zip(pools, keyed, strict=True)
                for name, one in ((f"{first.title} of {zones}", figures[key]),)
            ),
            source="definition",
            standard_error=None,
        )
        for key, (words, compute) in rules.items()
        if all(key in figures for figures in keyed)
        for first in (keyed[0][key],)
    ]
    parts = [
        msgspec.structs.replace(
            one,
            key=pool_key(f"{one.key}-of", place),
            title=f"{one.title} of {zones}",
            inputs=tuple(_of_zones(each, zones, titles) for each in one.inputs),
        )
        for place, (zones, figures) in enumerate(pools)
        for titles in ({figure.title for figure in figures},)
        for one in figures
    ]
    return (*whole, *parts)


def _of_zones(given: Input, zones: str, titles: set[str]) -> Input:
    """Return an input of a pool's figure: another figure of the pool has the zones in its title."""
    if not given.source.startswith("figure: ") and given.source not in titles:
        return given
    return msgspec.structs.replace(given, source=f"{given.source} of {zones}")


def pool_key(key: str, place: int) -> str:
    """Return the key of a figure of a pool by the place of that, from 0."""
    return f"{key}-{place + 1}"
