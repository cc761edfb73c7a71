"""A catalogue as tables for a terminal."""

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel, NodeModel, ShelfModel
from headrace.plain_text import plain_line
from headrace.quantities import HOUR, duration, figure, megabytes, percent, size, whole
from headrace.render.fitted_table import FittedTable

GIGABIT = 125e6
"""Bytes a second."""


def catalogue_tables(catalogue: Catalogue, shipped: Sequence[str]) -> RenderableType:
    """Return the entries of a catalogue, a table for each kind.

    Args:
        catalogue: The catalogue.
        shipped: Names of the catalogues that ship with Headrace.
    """
    head = (
        f"{catalogue.name}, {catalogue.date}, prices in {catalogue.currency}; a byte gets"
        f" {percent(catalogue.price_decline)} % cheaper a year"
    )
    return Group(
        Text(plain_line(head), style="bold"),
        _disks(catalogue.disks),
        _nodes(catalogue.nodes),
        *([_shelves(catalogue.shelves)] if catalogue.shelves else []),
        _networks(catalogue.networks),
        _sources(catalogue),
        Text(f"\nShipped catalogues: {', '.join(shipped)}"),
    )


def _or_unknown(value: float | None, form: Callable[[float], str] = whole) -> str:
    return "unknown" if value is None else form(value)


def _disks(disks: Sequence[DiskModel]) -> FittedTable:
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
    table = FittedTable("Disks", 2, columns, ("write MB/s", "W", "bit errors", "access", "MTTF h"))
    for it in disks:
        each = None if it.price is None else it.price / (it.capacity / 1e12)
        table.add_row(
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
    return table


def _nodes(nodes: Sequence[NodeModel]) -> FittedTable:
    columns = ("node", "slots", "rack units", "price", "memory", "cores", "W", "max W", "shelves")
    table = FittedTable("Nodes, without disks", 1, columns, ("cores", "memory", "shelves"))
    for it in nodes:
        table.add_row(
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
    return table


def _shelves(shelves: Sequence[ShelfModel]) -> FittedTable:
    table = FittedTable("Shelves, without disks", 1, ("shelf", "slots", "rack units", "price", "W"))
    for it in shelves:
        table.add_row(
            it.name,
            whole(it.slots),
            f"{it.rack_units:g}",
            _or_unknown(it.price),
            figure(it.power),
        )
    return table


def _networks(networks: Sequence[NetworkModel]) -> FittedTable:
    columns = ("network", "Gbit/s", "latency", "adapter", "port", "port W", "ports of a switch")
    table = FittedTable("Networks", 1, columns, ("ports of a switch", "port W"))
    for it in networks:
        table.add_row(
            it.name,
            f"{it.bandwidth / GIGABIT:g}",
            duration(it.latency),
            _or_unknown(it.adapter_price),
            _or_unknown(it.port_price),
            figure(it.port_power),
            whole(it.switch_ports),
        )
    return table


def _sources(catalogue: Catalogue) -> RenderableType:
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
    return Text("\n".join(["\nSources", *map(plain_line, lines)]))
