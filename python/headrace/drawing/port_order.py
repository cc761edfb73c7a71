"""The order in which lines pass the borders of pages.

A page is laid out before its parent, so it cannot know in which order the parent would like to
have its lines. When all is placed that can be seen, and the page be laid out once more.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import pairwise

from headrace.drawing.net_graph import Graph
from headrace.drawing.net_symbols import Load
from headrace.drawing.page_layout import Placements, Plan, lay_out, plan_pages

ROUNDS = 2
FEW_SHEETS = 15
"""Beyond this number one round must do."""
MOST_SHEETS = 30
"""Each page tried costs a layout of the whole net; beyond this number they are left as is."""


def lay_out_with_ports(graph: Graph, load: Mapping[int, Load]) -> None:
    """Lay out a net, with the lines in the order at each border that crosses least."""
    plans, placements = plan_pages(graph), Placements()
    # Found without the load, so that a net looks the same before and after a run.
    placements.is_draft = True
    orders = _best_orders(graph, plans, placements)
    placements.is_draft = False
    lay_out(graph, plans, load, orders, placements)


def _best_orders(
    graph: Graph, plans: list[Plan], placements: Placements
) -> dict[int, dict[int, float]]:
    orders: dict[int, dict[int, float]] = {}
    lay_out(graph, plans, {}, orders, placements)
    fewest = crossings(graph)
    count = len(graph.sheets)
    for _ in range(ROUNDS if count <= FEW_SHEETS else 1 if count <= MOST_SHEETS else 0):
        before = fewest
        for sheet in range(1, len(graph.sheets)):
            if fewest == 0:
                return orders
            order = wanted_order(graph, sheet)
            if len(order) < 2:
                continue
            lay_out(graph, plans, {}, orders | {sheet: order}, placements)
            number = crossings(graph)
            if number < fewest:
                orders[sheet], fewest = order, number
            else:
                lay_out(graph, plans, {}, orders, placements)
        if fewest == before:
            break
    return orders


def wanted_order(graph: Graph, sheet: int) -> dict[int, float]:
    """Return where each line through a sheet's border comes from or goes to in its parent."""
    parent = graph.sheets[sheet].parent
    order = {}
    for number, edge in enumerate(graph.edges):
        if sheet in edge.page_routes and parent in edge.page_routes:
            leaves, _, _ = graph.crossed(edge)
            route = edge.page_routes[parent]
            order[number] = route[-1][1] if sheet in leaves else route[0][1]
    return order


def crossings(graph: Graph) -> int:
    """Return the number of line crossings in the picture."""
    level, upright = [], []
    for number, edge in enumerate(graph.edges):
        for (ax, ay), (bx, by) in pairwise(edge.route):
            if ay == by:
                level.append((ay, min(ax, bx), max(ax, bx), number))
            else:
                upright.append((ax, min(ay, by), max(ay, by), number))
    level.sort()
    heights = [y for y, *_ in level]
    return sum(
        left < x < right and number != other
        for x, top, low, other in upright
        for _, left, right, number in level[bisect_right(heights, top) : bisect_left(heights, low)]
    )
