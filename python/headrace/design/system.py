"""A designed system: what is bought and how it is configured."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from headrace.design.catalogue import DiskModel, NetworkModel, NodeModel, ShelfModel
from headrace.quantities import numbered

FileSystem = Literal["lustre", "pvfs2", "glusterfs", "hdfs", "nfs"]
"""Presets of parallel and network file systems."""
ArrayKind = Literal["single", "raid0", "raid1", "raid5", "raid6", "raid10", "draid", "erasure"]


def shelves_for(disks: int, node: NodeModel, shelf: ShelfModel | None) -> int:
    """Return the shelves that the disks of a server need beside its own slots."""
    return -(-max(disks - node.slots, 0) // shelf.slots) if shelf is not None else 0


class Array(msgspec.Struct, frozen=True, kw_only=True):
    """How the disks of a node are combined.

    A declustered array (`draid`) stripes groups of `data` + `parity` over all its disks, with
    spare space on each. An erasure code over nodes is `Design.code`, not an array.
    """

    kind: ArrayKind
    disks: int
    """Disks of one array, spares not counted (of a declustered array: all)."""
    data: int
    """Data disks: of the array, or of one group of a declustered array."""
    parity: int
    """Redundant disks, likewise. A mirror of two has data = 1, parity = 1."""
    chunk: int = 512 << 10
    """Bytes."""

    @property
    def efficiency(self) -> float:
        """Part of the disks' capacity that holds data."""
        return self.data / (self.data + self.parity)


class Code(msgspec.Struct, frozen=True):
    """An erasure code over nodes."""

    data: int
    parity: int


class Design(msgspec.Struct, frozen=True, kw_only=True):
    """A system that can be bought and built."""

    file_system: FileSystem
    nodes: int
    """Data servers."""
    node: NodeModel
    disk: DiskModel
    disks_per_node: int
    """Data disks and hot spares in all shelves of a node."""
    array: Array
    arrays_per_node: int
    spares_per_node: int
    """Hot spares of a node, global to its arrays."""
    network: NetworkModel
    metadata_nodes: int = 1
    metadata_disk: DiskModel | None = None
    shelf: ShelfModel | None = None
    shelves_per_node: int = 0
    copies: int = 1
    """Copies of each file over nodes."""
    code: Code | None = None
    distribution: Literal["simple", "striped"] = "simple"
    stripe: int = 1 << 20
    """Bytes of a stripe on one server."""
    gateways: int = 0
    """Nodes that serve clients without a native client (CIFS, NFS)."""
    fail_over_nodes: int = 0
    """Servers that take over the disks of a failed one."""
    paths: int = 1
    """Adapters of a server, each on a switch of its own."""
    client_ports: int = 0
    """Clients that an adapter and a port of a switch are bought for."""
    zones: tuple[str, ...] = ()
    """Zones whose data it holds; empty: all."""
    pools: tuple["Design", ...] = ()
    """Servers with disks of their own for other zones, on the network of this design."""

    @property
    def each_pool(self) -> tuple["Design", ...]:
        """The servers of each group of zones as a design; of a design without pools itself."""
        return (msgspec.structs.replace(self, pools=()), *self.pools) if self.pools else (self,)

    @property
    def zone_names(self) -> str:
        """Names of its zones."""
        return ", ".join(self.zones)

    @property
    def shared_shelves(self) -> int:
        """Shelves of a server that hold all its disks, for a fail-over server; 0: none can."""
        needed = -(-self.disks_per_node // self.shelf.slots) if self.shelf else 0
        return needed if needed <= self.node.shelves else 0

    @property
    def arbiters(self) -> int:
        """Nodes that only vote: two servers with two copies cannot tell which of them failed."""
        pair = self.file_system == "glusterfs" and self.copies == self.nodes == 2
        return int(pair and not self.gateways)

    @property
    def disks(self) -> int:
        """Disks of all data servers, hot spares among them."""
        return self.nodes * self.disks_per_node

    @property
    def name(self) -> str:
        """A name that says what it is: `lustre 4x 2U12 12x 4 TB raid6 10GbE`."""
        if self.pools:
            return " + ".join(f"{one.zone_names}: {one.name}" for one in self.each_pool)
        over_nodes = f" {self.redundancy}" if self.code or self.copies > 1 else ""
        return (
            f"{self.file_system} {self.nodes}x {self.node.name} {self.disks_per_node}x "
            f"{self.disk.name} {self.array.kind}{over_nodes} {self.network.name}"
        )

    @property
    def redundancy(self) -> str:
        """Copies or the code over servers, in words."""
        if self.code is not None:
            return f"code {self.code.data} + {self.code.parity}"
        return numbered(self.copies, "copy", "copies")


def join_pools(pools: Sequence[tuple[tuple[str, ...], Design]]) -> Design:
    """Return one design of the servers of several groups of zones, on one network.

    Args:
        pools: Names of the zones, and the design of their servers; all have the same network.
    """
    paths = max(one.paths for _, one in pools)
    first, *others = (
        msgspec.structs.replace(one, zones=zones, paths=paths, gateways=0, client_ports=0)
        for zones, one in pools
    )
    return msgspec.structs.replace(
        first,
        pools=tuple(others),
        gateways=max(one.gateways for _, one in pools),
        client_ports=max(one.client_ports for _, one in pools),
    )
