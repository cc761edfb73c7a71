"""The data-flow diagram of a worksheet, and the network of a design: boxes joined by lines.

Each flow has its text between two layers of boxes. The layout is that of net diagrams.
Source: Hindman 2011, figures 2.3 to 2.9, and appendix A, "Diagram how data will flow".
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args
from xml.etree.ElementTree import Element, tostring

from headrace.design.data_classes import data_classes
from headrace.design.inventory import hosts, switches_and_links
from headrace.design.system import Design
from headrace.design.worksheet import ClientGroup, Worksheet, Zone
from headrace.drawing.layered_layout import place
from headrace.drawing.layering import Flow as LayerFlow
from headrace.drawing.layering import assign_layers
from headrace.drawing.layers import Box, Link, Point
from headrace.drawing.net_diagram import EDGE_OF_PICTURE, FONTS, NARROWEST
from headrace.drawing.net_drawing import (
    INK,
    PAPER,
    SHEET_FILLS,
    SHEET_LINE,
    SOFT_INK,
    STORE_FILL,
    STORE_LINE,
    add,
    add_text,
    arrowhead,
    cylinder,
    direction,
    number,
    rounded_path,
)
from headrace.drawing.net_graph import SMALL_SIZE
from headrace.drawing.net_symbols import HEAD, NAME_SIZE, Line
from headrace.drawing.text_size import printable, shorten
from headrace.quantities import duration, numbered, rate_text

Kind = Literal["zone", "clients", "outside", "servers", "switches"]
Movements = Literal["flow", "removal", "access", "links"]

PADDING = 10.0
CAP = 7.0
"""Height of half the rim of a zone's cylinder."""
LABEL_COLUMNS = 24
"""Characters of a line of a flow's text."""
LABEL_LINES = 4
ZONE_COLUMNS = 30
"""Characters of a line of a zone's text."""
LONGEST_TEXT = 190.0
REMOVAL_LINE = "#b5502f"
LEGEND_SIZE = 9.5
LEGEND_ROW = 22.0
EXPLAINED = {
    "zone": "zone of the storage system",
    "clients": "clients",
    "switches": "switches",
    "servers": "servers",
    "outside": "outside of the system",
    "flow": "flow of data",
    "removal": "flow that removes the data",
    "access": "access of an application",
    "links": "links, with their number and speed",
}
DARK = {
    PAPER: "#14171a",
    INK: "#d9dfe5",
    SOFT_INK: "#a3adb7",
    STORE_FILL: "#1f3234",
    STORE_LINE: "#7fb5ba",
    SHEET_FILLS[1]: "#222a31",
    SHEET_FILLS[3]: "#303b45",
    SHEET_LINE: "#6d7c8a",
    REMOVAL_LINE: "#f08a63",
}
"""Colours on a dark screen, by those on a light one."""


@dataclass(frozen=True)
class _Entity:
    """A zone, a group of machines or an outside name, with the lines of its text."""

    kind: Kind
    name: str
    lines: tuple[Line, ...]

    @property
    def width(self) -> float:
        return max(60.0, *(line.width for line in self.lines)) + 2 * PADDING

    @property
    def height(self) -> float:
        rim = 2 * CAP if self.kind == "zone" else 0.0
        return sum(line.height for line in self.lines) + 2 * PADDING + rim


@dataclass(frozen=True)
class _Movement:
    """A flow, an access or links between two entities by their numbers."""

    source: int
    target: int
    lines: tuple[Line, ...]
    kind: Movements


def data_flow_svg(worksheet: Worksheet) -> str:
    """Return the data-flow diagram of a worksheet as the text of an SVG picture.

    Zones are cylinders with throughput, distribution, backup, copies and lifetime. Flows are
    arrows with their text and rate; dashed ones remove data. A worksheet without flows shows the
    accesses of its applications instead. The picture follows the reader's light or dark screen.
    """
    return _svg(f"data flow of {worksheet.name}", *_graph(worksheet))


