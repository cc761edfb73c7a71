"""Bill of materials of a design: quantities, unit prices and amounts as figures."""

from collections.abc import Mapping
from dataclasses import dataclass

from headrace.design.catalogue import Catalogue
from headrace.design.figure import Figure, Input
from headrace.design.inventory import METADATA_DISKS, Part, hosts, parts, switches_and_links
from headrace.design.system import Design
from headrace.quantities import number

SEARCH = "design"
PORTS = ("adapter", "client-adapter", "switch", "cable")
"""Kinds that follow from the number of servers; a summary leaves them out."""


@dataclass(frozen=True)
class Line:
    """A line of the bill."""

    part: Part
    count: Figure
    price: Figure | None
    """Price of one; none if the catalogue has no price."""
    amount: Figure | None

    @property
    def figures(self) -> list[Figure]:
        """The figures of the line that are known."""
        return [value for value in (self.count, self.price, self.amount) if value is not None]


def bill(design: Design, catalogue: Catalogue, costs: Mapping[str, Figure]) -> list[Line]:
    """Return the lines of a design's bill of materials.

    Args:
        design: The design.
        catalogue: The catalogue with its date, for the source of prices.
        costs: Figures of the evaluation by their keys. An amount that is among them as
            `purchase-KIND` is taken from there.
    """
    return [_line(part, _count(part, design), catalogue, costs) for part in parts(design)]


def _count(part: Part, design: Design) -> Figure:
    formula, inputs = _formula(part, design)
    return Figure(
        key=f"count-{part.key}",
        title=f"number of {part.title}",
        value=part.count,
        unit="1",
        formula=formula,
        inputs=inputs,
        source="search among the catalogue's combinations",
    )


def _formula(part: Part, design: Design) -> tuple[str, tuple[Input, ...]]:
    """Return how the number of parts of a kind follows from the design."""
    pool = design.each_pool[part.pool]
    nodes = Input("data servers", str(pool.nodes), "number of data servers")
    metadata = Input("metadata servers", str(pool.metadata_nodes), SEARCH)
    if part.kind == "disk":
        disks = Input("disks of a server", str(pool.disks_per_node), SEARCH)
        return "data servers x disks of a server", (nodes, disks)
    if part.kind == "shelf":
        shelves = Input("shelves of a server", str(pool.shelves_per_node), SEARCH)
        return "data servers x shelves of a server", (nodes, shelves)
    if part.kind == "metadata-disk":
        mirror = Input("disks of a metadata server", str(METADATA_DISKS), "declared: a mirror")
        return "metadata servers x disks of a metadata server", (metadata, mirror)
    clients = Input("clients without a network", str(design.client_ports), "worksheet: client")
    if part.kind == "client-adapter":
        return "clients without a network", (clients,)
    if part.kind not in PORTS:
        return "number that the search chose", ()
    counts = hosts(design)
    inputs = tuple(Input(kind, str(count), SEARCH) for kind, count in counts.items())
    servers = f"({' + '.join(counts)}) x adapters of a server"
    inputs += (Input("adapters of a server", str(design.paths), SEARCH),)
    if part.kind == "adapter":
        return servers, inputs
    if part.kind == "cable":
        links = Input("cables between switches", str(switches_and_links(design)[1]), SEARCH)
        text = f"{servers} + clients without a network + cables between switches"
        return text, (*inputs, clients, links)
    ports = Input("ports of a switch", str(design.network.switch_ports), part.entry)
    text = f"switches, by ports of a switch, for {servers} + clients without a network"
    return text, (*inputs, clients, ports)


def _line(part: Part, count: Figure, catalogue: Catalogue, costs: Mapping[str, Figure]) -> Line:
    if part.price is None:
        return Line(part, count, None, None)
    price = Figure(
        key=f"price-{part.key}",
        title=f"price of one of the {part.title}",
        value=part.price,
        unit="money",
        formula=f"price of {part.entry}",
        source=f"catalogue {catalogue.name} of {catalogue.date}",
    )
    amount = costs.get(f"purchase-{part.key}") or Figure(
        key=f"purchase-{part.key}",
        title=part.title,
        value=part.count * part.price,
        unit="money",
        formula="number x price",
        inputs=(
            Input("number", str(part.count), count.title),
            Input("price", number(part.price), price.title),
        ),
        source="definition",
    )
    return Line(part, count, price, amount)
