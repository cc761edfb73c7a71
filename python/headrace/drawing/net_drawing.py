"""SVG elements for the symbols, pages and lines of a net diagram."""

import math
from collections.abc import Mapping
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement

from headrace.drawing.layers import Point
from headrace.drawing.net_graph import SMALL_SIZE, Edge, Sheet, Symbol
from headrace.drawing.net_structure import Node
from headrace.drawing.net_symbols import (
    BAR,
    CYLINDER_CAP,
    DIAMOND,
    DOT,
    HEAD,
    PAD,
    QUEUE,
    RADIUS,
    Line,
    Load,
    Tick,
    busiest,
    caption,
    finite,
    servers_x,
    tooltip,
)
from headrace.drawing.page_layout import SHADOW, TITLE_SIZE, title
from headrace.drawing.text_size import printable

INK = "#2f3b47"
SOFT_INK = "#66727f"
PAPER = "#ffffff"
STORE_FILL = "#e6eef0"
SHEET_FILLS = ("#fbfcfd", "#f1f5f8", "#e7eef3", "#dde6ee")
SHEET_LINE = "#a9b7c4"
STORE_LINE = "#5b8a8f"
SIGNAL_LINE = "#8a6fa8"
LOAD_SHADES = (
    (0.0, (255, 255, 255)),
    (0.5, (252, 236, 190)),
    (0.8, (246, 190, 120)),
    (1.0, (226, 120, 95)),
)
"""Fill of a station's servers by utilisation; each is also darker in grey than the one before."""
CORNER = 5.0


