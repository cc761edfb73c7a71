"""How the system is run: burn-in, scrubbing, spares, replacement, backup, power."""

from headrace.report.design_report.data import UNKNOWN, DesignData
from headrace.report.design_report.sections.design import OPERATION, reasons_table
from headrace.report.design_report.words import aspect, values, zone_name
from headrace.report.document.content import Block, Paragraph, Section, Table, Text, foreign


def section(data: DesignData) -> Section:
    """Return the rules of operation with their reasons."""
    choices = sorted(data.choices(*OPERATION), key=lambda choice: OPERATION.index(choice.aspect))
    rows: list[list[Text]] = [
        [aspect(one.aspect), zone_name(one), values(one, 200) or UNKNOWN] for one in choices
    ]
    blocks: list[Block] = []
    if rows:
        note = "The best value is first."
        columns = ["Task", "Zone", "Recommended"]
        blocks.append(Table("Rules of operation", columns, "llw", rows, note=note))
        blocks += reasons_table("Reasons of the rules", choices)
    missing = [aspect(name) for name in OPERATION if name not in {each.aspect for each in choices}]
    if missing:
        blocks.append(
            Paragraph(f"No rule has a recommendation for: {', '.join(missing).lower()}.", "note")
        )
    blocks += _staff(data)
    return Section("operation", "Operation", blocks)


def _staff(data: DesignData) -> list[Block]:
    managers = dict.fromkeys(zone.manager for zone in data.worksheet.zones if zone.manager)
    if managers:
        return [Paragraph(f"Managers of the zones: {foreign(', '.join(managers))}.")]
    return [
        Paragraph(
            "The worksheet names no manager of a zone. Agree on who removes stale data, makes"
            " backups and watches the system (Hindman 2011, section 2.5.2)."
        )
    ]
