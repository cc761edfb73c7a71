"""Cost of a system over years."""

from typing import Annotated as A

from headrace.commands.design.power import COOLING_OVERHEAD
from headrace.commands.design.storage import DISKS, Storage
from headrace.commands.parameters import Form, Help, Word
from headrace.commands.values import HOURS, RATE
from headrace.design import cost as design_cost
from headrace.design.capacity import capacity_of
from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel, NodeModel
from headrace.design.figure import Figure
from headrace.design.growth import MOST_YEARS
from headrace.design.storage_plan import StoragePlan
from headrace.design.system import Design
from headrace.design.worksheet import Budget, CapacityNeed, Facility, Worksheet
from headrace.quantities import HOUR

NAME = "of the command line"
"""Name of each entry in the sources of figures."""


MOST_SERVERS = 1_000_000
"""Metadata servers at the most: racks are filled one by one."""


class Cost(Storage, frozen=True, kw_only=True):
    """Compute what a system costs over years, for a usable TB and for 1 GB/s.

    Example: --nodes 4 --node-price 4000 --disks 12 --capacity "4 TB" --disk-price 120
    --level raid6 --electricity 0.2 --years 5.
    """

    disk_price: A[float, Word(metavar="PRICE"), Help("Price of a disk.", least=0, example=120)]
    node_price: A[
        float, Word(metavar="PRICE"), Help("Price of a node without disks.", least=0, example=4000)
    ]
    network_price: A[
        float,
        Word(metavar="PRICE"),
        Help("Price of the adapter and switch ports of a node.", least=0, example=200),
    ] = 0.0
    metadata_nodes: A[
        int, Help("Metadata servers, of the same model.", least=0, most=MOST_SERVERS)
    ] = 0
    disk_watts: A[
        float, Word(metavar="W"), Help("Power of a disk at work.", least=0, example=8)
    ] = 8.0
    node_watts: A[
        float, Word(metavar="W"), Help("Power of a node without disks.", least=0, example=250)
    ] = 250.0
    rack_units: A[float, Word(metavar="U"), Help("Height of a node.", least=0.5, example=2)] = 2.0
    mttf: A[float, HOURS, Help("Mean time to failure of a disk.")] = 1e6 * HOUR
    electricity: A[
        float | None, Word(metavar="PRICE"), Help("Price of a kilowatt-hour.", least=0, example=0.2)
    ] = None
    cooling_overhead: A[float, Help(COOLING_OVERHEAD, least=0, example=0.5)] = 0.5
    rack_month: A[
        float | None,
        Word(metavar="PRICE"),
        Help("Price of a rack a month at a co-location.", least=0, example=500),
    ] = None
    maintenance: A[
        float, Help("Maintenance a year, as a part of the purchase.", least=0, example=0.1)
    ] = 0.1
    engineer_hour: A[
        float | None,
        Word(metavar="PRICE"),
        Help("Cost of an engineer's hour.", least=0, example=80),
    ] = None
    years: A[
        float,
        Word(metavar="YEARS"),
        Help("Years of operation.", least=1 / 12, most=MOST_YEARS, example=5),
    ] = 3.0
    throughput: A[float | None, RATE, Help('Throughput, such as "2 GB/s".')] = None
    currency: A[str, Word(metavar="NAME"), Help("Name of the currency in the table.")] = ""

    form = Form(
        "Cost",
        ("nodes", "node_price", "disks", "disk_capacity", "disk_price", "level", "electricity"),
        {**DISKS, "nodes": "4", "node_price": "4000", "disk_price": "120", "electricity": "0.2"},
    )

    def figures(self) -> tuple[Figure, ...]:
        """Return purchase and costs of operation. Raises ValueError, which names the options."""
        self.check_counts()
        plan = self.plan()
        disk = _disk(plan, self.disk_price, self.disk_watts, self.mttf)
        node = _node(plan, self.node_price, self.node_watts, self.rack_units)
        network = _network(self.network_price)
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
            metadata_nodes=self.metadata_nodes,
            copies=plan.copies,
            code=plan.code,
        )
        worksheet = Worksheet(
            name="command line",
            capacity=CapacityNeed(usable=1.0, years=self.years),
            facility=Facility(
                place="on-site" if self.rack_month is None else "co-location",
                cooling_overhead=self.cooling_overhead,
            ),
            budget=Budget(
                vendor_agreement=self.maintenance > 0,
                engineer_hour=self.engineer_hour,
                electricity=self.electricity,
                rack_month=self.rack_month,
            ),
        )
        catalogue = _catalogue(disk, node, network, self.maintenance, self.currency)
        return design_cost.cost(
            design, catalogue, worksheet, self.throughput, capacities=capacity_of(plan)
        )


def _disk(plan: StoragePlan, price: float, watts: float, mttf: float) -> DiskModel:
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
        failure_factor=1.0,
    )


def _node(plan: StoragePlan, price: float, watts: float, rack_units: float) -> NodeModel:
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


def _network(price: float) -> NetworkModel:
    return NetworkModel(
        name=NAME, bandwidth=0.0, latency=0.0, adapter_price=price, port_price=0.0, port_power=0.0
    )


def _catalogue(
    disk: DiskModel, node: NodeModel, network: NetworkModel, maintenance: float, currency: str
) -> Catalogue:
    return Catalogue(
        name="command line",
        date="",
        currency=currency,
        disks=(disk,),
        nodes=(node,),
        networks=(network,),
        maintenance_share=maintenance,
    )