def number(value: float) -> str:
    """A coordinate with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-0", "0" if value == 0 else "-0")


def add(
    parent: Element, tag: str, text: str | None = None, /, **attributes: str | float
) -> Element:
    """A new element; underscores in attribute names stand for hyphens."""
    written = {
        name.replace("_", "-"): number(value) if isinstance(value, float | int) else value
        for name, value in attributes.items()
    }
    element = SubElement(parent, tag, written)
    element.text = text
    return element


def add_text(parent: Element, x: float, y: float, line: Line, **attributes: str | float) -> None:
    """One line of text on a baseline."""
    bold = {"font_weight": "bold"} if line.bold else {}
    add(parent, "text", line.text, x=x, y=y, font_size=line.size, **bold, **attributes)


def draw_sheet(parent: Element, sheet: Sheet) -> None:
    """A page: a rounded box with its name, on a small pile if it is folded."""
    page = sheet.page
    group = add(parent, "g", data_page=printable(page.path), stroke=SHEET_LINE)
    copies = f", {page.copies} copies" if page.copies > 1 else ""
    add(group, "title", printable(f"page {page.path} ({page.name}{copies})"))
    fill = SHEET_FILLS[min(sheet.depth, len(SHEET_FILLS) - 1)]
    size: dict[str, str | float] = {"width": sheet.width, "height": sheet.height, "rx": 8.0}
    for behind in (2, 1) if page.copies > 1 else ():
        add(
            group,
            "rect",
            x=sheet.x + behind * SHADOW,
            y=sheet.y + behind * SHADOW,
            fill=fill,
            stroke_width=0.8,
            **size,
        )
    add(group, "rect", x=sheet.x, y=sheet.y, fill=fill, stroke_width=1.2, **size)
    heading = Line(title(page.name, page.copies), TITLE_SIZE, bold=True)
    add_text(group, sheet.x + 10, sheet.y + 17, heading, fill=INK, stroke="none")


def draw_symbol(
    parent: Element,
    symbol: Symbol,
    path: str,
    load: Mapping[int, Load],
    has_tokens: bool = False,
) -> None:
    """A symbol with what is written in and under it, and its first tokens."""
    if symbol.kind == "transition":
        ids = {"data_path": printable(f"t{path}/{symbol.name}")}
    else:
        ids = {"data_id": str(getattr(symbol.item, "id", ""))}
    group = add(
        parent,
        "g",
        data_kind=symbol.kind,
        data_name=printable(symbol.name),
        **ids,
        fill=PAPER,
        stroke=INK,
        stroke_width=1.3,
    )
    add(group, "title", printable(tooltip(symbol, path, load)))
    draw_shape(group, symbol, load)
    if has_tokens:
        draw_tokens(group, symbol)
    y = symbol.y + symbol.height / 2 + PAD
    for line in caption(symbol, load):
        fill = INK if line.size > SMALL_SIZE else SOFT_INK
        baseline = y + line.size * 0.95
        add_text(group, symbol.x, baseline, line, fill=fill, stroke="none", text_anchor="middle")
        y += line.height


def draw_shape(group: Element, symbol: Symbol, load: Mapping[int, Load]) -> None:
    """The symbol itself."""
    if symbol.kind == "transition":
        _pill(group, symbol.x, symbol.y, BAR, symbol.height, 1.0, fill=INK, stroke="none")
    elif symbol.kind == "store":
        left, top = symbol.x - symbol.width / 2, symbol.y - symbol.height / 2
        cylinder(group, left, top, symbol.width, symbol.height, CYLINDER_CAP)
    elif symbol.kind == "station":
        _station(group, symbol, load)
    elif symbol.kind == "page":
        _closed_page(group, symbol, load)
    else:
        _pill(group, symbol.x, symbol.y, 2 * RADIUS, symbol.height, RADIUS)
        inner = symbol.height - 7
        if symbol.kind == "bag":
            _pill(group, symbol.x, symbol.y, 2 * RADIUS - 7, inner, RADIUS - 3.5, fill="none")
        if isinstance(symbol.item, Node) and symbol.item.sink:
            x, y = symbol.x, symbol.y
            ways = ((-1, -1), (1, 1), (-1, 1), (1, -1))
            ends = [f"{number(x + 5 * a)} {number(y + 5 * b)}" for a, b in ways]
            cross = f"M {ends[0]} L {ends[1]} M {ends[2]} L {ends[3]}"
            add(group, "path", d=cross, stroke_width=1.6)


DICE = {
    1: ((0, 0),),
    2: ((-1, 0), (1, 0)),
    3: ((0, -1), (-1, 0.8), (1, 0.8)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
}
"""Where the dots of a number of tokens are, about the middle of a place."""


def draw_tokens(parent: Element, symbol: Symbol) -> None:
    """First tokens of a place or station, as dots if they are few, else as a number."""
    tokens = symbol.item.initial if isinstance(symbol.item, Node) else 0
    if not tokens:
        return
    x = symbol.x + (servers_x(symbol) if symbol.kind == "station" else 0.0)
    group = add(parent, "g", data_tokens=str(tokens), fill=INK, stroke="none")
    for across, down in DICE.get(tokens, ()):
        add(group, "circle", cx=x + 4.6 * across, cy=symbol.y + 4.6 * down, r=DOT)
    if tokens not in DICE:
        text = Line(f"{tokens}" if tokens < 10_000 else f"{tokens:.0e}".replace("e+0", "e"), 9.0)
        add_text(group, x, symbol.y + 3.2, text, text_anchor="middle")


def _closed_page(group: Element, symbol: Symbol, load: Mapping[int, Load]) -> None:
    """A page of which only the border is shown, with a plus sign as in a tree of folders.

    It is shaded by the utilisation of its busiest station.
    """
    busy = busiest(symbol, load)
    fill = SHEET_FILLS[2] if busy is None else shade(busy)
    _pill(group, symbol.x, symbol.y, symbol.width, symbol.height, 6.0, fill=fill, stroke=SHEET_LINE)
    if busy is not None:
        text = Line(f"{100 * busy:.0f}%", SMALL_SIZE, bold=True)
        place = {"fill": INK, "stroke": "none", "text_anchor": "middle"}
        add_text(group, symbol.x, symbol.y + 3.2, text, **place)
        return
    x, y = number(symbol.x), number(symbol.y)
    plus = f"M {number(symbol.x - 5)} {y} H {number(symbol.x + 5)}"
    plus += f" M {x} {number(symbol.y - 5)} V {number(symbol.y + 5)}"
    add(group, "path", d=plus, stroke=SOFT_INK)


def _pill(
    group: Element, x: float, y: float, width: float, height: float, radius: float, **style: str
) -> None:
    add(
        group,
        "rect",
        x=x - width / 2,
        y=y - height / 2,
        width=width,
        height=height,
        rx=radius,
        **style,
    )


def cylinder(
    group: Element,
    x: float,
    y: float,
    width: float,
    height: float,
    cap: float,
    **style: str | float,
) -> None:
    """A store as a cylinder with its top left corner at a point; `cap` is half a rim's height."""
    right, top, low = x + width, y + cap, y + height - cap
    radii = f"{number(width / 2)} {number(cap)} 0 0"
    rim = f"A {radii} 1 {number(right)} {number(top)}"
    under = f"A {radii} 0 {number(right)} {number(top)}"
    base = f"A {radii} 1 {number(x)} {number(low)}"
    corner = f"M {number(x)} {number(top)}"
    body = f"{corner} {rim} V {number(low)} {base} Z"
    add(group, "path", d=body, fill=STORE_FILL, stroke=STORE_LINE, **style)
    add(group, "path", d=f"{corner} {under}", fill="none", stroke=STORE_LINE, **style)


