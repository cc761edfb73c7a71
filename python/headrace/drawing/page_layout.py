"""Positions in a net diagram: each page is laid out alone, inner pages first.

To its parent a page is a box with ports: the points on its border through which lines pass.
A port's side follows from the layers, which are found from the top page down.
Sizes and places then follow from the innermost pages up.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from headrace.drawing.layered_layout import CHANNEL_MARGIN, Placement, place
from headrace.drawing.layering import Flow, assign_layers
from headrace.drawing.layers import SPACING, Box, Link, Point
from headrace.drawing.net_graph import Edge, Graph, Symbol
from headrace.drawing.net_symbols import (
    PAD,
    Load,
    caption,
    label_room,
    outline_height,
    outline_width,
    outline_x,
    servers_top,
    servers_x,
)
from headrace.drawing.text_size import shorten, text_width

TITLE_SIZE = 12.0
TITLE_HEIGHT = 24.0
MARGIN = 14.0
"""Free space between the border of a page and what it holds."""
LABEL_SPACING = 17.0
"""Distance of the lines at a transition when there are labels between them."""
SHADOW = 4.0
"""Offset between the sheets behind a folded page."""
WEIGHTS = {"arc": 1.0, "store": 0.8, "signal": 0.2}

Thing = tuple[str, int]
"""("symbol", number), ("sheet", number), or a port on a border: ("west" or "east", edge)"""

PortOrders = Mapping[int, Mapping[int, float]]
"""Orders, for some sheets, in which lines cross their border from top to bottom."""


@dataclass
class Plan:
    """A page before it has sizes: its things in layers, and its lines."""

    things: list[Thing] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)
    lines: list[tuple[int, int, int]] = field(default_factory=list)
    """(edge, thing at its start, thing at its end)"""


class Placements:
    """Placements of unchanged pages, to be reused: a trial of a line order changes one page and
    those around it."""

    def __init__(self) -> None:
        self.is_draft = False
        """True for trials: lines are not straightened, which takes most of the time."""
        self._known: dict[tuple[object, ...], tuple[Placement, list[Point]]] = {}

    def place(self, sheet: int, boxes: list[Box], links: list[Link]) -> Placement:
        """Place the boxes of a page."""
        # All else in a box follows from the page.
        asked = (
            (it.width, it.height, None if it.ports is None else tuple(it.ports.items()), it.wanted)
            for it in boxes
        )
        key = (sheet, self.is_draft, *asked)
        if key not in self._known:
            placement = place(boxes, links, self.is_draft)
            self._known[key] = placement, [(box.x, box.y) for box in boxes]
        placement, corners = self._known[key]
        for box, (x, y) in zip(boxes, corners, strict=True):
            box.x, box.y = x, y
        return placement


def title(name: str, copies: int) -> str:
    """Return the title of a page."""
    text = shorten(name, TITLE_SIZE, 260)
    return f"{text} \N{MULTIPLICATION SIGN}{copies}" if copies > 1 else text


def shadow(copies: int) -> float:
    """The space a page needs at its east and south side for the sheets behind it."""
    return 2 * SHADOW if copies > 1 else 0.0


def lay_out(
    graph: Graph,
    plans: list[Plan],
    load: Mapping[int, Load],
    port_orders: PortOrders,
    placements: Placements,
) -> None:
    """Set the places and sizes of all sheets and symbols, and the routes of all edges."""
    ports: dict[int, dict[int, Point]] = {}
    for sheet in reversed(range(len(graph.sheets))):
        order = port_orders.get(sheet, {})
        ports[sheet] = _place_sheet(graph, sheet, plans[sheet], ports, load, order, placements)
    for number, sheet_ in enumerate(graph.sheets):
        if number:
            parent = graph.sheets[sheet_.parent]
            sheet_.x += parent.x
            sheet_.y += parent.y
        for symbol in sheet_.symbols:
            graph.symbols[symbol].x += sheet_.x
            graph.symbols[symbol].y += sheet_.y
    for edge in graph.edges:
        _join_route(graph, edge)


# --- from the top page down: layers and sides of ports -------------------------------------------


def plan_pages(graph: Graph) -> list[Plan]:
    """The layers of everything in each page, and through which side lines leave it."""
    plans = [Plan() for _ in graph.sheets]
    index: list[dict[Thing, int]] = []
    for plan, sheet in zip(plans, graph.sheets, strict=True):
        symbols: list[Thing] = [("symbol", s) for s in sheet.symbols]
        inner: list[Thing] = [("sheet", s) for s in sheet.children]
        # Without another start of the net, the first of several pages is taken.
        plan.things = inner + symbols if len(inner) > 1 else symbols + inner
        index.append({thing: at for at, thing in enumerate(plan.things)})
    passing: list[list[tuple[int, Thing | None, Thing | None]]] = [[] for _ in graph.sheets]
    for number, edge in enumerate(graph.edges):
        leaves, common, enters = graph.crossed(edge)
        start: Thing = ("symbol", edge.source)
        for sheet_number in leaves:
            passing[sheet_number].append((number, start, None))
            start = ("sheet", sheet_number)
        end: Thing = ("symbol", edge.target)
        for sheet_number in reversed(enters):
            passing[sheet_number].append((number, None, end))
            end = ("sheet", sheet_number)
        passing[common].append((number, start, end))
    east_port: dict[tuple[int, int], bool] = {}
    for sheet_number, plan in enumerate(plans):
        flows = []
        for number, first, second in passing[sheet_number]:
            edge = graph.edges[number]
            flows.append(
                Flow(
                    None if first is None else index[sheet_number][first],
                    None if second is None else index[sheet_number][second],
                    east_port.get((sheet_number, number), False),
                    WEIGHTS[edge.kind],
                    edge.kind == "arc",
                )
            )
        plan.layers = assign_layers(len(plan.things), flows)
        last = max(plan.layers, default=0) + 1
        for (number, _, _), flow in zip(passing[sheet_number], flows, strict=True):
            source, target = flow.source, flow.target
            if source is None or target is None:
                plan.things.append(("east" if flow.east else "west", number))
                plan.layers.append(last if flow.east else 0)
                source = len(plan.things) - 1 if source is None else source
                target = len(plan.things) - 1 if target is None else target
            plan.lines.append((number, source, target))
            forward = plan.layers[source] < plan.layers[target]
            for at, east in ((source, forward), (target, not forward)):
                kind, child = plan.things[at]
                if kind == "sheet":
                    east_port[child, number] = east
    return plans


# --- from the inner pages up: sizes and places -------------------------------------------


def _place_sheet(
    graph: Graph,
    number: int,
    plan: Plan,
    ports: Mapping[int, dict[int, Point]],
    load: Mapping[int, Load],
    order: Mapping[int, float],
    placements: Placements,
) -> dict[int, Point]:
    """Place what is in a page, seen from its corner; the ports on its border are returned."""
    sheet = graph.sheets[number]
    links = []
    for edge, source, target in plan.lines:
        forward = plan.layers[source] < plan.layers[target]
        west, east = (source, target) if forward else (target, source)
        links.append(Link(west, east, 1.0 if graph.edges[edge].kind == "arc" else 0.2))
    boxes = []
    for at, (kind, inner) in enumerate(plan.things):
        if kind == "symbol":
            box = _symbol_box(graph, plan, at, links, load)
        elif kind == "sheet":
            child = graph.sheets[inner]
            behind = shadow(child.page.copies)
            by_link = {
                link: ports[inner][edge]
                for link, (edge, source, target) in enumerate(plan.lines)
                if at in (source, target)
            }
            box = Box(child.width + behind, child.height + behind, 0, 0, _no_side, by_link)
        else:
            box = Box(0, 0, 0, 0, _no_side, wanted=order.get(inner))
        box.layer = plan.layers[at]
        boxes.append(box)
    placement = placements.place(number, boxes, links)

    # Without ports on a side there is only an empty layer there, and the border needs a margin.
    names = {kind for kind, _ in plan.things}
    left = 0.0 if "west" in names else MARGIN - (2 * CHANNEL_MARGIN if boxes else 0)
    right = 0.0 if "east" in names else MARGIN
    top = TITLE_HEIGHT + (MARGIN / 2 if boxes else 0)
    heading = text_width(title(sheet.page.name, sheet.page.copies), TITLE_SIZE, bold=True) + 24
    spare = max(0.0, heading - (left + placement.width + right))
    sheet.width = left + placement.width + right + spare
    sheet.height = top + placement.height + (MARGIN if boxes else MARGIN / 2)

    def moved(point: Point) -> Point:
        # Spare width goes east of everything, so lines to the east border are drawn on.
        return (point[0] + left, point[1] + top)

    points: dict[int, Point] = {}
    for (kind, inner), box in zip(plan.things, boxes, strict=True):
        x, y = moved((box.x, box.y))
        if kind == "symbol":
            symbol = graph.symbols[inner]
            symbol.x, symbol.y = x + box.width / 2, y + box.anchor
        elif kind == "sheet":
            graph.sheets[inner].x, graph.sheets[inner].y = x, y
        else:
            points[inner] = (0.0 if kind == "west" else sheet.width, y)
    for link, (edge_number, source, _) in enumerate(plan.lines):
        route = [moved(point) for point in placement.routes[link]]
        if plan.things[links[link].east][0] == "east":
            route[-1] = (sheet.width, route[-1][1])
        west, east = links[link].west, links[link].east
        if link in boxes[west].over:
            route.insert(0, _top(graph.symbols[plan.things[west][1]], route[0][0]))
        if link in boxes[east].over:
            route.append(_top(graph.symbols[plan.things[east][1]], route[-1][0]))
        if west != source:
            route.reverse()
        graph.edges[edge_number].page_routes[number] = route
    return points


def _top(station: Symbol, x: float) -> Point:
    """The point of a station's servers from which a line goes straight up at some x."""
    return (x, station.y - servers_top(station, x - station.x))