def network_svg(design: Design, worksheet: Worksheet) -> str:
    """Return the network of a design as the text of an SVG picture: clients, switches and servers
    with the number and speed of their links."""
    network = design.network
    switches, cables = switches_and_links(design)
    is_flat = switches == design.paths
    up = max(network.switch_ports // 2, 1)
    leaves = switches if is_flat else cables // up

    def links(count: int, source: int, target: int) -> _Movement:
        text = f"{count} x {8e-9 * network.bandwidth:g} Gbit/s"
        return _Movement(source, target, (_line(text, small=True),), "links")

    entities = [_clients(group) for group in worksheet.clients]
    middle = len(entities)
    texts = [network.name, f"{network.switch_ports} ports each"]
    texts += [f"{numbered(cables, 'cable')} between them"] if is_flat and cables else []
    name = "switch" if is_flat else "leaf switch"
    entities.append(_machines("switches", numbered(leaves, name, f"{name}es"), texts))
    movements = []
    for at, group in enumerate(worksheet.clients):
        link = links(group.count, at, middle)
        # No adapters are bought for these.
        if group.has_network or (design.gateways and group.system == "windows"):
            lines = (_line("network that they have", small=True),)
            link = replace(link, lines=lines)
        movements.append(link)
    if not is_flat:
        movements.append(links(cables, middle, len(entities)))
        name = numbered(switches - leaves, "spine switch", "spine switches")
        entities.append(_machines("switches", name, texts[:2]))
    for one in design.each_pool:
        whose = f" of {one.zone_names}" if one.zones else ""
        for name, count in hosts(one).items():
            texts = [f"{count} x {one.node.name}"]
            if name == "data servers":
                texts.append(f"each {one.disks_per_node} x {one.disk.name}")
                if one.shelf is not None and one.shelves_per_node:
                    texts.append(f"in {one.shelves_per_node} x {one.shelf.name}")
            movements.append(links(count * design.paths, middle, len(entities)))
            entities.append(_machines("servers", f"{name}{whose}", texts))
    return _svg("network", entities, movements)


def _machines(kind: Kind, name: str, texts: Sequence[str]) -> _Entity:
    return _Entity(kind, name, (_line(name, bold=True), *(_line(text) for text in texts)))


def _svg(title: str, entities: Sequence[_Entity], movements: Sequence[_Movement]) -> str:
    boxes, links = _boxes(entities, movements)
    placed = place(boxes, links)
    shift = EDGE_OF_PICTURE
    width = max(placed.width, NARROWEST) + 2 * shift
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
    svg.set("font-family", FONTS)
    add(svg, "title", printable(title))
    add(svg, "style", _dark_style())
    paper = add(svg, "rect", x=0, y=0, width=width, fill=PAPER)
    drawing = add(svg, "g", transform=f"translate({number(shift)} {number(shift)})")
    routes = iter(placed.routes)
    for movement, label in zip(movements, boxes[len(entities) :], strict=True):
        _draw_movement(drawing, entities, movement, label, (next(routes), next(routes)), boxes)
    for entity, box in zip(entities, boxes, strict=False):
        _draw_entity(drawing, entity, box)
    below = placed.height + 2 * shift
    kinds = {entry.kind for entry in entities} | {one.kind for one in movements}
    below += _draw_legend(svg, [kind for kind in EXPLAINED if kind in kinds], below, width)
    height = below + shift / 2
    paper.set("height", number(height))
    svg.set("width", number(width))
    svg.set("height", number(height))
    svg.set("viewBox", f"0 0 {number(width)} {number(height)}")
    return tostring(svg, encoding="unicode") + "\n"


def _dark_style() -> str:
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in DARK.items()
    )
    return f"@media (prefers-color-scheme: dark) {{{rules}}}"


def _graph(worksheet: Worksheet) -> tuple[list[_Entity], list[_Movement]]:
    zones = {zone.name: zone for zone in worksheet.zones}
    clients = {client.name: client for client in worksheet.clients}
    numbers: dict[str, int] = {}
    entities: list[_Entity] = []

    def of(name: str) -> int:
        if name not in numbers:
            numbers[name] = len(entities)
            if name in zones:
                entities.append(_zone(zones[name], worksheet))
            elif name in clients:
                entities.append(_clients(clients[name]))
            else:
                entities.append(_Entity("outside", name, (_line(name, bold=True),)))
        return numbers[name]

    movements = [
        _Movement(
            of(flow.source),
            of(flow.target),
            _label(flow.what, flow.rate),
            "removal" if flow.removes else "flow",
        )
        for flow in worksheet.flows
    ]
    if not worksheet.flows:
        movements = [
            _Movement(of(group), of(zone), _label(one.name, one.throughput), "access")
            for one in worksheet.applications
            for group in one.clients
            for zone in one.zones
        ]
    for name in (*zones, *clients):
        of(name)
    return entities, movements


def _line(text: str, small: bool = False, bold: bool = False) -> Line:
    at = SMALL_SIZE if small else NAME_SIZE
    return Line(shorten(text, at, LONGEST_TEXT), at, bold)


