"""A catalogue: a table for each kind of its entries, and their sources."""

from collections.abc import Callable, Sequence

from headrace.design.catalogue import (
    FLEETS,
    Catalogue,
    DiskModel,
    NetworkModel,
    NodeModel,
    ShelfModel,
)
from headrace.plain_text import plain_line
from headrace.quantities import (
    HOUR,
    YEAR,
    duration,
    figure,
    megabytes,
    percent,
    percent_text,
    size,
    whole,
)
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
        "fails a year",
        "bit errors",
        "W",
    )
    rows = []
    for disk in disks:
        each = None if disk.price is None else disk.price / (disk.capacity / 1e12)
        cells = (
            disk.name,
            disk.disk_class,
            size(disk.capacity),
            _or_unknown(disk.price),
            _or_unknown(each, figure),
            megabytes(disk.read_rate),
            megabytes(disk.write_rate),
            duration(disk.access_time),
            whole(round(disk.mttf / HOUR)),
            " / ".join(percent_text(YEAR / mttf, 2) for mttf in (disk.observed_mttf, disk.mttf)),
            f"{disk.bit_error_rate:.3g}",
            figure(disk.power),
        )
        rows.append(cells)
    return Table.of_rows(
        "Disks",
        columns,
        rows,
        2,
        ("write MB/s", "W", "bit errors", "access", "MTTF h"),
        caption="fails a year: as published fleets or failure_factor have it / as the maker states",
    )


def _nodes(nodes: Sequence[NodeModel]) -> Table:
    columns = ("node", "slots", "rack units", "price", "memory", "cores", "W", "max W", "shelves")
    rows = []
    for node in nodes:
        cells = (
            node.name,
            whole(node.slots),
            f"{node.rack_units:g}",
            _or_unknown(node.price),
            f"{node.memory / (1 << 30):g} GiB",
            whole(node.cores),
            figure(node.power),
            figure(node.max_power),
            whole(node.shelves),
        )
        rows.append(cells)
    return Table.of_rows(
        "Nodes, without disks", columns, rows, spare=("cores", "memory", "shelves")
    )


def _shelves(shelves: Sequence[ShelfModel]) -> Table:
    rows = []
    for shelf in shelves:
        cells = (
            shelf.name,
            whole(shelf.slots),
            f"{shelf.rack_units:g}",
            _or_unknown(shelf.price),
            figure(shelf.power),
        )
        rows.append(cells)
    return Table.of_rows(
        "Shelves, without disks", ("shelf", "slots", "rack units", "price", "W"), rows
    )


def _networks(networks: Sequence[NetworkModel]) -> Table:
    columns = ("network", "Gbit/s", "latency", "adapter", "port", "port W", "ports of a switch")
    rows = []
    for network in networks:
        cells = (
            network.name,
            f"{network.bandwidth / GIGABIT:g}",
            duration(network.latency),
            _or_unknown(network.adapter_price),
            _or_unknown(network.port_price),
            figure(network.port_power),
            whole(network.switch_ports),
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
    for entry in entries:
        by_source.setdefault(entry.source or "unknown", []).append(entry.name)
    lines = [f"- {', '.join(names)}: {source}" for source, names in by_source.items()]
    fleets = {FLEETS[disk.disk_class] for disk in catalogue.disks if disk.failure_factor is None}
    lines += sorted(f"- failures: {fleet.source}" for fleet in fleets)
    return Note("\n".join(["\nSources", *map(plain_line, lines)]))
