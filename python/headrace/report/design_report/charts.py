"""Drawings of a design's report: the front of the search, the racks, the cost over years."""

import math
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle

from headrace.design.capacity import capacity
from headrace.design.figure import Figure, by_key
from headrace.design.growth import later_purchases
from headrace.design.inventory import switches_and_links
from headrace.design.worksheet import pool_worksheet
from headrace.quantities import number, numbered
from headrace.render.style import COLOURS, short
from headrace.report.design_report.data import DesignData, figures_by_key, total_throughput
from headrace.report.document.content import foreign
from headrace.views.solution import label

WIDTH = 7.6
"""Inches."""
SMALL = 8
"""Points."""
CLASSES = ((1e-6, "o"), (1e-4, "s"), (1e-2, "^"), (math.inf, "v"))
"""Upper limits of the loss probability, and the marker of designs below each."""
MOST_LABELS = 40


class Chart(NamedTuple):
    """A drawing with its caption."""

    name: str
    """Name of its file, without the suffix."""
    title: str
    caption: str
    figure: Drawing


def draw(data: DesignData) -> Iterator[Chart]:
    """Yield the drawings that the data allows."""
    yield from front(data)
    yield from racks(data)
    yield from cost(data)


def front(data: DesignData) -> Iterator[Chart]:
    """Yield the designs compared by cost and throughput, with markers for the loss probability."""
    points = []
    for at, one in enumerate(data.alternatives):
        figures = figures_by_key(one)
        money = figures.get("total-cost") or figures.get("purchase")
        if money is not None and one.performance and math.isfinite(money.value):
            loss = figures.get("loss-probability")
            points.append((at, one, money, total_throughput(one.performance), loss))
    if not points:
        return
    drawing = Drawing(figsize=(WIDTH, 3.8), layout="constrained")
    axes = drawing.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    top = max(point[3] for point in points)
    factor, unit = next(
        (it for it in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")) if top >= it[0]), (1.0, "B/s")
    )
    named: set[str] = set()
    for at, one, money, throughput, loss in points:
        kind = _loss_class(loss)
        text, marker = LOSS_TEXTS[kind]
        axes.plot(
            [money.value],
            [throughput / factor],
            marker=marker,
            color=COLOURS[(2, 0, 3, 1, 5)[kind]],
            linestyle="none",
            markersize=7,
            label=None if text in named else text,
        )
        named.add(text)
        if one is data.shown:
            axes.plot(
                [money.value],
                [throughput / factor],
                marker="o",
                markersize=14,
                fillstyle="none",
                color="#000000",
                linestyle="none",
            )
        if at < MOST_LABELS:
            axes.annotate(
                label(at),
                (money.value, throughput / factor),
                textcoords="offset points",
                xytext=(8, 5),
                fontsize=SMALL,
            )
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.08)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    title = points[0][2].title
    currency = foreign(data.catalogue.currency, 20)
    axes.set_xlabel(f"{title}, {currency}" if currency else title, fontsize=SMALL)
    axes.set_ylabel(f"throughput of all applications, {unit}", fontsize=SMALL)
    axes.tick_params(labelsize=SMALL)
    axes.legend(frameon=False, fontsize=SMALL, title="loss probability", title_fontsize=SMALL)
    ring = " A ring marks the design of this report." if data.shown is not None else ""
    yield Chart(
        "front",
        "Cost and throughput of the designs compared",
        f"Letters are those of the table.{ring}",
        drawing,
    )


LOSS_TEXTS = (
    *((f"below {limit:g}", marker) for limit, marker in CLASSES[:-1]),
    (f"{CLASSES[-2][0]:g} or more", CLASSES[-1][1]),
    ("unknown", "x"),
)


def _loss_class(loss: Figure | None) -> int:
    if loss is None or math.isnan(loss.value):
        return len(LOSS_TEXTS) - 1
    return next(at for at, (limit, _) in enumerate(CLASSES) if loss.value < limit)


MOST_RACKS = 6
"""Racks that are drawn."""


class _Box(NamedTuple):
    text: str
    units: float
    colour: str


