"""Cost of a design over the years of the worksheet: to buy, to maintain, to power, to run.

Purchases for the growth that the worksheet states are counted at the price of their year.

Not modelled: interest, inflation, taxes, the price of floor space on site, the end of a warranty.
"""

from collections.abc import Iterable, Sequence

from headrace.design.capacity import capacity
from headrace.design.catalogue import Catalogue
from headrace.design.evaluation import Violation
from headrace.design.facility import facility
from headrace.design.figure import LEAST, SUM, Figure, Input, by_key, combine
from headrace.design.growth import later_figures
from headrace.design.inventory import Part, parts
from headrace.design.system import Design
from headrace.design.worksheet import Budget, Worksheet, pool_worksheet
from headrace.quantities import HOURS_A_MONTH, number, numbered, quantity, size

HINDMAN = "Hindman 2011, section 2.9"
DEFINITION = "definition"
MONTHS_YEAR = 12.0
DISK_HOURS, NODE_HOURS = 1.0, 4.0
"""Hours of an engineer for a failed disk and a failed server: declared."""
MONITORING_HOURS = 4.0
"""Hours a month of an engineer for monitoring: declared, one a week."""


def cost(
    design: Design,
    catalogue: Catalogue,
    worksheet: Worksheet,
    throughput: float | None = None,
    *,
    capacities: Iterable[Figure] | None = None,
    facilities: Iterable[Figure] | None = None,
) -> tuple[Figure, ...]:
    """Return the costs of a design.

    Keys of the purchase: `purchase-disk`, `purchase-node` and others for each kind of part,
    `purchase`, `full-after`, `later-purchases`. Keys of operation: `maintenance-year`,
    `maintenance`, `failures-month`, `spare-parts`, `power-month`, `power-cost`, `colocation`,
    `engineer-hours`, `engineer`. Sums: `total-cost`, `cost-per-tb`, `cost-per-tb-year`,
    `cost-per-rate`.

    A figure that needs a price that is missing is not given: `missing_prices` names the entries.
    The sum of the parts that have prices is then `priced-parts`, with a note.

    Args:
        design: The design.
        catalogue: Currency and share of maintenance.
        worksheet: Years, prices of electricity, racks and hours.
        throughput: Bytes a second that the design reaches; none: no cost of a rate.
        capacities: Figures of `capacity(design)`, if they are known.
        facilities: Figures of `facility(design, worksheet.facility)`, if they are known.
    """
    bought = parts(design)
    usable = by_key(capacity(design) if capacities is None else capacities)["usable-capacity"]
    housing = by_key(facility(design, worksheet.facility) if facilities is None else facilities)
    figures = _purchase(bought)
    purchase = by_key(figures).get("purchase")
    has_agreement = worksheet.budget.vendor_agreement is not False
    if purchase is not None and has_agreement:
        figures += _maintenance(bought, catalogue, worksheet)
    if purchase is not None:
        share = catalogue.maintenance_share if has_agreement else 0.0
        later = [
            (one.zone_names, later_figures(one, room, catalogue, need, share))
            for one in design.each_pool
            for room in (by_key(capacity(one))["usable-capacity"].value,)
            for need in (pool_worksheet(worksheet, one.zones).capacity,)
        ]
        growth = {"full-after": LEAST, "later-purchases": SUM}
        figures += combine(later, growth) if design.pools else later[0][1]
    figures.append(_failures(bought))
    if not has_agreement:
        figures += _spare_parts(bought, worksheet)
    figures += _power(housing["total-power"], worksheet)
    figures += _colocation(housing["racks"], worksheet)
    figures += _engineer(bought, worksheet)
    if purchase is None:
        return tuple(figures)
    sums = by_key(figures)
    summed = [
        sums[key]
        for key in (
            "purchase",
            "maintenance",
            "later-purchases",
            "spare-parts",
            "power-cost",
            "colocation",
            "engineer",
        )
        if key in sums
    ]
    figures += _totals(summed, usable, worksheet, throughput)
    return tuple(figures)


