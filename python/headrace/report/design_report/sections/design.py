"""The design: what is bought and how it is configured."""

from collections.abc import Sequence

from headrace.design.evaluation import Choice
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.reasons import COLUMNS, Ground, rows
from headrace.report.design_report.words import WHOLE, aspect, configuration, values, zone_name
from headrace.report.document.content import Block, Facts, Paragraph, Section, Table, Text, foreign

OPERATION = (
    "burn-in",
    "spares",
    "scrubbing",
    "replacement",
    "maintenance",
    "backup",
    "removal",
    "ups",
    "growth",
)
"""Aspects that the section on operation has, in its order."""


def section(data: DesignData) -> Section:
    """Return the bill of materials, the configuration, and that of each zone."""
    if data.shown is None:
        return Section("design", "Design", [Paragraph("There is no design to describe.")])
    blocks: list[Block] = [*_bill(data)]
    blocks.append(Paragraph("Configuration", "heading"))
    blocks.append(Facts(list(configuration(data.shown.design))))
    if "racks" in data.pictures:
        blocks.append(data.pictures["racks"])
    blocks += _zones(data)
    return Section("design", "Design", blocks)


def _bill(data: DesignData) -> list[Block]:
    lines: list[list[Text]] = []
    for line in data.lines:
        price: Text = UNKNOWN
        amount: Text = UNKNOWN
        if line.price is not None and line.amount is not None:
            price = data.notes.value(SHOWN, line.price)
            amount = data.notes.value(SHOWN, line.amount)
        number = data.notes.value(SHOWN, line.count)
        lines.append([line.part.title, foreign(line.part.entry, 120), number, price, amount])
    for key in ("purchase", "priced-parts"):
        if key in data.figures:
            total = data.figures[key]
            lines.append([total.title, "", "", "", data.notes.value(SHOWN, total)])
    missing = [foreign(one.part.entry, 80) for one in data.lines if one.price is None]
    note = f"Prices of the catalogue {foreign(data.catalogue.name, 80)}"
    note += f" of {foreign(data.catalogue.date, 40)}"
    if data.catalogue.currency:
        note += f", in {foreign(data.catalogue.currency, 20)}"
    note += ". Taxes, shipping and installation are not included."
    if missing:
        note += f" The catalogue has no price for: {', '.join(dict.fromkeys(missing))}."
    columns = ["Item", "Entry of the catalogue", "Number", "Price", "Amount"]
    return [Table("Bill of materials", columns, "lwrrr", lines, note=note)]


def _zones(data: DesignData) -> list[Block]:
    """Return what the rules recommend by zone, and why."""
    choices = [choice for choice in data.choices() if choice.aspect not in OPERATION]
    if not choices:
        return [Paragraph("No rule recommends a configuration of the zones.", "note")]
    aspects = list(dict.fromkeys(choice.aspect for choice in choices))
    zones = list(dict.fromkeys(zone_name(choice) for choice in choices))
    by_place = {(choice.aspect, zone_name(choice)): values(choice) for choice in choices}
    note = "The best value is first. The bill and the configuration above say what the search"
    note += " chose among them."
    blocks: list[Block] = []
    for start in range(0, len(zones), MOST_ZONES):
        shown = zones[start : start + MOST_ZONES]
        cells: list[list[Text]] = [
            [aspect(name), *(by_place.get((name, zone)) or UNKNOWN for zone in shown)]
            for name in aspects
            if any((name, zone) in by_place for zone in shown)
        ]
        names = [zone if zone == WHOLE else f"Zone {zone}" for zone in shown]
        title = "Recommended configuration of each zone"
        align = "l" + "w" * len(shown)
        blocks.append(Table(title, ["Aspect", *names], align, cells, note=note))
    return [*blocks, *reasons_table("Reasons of the configuration", choices)]


MOST_ZONES = 5
"""Zones side by side in a table."""


def reasons_table(title: str, choices: Sequence[Choice]) -> list[Block]:
    """Return each reason once, with the zones that it holds for."""
    table = rows(
        (Ground(choice, reason.value, reason) for choice in choices for reason in choice.reasons),
        mark_against=True,
    )
    return [Table(title, list(COLUMNS), "lwlW", table)] if table else []
