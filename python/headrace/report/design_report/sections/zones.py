"""Storage zones, the data in them and its flow (Hindman 2011, section 2.5.2)."""

from headrace.design.worksheet import Worksheet
from headrace.quantities import percent, quantity, size, whole
from headrace.report.design_report.data import UNKNOWN, DesignData
from headrace.report.document.content import Block, Paragraph, Section, Table, Text, foreign


def section(data: DesignData) -> Section:
    """Return the diagram of the data flow, and the tables of zones, data and flows."""
    sheet = data.worksheet
    blocks: list[Block] = []
    if not sheet.zones:
        blocks.append(
            Paragraph(
                "The worksheet defines no zone. All data has the policies of the whole system."
            )
        )
    tables = _zones(data) + _data(sheet) + _flows(sheet)
    diagram = data.pictures.get("data-flow")
    if diagram is None:
        blocks += tables
    elif diagram.wide:
        # It takes a page of its own.
        blocks += [*tables, diagram]
    else:
        blocks += [diagram, *tables]
    return Section("zones", "Data zones and flow", blocks)


def _zones(data: DesignData) -> list[Block]:
    pools = data.shown.design.each_pool if data.shown is not None else ()
    disks = {name: foreign(one.disk.name, 80) for one in pools for name in one.zones}
    rows: list[list[Text]] = [
        [
            foreign(zone.name, 80),
            zone.throughput,
            zone.distribution,
            UNKNOWN if zone.copies is None else str(zone.copies),
            UNKNOWN if zone.share is None else f"{percent(zone.share)} %",
            foreign(zone.backup, 160) or UNKNOWN,
            UNKNOWN if zone.lifetime is None else quantity(zone.lifetime, "s"),
            foreign(zone.manager, 80) or UNKNOWN,
            foreign(zone.removal, 160) or UNKNOWN,
            *([disks[zone.name]] if disks else []),
        ]
        for zone in data.worksheet.zones
    ]
    columns = ["Zone", "Throughput", "Distribution", "Copies", "Share", "Backup", "Lifetime"]
    columns += ["Manager", "Removal", *(["Disks"] if disks else [])]
    title = "Policies of the zones (worksheet, zones)"
    return [Table(title, columns, "lllrrwrwww"[: len(columns)], rows)] if rows else []


def _data(sheet: Worksheet) -> list[Block]:
    rows: list[list[Text]] = [
        [
            foreign(datum.name, 80),
            datum.data_class,
            foreign(datum.zone, 80),
            UNKNOWN if datum.size is None else size(datum.size),
            UNKNOWN if datum.files is None else whole(datum.files),
            _yes_or_no(datum.striping),
            _yes_or_no(datum.regenerable),
        ]
        for datum in sheet.data
    ]
    columns = ["Data", "Class", "Zone", "Size", "Files", "Striping helps", "Can be regenerated"]
    note = "Classes: Hindman 2011, appendix B."
    title = "Kinds of data (worksheet, data)"
    return [Table(title, columns, "lllrrll", rows, note=note)] if rows else []


def _flows(sheet: Worksheet) -> list[Block]:
    rows: list[list[Text]] = [
        [
            foreign(flow.source, 80),
            foreign(flow.target, 80),
            foreign(flow.what, 160) or UNKNOWN,
            UNKNOWN if flow.rate is None else quantity(flow.rate, "B/s"),
            "moved" if flow.removes else "copied",
        ]
        for flow in sheet.flows
    ]
    columns = ["From", "To", "Data", "Rate", "At the source"]
    title = "Flow of data (worksheet, flows)"
    return [Table(title, columns, "llwrl", rows)] if rows else []


def _yes_or_no(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"
