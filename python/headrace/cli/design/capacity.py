"""`headrace design capacity`."""

from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.design.output_options import FiguresAsJson, print_figures
from headrace.cli.design.quantity_options import size
from headrace.cli.design.storage_options import (
    Arrays,
    Copies,
    Data,
    DiskCapacity,
    Disks,
    Draid,
    FileSystemOfNode,
    Level,
    Nodes,
    OverNodes,
    Parity,
    Spares,
    StorageOptions,
)

if TYPE_CHECKING:
    from headrace.design.figure import Figure
    from headrace.design.storage_plan import StoragePlan


def capacity(
    disks: Disks = None,
    disk_capacity: DiskCapacity = None,
    level: Level = None,
    data: Data = None,
    parity: Parity = None,
    draid: Draid = None,
    arrays: Arrays = 1,
    spares: Spares = 0,
    nodes: Nodes = None,
    copies: Copies = 1,
    code: OverNodes = None,
    file_system: FileSystemOfNode = None,
    usable: Annotated[
        str | None,
        typer.Option(
            "--usable",
            metavar="SIZE",
            help="Usable capacity that is needed: compute the raw capacity, or with --disks and"
            " --capacity the number of nodes.",
        ),
    ] = None,
    as_json: FiguresAsJson = False,
) -> None:
    """Compute raw and usable capacity, and show the arithmetic.

    From disks to usable capacity: --disks 12 --capacity "4 TB" --level raid6 --spares 1. From
    usable to raw capacity: --usable "20 TB" --copies 2 --level raid10.
    """
    from headrace.design.capacity import capacity_of

    wanted = None if usable is None else size("--usable", usable)
    options = StorageOptions(
        disks=disks,
        disk_capacity=None if disk_capacity is None else size("--capacity", disk_capacity),
        level=level,
        data=data,
        parity=parity,
        draid=draid,
        arrays=arrays,
        spares=spares,
        nodes=nodes,
        copies=copies,
        code=code,
        file_system=file_system,
    )
    options.check_counts()
    if wanted is None:
        print_figures("Capacity", capacity_of(options.plan()), as_json)
        return
    if nodes is not None:
        raise ValueError("--nodes: expected none with --usable, which computes their number")
    if options.disk_capacity is None or (disks is None and draid is None):
        print_figures("Raw capacity", _raw(options, wanted), as_json)
        return
    print_figures("Capacity", _nodes(options.plan(), wanted), as_json)


def _raw(options: StorageOptions, wanted: float) -> "list[Figure]":
    """Return the raw capacity, and the number of disks if their capacity is known."""
    from headrace.design.raw_need import disks_needed, raw_needed

    if options.file_system not in (None, "none") or options.spares or options.arrays > 1:
        raise ValueError(
            "--file-system, --spares and --arrays: expected --disks and --capacity as well"
        )
    array = options.ideal_array()
    raw = raw_needed(
        wanted,
        copies=options.copies,
        code=options.over_nodes(),
        array=array,
        sources={"usable": "--usable", "copies": "--copies"},
    )
    each = options.disk_capacity
    return [raw] if each is None else [raw, disks_needed(raw, each, array)]


def _nodes(plan: "StoragePlan", wanted: float) -> "list[Figure]":
    """Return the fewest nodes that give the wanted capacity, and their capacities."""
    import msgspec

    from headrace import quantities
    from headrace.design.array_level import MOST_DISKS
    from headrace.design.capacity import capacity_of
    from headrace.design.figure import Figure, Input, by_key
    from headrace.design.raw_need import whole_units

    each = by_key(capacity_of(plan))["usable-capacity"].value / plan.nodes
    if each <= 0:
        raise ValueError("--capacity: the file system leaves nothing: expected larger disks")
    count = max(whole_units(wanted, each), plan.nodes)
    if count > MOST_DISKS:
        raise ValueError(f"{count} nodes are needed: expected larger nodes, or less capacity")
    least = plan.nodes
    nodes = Figure(
        key="nodes",
        title="nodes",
        value=float(count),
        unit="1",
        formula="max(ceil(wanted capacity / usable capacity of a node), fewest nodes)",
        inputs=(
            Input("wanted capacity", quantities.size(wanted), "--usable"),
            Input(
                "usable capacity of a node",
                quantities.size(each),
                "usable capacity / nodes, below",
            ),
            Input("fewest nodes", str(least), "copies or code over nodes"),
        ),
        source="definition",
    )
    sources = {**plan.sources, "nodes": "the fewest that give the usable capacity"}
    return [nodes, *capacity_of(msgspec.structs.replace(plan, nodes=count, sources=sources))]
