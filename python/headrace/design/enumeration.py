"""Designs that a catalogue allows for a worksheet."""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from headrace.design.array_level import DRAID_DATA, array_of
from headrace.design.capacity import capacity
from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel, NodeModel, ShelfModel
from headrace.design.figure import by_key
from headrace.design.growth import need_at
from headrace.design.options import HAS_COPIES, OWN_METADATA, STANDBY, STRIPED, STRIPES, Options
from headrace.design.system import Array, ArrayKind, Code, Design, FileSystem, shelves_for
from headrace.design.worksheet import Worksheet

MOST_NODES = 512
"""Data servers of a design, at most."""
WIDEST: dict[ArrayKind, int] = {"raid0": 12, "raid10": 12, "raid5": 9, "raid6": 14}
"""Disks of an array, at most (declared: wider ones rebuild too slowly)."""
USUAL: dict[ArrayKind, tuple[int, ...]] = {
    "raid0": (4,),
    "raid10": (4, 8),
    "raid5": (5,),
    "raid6": (6, 10),
}
"""Disks of usual arrays: two mirrors, 4 + 1, 4 + 2 and 8 + 2."""
DRAID_PARITY = 2
"""Redundant disks of a group of a declustered array, beside the default data disks of OpenZFS."""
DRAID_LEAST = 20
"""Disks of a node from which on a declustered array is tried (declared: two groups)."""
FULL_STRIPE = 1 << 20
"""Bytes of the data disks' chunks of an array with parity: a request of Lustre or NFS."""
LEAST_CHUNK, USUAL_CHUNK = 64 << 10, 512 << 10


class Housing(NamedTuple):
    """A server with its shelves."""

    node: NodeModel
    shelf: ShelfModel | None
    shelves: int

    @property
    def slots(self) -> int:
        """Disk slots of both."""
        return self.node.slots + (self.shelf.slots * self.shelves if self.shelf else 0)

    def takes(self, disk: DiskModel) -> bool:
        """Return whether all slots take a disk."""
        return self.node.takes(disk) and (self.shelf is None or self.shelf.takes(disk))


class Filling(NamedTuple):
    """Disks of a server."""

    array: Array
    most: int
    """Arrays that fit."""
    spares: int
    own_spares: bool
    """Whether spares are disks of their own, and not space on all disks."""


