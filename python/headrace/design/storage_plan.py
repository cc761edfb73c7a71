"""Disks of servers and their use, without a catalogue: a plan that capacity is computed from."""

from collections.abc import Mapping

import msgspec

from headrace.design.local_space import LocalFileSystem
from headrace.design.system import Array, Code, Design, FileSystem
from headrace.quantities import numbered

LOCAL: dict[FileSystem, LocalFileSystem] = {
    "lustre": "ldiskfs",
    "pvfs2": "ext4",
    "glusterfs": "xfs",
    "hdfs": "ext4",
    "nfs": "xfs",
}
"""File system of a server below a parallel one, where the array is no dRAID. ldiskfs: Lustre
Operations Manual, chapter 5. XFS: GlusterFS administration guide, "Setting up storage". The
others are declared."""
LARGEST_DISK = 1e15
"""Bytes of a disk above which a size is taken for a mistake."""


class StoragePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Disks and their use, without a catalogue."""

    array: Array
    disk_capacity: float
    """Bytes."""
    nodes: int = 1
    disks_per_node: int
    """All disks of a node, spares among them."""
    arrays_per_node: int = 1
    spares_per_node: int = 0
    """Hot spares; of a dRAID that has all disks of the node: distributed spares."""
    local: LocalFileSystem = "none"
    copies: int = 1
    code: Code | None = None
    checksum_files: bool = False
    """Whether checksums are files beside the data, as HDFS has them."""
    metadata_capacity: float | None = None
    """Bytes on the metadata servers of Lustre."""
    sources: Mapping[str, str] = {}
    """Where an input comes from, by the name of the field."""

    @property
    def has_distributed_spares(self) -> bool:
        """True if the spares are spare space on all disks of the arrays."""
        filled = self.array.disks * self.arrays_per_node
        return self.array.kind == "draid" and filled + self.spares_per_node > self.disks_per_node

    @property
    def hot_spares_per_node(self) -> int:
        """Spares that are disks of their own."""
        return 0 if self.has_distributed_spares else self.spares_per_node

    @property
    def distributed_spares(self) -> int:
        """Spare space on all disks of one array, in disks."""
        return self.spares_per_node // self.arrays_per_node if self.has_distributed_spares else 0


def plan_of(design: Design, local: LocalFileSystem | None = None) -> StoragePlan:
    """Return the storage plan of a design.

    Args:
        design: The design.
        local: File system of the servers; by default the usual one of the parallel file system,
            and ZFS on a dRAID.
    """
    disk = f"catalogue: disk {design.disk.name}"
    chosen = "design"
    return StoragePlan(
        array=design.array,
        disk_capacity=design.disk.capacity,
        nodes=design.nodes,
        disks_per_node=design.disks_per_node,
        arrays_per_node=design.arrays_per_node,
        spares_per_node=design.spares_per_node,
        local=local or ("zfs" if design.array.kind == "draid" else LOCAL[design.file_system]),
        copies=design.copies,
        code=design.code,
        checksum_files=design.file_system == "hdfs",
        # The mirror of each metadata server has the capacity of one disk.
        metadata_capacity=design.metadata_nodes * (design.metadata_disk or design.disk).capacity
        if design.file_system == "lustre"
        else None,
        sources={"disk_capacity": disk}
        | dict.fromkeys(
            ("nodes", "disks_per_node", "arrays_per_node", "spares_per_node", "copies", "code"),
            chosen,
        ),
    )


def check_disk_capacity(disk_capacity: float) -> None:
    """Raise ValueError if the bytes of a disk are impossible or absurd."""
    if not 0 < disk_capacity <= LARGEST_DISK:
        raise ValueError(
            f"disk capacity {disk_capacity:g} B: expected more than 0, and at most 1 PB"
        )


def check_plan(plan: StoragePlan) -> None:
    """Raise ValueError if disks and arrays do not fit together."""
    check_disk_capacity(plan.disk_capacity)
    for name, least in (
        ("nodes", 1),
        ("disks_per_node", 1),
        ("arrays_per_node", 1),
        ("spares_per_node", 0),
        ("copies", 1),
    ):
        value = getattr(plan, name)
        if value < least:
            raise ValueError(f"{name.replace('_', ' ')} {value}: expected at least {least}")
    filled = plan.array.disks * plan.arrays_per_node
    spares = plan.hot_spares_per_node
    if filled + spares > plan.disks_per_node:
        raise ValueError(
            f"{plan.arrays_per_node} x {plan.array.disks} disks in arrays and {spares} spares:"
            f" a node has {plan.disks_per_node} disks"
        )
    if plan.has_distributed_spares:
        if plan.spares_per_node % plan.arrays_per_node:
            raise ValueError(
                f"{plan.spares_per_node} distributed spares over {plan.arrays_per_node} arrays:"
                " expected as many on each"
            )
        group = plan.array.data + plan.array.parity
        if group + plan.distributed_spares > plan.array.disks:
            raise ValueError(
                f"dRAID of {plan.array.disks} disks: {plan.spares_per_node} spares leave no room"
                f" for a group of {group}"
            )
    if plan.copies > plan.nodes:
        raise ValueError(
            f"{plan.copies} copies on {numbered(plan.nodes, 'node')}: expected at least"
            f" {plan.copies}"
        )
    if plan.code is not None:
        _check_code(plan.code, plan)


def _check_code(code: Code, plan: StoragePlan) -> None:
    if code.data < 1 or code.parity < 0:
        raise ValueError(f"code {code.data}+{code.parity}: expected at least 1 data node")
    if code.data + code.parity > plan.nodes:
        raise ValueError(
            f"code {code.data}+{code.parity} over {numbered(plan.nodes, 'node')}: expected at least"
            f" {code.data + code.parity}"
        )
    if plan.copies > 1:
        raise ValueError(
            f"{plan.copies} copies and a code {code.data}+{code.parity}: expected one of the two"
        )
