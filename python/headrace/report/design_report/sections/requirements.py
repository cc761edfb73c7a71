"""Needs of the customer, and how the design meets them (Hindman 2011, sections 2.2 to 2.10)."""

from headrace.design.growth import need_at
from headrace.design.worksheet import Background, Concern, Worksheet
from headrace.quantities import numbered, percent_text, quantity, size, whole
from headrace.quantities import percent as share
from headrace.report.design_report.data import SHOWN, UNKNOWN, DesignData
from headrace.report.design_report.performance import performance_figures
from headrace.report.design_report.requirements import later_need, requirements
from headrace.report.design_report.words import array, redundancy
from headrace.report.document.content import (
    Block,
    Facts,
    Paragraph,
    Reference,
    Section,
    Table,
    Text,
    foreign,
    parts,
)

CONCERNS: dict[Concern, str] = {
    "capacity": "capacity",
    "performance": "performance",
    "reliability": "reliability",
}


def section(data: DesignData) -> Section:
    """Return the customer's problem, each limitation and wish, and each requirement."""
    sheet = data.worksheet
    blocks: list[Block] = [Facts(_customer(sheet))]
    if sheet.background.limitations or sheet.background.wishes:
        blocks += _demands(data, sheet.background)
    checked = requirements(data)
    if checked:
        rows: list[list[Text]] = [
            [
                row.name,
                row.field,
                row.wanted,
                row.got,
                row.status,
                UNKNOWN if row.margin is None else percent_text(row.margin, sign=True),
            ]
            for row in checked
        ]
        blocks.append(
            Table(
                "Requirements",
                ["Requirement", "Field of the worksheet", "Wanted", "Design", "State", "Margin"],
                "wwrrlr",
                rows,
                note="Margin: what the design has to spare, in percent of what is wanted. Wanted"
                " values are the worksheet's answers in the named field.",
            )
        )
    blocks += _clients_and_applications(sheet)
    return Section("requirements", "Requirements", blocks)


def _customer(sheet: Worksheet) -> list[tuple[str, Text]]:
    customer, background = sheet.customer, sheet.background
    rows: list[tuple[str, Text]] = [("System", foreign(sheet.name))]
    for name, text in (
        ("Description", sheet.description),
        ("Company", customer.company),
        ("Contact", customer.contact),
        ("Date", customer.date),
        ("Problem", background.problem),
        ("Reason", background.reason),
        ("Existing system", background.existing),
    ):
        rows.append((name, foreign(text, 1500) if text else UNKNOWN))
    return rows


def _demands(data: DesignData, background: Background) -> list[Block]:
    rows: list[list[Text]] = []
    for number, limitation in enumerate(background.limitations, 1):
        who = limitation.seen_by or UNKNOWN
        rows.append(
            [
                f"Limitation {number}",
                foreign(limitation.text),
                f"{CONCERNS[limitation.concern]}, seen by {who}",
                answer(data, limitation.concern),
            ]
        )
    for number, wish in enumerate(background.wishes, 1):
        rows.append(
            [
                f"Wish {number}",
                foreign(wish.text),
                CONCERNS[wish.concern],
                answer(data, wish.concern),
            ]
        )
    return [
        Table(
            "Limitations of the existing system and wishes",
            ["", "In the customer's words", "Concern", "How the design meets it"],
            "lwlw",
            rows,
            note="The answer follows from the concern. Whether it settles the wording is for the"
            " customer and the engineer to agree.",
        )
    ]


def answer(data: DesignData, concern: Concern) -> Text:
    """Return how the design meets a concern, with the figures that show it."""
    if data.shown is None:
        return "No design was found."
    design = data.shown.design
    if concern == "capacity":
        need = data.worksheet.capacity
        text: list[str | Reference] = [
            "Usable capacity ",
            *parts(data.value("usable-capacity")),
            f", needed {size(need.usable)} (capacity.usable)",
        ]
        if not need.growth:
            return [*text, "."]
        last = need_at(need, need.years)
        text.append(f", and {size(last)} after {numbered(need.years, 'year')} (capacity.growth).")
        if later_need(data) is not None:
            text.append(" More is bought later.")
        return text
    if concern == "reliability":
        years = numbered(data.worksheet.recovery.loss_years, "year")
        return [
            *(
                f"{redundancy(one).capitalize()}. {array(one.array)[0].upper()}"
                f"{array(one.array)[1:]}. "
                for one in design.each_pool
            ),
            "Data is lost with probability ",
            *parts(data.value("loss-probability")),
            f" in {years} (recovery.loss_years).",
        ]
    if not data.shown.performance:
        return "No application was simulated, so this is not shown."
    text = ["Simulated throughput: "]
    for at, part in enumerate(data.shown.performance):
        figures = performance_figures(part)
        text += ["; "] if at else []
        text += [
            f"{foreign(part.application, 60)} ",
            *data.notes.value(SHOWN, figures["throughput"]),
        ]
        if part.wanted_throughput is not None:
            text.append(f", wanted {quantity(part.wanted_throughput, 'B/s')}")
    return [*text, "."]


def _clients_and_applications(sheet: Worksheet) -> list[Block]:
    blocks: list[Block] = []
    if sheet.clients:
        rows: list[list[Text]] = [
            [
                foreign(client.name, 80),
                str(client.count),
                UNKNOWN if client.growth is None else f"{share(client.growth)} %",
                client.system,
                "yes" if client.high_throughput else "no",
                UNKNOWN if client.source_rate is None else quantity(client.source_rate, "B/s"),
            ]
            for client in sheet.clients
        ]
        columns = ["Clients", "Number", "Growth a year", "System", "High throughput", "Source"]
        blocks.append(
            Table(
                "Clients (worksheet, clients)",
                columns,
                "lrrllr",
                rows,
                note="Source: throughput of what feeds them.",
            )
        )
    if sheet.applications:
        rows = [
            [
                foreign(app.name, 80),
                foreign(", ".join(app.clients), 120),
                foreign(", ".join(app.zones), 120),
                app.preset or app.profile or app.pattern or UNKNOWN,
                UNKNOWN if app.transfer is None else size(app.transfer),
                UNKNOWN if app.read_share is None else f"{share(app.read_share)} %",
                UNKNOWN if app.throughput is None else quantity(app.throughput, "B/s"),
                UNKNOWN if app.operations is None else f"{whole(app.operations)}/s",
                UNKNOWN if app.latency is None else quantity(app.latency, "s"),
            ]
            for app in sheet.applications
        ]
        columns = ["Application", "Clients", "Zones", "Access", "Transfer", "Read"]
        columns += ["Throughput", "Operations", "Latency"]
        blocks.append(Table("Applications (worksheet, applications)", columns, "lwllrrrrr", rows))
    if not sheet.applications:
        blocks.append(
            Paragraph("The worksheet names no application: performance has no requirement.", "note")
        )
    return blocks