class Family(NamedTuple):
    """Designs that differ in the numbers of servers and of arrays only."""

    file_system: FileSystem
    housing: Housing
    disk: DiskModel
    filling: Filling
    copies: int
    code: Code | None

    @property
    def least(self) -> int:
        """Servers at least: one for each copy or part of a code."""
        return self.copies if self.code is None else self.code.data + self.code.parity

    def design(self, nodes: int, arrays: int) -> Design:
        """Return the design with a number of servers and arrays in each, without a network."""
        filling, housing = self.filling, self.housing
        disks = filling.array.disks * arrays + (filling.spares if filling.own_spares else 0)
        return Design(
            file_system=self.file_system,
            nodes=nodes,
            node=housing.node,
            disk=self.disk,
            disks_per_node=disks,
            array=filling.array,
            arrays_per_node=arrays,
            spares_per_node=filling.spares,
            network=NO_NETWORK,
            shelf=housing.shelf,
            # A shelf is bought when its slots are needed.
            shelves_per_node=shelves_for(disks, housing.node, housing.shelf),
            copies=self.copies,
            code=self.code,
        )

    def whole_sets(self, nodes: int) -> int:
        """Return the servers with which sets of copies are whole: bricks lie on neighbours."""
        return -(-nodes // self.copies) * self.copies if self.file_system == "glusterfs" else nodes


def families(catalogue: Catalogue, options: Options) -> Iterator[Family]:
    """Yield the families of designs that a catalogue and the values to combine allow."""
    for file_system in options.file_systems:
        for housing in _housings(catalogue):
            for disk in catalogue.disks:
                if disk.disk_class not in options.disk_classes or not housing.takes(disk):
                    continue
                for kind in options.arrays:
                    for spares in options.spares:
                        if spares and kind in ("single", "raid0"):
                            continue
                        for filling in fillings(kind, housing.slots, spares):
                            for copies, code in _redundancies(file_system, kind, options):
                                yield Family(file_system, housing, disk, filling, copies, code)


def horizon_capacity(worksheet: Worksheet) -> float:
    """Return the bytes that are needed after the years to plan for; at least those to buy first."""
    need = worksheet.capacity
    return max(need.first_purchase, need_at(need, need.years))


def fillings(kind: ArrayKind, slots: int, spares: int) -> Iterator[Filling]:
    """Yield the arrays of a kind that fit into the slots of a server.

    Args:
        kind: Kind of the arrays.
        slots: Disk slots.
        spares: Hot spares, or distributed ones.
    """
    free = slots - spares
    if kind == "draid":
        if slots >= DRAID_LEAST and free >= DRAID_DATA + DRAID_PARITY:
            array = Array(
                kind="draid",
                disks=slots,
                data=DRAID_DATA,
                parity=DRAID_PARITY,
                chunk=_chunk(DRAID_DATA),
            )
            yield Filling(array, 1, spares, own_spares=False)
        return
    for width in _widths(kind, free):
        array = array_of(kind, width)
        chunk = _chunk(array.data) if kind in ("raid5", "raid6") else USUAL_CHUNK
        array = msgspec.structs.replace(array, chunk=chunk)
        yield Filling(array, free // width, spares, own_spares=True)


def _widths(kind: ArrayKind, free: int) -> list[int]:
    """Return the numbers of disks of an array: usual ones, and the one that leaves no slot over."""
    if kind == "single":
        return [1] if free >= 1 else []
    if kind == "raid1":
        return [2] if free >= 2 else []
    even = free // -(-free // WIDEST[kind]) if free > 0 else 0
    if kind == "raid10":
        even -= even % 2
    widths = {width for width in (*USUAL[kind], even) if min(USUAL[kind]) <= width <= free}
    return sorted(widths)


def _chunk(data: int) -> int:
    """Return the chunk with which a full stripe has at most a usual request."""
    return max(LEAST_CHUNK, 1 << int(math.log2(FULL_STRIPE / data)))


def _housings(catalogue: Catalogue) -> Iterator[Housing]:
    for node in catalogue.nodes:
        yield Housing(node, None, 0)
        if node.shelves:
            for shelf in catalogue.shelves:
                yield Housing(node, shelf, node.shelves)


def usable(family: Family, nodes: int, arrays: int) -> float:
    """Return the usable bytes of a design of a family; its servers' model does not matter."""
    filling = family.filling._replace(most=1)
    return _usable(family._replace(housing=_ANY_HOUSING, filling=filling), nodes, arrays)


@lru_cache(maxsize=65536)
def _usable(family: Family, nodes: int, arrays: int) -> float:
    return float(by_key(capacity(family.design(nodes, arrays)))["usable-capacity"].value)


def _redundancies(
    file_system: FileSystem, kind: ArrayKind, options: Options
) -> Iterator[tuple[int, Code | None]]:
    """Yield copies and codes over nodes; none without any redundancy where others are possible."""
    for copies in options.copies:
        if copies > 1 and file_system not in HAS_COPIES:
            continue
        yield copies, None
    if file_system in HAS_COPIES and kind in ("single", "raid0"):
        for code in options.codes:
            yield 1, code


def metadata(
    file_system: FileSystem, catalogue: Catalogue, options: Options
) -> list[tuple[int, DiskModel | None]]:
    """Return the numbers of metadata servers that are tried, each with the model of their disks."""
    if file_system not in OWN_METADATA:
        return [(0, None)]
    most = 2 if file_system in STANDBY else 1
    flash = [disk for disk in catalogue.disks if disk.disk_class in ("ssd", "nvme")]
    models = flash if flash and options.metadata_on_flash else [None]
    numbers = sorted({min(number, most) for number in options.metadata_nodes})
    return [(number, model) for number in numbers for model in models]


def complete(
    design: Design,
    network: NetworkModel,
    metadata_servers: tuple[int, DiskModel | None],
    options: Options,
) -> Design:
    """Return a design with its network, metadata and distribution."""
    file_system = design.file_system
    can = STRIPED[file_system]
    striped = options.striped if options.striped in can else can[-1]
    stripe = STRIPES[file_system]
    if options.stripe is not None and file_system in ("lustre", "pvfs2", "glusterfs"):
        stripe = options.stripe
    fails_over = options.fail_over and design.copies == 1 and design.code is None
    if fails_over and design.shared_shelves:
        design = msgspec.structs.replace(design, shelves_per_node=design.shared_shelves)
    return msgspec.structs.replace(
        design,
        network=network,
        metadata_nodes=metadata_servers[0],
        metadata_disk=metadata_servers[1],
        distribution="striped" if striped else "simple",
        stripe=stripe,
        gateways=options.gateways,
        fail_over_nodes=int(fails_over),
        paths=options.paths,
        client_ports=options.client_ports,
    )


NO_NETWORK = NetworkModel("", 1.0, 0.0, 0.0, 0.0, 0.0)
_ANY_HOUSING = Housing(NodeModel("", 1, 1.0, 0.0, 1.0, 1, 0.0, 0.0), None, 0)