def _no_side(_east: bool, _height: float) -> float:
    return 0.0


def _symbol_box(
    graph: Graph, plan: Plan, at: int, links: list[Link], load: Mapping[int, Load]
) -> Box:
    symbol = graph.symbols[plan.things[at][1]]
    symbol.width = outline_width(symbol.kind)
    symbol.mirrored = symbol.kind == "station" and _is_mirrored(plan, at)
    over: list[int] = []
    if symbol.kind == "station":
        # Served tokens must not appear to leave through the queue.
        over = [
            number
            for number, (link, (_, source, _)) in enumerate(zip(links, plan.lines, strict=True))
            if source == at and (link.west == at) == symbol.mirrored
        ]
    beside = [link for number, link in enumerate(links) if number not in over]
    sides = (sum(link.east == at for link in beside), sum(link.west == at for link in beside))
    touching = [graph.edges[e] for e, source, target in plan.lines if at in (source, target)]
    room = label_room(touching) if symbol.kind == "transition" else 0.0
    labelled = room and any(edge.label for edge in touching)
    spacing = LABEL_SPACING if labelled else SPACING
    symbol.height = outline_height(symbol.kind, max(sides), spacing)
    lines = caption(symbol, load)
    text = max(line.width for line in lines)
    width = max(symbol.width + 2 * room, text) + 2 * PAD
    above = SPACING * len(over)
    height = above + symbol.height + PAD + sum(line.height for line in lines)
    anchor = above + symbol.height / 2
    box = Box(width, height, 0, anchor, _side_of(symbol, width), spacing=spacing)
    box.over, box.over_x = tuple(over), width / 2 + servers_x(symbol)
    return box