def _wrapped(text: str, small: bool = False) -> list[Line]:
    """Return the lines of a text in a zone, two at most."""
    first, *rest = textwrap.wrap(printable(text), ZONE_COLUMNS + 8 * small) or [""]
    return [_line(words, small) for words in (first, " ".join(rest)) if words]


def _zone(zone: Zone, worksheet: Worksheet) -> _Entity:
    distribution = "simple or striped" if zone.distribution == "either" else zone.distribution
    texts = [f"{zone.throughput} throughput", f"{distribution} distribution"]
    if zone.backup:
        texts.append(f"backup: {zone.backup}")
    if zone.copies is not None:
        texts.append(numbered(zone.copies, "copy", "copies"))
    if zone.lifetime is not None:
        texts.append(f"removed after {duration(zone.lifetime)}")
    contents = [
        f"{entry.name}: {data_classes()[entry.data_class].title}"
        for entry in worksheet.data
        if entry.zone == zone.name
    ]
    more = numbered(len(contents) - 3, "more kind", "more kinds")
    shown = contents[:3] + [f"and {more} of data"] * (len(contents) > 3)
    lines = [_line(f"zone {zone.name}", bold=True)]
    lines += [line for text in texts for line in _wrapped(text)]
    lines += [line for content in shown for line in _wrapped(content, small=True)]
    return _Entity("zone", zone.name, tuple(lines))


def _clients(group: ClientGroup) -> _Entity:
    system = {"windows": "Windows", "linux": "Linux", "macos": "macOS", "unix": "Unix"}
    texts = [f"{group.count} x {system[group.system]}"]
    texts += ["high throughput"] if group.high_throughput else []
    texts += [] if group.source_rate is None else [f"source: {rate_text(group.source_rate)}"]
    return _machines("clients", group.name, texts)


def _label(label: str, rate: float | None) -> tuple[Line, ...]:
    texts = textwrap.wrap(printable(label), LABEL_COLUMNS)
    if len(texts) > LABEL_LINES:
        rest = " ".join(texts[LABEL_LINES - 1 :])
        texts = [*texts[: LABEL_LINES - 1], textwrap.shorten(rest, LABEL_COLUMNS, placeholder="…")]
    lines = [_line(text) for text in texts]
    return (*lines, *([] if rate is None else [_line(rate_text(rate), small=True)]))


def _boxes(
    entities: Sequence[_Entity], movements: Sequence[_Movement]
) -> tuple[list[Box], list[Link]]:
    """Return the boxes of entities, then those of the movements' texts, with two links each.

    Entities stand in even layers, and texts in the odd ones between them.
    """
    flows = [LayerFlow(one.source, one.target) for one in movements if one.source != one.target]
    layers = assign_layers(len(entities), flows)
    boxes = [
        _box(entity.width, entity.height, 2 * (layer - 1))
        for entity, layer in zip(entities, layers, strict=True)
    ]
    links = []
    for move in movements:
        ends = sorted((move.source, move.target), key=lambda at: boxes[at].layer)
        width = max((line.width for line in move.lines), default=0.0) + 8
        height = max(sum(line.height for line in move.lines), 12.0)
        # The text stands beside the source, where the reader begins.
        at = boxes[move.source].layer
        is_eastward = move.source == ends[0]
        label = len(boxes)
        boxes.append(_box(width, height, at + 1 if is_eastward else at - 1))
        links.append(Link(ends[0], label))
        links.append(Link(label, ends[1]) if move.source != move.target else Link(ends[0], label))
    return boxes, links


def _box(width: float, height: float, layer: int) -> Box:
    return Box(width, height, layer, height / 2, lambda east, _: width if east else 0.0)


