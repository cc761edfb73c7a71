"""Raw and usable capacity of a design, step by step.

The steps are all disks, the data of the arrays without spares, the space that file systems leave
to files, and copies or a code over the servers.

Not modelled: compression, deduplication, snapshots, disks of unequal sizes, and the fill level
above which a file system slows down.
"""

import math
from collections.abc import Iterable, Mapping

import msgspec

from headrace.design import zfs_space
from headrace.design.evaluation import Violation
from headrace.design.figure import Figure, Input, by_key
from headrace.design.local_space import CHECKSUM, LocalFileSystem, space
from headrace.design.system import Array, Code, Design, FileSystem
from headrace.design.worksheet import CapacityNeed, Worksheet
from headrace.report.figure_tables import quantity
from headrace.report.units import binary_size, hosts

DEFINITION = "definition"
HINDMAN = "Hindman 2011, section 2.3"
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
    sources: Mapping[str, str] = {}
    """Where an input comes from, by the name of the field."""

    @property
    def has_distributed_spares(self) -> bool:
        """True if the spares are spare space on all disks of the arrays."""
        filled = self.array.disks * self.arrays_per_node
        return self.array.kind == "draid" and filled + self.spares_per_node > self.disks_per_node


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
        sources={"disk_capacity": disk}
        | dict.fromkeys(
            ("nodes", "disks_per_node", "arrays_per_node", "spares_per_node", "copies", "code"),
            chosen,
        ),
    )


def capacity(design: Design, local: LocalFileSystem | None = None) -> tuple[Figure, ...]:
    """Return the capacities of a design, from the raw to the usable.

    Keys: `raw-capacity`, `spare-capacity`, `array-capacity`, `file-system-overhead`,
    `file-system-capacity`, `usable-capacity`, `usable-share`; with ZFS also those of the pool.

    Raises:
        ValueError: The array is impossible.
    """
    return capacity_of(plan_of(design, local))


def check_plan(plan: StoragePlan) -> None:
    """Raise ValueError if disks and arrays do not fit together."""
    if not 0 < plan.disk_capacity <= LARGEST_DISK:
        raise ValueError(
            f"disk capacity {plan.disk_capacity:g} B: expected more than 0, and at most 1 PB"
        )
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
    spares = 0 if plan.has_distributed_spares else plan.spares_per_node
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
        if group + plan.spares_per_node // plan.arrays_per_node > plan.array.disks:
            raise ValueError(
                f"dRAID of {plan.array.disks} disks: {plan.spares_per_node} spares leave no room"
                f" for a group of {group}"
            )
    if plan.copies > plan.nodes:
        raise ValueError(
            f"{plan.copies} copies on {hosts(plan.nodes, 'node')}: expected at least {plan.copies}"
        )
    if plan.code is not None:
        _check_code(plan.code, plan)


def _check_code(code: Code, plan: StoragePlan) -> None:
    if code.data < 1 or code.parity < 0:
        raise ValueError(f"code {code.data}+{code.parity}: expected at least 1 data node")
    if code.data + code.parity > plan.nodes:
        raise ValueError(
            f"code {code.data}+{code.parity} over {hosts(plan.nodes, 'node')}: expected at least"
            f" {code.data + code.parity}"
        )
    if plan.copies > 1:
        raise ValueError(
            f"{plan.copies} copies and a code {code.data}+{code.parity}: expected one of the two"
        )


def capacity_of(plan: StoragePlan) -> tuple[Figure, ...]:
    """Return the capacities of a storage plan, as `capacity` does.

    Raises:
        ValueError: The plan is impossible.
    """
    check_plan(plan)
    raw = _raw(plan)
    array = _array(plan)
    figures = [raw, *_spares(plan), array]
    figures += _pool(plan, array) if plan.local == "zfs" else _file_system(plan, array)
    usable = _usable(plan, figures[-1])
    figures += usable
    total = usable[-1]
    figures.append(
        Figure(
            key="usable-share",
            title="usable / raw",
            value=total.value / raw.value,
            unit="1",
            formula="usable capacity / raw capacity",
            inputs=(_of(total), _of(raw)),
            source=DEFINITION,
        )
    )
    return tuple(figures)


def _raw(plan: StoragePlan) -> Figure:
    return Figure(
        key="raw-capacity",
        title="raw capacity",
        value=plan.nodes * plan.disks_per_node * plan.disk_capacity,
        unit="B",
        formula="nodes x disks of a node x capacity of a disk",
        inputs=(
            _input(plan, "nodes", "nodes"),
            _input(plan, "disks of a node", "disks_per_node"),
            _disk(plan),
        ),
        source=DEFINITION,
    )