def _side_of(symbol: Symbol, width: float) -> Callable[[bool, float], float]:
    def side(east: bool, height: float) -> float:
        reach = outline_x(symbol, east, height)
        return width / 2 + (reach if east else -reach)

    return side


def _is_mirrored(plan: Plan, at: int) -> bool:
    """Return whether more arcs pass a thing from east to west than the other way."""
    balance = 0
    for _, source, target in plan.lines:
        if at in (source, target):
            balance += 1 if plan.layers[source] < plan.layers[target] else -1
    return balance < 0


# --- routes over several pages -------------------------------------------------------------------


def _join_route(graph: Graph, edge: Edge) -> None:
    leaves, common, enters = graph.crossed(edge)
    points: list[Point] = []
    for number in (*leaves, common, *enters):
        sheet = graph.sheets[number]
        points += [(x + sheet.x, y + sheet.y) for x, y in edge.page_routes[number]]
    edge.route = simplify(points)


def simplify(points: list[Point]) -> list[Point]:
    """The same line without repeated points and points within a straight piece."""
    result: list[Point] = []
    for point in points:
        if result and _near(point[0], result[-1][0]) and _near(point[1], result[-1][1]):
            continue
        while len(result) > 1 and (
            (_near(result[-2][0], result[-1][0]) and _near(result[-1][0], point[0]))
            or (_near(result[-2][1], result[-1][1]) and _near(result[-1][1], point[1]))
        ):
            result.pop()
        result.append(point)
    return result


def _near(a: float, b: float) -> bool:
    return abs(a - b) < 0.05
