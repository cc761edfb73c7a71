"""The parts list of a design: what is bought, with the power, space, weight and price of each.

Clients count with an adapter and a port each, unless the worksheet says that they have them.
Metadata servers, gateways, fail-over servers and arbiters are nodes of the data servers' model.
"""

import math
from typing import Literal

import msgspec

from headrace.design.figure import pool_key
from headrace.design.system import Design

PartKind = Literal[
    "disk",
    "node",
    "shelf",
    "metadata-node",
    "metadata-disk",
    "gateway",
    "fail-over-node",
    "arbiter",
    "adapter",
    "client-adapter",
    "switch",
    "cable",
]
METADATA_DISKS = 2
"""Disks of a metadata server: declared, a mirror of two."""
SWITCH_WEIGHT = 10.0
"""Kilograms of a switch of one unit: declared; catalogues have no weight of switches."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Parts of one kind."""

    kind: PartKind
    title: str
    """Name in tables: "data disks"."""
    entry: str
    """Entry of the catalogue: `disk nearline-4tb`."""
    count: int
    price: float | None
    """Price of one."""
    power: float = 0.0
    """Watts of one, measured at peak."""
    max_power: float = 0.0
    """Watts of one as its label has them."""
    rack_units: float = 0.0
    weight: float | None = 0.0
    """Kilograms of one; none if the catalogue lacks it."""
    mttf: float | None = None
    """Seconds, as observed."""
    mttf_source: str = ""
    """Source of the observed time; empty: the entry of the catalogue."""
    yearly_maintenance: float | None = None
    """Price of the maintenance of one in a year, if its entry has one."""
    pool: int = 0
    """Place of its pool in `Design.each_pool`; 0 also of parts that all pools share."""

    @property
    def key(self) -> str:
        """Its kind, and its pool after the first: a name that no other part has."""
        return pool_key(self.kind, self.pool) if self.pool else self.kind


LINKS = 2
"""Cables between the switches of two paths (declared)."""


def hosts(design: Design) -> dict[str, int]:
    """Return the numbers of servers by their kind; kinds that a design has none of are left out."""
    pools = design.each_pool
    counts = {
        "data servers": sum(one.nodes for one in pools),
        "metadata servers": sum(one.metadata_nodes for one in pools),
        "gateways": design.gateways,
        "fail-over servers": sum(one.fail_over_nodes for one in pools),
        "arbiters": sum(one.arbiters for one in pools),
    }
    return {kind: count for kind, count in counts.items() if count}


def switches_and_links(design: Design) -> tuple[int, int]:
    """Return the number of switches and of the cables between them.

    One switch for each path, or else leaves of which half the ports lead to spines, so that the
    network blocks no traffic.
    """
    ports = sum(hosts(design).values()) * design.paths + design.client_ports
    each = design.network.switch_ports
    links = LINKS if design.paths > 1 else 0
    if ports + 2 * links <= each * design.paths:
        return design.paths, links
    up = max(each // 2, 1)
    leaves = math.ceil(ports / up)
    return leaves + math.ceil(leaves * up / each), leaves * up


def parts(design: Design) -> tuple[Part, ...]:
    """Return the parts of a design; kinds that it has none of are left out."""
    network, adapters = design.network, sum(hosts(design).values()) * design.paths
    switches, links = switches_and_links(design)
    switch_power = network.port_power * network.switch_ports
    listed = [
        *(part for place, one in enumerate(design.each_pool) for part in _servers(one, place)),
        Part(
            kind="adapter",
            title="network adapters",
            entry=f"network {network.name}",
            count=adapters,
            price=network.adapter_price,
            power=network.adapter_power,
            max_power=network.adapter_power,
        ),
        Part(
            kind="client-adapter",
            title="network adapters of clients",
            entry=f"network {network.name}",
            count=design.client_ports,
            price=network.adapter_price,
        ),
        Part(
            kind="switch",
            title="switches",
            entry=f"network {network.name}",
            count=switches,
            price=None if network.port_price is None else network.port_price * network.switch_ports,
            power=switch_power,
            max_power=switch_power,
            rack_units=network.switch_rack_units,
            weight=SWITCH_WEIGHT * network.switch_rack_units,
        ),
        Part(
            kind="cable",
            title="network cables, in the price of the ports",
            entry=f"network {network.name}",
            count=adapters + design.client_ports + links,
            price=None if network.port_price is None else 0.0,
        ),
    ]
    return tuple(part for part in listed if part is not None and part.count)


def _servers(design: Design, pool: int) -> list[Part]:
    """Return servers, disks and shelves of a pool; titles name the zones if there are several."""
    listed = [
        _disks(design),
        _nodes(design, "node", "data servers", design.nodes),
        _shelves(design),
        _nodes(design, "metadata-node", "metadata servers", design.metadata_nodes),
        _metadata_disks(design),
        _nodes(design, "gateway", "gateways", design.gateways),
        _nodes(design, "fail-over-node", "fail-over servers", design.fail_over_nodes),
        _nodes(design, "arbiter", "arbiters", design.arbiters),
    ]
    suffix = f" of {design.zone_names}" if design.zones else ""
    return [
        msgspec.structs.replace(part, pool=pool, title=part.title + suffix)
        for part in listed
        if part is not None
    ]


def _disks(design: Design) -> Part:
    disk = design.disk
    return Part(
        kind="disk",
        title="data disks",
        entry=f"disk {disk.name}",
        count=design.disks,
        price=disk.price,
        power=disk.power,
        max_power=disk.power,
        weight=disk.weight,
        mttf=disk.observed_mttf,
        mttf_source=disk.failure_source,
    )


def _metadata_disks(design: Design) -> Part:
    disk = design.metadata_disk or design.disk
    return Part(
        kind="metadata-disk",
        title="metadata disks",
        entry=f"disk {disk.name}",
        count=design.metadata_nodes * METADATA_DISKS,
        price=disk.price,
        power=disk.power,
        max_power=disk.power,
        weight=disk.weight,
        mttf=disk.observed_mttf,
        mttf_source=disk.failure_source,
    )


def _nodes(design: Design, kind: PartKind, title: str, count: int) -> Part:
    node = design.node
    return Part(
        kind=kind,
        title=title,
        entry=f"node {node.name}",
        count=count,
        price=node.price,
        power=node.power,
        max_power=node.max_power,
        rack_units=node.rack_units,
        weight=node.weight,
        mttf=node.mttf,
        yearly_maintenance=node.yearly_maintenance,
    )


def _shelves(design: Design) -> Part | None:
    shelf = design.shelf
    if shelf is None:
        return None
    return Part(
        kind="shelf",
        title="shelves",
        entry=f"shelf {shelf.name}",
        count=design.nodes * design.shelves_per_node,
        price=shelf.price,
        power=shelf.power,
        max_power=shelf.power,
        rack_units=shelf.rack_units,
        weight=shelf.weight,
    )
