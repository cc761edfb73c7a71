"""How the system is run: burn-in, scrubbing, spares, replacement, backup, power."""

from headrace.report.design_report.data import UNKNOWN, DesignData
from headrace.report.design_report.sections.design import OPERATION, reasons
from headrace.report.design_report.words import aspect
from headrace.report.document.content import Block, Paragraph, Section, Table, Text, foreign

ORDER = ("burn-in", "spares", "scrubbing", "replacement", "backup", "ups")


def section(data: DesignData) -> Section:
    """Return the rules of operation with their reasons."""
    chosen = sorted(data.choices(*OPERATION), key=lambda it: ORDER.index(it.aspect))
    rows: list[list[Text]] = [
        [
            aspect(it.aspect),
            foreign(it.zone, 80) or "whole system",
            foreign(", ".join(it.values), 200) or UNKNOWN,
            reasons(it),
        ]
        for it in chosen
    ]
    blocks: list[Block] = []
    if rows:
        columns = ["Task", "Zone", "Recommended", "Why"]
        blocks.append(Table("Rules of operation", columns, "llww", rows))
    missing = [aspect(it) for it in ORDER if it not in {each.aspect for each in chosen}]
    if missing:
        blocks.append(
            Paragraph(f"No rule has a recommendation for: {', '.join(missing).lower()}.", "note")
        )
    blocks += _staff(data)
    return Section("operation", "Operation", blocks)


def _staff(data: DesignData) -> list[Block]:
    managers = sorted({it.manager for it in data.worksheet.zones if it.manager})
    if managers:
        return [Paragraph(f"Managers of the zones: {foreign(', '.join(managers))}.")]
    return [
        Paragraph(
            "The worksheet names no manager of a zone. Agree on who removes stale data, makes"
            " backups and watches the system (Hindman 2011, section 2.5.2)."
        )
    ]