def missing_prices(design: Design) -> tuple[str, ...]:
    """Return the entries of the catalogue that a design needs and that have no price."""
    return tuple(dict.fromkeys(part.entry for part in parts(design) if part.price is None))


def _purchase(bought: Sequence[Part]) -> list[Figure]:
    """Return the price of each kind of part, and their sum if all have prices."""
    figures = [
        Figure(
            key=f"purchase-{part.key}",
            title=part.title,
            value=part.count * part.price,
            unit="money",
            formula="number x price",
            inputs=(
                Input("number", str(part.count), "design"),
                Input("price", number(part.price), f"catalogue: {part.entry}"),
            ),
            source=DEFINITION,
        )
        for part in bought
        if part.price is not None
    ]
    missing = list(dict.fromkeys(part.entry for part in bought if part.price is None))
    total = Figure(
        key="priced-parts" if missing else "purchase",
        title="parts that have a price" if missing else "purchase",
        value=sum(figure.value for figure in figures),
        unit="money",
        formula=" + ".join(figure.title for figure in figures) or "0",
        inputs=tuple(_of(entry) for entry in figures),
        source=HINDMAN,
        note=f"no price in the catalogue: {', '.join(missing)}: purchase and total are unknown"
        if missing
        else "",
    )
    return [*figures, total]


def _maintenance(found: Sequence[Part], catalogue: Catalogue, worksheet: Worksheet) -> list[Figure]:
    """Return the maintenance of a year, and of all years."""
    quoted = sum(part.count * part.yearly_maintenance for part in found if part.yearly_maintenance)
    rest = sum(one.count * (one.price or 0.0) for one in found if one.yearly_maintenance is None)
    share = catalogue.maintenance_share
    unknown = worksheet.budget.vendor_agreement is None
    yearly = Figure(
        key="maintenance-year",
        title="maintenance a year",
        value=quoted + share * rest,
        unit="money/year",
        formula="quoted maintenance + share x price of the other parts",
        inputs=(
            Input("quoted maintenance", number(quoted), "catalogue: yearly_maintenance"),
            Input("share", f"{share:g}", "catalogue: maintenance_share"),
            Input("price of the other parts", number(rest), "purchase"),
        ),
        source=HINDMAN,
        note="budget.vendor_agreement is unknown: an agreement is assumed" if unknown else "",
    )
    years = worksheet.capacity.years
    total = Figure(
        key="maintenance",
        title="maintenance",
        value=yearly.value * years,
        unit="money",
        formula="maintenance a year x years",
        inputs=(_of(yearly), _span(years)),
        source=HINDMAN,
    )
    return [yearly, total]


def _rate(part: Part) -> float:
    """Return the failures a month of the parts of a kind."""
    return part.count * HOURS_A_MONTH * 3600 / part.mttf if part.mttf else 0.0


def _failures(bought: Sequence[Part]) -> Figure:
    failing = [part for part in bought if part.mttf]
    return Figure(
        key="failures-month",
        title="failures a month",
        value=sum(_rate(part) for part in failing),
        unit="1",
        formula=" + ".join(f"{one.title} x 730 h / MTTF of {one.title}" for one in failing) or "0",
        inputs=tuple(
            one
            for part in failing
            for one in (
                Input(part.title, str(part.count), "design"),
                Input(
                    f"MTTF of {part.title}",
                    f"{number((part.mttf or 0.0) / 3600)} h",
                    part.mttf_source or f"catalogue: {part.entry}",
                ),
            )
        ),
        source="reliability: failures at a constant rate",
    )


