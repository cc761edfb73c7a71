"""The decision on one page: what to buy, its cost, performance and safety, what is uncertain."""

import math
from collections.abc import Iterator, Sequence

from headrace.design.evaluation import least_satisfaction
from headrace.quantities import numbered, percent_text
from headrace.report.design_report.bill import PORTS
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.requirements import Requirement, requirements
from headrace.report.design_report.words import FILE_SYSTEMS
from headrace.report.document.content import (
    Block,
    Bullets,
    Facts,
    Paragraph,
    Reference,
    Section,
    Table,
    Text,
    foreign,
    parts,
)
from headrace.views.solution import proof
from headrace.views.training import sentence

SIGNED = (
    "capacity.usable",
    "recovery.loss_probability",
    "recovery.downtime",
    "recovery.survives_node",
    "facility.power",
    "facility.racks",
)
"""Requirements of the page beside those of applications; missed ones are added."""
COSTS = (
    *("maintenance", "later-purchases", "spare-parts", "power-cost", "colocation"),
    *("engineer", "total-cost", "full-after"),
)
MOST_APPLICATIONS = 8
"""Applications on the page, those of the smallest margins first."""
SMALL = 0.1
"""A margin below this part of what is wanted is small; declared."""
LINE = "_" * 46


def section(data: DesignData) -> Section:
    """Return the page that a buyer signs."""
    if data.shown is None:
        return Section("summary", "Decision", _nothing(data))
    checked = requirements(data)
    missed: list[Text] = [row.message for row in checked if row.message]
    blocks: list[Block] = [
        Paragraph(_lead(data), "lead"),
        Paragraph(_state(data, checked)),
        *([Bullets(missed)] if missed else []),
        _bill(data),
        _figures(data, checked),
        Paragraph("Uncertainty", "heading"),
        Bullets(list(_uncertain(data, checked))),
    ]
    if data.is_feasible:
        names = ("For the customer", "For the supplier")
        blocks.append(Facts([(name, f"date, name and signature {LINE}") for name in names]))
    return Section("summary", "Decision", blocks, own_page=True)


def _nothing(data: DesignData) -> list[Block]:
    text = f"The search enumerated {numbered(data.solution.enumerated, 'design')}"
    rest = ". The alternatives name the requirements that discarded them."
    return [
        Paragraph("The catalogue has no design for this worksheet.", "lead"),
        Paragraph([text, _search_note(data), rest]),
    ]


def _search_note(data: DesignData) -> Reference:
    solution = data.solution
    return data.notes.add(
        "search",
        "Search",
        f"Designs enumerated from the catalogue {data.catalogue.name} of {data.catalogue.date};"
        f" {sum(solution.discarded.values()):,} were discarded, {len(solution.front)} are on the"
        f" front. Seed {solution.seed}.",
    )


def _lead(data: DesignData) -> Text:
    assert data.shown is not None
    design = data.shown.design
    start = "Buy " if data.is_feasible else "No design meets all requirements. The nearest has "
    text: list[str | Reference] = [start]
    # Servers first, as the sentence names the system.
    lines = sorted(data.lines, key=lambda one: one.part.kind != "node")
    bought = [line for line in lines if line.part.kind not in PORTS]
    for at, line in enumerate(bought):
        text += [" and " if at == len(bought) - 1 else ", "] if at else []
        title, of_zones, zones = line.part.title.partition(" of ")
        noun = "shelf" if title == "shelves" else title.removesuffix("s")
        # The entry begins with the kind: "disk nearline-4tb".
        entry = foreign(line.part.entry.partition(" ")[2], 60)
        whose = foreign(of_zones + zones, 60)
        text.append(f"{numbered(line.part.count, noun, title)}{whose} ({entry})")
        text.append(data.notes.reference(SHOWN, line.count))
    pools = dict.fromkeys(one.file_system for one in design.each_pool)
    systems = " and ".join(FILE_SYSTEMS.get(name, name) for name in pools)
    text.append(f", under {systems} over {foreign(design.network.name, 60)}")
    if data.is_feasible and "purchase" in data.figures:
        text += [", for ", *data.value("purchase")]
    return [*text, "."]


def _state(data: DesignData, checked: Sequence[Requirement]) -> Text:
    """Return how many requirements are met, missed and not evaluated, as a sentence."""
    states = [row.status for row in checked if row.status != "not stated"]
    note = data.notes.add(
        "requirements",
        "Requirements",
        "Lines of the table of requirements by their state. A requirement that the worksheet does"
        " not state is not counted.",
    )
    text: list[str | Reference] = [
        f"{states.count('met')} of {numbered(len(states), 'stated requirement')} met",
        note,
    ]
    for state in ("missed", "not evaluated"):
        if state in states:
            text += [f", {states.count(state)} {state}", note]
    return [*text, "."]


def _bill(data: DesignData) -> Table:
    rows: list[list[Text]] = []
    for line in data.lines:
        cells = [
            UNKNOWN if figure is None else data.notes.value(SHOWN, figure)
            for figure in (line.count, line.price, line.amount)
        ]
        rows.append([foreign(line.part.title, 120), foreign(line.part.entry, 120), *cells])
    for key in ("purchase", "priced-parts"):
        if key in data.figures:
            rows.append([data.figures[key].title, "", "", "", data.value(key)])
    missing = [foreign(one.part.entry, 80) for one in data.lines if one.price is None]
    note = "Taxes, shipping and installation are not included."
    if missing:
        note += f" The catalogue has no price for: {', '.join(dict.fromkeys(missing))}."
    columns = ["Item", "Entry of the catalogue", "Number", "Price", "Amount"]
    return Table("Bill of materials", columns, "lwrrr", rows, note=note)


