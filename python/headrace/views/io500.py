"""The result of IO500 as a table."""

from headrace.io500 import Io500
from headrace.quantities import figure
from headrace.render import units
from headrace.render.blocks import Block, Column, Note, Record, Table


def tables(result: Io500 | None) -> list[Block]:
    """Return the phases in IO500's order and the score, if there is a result."""
    if result is None:
        return []
    phases = result.phases.values()
    columns = [
        Column("phase", list(result.phases)),
        Column("rate", [one.rate for one in phases], units.FIGURE),
        Column("unit", [one.unit for one in phases]),
        Column("time s", [one.seconds for one in phases], units.FIGURE, 1),
    ]
    return [Table("IO500", columns), Note(score(result))]


def main_figures(result: Io500) -> dict[str, str]:
    """Return the figures that a reader looks at first, by name."""
    return {
        "IO500 score": figure(result.score),
        "IO500 bandwidth": f"{figure(result.bandwidth)} GiB/s",
        "IO500 metadata": f"{figure(result.metadata)} kIOPS",
    }


def records(result: Io500 | None) -> list[Record]:
    """Return a row of a CSV file for each phase."""
    phases = {} if result is None else result.phases
    return [
        {"operation": name, "rate": one.rate, "unit": one.unit, "seconds": one.seconds}
        for name, one in phases.items()
    ]


def score(result: Io500) -> str:
    """Return the score in words, as IO500 prints it."""
    return (
        f"Score {figure(result.score)}: bandwidth {figure(result.bandwidth)} GiB/s,"
        f" metadata {figure(result.metadata)} kIOPS."
    )