def _draw_movement(
    parent: Element,
    entities: Sequence[_Entity],
    movement: _Movement,
    label: Box,
    routes: tuple[list[Point], list[Point]],
    boxes: Sequence[Box],
) -> None:
    """Draw a flow from its source over its text to its target."""
    source, target = entities[movement.source], entities[movement.target]
    ink = REMOVAL_LINE if movement.kind == "removal" else INK
    group = add(parent, "g", data_line=movement.kind, fill="none", stroke=ink)
    is_mutual = movement.kind in ("access", "links")
    arrow = "\N{LEFT RIGHT ARROW}" if is_mutual else "\N{RIGHTWARDS ARROW}"
    add(group, "title", printable(f"{source.name} {arrow} {target.name}"))
    first, second = list(routes[0]), list(routes[1])
    if movement.source == movement.target:
        second.reverse()
    elif boxes[movement.source].layer > boxes[movement.target].layer:
        first, second = second[::-1], first[::-1]
    style: dict[str, str | float] = {"stroke_width": 1.3}
    if movement.kind == "removal":
        style["stroke_dasharray"] = "5 3"
    _draw_route(group, first[::-1], ink, style, has_head=movement.kind == "access")
    _draw_route(group, second, ink, style, has_head=movement.kind != "links")
    y = label.y + label.height / 2 - sum(row.height for row in movement.lines) / 2
    for line in movement.lines:
        y += line.height
        fill = INK if line.size > SMALL_SIZE else SOFT_INK
        at = label.x + label.width / 2
        add_text(
            group, at, y - line.size * 0.3, line, fill=fill, stroke="none", text_anchor="middle"
        )
    if not movement.lines:
        middle = label.y + label.height / 2
        ends = [(label.x, middle), (label.x + label.width, middle)]
        add(group, "path", d=rounded_path(ends), **style)


def _draw_route(
    group: Element, route: list[Point], ink: str, style: dict[str, str | float], has_head: bool
) -> None:
    route = list(route)
    if has_head:
        tip, way = route[-1], direction(route[-2], route[-1])
        route[-1] = (tip[0] - way[0] * (HEAD - 1), tip[1] - way[1] * (HEAD - 1))
        arrowhead(group, tip, way, ink, 3.6)
    add(group, "path", d=rounded_path(route), **style)


def _draw_entity(parent: Element, entity: _Entity, box: Box) -> None:
    group = add(parent, "g", data_kind=entity.kind, data_name=printable(entity.name))
    add(group, "title", printable(f"{entity.kind} {entity.name}"))
    _draw_shape(group, entity.kind, box.x, box.y, box.width, box.height)
    y = box.y + PADDING + (2 * CAP if entity.kind == "zone" else 0.0)
    for line in entity.lines:
        y += line.height
        fill = INK if line.size > SMALL_SIZE else SOFT_INK
        at = box.x + box.width / 2
        add_text(group, at, y - line.size * 0.3, line, fill=fill, text_anchor="middle")


def _draw_shape(
    group: Element, kind: str, x: float, y: float, width: float, height: float, cap: float = CAP
) -> None:
    """Draw a zone as a cylinder, machines as a box and the outside as a dashed box."""
    if kind != "zone":
        is_outside = kind == "outside"
        style: dict[str, str | float] = {"stroke_dasharray": "4 3"} if is_outside else {}
        fills = {"outside": PAPER, "servers": STORE_FILL, "switches": SHEET_FILLS[3]}
        fill = fills.get(kind, SHEET_FILLS[1])
        stroke = SOFT_INK if is_outside else SHEET_LINE
        add(
            group,
            "rect",
            x=x,
            y=y,
            width=width,
            height=height,
            rx=6.0,
            fill=fill,
            stroke=stroke,
            stroke_width=1.2,
            **style,
        )
        return
    cylinder(group, x, y, width, height, cap, stroke_width=1.3)


def _draw_legend(parent: Element, names: Sequence[str], y: float, width: float) -> float:
    """Draw the legend in rows; the height that it takes is returned."""
    group = add(parent, "g", data_kind="legend")
    x, top, icon = EDGE_OF_PICTURE, y, 30.0
    for name in names:
        text = Line(EXPLAINED[name], LEGEND_SIZE)
        room = icon + 8 + text.width + 18
        if x > EDGE_OF_PICTURE and x + room > width - EDGE_OF_PICTURE:
            x, top = EDGE_OF_PICTURE, top + LEGEND_ROW
        if name in get_args(Kind):
            _draw_shape(group, name, x, top + 3, icon, LEGEND_ROW - 6, cap=3.0)
        else:
            ink = REMOVAL_LINE if name == "removal" else INK
            line = add(group, "g", fill="none", stroke=ink)
            style: dict[str, str | float] = {"stroke_width": 1.3}
            style |= {"stroke_dasharray": "5 3"} if name == "removal" else {}
            ends = [(x, top + LEGEND_ROW / 2), (x + icon, top + LEGEND_ROW / 2)]
            _draw_route(line, ends, ink, style, has_head=name != "links")
            if name == "access":
                arrowhead(line, ends[0], (-1.0, 0.0), ink, 3.6)
        add_text(group, x + icon + 8, top + LEGEND_ROW / 2 + 3.5, text, fill=SOFT_INK)
        x += room
    return top + LEGEND_ROW - y if names else 0.0
