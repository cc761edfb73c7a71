"""A solution of a search: the designs that are left, the chosen one, and what was discarded."""

import math
from collections.abc import Iterator, Sequence

from headrace.design.evaluation import (
    ApplicationPerformance,
    Evaluation,
    Solution,
    least_satisfaction,
)
from headrace.design.figure import Figure, by_key
from headrace.design.inventory import parts
from headrace.design.system import Design
from headrace.quantities import (
    NOT_KNOWN,
    binary_size,
    number,
    numbered,
    percent_text,
    quantity,
    readable,
)
from headrace.render import units
from headrace.render.blocks import Block, Column, Note, Table, View
from headrace.views.training import sentence

COLUMNS = ("cost", "usable", "throughput", "of wanted", "loss", "power", "units")
LESS = ("units", "power", "usable")
MOST_UNSURE = 8
"""Unknown answers that are shown."""


def view(solution: Solution, currency: str = "") -> View:
    """Return the designs that are left, the chosen one and why, and what was discarded."""
    blocks: list[Block] = [_heading(solution)]
    designs = solution.front or solution.nearest
    if designs:
        title = "Designs that none surpasses" if solution.front else "Nearest misses"
        blocks += [_designs(title, designs, currency), _applications(designs)]
    if solution.chosen is None:
        verb = "meets all requirements" if solution.lower_bound is None else "was confirmed in time"
        blocks.append(Note("", f"\nNo design {verb}."))
        for place, design in enumerate(solution.nearest):
            blocks += [
                Note(f"{label(place)} {design.design.name}: {missed.message}")
                for missed in design.violations
            ]
    else:
        blocks += [
            _chosen(solution, currency),
            *trainings(solution.front[solution.chosen]),
            _bill(solution, currency),
            Note(proof(solution, currency)),
        ]
    blocks += _archives(solution, currency)
    blocks.append(_discarded(solution))
    blocks += [Note(text) for text in solution.separated]
    blocks += [Note(f"not tried: {reason}") for reason in solution.excluded]
    unsure = solution.unsure
    blocks += [Note(f"unsure: {reason}", style="warning") for reason in unsure[:MOST_UNSURE]]
    if len(unsure) > MOST_UNSURE:
        more = numbered(len(unsure) - MOST_UNSURE, "more unknown answer")
        blocks.append(Note(f"the report has {more}"))
    return blocks


def proof(solution: Solution, currency: str = "") -> str:
    """Return whether the chosen design is the cheapest for certain, or how much may be saved."""
    figures = _figures(solution.front[solution.chosen or 0])
    total = figures.get("total-cost") or figures.get("purchase")
    if total is None:
        return "Prices are missing: costs cannot be compared."
    cost, bound = total.value, solution.lower_bound
    if solution.front[solution.chosen or 0].design.pools and bound and bound >= cost * (1 - 1e-9):
        return (
            "No cheaper design with equal servers for all zones meets everything. The servers of"
            " each group of zones are the cheapest by themselves."
        )
    if not bound:
        return "The time ended before all designs were enumerated: a cheaper one may exist."
    if bound >= cost * (1 - 1e-9):
        return "No cheaper design meets everything: bounds or simulations exclude each."
    return (
        f"A cheaper design may exist, from {bound:,.0f} {currency}".rstrip()
        + f" ({100 * (1 - bound / cost):.1f} % less): the time ended before all were simulated."
    )


def trainings(design: Evaluation) -> Iterator[Note]:
    """Yield what the accelerators of each training wait for, in words."""
    for one in design.performance:
        if one.training is not None:
            number = numbered(one.training.accelerators, "accelerator")
            yield Note(f"{one.application}, {number}: {sentence(one.training)}")


def label(place: int) -> str:
    """Return the name of a design by its place: A to Z, then A2 and so on."""
    turn, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(turn + 1) if turn else "")


def _heading(solution: Solution) -> Note:
    return Note(
        f"{numbered(solution.enumerated, 'design')} enumerated in {solution.seconds:.0f} s, seed"
        f" {solution.seed}"
    )


def _designs(title: str, designs: Sequence[Evaluation], currency: str) -> Table:
    rows = []
    for place, design in enumerate(designs):
        figures = _figures(design)
        total = sum(one.throughput for one in design.performance)
        served = least_satisfaction(design.performance)
        units = figures.get("rack-units")
        cells = (
            label(place),
            design.design.name,
            _value(figures.get("total-cost") or figures.get("purchase"), currency),
            _decimal(figures.get("usable-capacity")),
            quantity(total, "B/s") if design.performance else NOT_KNOWN,
            NOT_KNOWN if served is None else f"{100 * served:.0f} %",
            _value(figures.get("loss-probability")),
            _value(figures.get("power")),
            NOT_KNOWN if units is None else number(units.value),
        )
        rows.append(cells)
    caption = (
        "cost: over the years of the worksheet; of wanted: the least part of what an application"
        " wants; loss: probability over the years of recovery.loss_years"
    )
    return Table.of_rows(title, ("", "design", *COLUMNS), rows, 2, LESS, caption=caption)


def _applications(designs: Sequence[Evaluation]) -> Table:
    rows: list[tuple[str, ...]] = []
    sections = []
    for place, design in enumerate(designs):
        if design.performance and rows:
            sections.append(len(rows))
        for one in design.performance:
            error = "" if one.throughput_error is None else _error(one.throughput_error)
            training = "" if one.au is None else f"AU {percent_text(one.au, 1)}, "
            cells = (
                label(place),
                one.application,
                _wanted(one),
                f"{training}{quantity(one.throughput, 'B/s')}"
                + (error if one.detail == "full" else " (unconfirmed)"),
                number(one.operations),
                quantity(one.latency, "s"),
                one.limiting_resource.removeprefix("system/"),
            )
            rows.append(cells)
    return Table.of_rows(
        "Throughput of each application",
        ("", "application", "wanted", "simulated", "calls/s", "mean latency", "limit"),
        rows,
        2,
        ("limit", "calls/s"),
        sections,
        caption="\N{PLUS-MINUS SIGN}: 95 % interval over replications",
    )


