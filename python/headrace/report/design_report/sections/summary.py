"""The design in a few lines: what to buy, what it costs, how fast and how safe it is."""

from headrace.design.inventory import Part
from headrace.quantities import quantity
from headrace.report.design_report.bill import PORTS
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.performance import performance_figures
from headrace.report.design_report.requirements import Requirement, requirements
from headrace.report.design_report.words import FILE_SYSTEMS
from headrace.report.document.content import (
    Block,
    Bullets,
    Facts,
    Paragraph,
    Reference,
    Section,
    Text,
    foreign,
    parts,
)


def section(data: DesignData) -> Section:
    """Return the recommendation, its cost, speed and safety, and the state of the requirements."""
    if data.shown is None:
        return Section("summary", "Summary", _nothing(data))
    blocks: list[Block] = [Paragraph(_lead(data), "lead")]
    checked = requirements(data)
    blocks += [Paragraph(_state(data, checked)), Facts(_facts(data))]
    missed = [row for row in checked if row.status == "missed"]
    if missed:
        items: list[Text] = [_miss(data, row) for row in missed]
        blocks += [Paragraph("Requirements that are missed", "heading"), Bullets(items)]
    return Section("summary", "Summary", blocks)


def _nothing(data: DesignData) -> list[Block]:
    enumerated = _search_note(data)
    return [
        Paragraph("The catalogue has no design for this worksheet.", "lead"),
        Paragraph(
            [
                f"The search enumerated {data.solution.enumerated:,} designs",
                enumerated,
                ". The alternatives name the requirements that discarded them.",
            ]
        ),
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
    bought: list[list[str | Reference]] = []
    # Servers first, as the sentence names the system.
    for line in sorted(data.lines, key=lambda one: one.part.kind != "node"):
        if line.part.kind in PORTS:
            continue
        noun = _noun(line.part)
        number = quantity(line.count.value, "1")
        bought.append([f"{number} {noun}", data.notes.reference(SHOWN, line.count)])
    for at, part in enumerate(bought):
        text += [" and " if at == len(bought) - 1 else ", "] if at else []
        text += part
    system = FILE_SYSTEMS.get(design.file_system, design.file_system)
    return [*text, f", under {system} over {foreign(design.network.name, 60)}."]


def _noun(part: Part) -> str:
    word = part.title.removesuffix("s") if part.count == 1 else part.title
    # The entry begins with the kind: "disk nearline-4tb".
    return f"{word} ({foreign(part.entry.partition(' ')[2], 60)})"


def _facts(data: DesignData) -> list[tuple[str, Text]]:
    assert data.shown is not None
    years = quantity(data.worksheet.capacity.years, "1")
    planned = data.notes.add(
        "answer/capacity.years", "Years", "Answer of the worksheet, or its default: capacity.years."
    )
    loss_years = data.notes.add(
        "answer/recovery.loss_years",
        "Years of the loss probability",
        "Answer of the worksheet, or its default: recovery.loss_years.",
    )
    rows: list[tuple[str, Text]] = [
        ("Usable capacity", data.value("usable-capacity")),
        ("Purchase", data.value("purchase")),
        ("Total cost", [*parts(data.value("total-cost")), f" in {years} years", planned]),
        ("Cost of capacity", data.value("cost-per-tb")),
    ]
    if "later-purchases" in data.figures:
        rows.insert(2, ("Full after", data.value("full-after")))
        rows.insert(3, ("Later purchases", data.value("later-purchases")))
    for part in data.shown.performance:
        given = performance_figures(part)["throughput"]
        value = data.notes.value(SHOWN, given)
        if part.wanted_throughput is not None:
            goal = data.notes.add(
                f"answer/{part.application}.throughput",
                f"wanted throughput of {foreign(part.application, 60)}",
                "Answer of the worksheet: throughput of the application.",
            )
            value += [f", wanted {quantity(part.wanted_throughput, 'B/s')}", goal]
        rows.append((f"Throughput, {foreign(part.application, 60)}", value))
    if not data.shown.performance:
        rows.append(("Throughput", f"{UNKNOWN} no application was simulated"))
    loss = quantity(data.worksheet.recovery.loss_years, "1")
    rows += [
        (
            "Probability of data loss",
            [*parts(data.value("loss-probability")), f" in {loss} years", loss_years],
        ),
        (
            "Downtime",
            [
                *parts(data.value("downtime")),
                " a month: servers, switches and quorum; without power, cables and planned work",
            ],
        ),
        ("Power", data.value("power")),
        ("Racks", data.value("racks")),
    ]
    return rows


def _state(data: DesignData, checked: list[Requirement]) -> Text:
    """Return how many requirements are met, missed and unknown, as a sentence."""
    counts = {
        status: sum(row.status == status for row in checked)
        for status in ("met", "missed", "not evaluated")
    }
    note = data.notes.add(
        "requirements",
        "Requirements",
        "Lines of the table of requirements by their state. A requirement that the worksheet does"
        " not state is not counted.",
    )
    text: list[str | Reference] = [
        f"{counts['met']} of {sum(counts.values())} stated requirements are met",
        note,
    ]
    if counts["missed"]:
        text += [f", {counts['missed']} missed", note]
    if counts["not evaluated"]:
        text += [f", {counts['not evaluated']} not evaluated", note]
    text.append(".")
    unsure = len(data.solution.unsure)
    if unsure:
        text += [
            f" {unsure} answers are unknown" if unsure > 1 else " 1 answer is unknown",
            data.notes.add(
                "unsure",
                "Unknown answers",
                "Answers that the worksheet leaves open; the risks list them.",
            ),
            ".",
        ]
    return text


def _miss(data: DesignData, requirement: Requirement) -> Text:
    note = data.notes.add(
        f"answer/{requirement.field}",
        requirement.name,
        f"Answer of the worksheet: {requirement.field}. {requirement.message}",
    )
    return [
        f"{requirement.name}: wanted {requirement.wanted}",
        note,
        ", the design gives ",
        *(
            [foreign(requirement.got), note]
            if isinstance(requirement.got, str)
            else requirement.got
        ),
        ".",
    ]