def _spares(plan: StoragePlan) -> list[Figure]:
    """Return the capacity of spares, and of disks that are in no array, if there are any."""
    figures = []
    if plan.spares_per_node:
        kind = "distributed spares" if plan.has_distributed_spares else "hot spares"
        figures.append(
            Figure(
                key="spare-capacity",
                title=f"{kind}",
                value=plan.nodes * plan.spares_per_node * plan.disk_capacity,
                unit="B",
                formula="nodes x spares of a node x capacity of a disk",
                inputs=(
                    _input(plan, "nodes", "nodes"),
                    _input(plan, "spares of a node", "spares_per_node"),
                    _disk(plan),
                ),
                source=DEFINITION,
            )
        )
    spares = 0 if plan.has_distributed_spares else plan.spares_per_node
    filled = plan.array.disks * plan.arrays_per_node
    if rest := plan.disks_per_node - spares - filled:
        figures.append(
            Figure(
                key="unused-capacity",
                title="disks in no array",
                value=plan.nodes * rest * plan.disk_capacity,
                unit="B",
                formula="nodes x disks in no array x capacity of a disk",
                inputs=(
                    _input(plan, "nodes", "nodes"),
                    Input("disks in no array", str(rest), "disks that neither array nor spare has"),
                    _disk(plan),
                ),
                source=DEFINITION,
                note=f"{rest} disks of each node are in no array",
            )
        )
    return figures


def _array(plan: StoragePlan) -> Figure:
    array, spares = plan.array, 0
    formula = "nodes x arrays of a node x disks of an array x capacity of a disk x data / all"
    inputs = [
        _input(plan, "nodes", "nodes"),
        _input(plan, "arrays of a node", "arrays_per_node"),
        Input("disks of an array", str(array.disks), array.kind),
        _disk(plan),
        Input("data", str(array.data), f"data disks of {_group(array)}"),
        Input("all", str(array.data + array.parity), f"all disks of {_group(array)}"),
    ]
    source = "definition of the level"
    if plan.has_distributed_spares:
        spares = plan.spares_per_node // plan.arrays_per_node
        formula = (
            "nodes x arrays of a node x (disks of an array - spares) x capacity of a disk"
            " x data / all"
        )
        inputs.append(Input("spares", str(spares), "distributed spares of an array"))
        source = "zpoolconcepts(7): (N - S) * (D / (D + P)) * X"
    return Figure(
        key="array-capacity",
        title=f"data of the arrays ({array.kind})",
        value=plan.nodes
        * plan.arrays_per_node
        * (array.disks - spares)
        * plan.disk_capacity
        * array.efficiency,
        unit="B",
        formula=formula,
        inputs=tuple(inputs),
        source=source,
    )


def _group(array: Array) -> str:
    return "a group of the dRAID" if array.kind == "draid" else f"a {array.kind} array"


def _file_system(plan: StoragePlan, array: Figure) -> list[Figure]:
    """Return the overhead of a file system on each array, and what it leaves."""
    arrays = plan.nodes * plan.arrays_per_node
    taken = space(plan.local, array.value / arrays)
    overhead = Figure(
        key="file-system-overhead",
        title=f"overhead of {plan.local}" if plan.local != "none" else "no file system",
        value=arrays * taken.overhead,
        unit="B",
        formula=f"arrays x ({taken.formula})" if taken.inputs else taken.formula,
        inputs=(Input("arrays", str(arrays), "nodes x arrays of a node"), *taken.inputs)
        if taken.inputs
        else (),
        source=taken.source,
        note=taken.note,
    )
    left = Figure(
        key="file-system-capacity",
        title="capacity for files",
        value=max(array.value - overhead.value, 0.0),
        unit="B",
        formula="data of the arrays - overhead",
        inputs=(
            Input("data of the arrays", _size(array.value), array.title),
            Input("overhead", _size(overhead.value), overhead.title),
        ),
        source=DEFINITION,
    )
    return [overhead, left] if plan.local != "none" else [left]


