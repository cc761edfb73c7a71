"""Raw and usable capacity of a design, step by step.

The first steps are all disks, and the data of the arrays without spares. Then come the space that
file systems leave to files, and copies or a code over the servers.

Not modelled: compression, deduplication, snapshots, disks of unequal sizes, and the fill level
above which a file system slows down.
"""

from collections.abc import Iterable

from headrace.design import zfs_space
from headrace.design.evaluation import Violation
from headrace.design.figure import SUM, Figure, Input, by_key, combine
from headrace.design.file_counts import file_violations, most_files
from headrace.design.local_space import CHECKSUM, LocalFileSystem, space
from headrace.design.storage_plan import StoragePlan, check_plan, plan_of
from headrace.design.system import Array, Design
from headrace.design.worksheet import CapacityNeed, Worksheet
from headrace.quantities import binary_size, numbered, precise_size, size

DEFINITION = "definition"
HINDMAN = "Hindman 2011, section 2.3"


def capacity(design: Design, local: LocalFileSystem | None = None) -> tuple[Figure, ...]:
    """Return the capacities of a design, from the raw to the usable.

    A design with several pools has the sums and the capacities of each pool.

    Keys: `raw-capacity`, `spare-capacity`, `array-capacity`, `file-system-overhead`,
    `file-system-capacity`, `usable-capacity`, `usable-share`; with ZFS
    also those of the pool, and with inode tables `files`.

    Raises:
        ValueError: The array is impossible.
    """
    if design.pools:
        pools = [(one.zone_names, capacity(one, local)) for one in design.each_pool]
        return combine(pools, dict.fromkeys(("raw-capacity", "usable-capacity"), SUM))
    return capacity_of(plan_of(design, local))


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
    share = Figure(
        key="usable-share",
        title="usable / raw",
        value=usable.value / raw.value,
        unit="1",
        formula="usable capacity / raw capacity",
        inputs=(_of(usable), _of(raw)),
        source=DEFINITION,
    )
    figures += [usable, share]
    files = most_files(plan)
    return tuple(figures) if files is None else (*figures, files)


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
                title=kind,
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
    filled = plan.array.disks * plan.arrays_per_node
    if rest := plan.disks_per_node - plan.hot_spares_per_node - filled:
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
                note=f"in no array of each node: {numbered(rest, 'disk')}",
            )
        )
    return figures


def _array(plan: StoragePlan) -> Figure:
    array, spares = plan.array, plan.distributed_spares
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
            Input("data of the arrays", size(array.value), array.title),
            Input("overhead", size(overhead.value), overhead.title),
        ),
        source=DEFINITION,
    )
    return [overhead, left] if plan.local != "none" else [left]


def _pool(plan: StoragePlan, array: Figure) -> list[Figure]:
    """Return the capacities of a ZFS pool on each node."""
    pool = zfs_space.pool(
        plan.array, plan.arrays_per_node, plan.disk_capacity, plan.distributed_spares
    )
    metaslabs = Figure(
        key="metaslabs",
        title="metaslabs of a vdev",
        value=float(pool.metaslabs),
        unit="1",
        formula="floor(size of a vdev / size of a metaslab)",
        inputs=(
            Input(
                "size of a vdev",
                size(pool.vdev_size),
                "disks without spare space, less 13.5 MiB each for labels and partitions",
            ),
            Input(
                "size of a metaslab",
                binary_size(pool.metaslab),
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
            Input("reserve of a pool", binary_size(pool.slop), "1/32, at most 128 GiB: zfs(4)"),
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
            Input("size of a metaslab", binary_size(pool.metaslab), metaslabs.title),
            Input("data share", f"{pool.efficiency}/512", efficiency.title),
            Input("reserve", binary_size(pool.slop), slop.title),
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
            Input("data of the arrays", precise_size(array.value), array.title),
            Input("capacity for files", precise_size(left.value), left.title),
        ),
        source=DEFINITION,
    )
    return [metaslabs, efficiency, slop, overhead, left]


def _usable(plan: StoragePlan, files: Figure) -> Figure:
    """Return the usable capacity behind copies or a code, and the space of checksums."""
    given = Input("capacity for files", size(files.value), files.title)
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
    return Figure(
        key="usable-capacity",
        title="usable capacity",
        value=files.value * factor,
        unit="B",
        formula=formula,
        inputs=tuple(inputs),
        source=source,
    )


def capacity_wanted(need: CapacityNeed) -> Figure:
    """Return the usable capacity to buy at first: the initial need and its reserve."""
    return Figure(
        key="wanted-capacity",
        title="capacity to buy first",
        value=need.first_purchase,
        unit="B",
        formula="initial need x (1 + reserve)",
        inputs=(
            Input("initial need", size(need.usable), "worksheet: capacity.usable"),
            Input("reserve", f"{need.reserve:g}", "worksheet: capacity.reserve"),
        ),
        source=HINDMAN,
    )


def capacity_violations(figures: Iterable[Figure], worksheet: Worksheet) -> tuple[Violation, ...]:
    """Return the requirements of capacity that a design misses, from its capacities."""
    keyed = by_key(figures)
    usable = keyed["usable-capacity"].value
    bought = worksheet.capacity.first_purchase
    files = file_violations(keyed.values(), worksheet)
    if usable >= bought * (1 - 1e-9):
        return files
    wanted_text, got = size(bought), size(usable)
    share = f"{100 * worksheet.capacity.reserve:g} %"
    return (
        Violation(
            field="capacity.usable",
            wanted=wanted_text,
            got=got,
            message=f"{got} are usable, {wanted_text} are needed with the reserve of {share}.",
        ),
        *files,
    )


def _input(plan: StoragePlan, name: str, field: str) -> Input:
    return Input(name, str(getattr(plan, field)), plan.sources.get(field, "declared: default"))


def _disk(plan: StoragePlan) -> Input:
    source = plan.sources.get("disk_capacity", "declared: default")
    return Input("capacity of a disk", size(plan.disk_capacity), source)


def _of(figure: Figure) -> Input:
    return Input(figure.title, size(figure.value), f"figure: {figure.title}")
