"""`headrace design cost`."""

from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.design.output_options import FiguresAsJson, print_figures
from headrace.cli.design.quantity_options import CoolingOverhead, check_number, rate, size, time
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
    from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel, NodeModel
    from headrace.design.storage_plan import StoragePlan

NAME = "of the command line"
"""Name of each entry in the sources of figures."""


def cost(
    disk_price: Annotated[float, typer.Option("--disk-price", help="Price of a disk.")],
    node_price: Annotated[
        float, typer.Option("--node-price", help="Price of a node without disks.")
    ],
    network_price: Annotated[
        float,
        typer.Option("--network-price", help="Price of the adapter and switch ports of a node."),
    ] = 0.0,
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
    metadata_nodes: Annotated[
        int, typer.Option("--metadata-nodes", help="Metadata servers, of the same model.")
    ] = 0,
    disk_watts: Annotated[
        float, typer.Option("--disk-watts", metavar="W", help="Power of a disk at work.")
    ] = 8.0,
    node_watts: Annotated[
        float, typer.Option("--node-watts", metavar="W", help="Power of a node without disks.")
    ] = 250.0,
    rack_units: Annotated[
        float, typer.Option("--rack-units", metavar="U", help="Height of a node.")
    ] = 2.0,
    mttf: Annotated[
        str, typer.Option("--mttf", metavar="TIME", help="Mean time to failure of a disk.")
    ] = "1000000 h",
    electricity: Annotated[
        float | None, typer.Option("--electricity", help="Price of a kilowatt-hour.")
    ] = None,
    cooling_overhead: CoolingOverhead = 0.5,
    rack_month: Annotated[
        float | None,
        typer.Option("--rack-month", help="Price of a rack a month at a co-location."),
    ] = None,
    maintenance: Annotated[
        float,
        typer.Option("--maintenance", help="Maintenance a year, as a part of the purchase."),
    ] = 0.1,
    engineer_hour: Annotated[
        float | None, typer.Option("--engineer-hour", help="Cost of an engineer's hour.")
    ] = None,
    years: Annotated[float, typer.Option("--years", help="Years of operation.")] = 3.0,
    throughput: Annotated[
        str | None,
        typer.Option("--throughput", metavar="RATE", help='Throughput, such as "2 GB/s".'),
    ] = None,
    currency: Annotated[
        str, typer.Option("--currency", help="Name of the currency in the table.")
    ] = "",
    as_json: FiguresAsJson = False,
) -> None:
    """Compute what a system costs over years, for a usable TB and for 1 GB/s.

    Example: --nodes 4 --node-price 4000 --disks 12 --capacity "4 TB" --disk-price 120
    --level raid6 --electricity 0.2 --years 5.
    """
    from headrace.design import cost as design_cost
    from headrace.design.capacity import capacity_of
    from headrace.design.growth import MOST_YEARS
    from headrace.design.system import Design
    from headrace.design.worksheet import Budget, CapacityNeed, Facility, Worksheet

    prices = {
        "--disk-price": disk_price,
        "--node-price": node_price,
        "--network-price": network_price,
        "--electricity": electricity,
        "--rack-month": rack_month,
        "--engineer-hour": engineer_hour,
        "--disk-watts": disk_watts,
        "--node-watts": node_watts,
        "--cooling-overhead": cooling_overhead,
        "--maintenance": maintenance,
    }
    for option, value in prices.items():
        if value is not None:
            check_number(option, value, 0.0, "0.2")
    check_number("--rack-units", rack_units, 0.5, "2")
    check_number("--years", years, 1 / 12, "5", MOST_YEARS)
    check_number("--metadata-nodes", metadata_nodes, 0, "1")
    plan = StorageOptions(
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
    ).plan()
    wanted = None if throughput is None else rate("--throughput", throughput, "2 GB/s")
    disk = _disk(plan, disk_price, disk_watts, time("--mttf", mttf))
    node = _node(plan, node_price, node_watts, rack_units)
    network = _network(network_price)
    design = Design(
        file_system="lustre",
        nodes=plan.nodes,
        node=node,
        disk=disk,
        disks_per_node=plan.disks_per_node,
        array=plan.array,
        arrays_per_node=plan.arrays_per_node,
        spares_per_node=plan.spares_per_node,
        network=network,
        metadata_nodes=metadata_nodes,
        copies=plan.copies,
        code=plan.code,
    )
    worksheet = Worksheet(
        name="command line",
        capacity=CapacityNeed(usable=1.0, years=years),
        facility=Facility(
            place="on-site" if rack_month is None else "co-location",
            cooling_overhead=cooling_overhead,
        ),
        budget=Budget(
            vendor_agreement=maintenance > 0,
            engineer_hour=engineer_hour,
            electricity=electricity,
            rack_month=rack_month,
        ),
    )
    catalogue = _catalogue(disk, node, network, maintenance, currency)
    figures = design_cost.cost(design, catalogue, worksheet, wanted, capacities=capacity_of(plan))
    print_figures("Cost", figures, as_json, currency)


def _disk(plan: "StoragePlan", price: float, watts: float, mttf: float) -> "DiskModel":
    from headrace.design.catalogue import DiskModel

    # The cost needs neither rates nor read errors of a disk.
    return DiskModel(
        name=NAME,
        disk_class="nearline",
        capacity=plan.disk_capacity,
        price=price,
        mttf=mttf,
        bit_error_rate=0.0,
        read_rate=0.0,
        write_rate=0.0,
        access_time=0.0,
        power=watts,
    )


def _node(plan: "StoragePlan", price: float, watts: float, rack_units: float) -> "NodeModel":
    from headrace.design.catalogue import NodeModel

    return NodeModel(
        name=NAME,
        slots=plan.disks_per_node,
        rack_units=rack_units,
        price=price,
        memory=0.0,
        cores=1,
        max_power=watts,
        power=watts,
    )


def _network(price: float) -> "NetworkModel":
    from headrace.design.catalogue import NetworkModel

    return NetworkModel(
        name=NAME,
        bandwidth=0.0,
        latency=0.0,
        adapter_price=price,
        port_price=0.0,
        port_power=0.0,
    )


def _catalogue(
    disk: "DiskModel",
    node: "NodeModel",
    network: "NetworkModel",
    maintenance: float,
    currency: str,
) -> "Catalogue":
    from headrace.design.catalogue import Catalogue

    return Catalogue(
        name="command line",
        date="",
        currency=currency,
        disks=(disk,),
        nodes=(node,),
        networks=(network,),
        maintenance_share=maintenance,
    )
