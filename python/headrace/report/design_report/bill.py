"""Bill of materials of a design: quantities, unit prices and amounts as figures."""

from dataclasses import dataclass

from headrace.design.catalogue import Catalogue
from headrace.design.figure import Figure, Input
from headrace.design.system import Design

SEARCH = "search over the catalogue's combinations"


@dataclass(frozen=True)
class Line:
    """A line of the bill."""

    name: str
    """What is bought: "data servers"."""
    entry: str
    """Name of the catalogue's entry."""
    count: Figure
    price: Figure | None
    """Price of one; none if the catalogue has no price."""
    amount: Figure | None

    @property
    def figures(self) -> list[Figure]:
        """The figures of the line that are known."""
        return [it for it in (self.count, self.price, self.amount) if it is not None]


def bill(design: Design, catalogue: Catalogue) -> list[Line]:
    """Return the lines of a design's bill of materials.

    Args:
        design: The design.
        catalogue: The catalogue with its date, for the source of prices.
    """
    nodes, node, disk = design.nodes, design.node, design.disk
    hosts = nodes + design.metadata_nodes + design.gateways
    lines = [
        _chosen("data servers", node.name, nodes, node.price, node.source, catalogue),
        _line(
            "disks",
            disk.name,
            _count(
                "disks",
                design.disks,
                "data servers x disks of a server",
                Input("data servers", str(nodes), "data servers"),
                Input("disks of a server", str(design.disks_per_node), SEARCH),
            ),
            disk.price,
            disk.source,
            catalogue,
        ),
    ]
    if design.shelf is not None and design.shelves_per_node:
        count = _count(
            "disk shelves",
            nodes * design.shelves_per_node,
            "data servers x shelves of a server",
            Input("data servers", str(nodes), "data servers"),
            Input("shelves of a server", str(design.shelves_per_node), SEARCH),
        )
        shelf = design.shelf
        lines.append(_line(count.title, shelf.name, count, shelf.price, shelf.source, catalogue))
    if design.metadata_nodes:
        lines.append(
            _chosen(
                "metadata servers",
                node.name,
                design.metadata_nodes,
                node.price,
                node.source,
                catalogue,
            )
        )
    if design.gateways:
        lines.append(
            _chosen("gateways", node.name, design.gateways, node.price, node.source, catalogue)
        )
    network = design.network
    for name, price in (
        ("network adapters", network.adapter_price),
        ("switch ports", network.port_price),
    ):
        count = _count(
            name,
            hosts,
            "data servers + metadata servers + gateways",
            Input("data servers", str(nodes), "data servers"),
            Input("metadata servers", str(design.metadata_nodes), SEARCH),
            Input("gateways", str(design.gateways), SEARCH),
        )
        lines.append(_line(name, network.name, count, price, network.source, catalogue))
    return lines


def _count(name: str, value: int, formula: str, *inputs: Input) -> Figure:
    return Figure(
        key=name.replace(" ", "-"),
        title=name,
        value=value,
        unit="1",
        formula=formula,
        inputs=inputs,
        source="definition",
    )


def _chosen(
    name: str, entry: str, value: int, price: float | None, source: str, catalogue: Catalogue
) -> Line:
    count = _count(name, value, "number that the search chose")
    return _line(name, entry, count, price, source, catalogue)


def _line(
    name: str,
    entry: str,
    count: Figure,
    price: float | None,
    source: str,
    catalogue: Catalogue,
) -> Line:
    if price is None:
        return Line(name, entry, count, None, None)
    unit = Figure(
        key=f"{count.key}-price",
        title=f"price of one, {name}",
        value=price,
        unit="money",
        formula=f"price of {entry}",
        source=f"catalogue {catalogue.name} of {catalogue.date}"
        + (f", {source}" if source else ""),
    )
    amount = Figure(
        key=f"{count.key}-amount",
        title=f"amount for {name}",
        value=count.value * price,
        unit="money",
        formula="number x price",
        inputs=(
            Input("number", f"{count.value:g}", count.title),
            Input("price", f"{price:,.10g}", unit.title),
        ),
        source="definition",
    )
    return Line(name, entry, count, unit, amount)
