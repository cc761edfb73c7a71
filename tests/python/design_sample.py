"""A solution built by hand: the video shop of Hindman 2011, section 2.5.2, with declared numbers.

Nothing in it is searched, simulated or measured.
"""

import msgspec

from headrace.design.capacity import capacity
from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel, NodeModel
from headrace.design.cost import cost
from headrace.design.evaluation import (
    ApplicationPerformance,
    Choice,
    Evaluation,
    Reason,
    Solution,
    Violation,
)
from headrace.design.facility import facility
from headrace.design.figure import Figure, Unit
from headrace.design.system import Array, Design
from headrace.design.worksheet import (
    Application,
    Background,
    Budget,
    CapacityNeed,
    ClientGroup,
    Customer,
    Data,
    Facility,
    Flow,
    Limitation,
    Recovery,
    Wish,
    Worksheet,
    Zone,
)

YEAR = 8760 * 3600.0
DISK = DiskModel(
    name="nearline 4 TB",
    disk_class="nearline",
    capacity=4e12,
    price=120.0,
    mttf=1.2e6 * 3600,
    bit_error_rate=1e-15,
    read_rate=180e6,
    write_rate=180e6,
    access_time=12.7e-3,
    power=9.0,
    source="declared: usual of the class",
    failure_factor=1.0,
)
NODE = NodeModel(
    name="2U12",
    slots=12,
    rack_units=2.0,
    price=3200.0,
    memory=64e9,
    cores=16,
    max_power=550.0,
    power=260.0,
    source="declared",
)
NETWORK = NetworkModel(
    name="10GbE",
    bandwidth=1.25e9,
    latency=20e-6,
    adapter_price=180.0,
    port_price=90.0,
    port_power=4.0,
)
CATALOGUE = Catalogue(
    name="example",
    date="2026-01-15",
    currency="EUR",
    disks=(DISK,),
    nodes=(NODE,),
    networks=(NETWORK,),
)
WORKSHEET = Worksheet(
    name="video shop",
    description="a workshop that cuts and renders films",
    customer=Customer("Example Films", "A. Person", "2026-02-03"),
    background=Background(
        problem="Rendering waits for the file server.",
        existing="one file server with 8 TB",
        limitations=(
            Limitation("the server is full every month", "capacity", "users"),
            Limitation("two renderings at once stutter", "performance", "engineers"),
        ),
        wishes=(Wish("no film is lost with a disk", "reliability"),),
    ),
    capacity=CapacityNeed(usable=80e12, growth=0.3),
    clients=(
        ClientGroup("render", 8, growth=0.1, high_throughput=True),
        ClientGroup("ingest", 2, system="windows", source_rate=40e6),
    ),
    zones=(
        Zone("A", "medium", "simple", backup="nightly full"),
        Zone("B", "medium", "striped", backup="weekly full, nightly incremental"),
        Zone("C", "high", "striped", backup="none", lifetime=14 * 86400.0),
    ),
    data=(
        Data("pictures", "medium-multimedia", "A", size=4e12, files=800_000),
        Data("video", "large-multimedia", "B", size=18e12, striping=True),
        Data("intermediate", "large-multimedia", "C", size=8e12, regenerable=True),
    ),
    flows=(
        Flow("camera", "A", "digital pictures, USB", 30e6),
        Flow("C", "B", "compressed film"),
        Flow("C", "bin", "intermediate files", removes=True),
    ),
    applications=(
        Application(
            "render",
            ("render",),
            ("A", "B", "C"),
            pattern="sequential",
            transfer=4e6,
            read_share=0.6,
            throughput=800e6,
        ),
        Application("touch up", ("ingest",), ("A",), preset="small-files", latency=20e-3),
    ),
    recovery=Recovery(critical=True, downtime=4 * 3600.0, loss_probability=1e-3, loss_years=5.0),
    facility=Facility(racks=1, power=5e3),
    budget=Budget(initial=50_000.0, monthly_power=800.0, electricity=0.25),
)


def design(nodes: int = 4, copies: int = 1) -> Design:
    """A design of some nodes."""
    return Design(
        file_system="lustre",
        nodes=nodes,
        node=NODE,
        disk=DISK,
        disks_per_node=12,
        array=Array(kind="raid6", disks=11, data=9, parity=2),
        arrays_per_node=1,
        spares_per_node=1,
        network=NETWORK,
        metadata_nodes=1,
        metadata_disk=DISK,
        copies=copies,
        distribution="striped",
        gateways=1,
    )