def _figures(data: DesignData, checked: Sequence[Requirement]) -> Table:
    """Return cost, performance and safety beside what the worksheet asks for."""
    years = numbered(data.worksheet.capacity.years, "year")
    rows = [_row(row) for row in checked if row.field == "budget.initial"]
    for key in COSTS:
        if (figure := data.figures.get(key)) is not None:
            title = foreign(figure.title, 80)
            title = title if key in ("total-cost", "full-after") else f"{title}, {years}"
            rows.append([title[:1].upper() + title[1:], data.value(key), UNKNOWN, ""])
    applications: dict[str, list[Requirement]] = {}
    for row in checked:
        if row.field.startswith("application."):
            applications.setdefault(row.field.rpartition(".")[0], []).append(row)
    fast = sorted(applications.values(), key=_least_margin)
    rows += [_row(*group) for group in fast[:MOST_APPLICATIONS]]
    rows += [
        _row(row)
        for row in checked
        if not row.field.startswith("application.")
        and row.field != "budget.initial"
        and (row.field in SIGNED or row.status == "missed")
    ]
    note = "Required: the answer of the worksheet."
    if len(fast) > MOST_APPLICATIONS:
        note += " Applications with larger margins are under Requirements."
    for part in data.shown.performance if data.shown else ():
        if part.training is not None:
            note += f" {foreign(part.application, 60)}: {sentence(part.training)}"
    if "availability" in data.figures:
        note += f" Downtime: {foreign(data.figures['availability'].note)}"
    columns = ["Cost, performance and safety", "Design", "Required", "State"]
    return Table("", columns, "wrrl", rows, note=note)


def _least_margin(rows: Sequence[Requirement]) -> float:
    return min((row.margin for row in rows if row.margin is not None), default=math.inf)


def _row(first: Requirement, *more: Requirement) -> list[Text]:
    """Return requirements of one application, or a single one, in a row."""
    names, got, wanted, states = first.name, parts(first.got), first.wanted, {first.status}
    for row in more:
        names += f", {row.name.rpartition(': ')[2]}"
        got = [*got, ", ", *parts(row.got)]
        wanted += f", {row.wanted}"
        states.add(row.status)
    state = next(one for one in ("missed", "met", first.status) if one in states)
    return [names, got, wanted, state]


def _uncertain(data: DesignData, checked: Sequence[Requirement]) -> Iterator[Text]:
    """Yield what may change the decision."""
    assert data.shown is not None
    solution, currency = data.solution, foreign(data.catalogue.currency, 20)
    if data.is_feasible:
        yield [proof(solution, currency), _search_note(data)]
    coarse = [part.application for part in data.shown.performance if part.detail == "coarse"]
    if coarse:
        yield f"A short simulation that none confirms: {foreign(', '.join(coarse), 160)}."
    met = [row for row in checked if row.status == "met"]
    tight = [row for row in met if row.margin is not None and row.margin < SMALL]
    if tight:
        yield f"Small margins: {', '.join(row.name for row in tight)}."
    for part in data.shown.performance:
        served = least_satisfaction((part,))
        # Calls have the relative error of bytes.
        spread = (part.throughput_error or 0.0) / (part.throughput or math.inf)
        if served is not None and served * (1 - spread) < 1 <= served:
            text = f"{foreign(part.application, 80)}: within the error of the simulation"
            yield [f"{text}, \N{PLUS-MINUS SIGN} {percent_text(spread)}", _search_note(data), "."]
    unlimited = [
        row.name for row in checked if row.status == "not stated" and "application" not in row.field
    ]
    unknown = [text for text in solution.unsure if " unknown: " in text]
    if unknown:
        note = data.notes.add("unsure", "Unknown answers", "The risks list them with their cost.")
        text = f". Without a limit, not checked: {', '.join(unlimited)}" if unlimited else ""
        yield [numbered(len(unknown), "unknown answer"), note, f"{text}."]
    total = data.figures.get("total-cost")
    if total is not None and total.note:
        yield f"Total cost: {foreign(total.note)}."
    entries = [
        entry
        for one in data.shown.design.each_pool
        for entry in (one.disk, one.node, one.network, one.shelf, one.metadata_disk)
    ]
    bought = {line.part.entry.partition(" ")[2] for line in data.lines}
    declared = dict.fromkeys(
        entry.name
        for entry in entries
        if entry is not None and entry.name in bought and "declared price" in entry.source
    )
    origin = data.notes.add(
        "prices",
        "Prices",
        f"Catalogue {data.catalogue.name} of {data.catalogue.date}, in {currency or 'money'}.",
    )
    text = f": declared, not offered, for {foreign(', '.join(declared), 200)}" if declared else ""
    date = f"{foreign(data.catalogue.name, 60)} of {foreign(data.catalogue.date, 20)}"
    yield [f"Prices of the catalogue {date}", origin, f"{text}."]
