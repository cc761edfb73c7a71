"""A catalogue: a table for each kind of its entries, and their sources."""

from collections.abc import Callable, Sequence

from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel, NodeModel, ShelfModel
from headrace.plain_text import plain_line
from headrace.quantities import HOUR, duration, figure, megabytes, percent, size, whole
from headrace.render.blocks import Note, Table, View

GIGABIT = 125e6
"""Bytes a second."""


def view(catalogue: Catalogue, shipped: Sequence[str]) -> View:
    """Return the entries of a catalogue, a table for each kind.

    Parameters:
        catalogue: The catalogue.
        shipped: Names of the catalogues that ship with Headrace.
    """
    head = (
        f"{catalogue.name}, {catalogue.date}, prices in {catalogue.currency}; a byte gets"
        f" {percent(catalogue.price_decline)} % cheaper a year"
    )
    return [
        Note("", plain_line(head)),
        _disks(catalogue.disks),
        _nodes(catalogue.nodes),
        *([_shelves(catalogue.shelves)] if catalogue.shelves else []),
        _networks(catalogue.networks),
        _sources(catalogue),
        Note(f"\nShipped catalogues: {', '.join(shipped)}"),
    ]


def _or_unknown(value: float | None, form: Callable[[float], str] = whole) -> str:
    return "unknown" if value is None else form(value)


def _disks(disks: Sequence[DiskModel]) -> Table:
    columns = (
        "disk",
        "class",
        "capacity",
        "price",
        "per TB",
        "read MB/s",
        "write MB/s",
        "access",
        "MTTF h",
        "bit errors",
        "W",
    )
    rows = []
    for it in disks:
        each = None if it.price is None else it.price / (it.capacity / 1e12)
        cells = (
            it.name,
            it.disk_class,
            size(it.capacity),
            _or_unknown(it.price),
            _or_unknown(each, figure),
            megabytes(it.read_rate),
            megabytes(it.write_rate),
            duration(it.access_time),
            whole(round(it.mttf / HOUR)),
            f"{it.bit_error_rate:.3g}",
            figure(it.power),
        )
        rows.append(cells)
    return Table.of_rows(
        "Disks", columns, rows, 2, ("write MB/s", "W", "bit errors", "access", "MTTF h")
    )


def _nodes(nodes: Sequence[NodeModel]) -> Table:
    columns = ("node", "slots", "rack units", "price", "memory", "cores", "W", "max W", "shelves")
    rows = []
    for it in nodes:
        cells = (
            it.name,
            whole(it.slots),
            f"{it.rack_units:g}",
            _or_unknown(it.price),
            f"{it.memory / (1 << 30):g} GiB",
            whole(it.cores),
            figure(it.power),
            figure(it.max_power),
            whole(it.shelves),
        )
        rows.append(cells)
    return Table.of_rows(
        "Nodes, without disks", columns, rows, spare=("cores", "memory", "shelves")
    )


def _shelves(shelves: Sequence[ShelfModel]) -> Table:
    rows = []
    for it in shelves:
        cells = (
            it.name,
            whole(it.slots),
            f"{it.rack_units:g}",
            _or_unknown(it.price),
            figure(it.power),
        )
        rows.append(cells)
    return Table.of_rows(
        "Shelves, without disks", ("shelf", "slots", "rack units", "price", "W"), rows
    )


def _networks(networks: Sequence[NetworkModel]) -> Table:
    columns = ("network", "Gbit/s", "latency", "adapter", "port", "port W", "ports of a switch")
    rows = []
    for it in networks:
        cells = (
            it.name,
            f"{it.bandwidth / GIGABIT:g}",
            duration(it.latency),
            _or_unknown(it.adapter_price),
            _or_unknown(it.port_price),
            figure(it.port_power),
            whole(it.switch_ports),
        )
        rows.append(cells)
    return Table.of_rows("Networks", columns, rows, spare=("ports of a switch", "port W"))


def _sources(catalogue: Catalogue) -> Note:
    """Return the source of each entry, one for equal sources."""
    by_source: dict[str, list[str]] = {}
    entries: list[DiskModel | NodeModel | ShelfModel | NetworkModel] = [
        *catalogue.disks,
        *catalogue.nodes,
        *catalogue.shelves,
        *catalogue.networks,
    ]
    for it in entries:
        by_source.setdefault(it.source or "unknown", []).append(it.name)
    lines = [f"- {', '.join(names)}: {source}" for source, names in by_source.items()]
    return Note("\n".join(["\nSources", *map(plain_line, lines)]))