def _station(group: Element, station: Symbol, load: Mapping[int, Load]) -> None:
    """A queue with one open end, tokens waiting in it, and the servers behind it."""
    way = -1 if station.mirrored else 1
    mouth, server = station.x - way * station.width / 2, station.x + way * QUEUE / 2
    behind = mouth + way * QUEUE
    half = station.height / 2 - 3
    top, low = number(station.y - half), number(station.y + half)
    add(group, "path", d=f"M {number(mouth)} {top} H {number(behind)} V {low} H {number(mouth)}")
    bars = " ".join(f"M {number(behind - way * at)} {top} V {low}" for at in (6, 12, 18))
    add(group, "path", d=bars, stroke_width=1.0)
    figures = load.get(station.item.id, {}) if isinstance(station.item, Node) else {}
    busy = finite(figures.get("utilisation"))
    _pill(group, server, station.y, 2 * RADIUS, station.height, RADIUS, fill=shade(busy))
    if busy is not None:
        text = Line(f"{100 * busy:.0f}%", 9.0 if busy < 0.995 else 8.0, bold=True)
        add_text(
            group, server, station.y + 3.2, text, fill=INK, stroke="none", text_anchor="middle"
        )


def shade(utilisation: float | None) -> str:
    """The fill for a utilisation: from white to red, yellow and orange between."""
    if utilisation is None:
        return PAPER
    busy = min(max(utilisation, 0.0), 1.0)
    for (low, pale), (high, strong) in pairwise(LOAD_SHADES):
        if busy <= high:
            part = (busy - low) / (high - low)
            mixed = (round(p + part * (s - p)) for p, s in zip(pale, strong, strict=True))
            return "#" + "".join(f"{value:02x}" for value in mixed)
    return PAPER


def draw_edge(
    parent: Element, edge: Edge, description: str, ends: Mapping[str, str] | None = None
) -> None:
    """An arc, a store line or a signal along its route. `ends` are attributes with its ends."""
    ink = {"store": STORE_LINE, "signal": SIGNAL_LINE}.get(edge.kind, INK)
    group = add(parent, "g", data_line=edge.kind, **(ends or {}), fill="none", stroke=ink)
    add(group, "title", printable(description))
    route = list(edge.route)
    style: dict[str, str | float] = {"stroke_width": 2.8 if edge.how == "many" else 1.2}
    if edge.kind != "arc":
        style["stroke_dasharray"] = "2 3" if edge.kind == "signal" else "5 3"
    tip, way = route[-1], direction(route[-2], route[-1])
    if edge.kind != "store":
        route[-1] = (tip[0] - way[0] * (HEAD - 1), tip[1] - way[1] * (HEAD - 1))
    add(group, "path", d=rounded_path(route), **style)
    if edge.how == "inhibit":
        radius = (HEAD - 1) / 2
        x, y = tip[0] - way[0] * radius, tip[1] - way[1] * radius
        add(group, "circle", cx=x, cy=y, r=radius, fill=PAPER, stroke_width=1.2)
    elif edge.kind != "store":
        arrowhead(group, tip, way, ink, 4.6 if edge.how == "many" else 3.4)
    if edge.how == "either":
        _diamond(group, route[0], direction(edge.route[0], edge.route[1]))
    if edge.label:
        _label(group, edge)