def racks(data: DesignData) -> Iterator[Chart]:
    """Yield a proposal of where the parts stand in the racks, in units from the bottom."""
    if data.shown is None:
        return
    design, height = data.shown.design, data.worksheet.facility.rack_units
    switches, _ = switches_and_links(design)
    standing: list[list[_Box]] = []
    common: list[_Box] = []
    for one in design.each_pool:
        whose = f" of {one.zone_names}" if one.zones else ""
        servers = [_Box(f"data server{whose}", one.node.rack_units, COLOURS[0])]
        if one.shelf is not None:
            shelf = _Box(f"shelf{whose}", one.shelf.rack_units, COLOURS[5])
            servers += [shelf] * one.shelves_per_node
        standing += [servers] * one.nodes
        others = (
            ("metadata server", one.metadata_nodes, 3),
            ("gateway", one.gateways, 4),
            ("fail-over server", one.fail_over_nodes, 0),
            ("arbiter", one.arbiters, 0),
        )
        common += [
            _Box(f"{name}{whose}", one.node.rack_units, COLOURS[colour])
            for name, count, colour in others
            for _ in range(count)
        ]
    common += [_Box("switch", design.network.switch_rack_units, COLOURS[2])] * switches
    filled = _fill(standing + [[box] for box in common], height, _rack_count(data))
    if not filled:
        return
    drawn = filled[:MOST_RACKS]
    used = max(sum(box.units for box in rack) for rack in drawn)
    # A rack that is nearly empty is cut above its parts.
    shown_units = min(height, max(8, math.ceil(used) + 2))
    high = 0.35 + min(6.0, 0.16 * shown_units)
    drawing = Drawing(figsize=(WIDTH, high))
    axes = drawing.add_axes((0.01, 0.01, 0.98, 0.98 - 0.25 / high))
    axes.set_xlim(0, 6.6)
    axes.set_ylim(0, shown_units)
    axes.axis("off")
    pitch = min(2.2, 6.6 / len(drawn))
    size = min(SMALL - 1, 200.0 / shown_units)
    for at, parts in enumerate(drawn):
        left, width = at * pitch + 0.2, pitch - 0.25
        axes.text(left, shown_units + 0.1, f"rack {at + 1}", fontsize=SMALL, va="bottom")
        axes.add_patch(Rectangle((left, 0), width, height, fill=False, edgecolor="#888888"))
        for unit in range(math.ceil(shown_units)):
            axes.text(
                left - 0.03, unit + 0.5, f"{unit + 1}", fontsize=size, ha="right", va="center"
            )
        bottom = 0.0
        for box in parts:
            axes.add_patch(
                Rectangle(
                    (left + 0.03, bottom + 0.06),
                    width - 0.06,
                    box.units - 0.12,
                    facecolor=box.colour,
                    alpha=0.35,
                    edgecolor="#444444",
                    linewidth=0.5,
                )
            )
            axes.text(
                left + width / 2,
                bottom + box.units / 2,
                f"{box.text}, {number(box.units)} U",
                fontsize=min(size, 8.0 * box.units),
                ha="center",
                va="center",
            )
            bottom += box.units
    caption = f"{numbered(len(filled), 'rack')} of {number(height)} units."
    more = f" The first {MOST_RACKS} are drawn." if len(filled) > MOST_RACKS else ""
    cut = " Empty units at the top are cut off." if shown_units < height else ""
    text = f"A proposal: {caption} Units are counted from the bottom.{more}{cut}"
    yield Chart("racks", "Racks", text, drawing)


def _rack_count(data: DesignData) -> int:
    figure = data.figures.get("racks")
    if figure is None or not math.isfinite(figure.value):
        return 1
    return max(1, round(figure.value))


def _fill(groups: Sequence[Sequence[_Box]], height: float, count: int) -> list[list[_Box]]:
    """Return the parts of each rack; a group stays in one rack, and racks are added as needed.

    Groups are spread evenly over at least `count` racks. A group that is higher than a rack gets
    no place.
    """
    placed: list[list[_Box]] = [[] for _ in range(count)]
    for group in groups:
        need = sum(box.units for box in group)
        if need > height:
            continue
        rack = min(placed, key=lambda boxes: sum(box.units for box in boxes))
        if sum(box.units for box in rack) + need > height:
            rack = []
            placed.append(rack)
        rack.extend(group)
    return [boxes for boxes in placed if boxes]


def cost(data: DesignData) -> Iterator[Chart]:
    """Yield the money spent over the years of the plan, stacked by kind."""
    figures = data.figures
    purchase, years = figures.get("purchase"), data.worksheet.capacity.years
    if purchase is None or not math.isfinite(purchase.value) or years <= 0:
        return
    yearly = [
        (figure, _yearly(figure, years))
        for key in ("maintenance", "spare-parts", "power-cost", "colocation", "engineer")
        if (figure := figures.get(key)) is not None
    ]
    yearly = [(name, value) for name, value in yearly if value]
    if not yearly:
        return
    times = np.append(np.arange(0.0, math.ceil(years)), years)
    steps = [(purchase, np.full_like(times, purchase.value))]
    if data.shown is not None and (bought := figures.get("later-purchases")) is not None:
        later = [
            purchase
            for one in data.shown.design.each_pool
            for purchase in later_purchases(
                one,
                by_key(capacity(one))["usable-capacity"].value,
                pool_worksheet(data.worksheet, one.zones).capacity,
                data.catalogue.price_decline,
            )
        ]
        sums = [sum(each.price for each in later if each.year <= at) for at in times]
        steps.append((bought, np.array(sums)))
    drawing = Drawing(figsize=(WIDTH, 3.0), layout="constrained")
    axes = drawing.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.stackplot(
        times,
        [*(value for _, value in steps), *(value * times for _, value in yearly)],
        labels=[short(entry.title, 40) for entry, _ in (*steps, *yearly)],
        colors=[
            colour
            for colour, _ in zip(cycle(COLOURS), range(len(steps) + len(yearly)), strict=False)
        ],
        alpha=0.7,
    )
    axes.set_xlim(0, years)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("years", fontsize=SMALL)
    axes.set_ylabel(foreign(data.catalogue.currency, 20) or "money", fontsize=SMALL)
    axes.tick_params(labelsize=SMALL)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1],
        labels[::-1],
        frameon=False,
        fontsize=SMALL,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
    )
    yield Chart(
        "cost",
        "Cost over the years",
        "Purchase at the start, then what each year adds; later purchases without maintenance.",
        drawing,
    )


def _yearly(figure: Figure, years: float) -> float:
    """Return the money of a figure over all years by year; 0 if it is of another kind."""
    if figure.unit != "money" or not math.isfinite(figure.value):
        return 0.0
    return figure.value / years