def _pool(plan: StoragePlan, array: Figure) -> list[Figure]:
    """Return the capacities of a ZFS pool on each node."""
    spares = plan.spares_per_node // plan.arrays_per_node if plan.has_distributed_spares else 0
    pool = zfs_space.pool(plan.array, plan.arrays_per_node, plan.disk_capacity, spares)
    metaslabs = Figure(
        key="metaslabs",
        title="metaslabs of a vdev",
        value=float(pool.metaslabs),
        unit="1",
        formula="floor(size of a vdev / size of a metaslab)",
        inputs=(
            Input(
                "size of a vdev",
                _size(pool.vdev_size),
                "disks without spare space, less 13.5 MiB each for labels and partitions",
            ),
            Input(
                "size of a metaslab",
                _binary(pool.metaslab),
                "a power of two, at most 16 GiB: zfs(4)",
            ),
        ),
        source=zfs_space.SOURCE,
    )
    efficiency = Figure(
        key="record-efficiency",
        title="data in the space of a record",
        value=pool.efficiency / 512,
        unit="1",
        formula="128 KiB / space of a record with parity and padding, in steps of 1/512",
        source=zfs_space.SOURCE,
        note=""
        if pool.efficiency == 512
        else "files smaller than 128 KiB, or in smaller records, need more padding",
    )
    slop = Figure(
        key="slop",
        title="reserve of ZFS (slop)",
        value=float(plan.nodes * pool.slop),
        unit="B",
        formula="nodes x reserve of a pool",
        inputs=(
            _input(plan, "nodes", "nodes"),
            Input("reserve of a pool", _binary(pool.slop), "1/32 of it, at most 128 GiB: zfs(4)"),
        ),
        source=zfs_space.SOURCE,
    )
    left = Figure(
        key="file-system-capacity",
        title="capacity for files",
        value=float(max(plan.nodes * pool.usable, 0)),
        unit="B",
        formula="nodes x (vdevs x metaslabs x size of a metaslab x data share - reserve)",
        inputs=(
            _input(plan, "nodes", "nodes"),
            Input("vdevs", str(pool.vdevs), "of a pool"),
            Input("metaslabs", str(pool.metaslabs), metaslabs.title),
            Input("size of a metaslab", _binary(pool.metaslab), metaslabs.title),
            Input("data share", f"{pool.efficiency}/512", efficiency.title),
            Input("reserve", _binary(pool.slop), slop.title),
        ),
        source=zfs_space.SOURCE,
    )
    overhead = Figure(
        key="file-system-overhead",
        title="overhead of zfs",
        value=array.value - left.value,
        unit="B",
        formula="data of the arrays - capacity for files",
        inputs=(
            Input("data of the arrays", _size(array.value), array.title),
            Input("capacity for files", _size(left.value), left.title),
        ),
        source=DEFINITION,
    )
    return [metaslabs, efficiency, slop, overhead, left]


def _usable(plan: StoragePlan, files: Figure) -> list[Figure]:
    """Return the usable capacity behind copies or a code, and the space of checksums."""
    given = Input("capacity for files", _size(files.value), files.title)
    factor, formula, inputs = 1.0 / plan.copies, "capacity for files / copies", [given]
    source = "Hindman 2011, section 2.2"
    if plan.code is not None:
        total = plan.code.data + plan.code.parity
        factor = plan.code.data / total
        formula = "capacity for files x data nodes / nodes of a code"
        inputs += [
            Input("data nodes", str(plan.code.data), "code over nodes"),
            Input("nodes of a code", str(total), "code over nodes"),
        ]
        source = "definition of the code"
    else:
        inputs.append(_input(plan, "copies", "copies"))
    if plan.checksum_files:
        factor /= 1 + CHECKSUM
        formula += " / (1 + checksums)"
        inputs.append(Input("checksums", "4/512", "hdfs-default.xml: dfs.bytes-per-checksum = 512"))
    return [
        Figure(
            key="usable-capacity",
            title="usable capacity",
            value=files.value * factor,
            unit="B",
            formula=formula,
            inputs=tuple(inputs),
            source=source,
        )
    ]


