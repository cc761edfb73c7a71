"""A solution of a search as tables for a terminal."""

import math
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.design.evaluation import (
    ApplicationPerformance,
    Evaluation,
    Solution,
    least_satisfaction,
)
from headrace.design.figure import Figure, by_key
from headrace.plain_text import plain
from headrace.quantities import number, quantity
from headrace.render.fitted_table import FittedTable

UNKNOWN = "\N{EN DASH}"
COLUMNS = ("cost", "usable", "throughput", "of wanted", "loss", "power", "units")
LESS = ("units", "power", "usable")
MOST_UNSURE = 8
"""Unknown answers that are shown."""


def solution_tables(solution: Solution, currency: str = "") -> RenderableType:
    """Return the designs that are left, the chosen one and why, and what was discarded."""
    parts: list[RenderableType] = [_heading(solution)]
    designs = solution.front or solution.nearest
    if designs:
        title = "Designs that none surpasses" if solution.front else "Nearest misses"
        parts += [_designs(title, designs, currency), _applications(designs)]
    if solution.chosen is None:
        parts.append(Text("\nNo design meets all requirements.", style="bold"))
        for place, it in enumerate(solution.nearest):
            parts += [
                Text(f"{label(place)} {plain(it.design.name)}: {plain(missed.message)}")
                for missed in it.violations
            ]
    else:
        parts.append(_chosen(solution, currency))
    parts.append(_discarded(solution))
    parts += [Text(plain(f"unsure: {it}"), style="yellow") for it in solution.unsure[:MOST_UNSURE]]
    if len(solution.unsure) > MOST_UNSURE:
        parts.append(
            Text(f"{len(solution.unsure) - MOST_UNSURE} more unknown answers are in the report")
        )
    return Group(*parts)


def label(place: int) -> str:
    """Return the name of a design by its place: A to Z, then A2 and so on."""
    turn, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(turn + 1) if turn else "")


def _heading(solution: Solution) -> Text:
    return Text(
        f"{solution.enumerated:,} designs enumerated in {solution.seconds:.0f} s, seed"
        f" {solution.seed}"
    )


def _designs(title: str, designs: Sequence[Evaluation], currency: str) -> RenderableType:
    table = FittedTable(title, 2, ("", "design", *COLUMNS), LESS)
    for place, it in enumerate(designs):
        figures = _figures(it)
        total = sum(one.throughput for one in it.performance)
        served = least_satisfaction(it.performance)
        units = figures.get("rack-units")
        table.add_row(
            label(place),
            it.design.name,
            _value(figures.get("total-cost") or figures.get("purchase"), currency),
            _decimal(figures.get("usable-capacity")),
            quantity(total, "B/s") if it.performance else UNKNOWN,
            UNKNOWN if served is None else f"{100 * served:.0f} %",
            _value(figures.get("loss-probability")),
            _value(figures.get("power")),
            UNKNOWN if units is None else number(units.value),
        )
    table.caption = (
        "cost: over the years of the worksheet; of wanted: the least part of what an application"
        " wants; loss: probability over the years of recovery.loss_years"
    )
    return table


def _applications(designs: Sequence[Evaluation]) -> RenderableType:
    table = FittedTable(
        "Throughput of each application",
        2,
        ("", "application", "wanted", "simulated", "calls/s", "mean latency", "limit"),
        ("limit", "calls/s"),
    )
    for place, it in enumerate(designs):
        for one in it.performance:
            error = "" if one.throughput_error is None else _error(one.throughput_error)
            table.add_row(
                label(place),
                one.application,
                _wanted(one),
                quantity(one.throughput, "B/s") + error,
                number(one.operations),
                quantity(one.latency, "s"),
                one.limiting_resource.removeprefix("system/"),
            )
        if it.performance:
            table.add_section()
    table.caption = "\N{PLUS-MINUS SIGN}: 95 % interval over replications"
    return table


def _error(half_width: float) -> str:
    return f" \N{PLUS-MINUS SIGN} {quantity(half_width, 'B/s')}"


def _wanted(one: ApplicationPerformance) -> str:
    parts = []
    if one.wanted_throughput is not None:
        parts.append(quantity(one.wanted_throughput, "B/s"))
    if one.wanted_operations is not None:
        parts.append(f"{number(one.wanted_operations)} calls/s")
    if one.wanted_latency is not None:
        parts.append(f"at most {quantity(one.wanted_latency, 's')}")
    return ", ".join(parts) or UNKNOWN


def _chosen(solution: Solution, currency: str) -> Text:
    chosen = solution.front[solution.chosen or 0]
    figures = _figures(chosen)
    cost = _value(figures.get("total-cost") or figures.get("purchase"), currency)
    text = Text(f"\nChosen: {label(solution.chosen or 0)} {plain(chosen.design.name)}", "bold")
    others = len(solution.front) - 1
    text.append(
        f"\nIt is the cheapest of {others + 1} that meet every known requirement: {cost}."
        if others
        else f"\nNo other design meets every known requirement at its price: {cost}.",
        "not bold",
    )
    for it in configuration(chosen):
        text.append(f"\n  {plain(it)}", "not bold")
    return text


def configuration(chosen: Evaluation) -> Iterator[str]:
    """Yield a line for servers, arrays, file system and network of a design."""
    design = chosen.design
    array = design.array
    shelves = (
        f" and {design.shelves_per_node} {design.shelf.name}"
        if design.shelf is not None and design.shelves_per_node
        else ""
    )
    yield (
        f"{design.nodes} data servers {design.node.name}{shelves} with {design.disks_per_node}"
        f" {design.disk.name} each, hot or distributed spares among them: {design.spares_per_node}"
    )
    yield (
        f"{design.arrays_per_node} {array.kind} of {array.disks} disks in each server"
        f" ({array.data} + {array.parity} in a group), "
        f"{'1 copy' if design.copies == 1 else f'{design.copies} copies'} over servers"
    )
    yield f"{design.file_system}, {design.distribution}, stripes of {design.stripe >> 10:,} KiB"
    yield f"{design.network.name}, metadata servers: {design.metadata_nodes}, gateways:" + (
        f" {design.gateways}"
    )


def _discarded(solution: Solution) -> RenderableType:
    table = FittedTable("Discarded designs", 1, ("requirement", "designs"))
    for field, count in solution.discarded.items():
        table.add_row(field, f"{count:,}")
    return table


def _figures(it: Evaluation) -> dict[str, Figure]:
    return by_key([*it.capacity, *it.reliability, *it.facility, *it.cost])


def _value(figure: Figure | None, currency: str = "") -> str:
    if figure is None or not math.isfinite(figure.value):
        return UNKNOWN
    if figure.unit == "money":
        return f"{figure.value:,.0f} {currency}".strip()
    return quantity(figure.value, figure.unit)


def _decimal(figure: Figure | None) -> str:
    return UNKNOWN if figure is None else quantity(figure.value, "B").split(" (")[0]