def _spare_parts(bought: Sequence[Part], worksheet: Worksheet) -> list[Figure]:
    """Return the price of the disks that fail, which an agreement would replace."""
    disks = [part for part in bought if part.kind in ("disk", "metadata-disk") and part.mttf]
    if any(disk.price is None for disk in disks):
        return []
    years = worksheet.capacity.years
    return [
        Figure(
            key="spare-parts",
            title="disks that fail",
            value=sum(_rate(disk) * MONTHS_YEAR * years * (disk.price or 0.0) for disk in disks),
            unit="money",
            formula=" + ".join(f"failures of {one.title} x price of {one.title}" for one in disks)
            or "0",
            inputs=tuple(
                one
                for it in disks
                for one in (
                    Input(
                        f"failures of {it.title}",
                        number(_rate(it) * MONTHS_YEAR * years),
                        f"failures a month x 12 x {numbered(years, 'year')}",
                    ),
                    Input(
                        f"price of {it.title}", number(it.price or 0.0), f"catalogue: {it.entry}"
                    ),
                )
            ),
            source=HINDMAN,
            note="without an agreement; the makers' warranty is not counted",
        )
    ]


def _power(total: Figure, worksheet: Worksheet) -> list[Figure]:
    price = worksheet.budget.electricity
    if price is None:
        return []
    years = worksheet.capacity.years
    month = Figure(
        key="power-month",
        title="power and cooling a month",
        value=total.value / 1e3 * HOURS_A_MONTH * price,
        unit="money/month",
        formula="power with cooling / 1000 W x 730 h x price of a kWh",
        inputs=(_of(total), Input("price of a kWh", f"{price:g}", "worksheet: budget.electricity")),
        source=HINDMAN,
        note="at the peak of power all the time: an upper bound",
    )
    years_power = Figure(
        key="power-cost",
        title="power and cooling",
        value=month.value * MONTHS_YEAR * years,
        unit="money",
        formula="power and cooling a month x 12 x years",
        inputs=(_of(month), _span(years)),
        source=HINDMAN,
    )
    return [month, years_power]


def _colocation(racks: Figure, worksheet: Worksheet) -> list[Figure]:
    price = worksheet.budget.rack_month
    if worksheet.facility.place != "co-location" or price is None:
        return []
    years = worksheet.capacity.years
    return [
        Figure(
            key="colocation",
            title="co-location",
            value=racks.value * price * MONTHS_YEAR * years,
            unit="money",
            formula="racks x price of a rack a month x 12 x years",
            inputs=(
                _of(racks),
                Input("price of a rack a month", number(price), "worksheet: budget.rack_month"),
                _span(years),
            ),
            source="Hindman 2011, section 2.8",
        )
    ]


def _engineer(bought: Sequence[Part], worksheet: Worksheet) -> list[Figure]:
    disks = sum(_rate(part) for part in bought if part.kind in ("disk", "metadata-disk"))
    nodes = sum(_rate(part) for part in bought if part.kind not in ("disk", "metadata-disk"))
    hours = Figure(
        key="engineer-hours",
        title="hours of an engineer a month",
        value=MONITORING_HOURS + disks * DISK_HOURS + nodes * NODE_HOURS,
        unit="1",
        formula="monitoring + failed disks x hours of a disk + failed servers x hours of a server",
        inputs=(
            Input("monitoring", f"{MONITORING_HOURS:g} h", "declared: 1 h a week"),
            Input("failed disks", number(disks), "failures a month"),
            Input("hours of a disk", f"{DISK_HOURS:g} h", "declared"),
            Input("failed servers", number(nodes), "failures a month"),
            Input("hours of a server", f"{NODE_HOURS:g} h", "declared"),
        ),
        source=HINDMAN,
    )
    price = worksheet.budget.engineer_hour
    if price is None:
        return [hours]
    years = worksheet.capacity.years
    return [
        hours,
        Figure(
            key="engineer",
            title="engineer",
            value=hours.value * price * MONTHS_YEAR * years,
            unit="money",
            formula="hours a month x price of an hour x 12 x years",
            inputs=(
                Input("hours a month", number(hours.value), hours.title),
                Input("price of an hour", number(price), "worksheet: budget.engineer_hour"),
                _span(years),
            ),
            source=HINDMAN,
        ),
    ]


