"""The design: where it stands, how it is connected and how it is configured."""

from collections.abc import Sequence

from headrace.design.evaluation import Choice
from headrace.report.design_report.data import UNKNOWN, DesignData
from headrace.report.design_report.reasons import COLUMNS, Ground, rows
from headrace.report.design_report.words import WHOLE, aspect, configuration, values, zone_name
from headrace.report.document.content import (
    Block,
    Facts,
    Paragraph,
    Section,
    Table,
    Text,
    foreign,
)

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
    """Return the racks, the network, the configuration, and that of each zone."""
    if data.shown is None:
        return Section("design", "Design", [Paragraph("There is no design to describe.")])
    pictures = (data.pictures.get(name) for name in ("racks", "network"))
    blocks: list[Block] = [picture for picture in pictures if picture is not None]
    for one in data.shown.design.each_pool:
        whose = f" of {foreign(one.zone_names, 80)}" if one.zones else ""
        blocks.append(Paragraph(f"Configuration{whose}", "heading"))
        blocks.append(Facts(list(configuration(one))))
    blocks += _zones(data)
    return Section("design", "Design", blocks)


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