def figure(key: str, value: float, unit: Unit, formula: str = "declared", **more: object) -> Figure:
    """A figure whose title is its key in words."""
    title = str(more.pop("title", key.replace("-", " ")))
    return msgspec.convert(
        {"key": key, "title": title, "value": value, "unit": unit, "formula": formula, **more},
        Figure,
    )


def evaluation(nodes: int = 4, copies: int = 1) -> Evaluation:
    """A design with figures that grow with its nodes."""
    made = design(nodes, copies)
    return Evaluation(
        design=made,
        capacity=capacity(made),
        reliability=(
            figure(
                "loss-probability",
                2.3e-5 * nodes,
                "1",
                "1 - exp(-time / MTTDL)",
                standard_error=1e-6,
                note="Failures are independent.",
            ),
            figure("mttdl", 2e5 * YEAR / nodes, "s", "1 / loss rate"),
            figure("downtime", 1800.0, "s", "unavailability x month"),
        ),
        facility=facility(made, WORKSHEET.facility),
        cost=cost(made, CATALOGUE, WORKSHEET, 440e6 * nodes),
        performance=(
            ApplicationPerformance(
                application="render",
                throughput=420e6 * nodes,
                operations=105.0 * nodes,
                latency=30e-3,
                throughput_error=9e6,
                wanted_throughput=800e6,
                limiting_resource="servers.device",
                detail="full",
                scenario='name = "chosen"\nsystem = "lustre"\n',
                notes=("Shared switches are not modelled.",),
            ),
            ApplicationPerformance(
                application="touch up",
                throughput=20e6,
                operations=320.0,
                latency=14e-3,
                wanted_latency=20e-3,
                limiting_resource="network",
            ),
        ),
    )


HINDMAN = "Hindman 2011, section "
CHOICES = (
    Choice(
        "",
        "file-system",
        ("lustre", "pvfs2"),
        (Reason("large-sequential", "Large sequential files stripe well.", HINDMAN + "4.8"),),
        (
            (
                "hdfs",
                Reason("no-hdfs", "Files are changed after writing.", HINDMAN + "4.6"),
            ),
        ),
    ),
    Choice(
        "A",
        "distribution",
        ("simple",),
        (Reason("medium-files", "Medium files gain little from stripes.", HINDMAN + "B.5"),),
        (("striped", Reason("medium-files", "A stripe is a file.", HINDMAN + "B.5")),),
    ),
    Choice(
        "C",
        "distribution",
        ("striped",),
        (Reason("large-files", "Large files gain from many disks.", HINDMAN + "B.1"),),
        unsure=("zone C: the number of files is unknown.",),
    ),
    Choice(
        "",
        "scrubbing",
        ("weekly",),
        (Reason("scrub", "Latent errors are found only by reading.", HINDMAN + "3.6"),),
    ),
    Choice("", "spares", ("1 a server",), (Reason("spare", "One for each controller.", "3.5"),)),
    Choice("A", "backup", ("nightly full",), (Reason("backup", "RAID is no backup.", "3.4"),)),
)
SOLUTION = Solution(
    worksheet_text='name = "video shop"\n\n[capacity]\nusable = "80 TB"\n',
    catalogue_text='name = "example"\n',
    choices=CHOICES,
    front=(evaluation(2), evaluation(4), evaluation(6, 2)),
    chosen=1,
    enumerated=1234,
    discarded={"capacity.usable": 800, "budget.initial": 300},
    unsure=("facility.cooling is unknown: no design is discarded for its heat.",),
    version="0.1.0",
    seconds=31.4,
)


def missed() -> Solution:
    """A solution without a feasible design: the nearest misses the budget and the throughput."""
    near = msgspec.structs.replace(
        evaluation(4),
        violations=(
            Violation("budget.initial", "20,000 EUR", "27,000 EUR", "27,000 EUR is 35 % too much."),
            Violation("zone.C.quota", "1 TB", "2 TB", "A field that has no line of its own."),
        ),
    )
    return msgspec.structs.replace(SOLUTION, front=(), chosen=None, nearest=(near, evaluation(6)))