def _totals(
    summed: Sequence[Figure], usable: Figure, worksheet: Worksheet, throughput: float | None
) -> list[Figure]:
    years = worksheet.capacity.years
    absent = _absent(worksheet)
    total = Figure(
        key="total-cost",
        title=f"total over {numbered(years, 'year')}",
        value=sum(figure.value for figure in summed),
        unit="money",
        formula=" + ".join(figure.title for figure in summed),
        inputs=tuple(_of(figure) for figure in summed),
        source=HINDMAN,
        note=f"without {' and '.join(absent)}" if absent else "",
    )
    figures = [total]
    if usable.value > 0:
        terabytes = Input("usable capacity", size(usable.value), usable.title)
        per_tb = Figure(
            key="cost-per-tb",
            title="total for a usable TB",
            value=total.value / (usable.value / 1e12),
            unit="money/TB",
            formula="total / usable capacity",
            inputs=(Input("total", number(total.value), total.title), terabytes),
            source=DEFINITION,
        )
        figures += [
            per_tb,
            Figure(
                key="cost-per-tb-year",
                title="total for a usable TB and year",
                value=per_tb.value / years,
                unit="money/TB",
                formula="total for a usable TB / years",
                inputs=(_of(per_tb), _span(years)),
                source=DEFINITION,
            ),
        ]
    if throughput is not None and throughput > 0:
        figures.append(
            Figure(
                key="cost-per-rate",
                title="total for 1 GB/s",
                value=total.value / (throughput / 1e9),
                unit="money/(GB/s)",
                formula="total / throughput",
                inputs=(
                    Input("total", number(total.value), total.title),
                    Input("throughput", quantity(throughput, "B/s"), "simulation"),
                ),
                source=DEFINITION,
            )
        )
    return figures


def _absent(worksheet: Worksheet) -> list[str]:
    """Return the costs that the worksheet has no price for."""
    budget, away = worksheet.budget, worksheet.facility.place == "co-location"
    absent = []
    if budget.electricity is None and not away:
        absent.append("power (budget.electricity is unknown)")
    if budget.rack_month is None and away:
        absent.append("the co-location (budget.rack_month is unknown)")
    if budget.engineer_hour is None:
        absent.append("the engineer (budget.engineer_hour is unknown)")
    return absent


def cost_limits(budget: Budget) -> tuple[tuple[str, float | None, str], ...]:
    """Return the limits of a budget: field of the worksheet, limit, key of the limited figure."""
    return (
        ("budget.initial", budget.initial, "purchase"),
        ("budget.monthly_power", budget.monthly_power, "power-month"),
        ("budget.yearly_maintenance", budget.yearly_maintenance, "maintenance-year"),
        ("budget.spare_parts", budget.spare_parts, "spare-parts"),
        ("budget.engineer_hours_month", budget.engineer_hours_month, "engineer-hours"),
    )


def cost_violations(
    figures: Iterable[Figure], worksheet: Worksheet, currency: str = ""
) -> tuple[Violation, ...]:
    """Return the limits of the budget that a design exceeds, from its costs in a currency."""
    keyed = by_key(figures)
    return tuple(
        Violation(
            field=field,
            wanted=f"at most {quantity(limit, keyed[key].unit, currency)}",
            got=quantity(keyed[key].value, keyed[key].unit, currency),
            message=f"{keyed[key].title[:1].upper()}{keyed[key].title[1:]}:"
            f" {quantity(keyed[key].value, keyed[key].unit, currency)}; the budget has"
            f" {quantity(limit, keyed[key].unit, currency)}.",
        )
        for field, limit, key in cost_limits(worksheet.budget)
        if limit is not None and key in keyed and keyed[key].value > limit * (1 + 1e-9)
    )


def _of(figure: Figure) -> Input:
    text = quantity(figure.value, figure.unit).partition(" (")[0]
    return Input(figure.title, text, f"figure: {figure.title}")


def _span(years: float) -> Input:
    return Input("years", f"{years:g}", "worksheet: capacity.years")
