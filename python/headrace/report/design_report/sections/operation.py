"""How the system is run: burn-in, scrubbing, spares, replacement, backup, power."""

from headrace.report.design_report.data import UNKNOWN, DesignData
from headrace.report.design_report.sections.design import OPERATION, reasons_table
from headrace.report.design_report.words import aspect, values, zone_name
from headrace.report.document.content import Block, Paragraph, Section, Table, Text, foreign


def section(data: DesignData) -> Section:
    """Return the rules of operation with their reasons."""
    choices = sorted(data.choices(*OPERATION), key=lambda it: OPERATION.index(it.aspect))
    rows: list[list[Text]] = [
        [aspect(it.aspect), zone_name(it), values(it, 200) or UNKNOWN] for it in choices
    ]
    blocks: list[Block] = []
    if rows:
        note = "The best value is first."
        columns = ["Task", "Zone", "Recommended"]
        blocks.append(Table("Rules of operation", columns, "llw", rows, note=note))
        blocks += reasons_table("Reasons of the rules", choices)
    missing = [aspect(it) for it in OPERATION if it not in {each.aspect for each in choices}]
    if missing:
        blocks.append(
            Paragraph(f"No rule has a recommendation for: {', '.join(missing).lower()}.", "note")
        )
    blocks += _staff(data)
    return Section("operation", "Operation", blocks)


def _staff(data: DesignData) -> list[Block]:
    managers = dict.fromkeys(it.manager for it in data.worksheet.zones if it.manager)
    if managers:
        return [Paragraph(f"Managers of the zones: {foreign(', '.join(managers))}.")]
    return [
        Paragraph(
            "The worksheet names no manager of a zone. Agree on who removes stale data, makes"
            " backups and watches the system (Hindman 2011, section 2.5.2)."
        )
    ]