def direction(a: Point, b: Point) -> Point:
    """The unit vector from one point to another."""
    length = math.dist(a, b) or 1.0
    return ((b[0] - a[0]) / length, (b[1] - a[1]) / length)


def arrowhead(group: Element, tip: Point, way: Point, ink: str, half: float) -> None:
    """An arrowhead of `half` the width at its base, with its tip at a point."""
    back = (tip[0] - way[0] * HEAD, tip[1] - way[1] * HEAD)
    wing = (-way[1] * half, way[0] * half)
    corners = (tip, (back[0] + wing[0], back[1] + wing[1]), (back[0] - wing[0], back[1] - wing[1]))
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    add(group, "polygon", points=points, fill=ink, stroke="none")


def _diamond(group: Element, start: Point, way: Point) -> None:
    end = (start[0] + way[0] * DIAMOND, start[1] + way[1] * DIAMOND)
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    wing = (-way[1] * 3.8, way[0] * 3.8)
    corners = (
        start,
        (middle[0] + wing[0], middle[1] + wing[1]),
        end,
        (middle[0] - wing[0], middle[1] - wing[1]),
    )
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    add(group, "polygon", points=points, fill=PAPER, stroke_width=1.1)


def _label(group: Element, edge: Edge) -> None:
    """The label over the line, beside the transition."""
    text = Line(printable(edge.label), SMALL_SIZE)
    if edge.label_at is not None:
        add_text(
            group,
            *edge.label_at,
            text,
            fill=INK,
            text_anchor="middle",
            stroke=PAPER,
            stroke_width=3.0,
            paint_order="stroke",
        )
        return
    into = edge.how in ("input", "inhibit")
    route = edge.route[::-1] if into else edge.route
    east = route[1][0] >= route[0][0]
    mark = DIAMOND if edge.how == "either" else HEAD if into else 0.0
    x = route[0][0] + (mark + 4) * (1 if east else -1)
    add_text(
        group,
        x,
        route[0][1] - 3,
        text,
        fill=INK,
        stroke="none",
        text_anchor="start" if east else "end",
    )


def draw_tick(parent: Element, tick: Tick, name: str, path: str | None = None) -> None:
    """The mark of a plain transition on its arc, and the path of the transition's page."""
    names = {"data_name": printable(name)}
    if path is not None:
        names["data_path"] = printable(f"t{path}/{name}")
    group = add(parent, "g", data_kind="tick", **names, fill=INK)
    add(group, "title", printable(f"transition {name}"))
    width, height = (3.4, 11.0) if tick.upright else (11.0, 3.4)
    _pill(group, tick.x, tick.y, width, height, 0.8)


def rounded_path(route: list[Point]) -> str:
    """SVG path data of a route with its corners rounded."""
    parts = [f"M {number(route[0][0])} {number(route[0][1])}"]
    for before, corner, after in zip(route, route[1:], route[2:], strict=False):
        radius = min(CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        come, go = direction(before, corner), direction(corner, after)
        parts.append(
            f"L {number(corner[0] - come[0] * radius)} {number(corner[1] - come[1] * radius)}"
            f" Q {number(corner[0])} {number(corner[1])}"
            f" {number(corner[0] + go[0] * radius)} {number(corner[1] + go[1] * radius)}"
        )
    parts.append(f"L {number(route[-1][0])} {number(route[-1][1])}")
    return " ".join(parts)