def raw_needed(
    usable: float,
    *,
    copies: int = 1,
    code: Code | None = None,
    array: Array | None = None,
    sources: Mapping[str, str] = {},
) -> Figure:
    """Return the raw capacity that a usable one needs, without file-system overhead.

    Args:
        usable: Bytes that users need.
        copies: Copies of each file over nodes.
        code: Code over nodes, in place of copies.
        array: The level of the arrays; none: single disks.
        sources: Where `usable` and `copies` come from.

    Raises:
        ValueError: A number is impossible.
    """
    if not usable > 0 or not math.isfinite(usable):
        raise ValueError(f"usable capacity {usable:g} B: expected more than 0")
    if copies < 1:
        raise ValueError(f"copies {copies}: expected at least 1")
    if code is not None and copies > 1:
        raise ValueError(f"{copies} copies and a code: expected one of the two")
    over_nodes = copies if code is None else (code.data + code.parity) / code.data
    over_disks = 1.0 if array is None else 1 / array.efficiency
    formula, inputs = (
        "usable capacity",
        [Input("usable capacity", _size(usable), sources.get("usable", ""))],
    )
    if code is None:
        formula += " x copies"
        inputs.append(Input("copies", str(copies), sources.get("copies", "")))
    else:
        formula += " x nodes of a code / data nodes"
        inputs += [
            Input("nodes of a code", str(code.data + code.parity), "code over nodes"),
            Input("data nodes", str(code.data), "code over nodes"),
        ]
    if array is not None and array.kind in ("raid1", "raid10"):
        formula += " x mirrored disks"
        inputs.append(Input("mirrored disks", f"{over_disks:g}", array.kind))
    elif array is not None:
        formula += " x disks / data disks"
        inputs += [
            Input("disks", str(array.data + array.parity), array.kind),
            Input("data disks", str(array.data), array.kind),
        ]
    return Figure(
        key="raw-capacity",
        title="raw capacity",
        value=usable * over_nodes * over_disks,
        unit="B",
        formula=formula,
        inputs=tuple(inputs),
        source="Hindman 2011, section 2.2",
        note="without spares and without what a file system needs",
    )


def disks_needed(raw: Figure, disk_capacity: float, array: Array | None = None) -> Figure:
    """Return the number of disks of a raw capacity, in whole arrays.

    Raises:
        ValueError: The disks have no capacity.
    """
    if not 0 < disk_capacity <= LARGEST_DISK:
        raise ValueError(
            f"disk capacity {disk_capacity:g} B: expected more than 0, and at most 1 PB"
        )
    whole = 1 if array is None else array.disks
    # Quotients such as 80 TB / 1 TB must not become 81 by a rounding error.
    sets = math.ceil(raw.value / (whole * disk_capacity) * (1 - 1e-12))
    return Figure(
        key="disks",
        title="disks",
        value=float(sets * whole),
        unit="1",
        formula="ceil(raw capacity / (disks of an array x capacity of a disk)) x disks of an array",
        inputs=(
            Input("raw capacity", _size(raw.value), raw.title),
            Input("disks of an array", str(whole), "" if array is None else array.kind),
            Input("capacity of a disk", _size(disk_capacity), ""),
        ),
        source=DEFINITION,
    )


def capacity_wanted(need: CapacityNeed) -> Figure:
    """Return the usable capacity to buy at first: the initial need and its reserve."""
    return Figure(
        key="wanted-capacity",
        title="capacity to buy first",
        value=need.usable * (1 + need.reserve),
        unit="B",
        formula="initial need x (1 + reserve)",
        inputs=(
            Input("initial need", _size(need.usable), "worksheet: capacity.usable"),
            Input("reserve", f"{need.reserve:g}", "worksheet: capacity.reserve"),
        ),
        source=HINDMAN,
    )


def capacity_violations(figures: Iterable[Figure], worksheet: Worksheet) -> tuple[Violation, ...]:
    """Return the requirements of capacity that a design misses, from its capacities."""
    usable = by_key(figures)["usable-capacity"].value
    wanted = capacity_wanted(worksheet.capacity).value
    if usable >= wanted * (1 - 1e-9):
        return ()
    wanted_text, got = _size(wanted), _size(usable)
    share = f"{100 * worksheet.capacity.reserve:g} %"
    return (
        Violation(
            field="capacity.usable",
            wanted=wanted_text,
            got=got,
            message=f"{got} are usable, {wanted_text} are needed with the reserve of {share}.",
        ),
    )


def _input(plan: StoragePlan, name: str, field: str) -> Input:
    return Input(name, str(getattr(plan, field)), plan.sources.get(field, "declared: default"))


def _disk(plan: StoragePlan) -> Input:
    source = plan.sources.get("disk_capacity", "declared: default")
    return Input("capacity of a disk", _size(plan.disk_capacity), source)


def _of(figure: Figure) -> Input:
    return Input(figure.title, _size(figure.value), f"figure: {figure.title}")


def _size(amount: float) -> str:
    return quantity(amount, "B").partition(" (")[0]


def _binary(amount: int) -> str:
    return binary_size(amount)
