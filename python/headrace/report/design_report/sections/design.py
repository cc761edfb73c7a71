"""The design: what is bought and how it is configured."""

from headrace.design.evaluation import Choice
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.words import aspect, configuration
from headrace.report.document.content import (
    Block,
    Facts,
    Paragraph,
    Section,
    Table,
    Text,
    foreign,
)

OPERATION = ("backup", "spares", "scrubbing", "burn-in", "replacement", "ups")
"""Aspects that the section on operation has."""


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
    rows: list[list[Text]] = []
    for line in data.lines:
        price: Text = UNKNOWN
        amount: Text = UNKNOWN
        if line.price is not None and line.amount is not None:
            price = data.notes.value(SHOWN, line.price)
            amount = data.notes.value(SHOWN, line.amount)
        rows.append(
            [
                line.name,
                foreign(line.entry, 120),
                data.count(line.count.key),
                price,
                amount,
            ]
        )
    missing = [foreign(it.entry, 80) for it in data.lines if it.price is None]
    note = f"Prices of the catalogue {foreign(data.catalogue.name, 80)}"
    note += f" of {foreign(data.catalogue.date, 40)}"
    if data.catalogue.currency:
        note += f", in {foreign(data.catalogue.currency, 20)}"
    note += ". Taxes, shipping and installation are not included."
    if missing:
        note += f" The catalogue has no price for: {', '.join(dict.fromkeys(missing))}."
    columns = ["Item", "Entry of the catalogue", "Number", "Price", "Amount"]
    return [Table("Bill of materials", columns, "lwrrr", rows, note=note)]


def _zones(data: DesignData) -> list[Block]:
    chosen = [it for it in data.choices() if it.aspect not in OPERATION]
    rows: list[list[Text]] = [
        [
            foreign(it.zone, 80) or "whole system",
            aspect(it.aspect),
            foreign(", ".join(it.values[:1]), 120) or UNKNOWN,
            foreign(", ".join(it.values[1:]), 120) or UNKNOWN,
            reasons(it),
        ]
        for it in chosen
    ]
    if not rows:
        return [Paragraph("No rule recommends a configuration of the zones.", "note")]
    note = "Recommendations follow from the rules; the bill and the configuration above say what"
    note += " the search chose among them."
    columns = ["Zone", "Aspect", "Recommended", "Also possible", "Why"]
    return [Table("Configuration of each zone", columns, "llllw", rows, note=note)]


def reasons(choice: Choice) -> str:
    """Return the reasons of a choice with their sources."""
    return " ".join(f"{foreign(it.text)} ({foreign(it.source, 120)})" for it in choice.reasons)