def _error(half_width: float) -> str:
    return f" \N{PLUS-MINUS SIGN} {quantity(half_width, 'B/s')}"


def _wanted(one: ApplicationPerformance) -> str:
    parts = []
    if one.wanted_throughput is not None:
        parts.append(quantity(one.wanted_throughput, "B/s"))
    if one.wanted_operations is not None:
        parts.append(f"{number(one.wanted_operations)} calls/s")
    if one.wanted_au is not None:
        parts.append(f"AU {percent_text(one.wanted_au)}")
    if one.wanted_latency is not None:
        parts.append(f"at most {quantity(one.wanted_latency, 's')}")
    if one.wanted_latency_p99 is not None:
        parts.append(f"99 % in {quantity(one.wanted_latency_p99, 's')}")
    return ", ".join(parts) or NOT_KNOWN


def _chosen(solution: Solution, currency: str) -> Note:
    chosen = solution.front[solution.chosen or 0]
    figures = _figures(chosen)
    cost = _value(figures.get("total-cost") or figures.get("purchase"), currency)
    others = len(solution.front) - 1
    reason = (
        f"It is the cheapest of {others + 1} that meet every known requirement: {cost}."
        if others
        else f"No other design meets every known requirement at its price: {cost}."
    )
    lines = [f"\n{reason}", *(f"  {line}" for line in configuration(chosen))]
    if "later-purchases" in figures:
        lines.append(
            f"  full after {_value(figures['full-after'])}; later purchases, which the cost"
            f" counts: {_value(figures['later-purchases'], currency)}"
        )
    return Note("\n".join(lines), f"\nChosen: {label(solution.chosen or 0)} {chosen.design.name}")


def _bill(solution: Solution, currency: str) -> Table:
    rows = [
        (
            part.title,
            part.entry,
            number(part.count),
            NOT_KNOWN if part.price is None else f"{part.price:,.2f}",
            NOT_KNOWN if part.price is None else f"{part.count * part.price:,.2f}",
        )
        for part in parts(solution.front[solution.chosen or 0].design)
    ]
    columns = ("part", "entry of the catalogue", "number", "price", "amount")
    return Table.of_rows(f"Bill of materials, {currency}".rstrip(", "), columns, rows, 2)


def configuration(chosen: Evaluation) -> Iterator[str]:
    """Yield a line for servers, arrays, file system and network of a design."""
    for design in chosen.design.each_pool:
        if design.zones:
            yield f"zones {design.zone_names}:"
        yield from _servers(design)


def _servers(design: Design) -> Iterator[str]:
    array = design.array
    shelves = (
        f" and {design.shelves_per_node} x {design.shelf.name}"
        if design.shelf is not None and design.shelves_per_node
        else ""
    )
    yield (
        f"{numbered(design.nodes, 'data server')} {design.node.name}{shelves} with"
        f" {design.disks_per_node} x {design.disk.name} each, hot or distributed spares among"
        f" them: {design.spares_per_node}"
    )
    yield (
        f"{design.arrays_per_node} x {array.kind} of {numbered(array.disks, 'disk')} in each server"
        f" ({array.data} + {array.parity} in a group), {design.redundancy} over servers"
    )
    stripes = f", stripes of {binary_size(design.stripe)}" * (design.distribution == "striped")
    yield f"{design.file_system}, {design.distribution}{stripes}"
    yield (
        f"{design.network.name}, metadata servers: {design.metadata_nodes}, gateways:"
        f" {design.gateways}, fail-over servers: {design.fail_over_nodes}, adapters of a server:"
        f" {design.paths}"
    )


def _archives(solution: Solution, currency: str) -> Iterator[Block]:
    """Yield the alternatives of archives, and what each cannot do."""
    archives = solution.archives
    if not archives:
        return
    rows = [
        (
            one.zone,
            one.name,
            _value(one.figures[-1], currency),
            NOT_KNOWN if one.first_byte is None else quantity(one.first_byte, "s"),
            ", ".join(missed.field for missed in one.violations) or "nothing",
        )
        for one in archives
    ]
    headings = ("zone", "place", "cost", "first byte after", "misses")
    caption = (
        "cost: over the years of the worksheet, for the need at their end; prices of tape and"
        " object store are declared: `headrace design archive` takes your own"
    )
    yield Table.of_rows("Archives", headings, rows, 2, caption=caption)
    told = dict.fromkeys(
        f"{one.name}: {text}"
        for one in archives
        for text in (*one.limits, *(missed.message for missed in one.violations))
    )
    yield from (Note(text) for text in told)


def _discarded(solution: Solution) -> Table:
    counts = solution.discarded
    columns = [
        Column("requirement", list(counts)),
        Column("designs", list(counts.values()), units.COUNT),
    ]
    return Table("Discarded designs", columns)


def _figures(one: Evaluation) -> dict[str, Figure]:
    return by_key([*one.capacity, *one.reliability, *one.facility, *one.cost])


def _value(figure: Figure | None, currency: str = "") -> str:
    if figure is None or not math.isfinite(figure.value):
        return NOT_KNOWN
    return readable(figure.value, figure.unit, currency)


def _decimal(figure: Figure | None) -> str:
    return NOT_KNOWN if figure is None else quantity(figure.value, "B").split(" (")[0]
