"""Worksheets and a catalogue for tests of designs, built by hand."""

from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel, NodeModel
from headrace.design.worksheet import (
    Application,
    Budget,
    CapacityNeed,
    ClientGroup,
    Data,
    Facility,
    Flow,
    Recovery,
    Worksheet,
    Zone,
)

TB = 1e12
HOUR = 3600.0


def disk(name: str, disk_class: str, capacity: float, price: float, **more: object) -> DiskModel:
    """A disk with the error rate and life of its class: Hindman 2011, table 3.2."""
    hours, error = {
        "desktop": (0.75e6, 1e-14),
        "nearline": (1.2e6, 1e-15),
        "enterprise": (1.6e6, 1e-16),
    }.get(disk_class, (2e6, 1e-17))
    values: dict[str, object] = {
        "mttf": hours * HOUR,
        "bit_error_rate": error,
        "read_rate": 150e6,
        "write_rate": 150e6,
        "access_time": 12e-3,
        "power": 8.0,
        "weight": 0.7,
    }
    return DiskModel(name, disk_class, capacity, price, **(values | more))  # type: ignore[arg-type]


CATALOGUE = Catalogue(
    name="test",
    date="2026-01-01",
    currency="EUR",
    disks=(
        disk("D2", "desktop", 2 * TB, 60.0),
        disk("N2", "nearline", 2 * TB, 100.0),
        disk("N8", "nearline", 8 * TB, 240.0),
        disk("E1", "enterprise", 0.6 * TB, 200.0),
        disk("S4", "ssd", 3.84 * TB, 600.0, access_time=1e-4, power=6.0),
    ),
    nodes=(
        NodeModel("2U12", 12, 2.0, 3000.0, 64e9, 16, 500.0, 250.0, weight=20.0),
        NodeModel("4U36", 36, 4.0, 6000.0, 128e9, 32, 900.0, 450.0, weight=40.0),
    ),
    networks=(
        NetworkModel("1 GbE", 125e6, 30e-6, 20.0, 20.0, 2.0),
        NetworkModel("10 GbE", 1.25e9, 20e-6, 150.0, 100.0, 5.0),
        NetworkModel("InfiniBand", 12.5e9, 1e-6, 500.0, 400.0, 8.0),
    ),
)
"""Prices and power are declared: round numbers for tests."""

VIDEO_SHOP = Worksheet(
    name="video shop",
    capacity=CapacityNeed(usable=20 * TB, growth=0.3),
    clients=(
        ClientGroup("cameras", 2, source_rate=40e6),
        ClientGroup("editors", 4, system="windows"),
        ClientGroup("renderers", 8, high_throughput=True),
    ),
    zones=(
        Zone("A", throughput="medium"),
        Zone("B", throughput="medium"),
        Zone("C", throughput="high"),
    ),
    data=(
        Data("pictures", "medium-multimedia", "A", size=1 * TB),
        Data("video", "large-multimedia", "B", size=9 * TB),
        Data("intermediate movie", "large-multimedia", "C", size=10 * TB, regenerable=True),
    ),
    flows=(
        Flow("cameras", "A", "digital pictures, USB", 40e6),
        Flow("cameras", "B", "video, Firewire", 50e6),
        Flow("A", "editors", "pictures to touch up"),
        Flow("editors", "A", "touched up pictures"),
        Flow("A", "renderers", "pictures"),
        Flow("B", "renderers", "video"),
        Flow("renderers", "C", "rendered movie", 400e6),
        Flow("C", "renderers", "movie to compress"),
        Flow("renderers", "B", "hi-def version"),
        Flow("B", "Blu-ray", "hi-def version"),
        Flow("C", "removed", "intermediate files", removes=True),
    ),
    recovery=Recovery(critical=True, regenerable=False),
)
"""Hindman 2011, section 2.5.2, figures 2.3 to 2.9; amounts and numbers of clients are declared."""

LAB = Worksheet(
    name="lab",
    capacity=CapacityNeed(usable=20 * TB),
    clients=(ClientGroup("workstations", 6),),
    zones=(Zone("results", throughput="low"),),
    data=(Data("texts", "medium-text", "results", size=20 * TB, files=1_000_000),),
    recovery=Recovery(critical=True, regenerable=False, survives_node=True),
    budget=Budget(initial=30e3),
)

HPC_CENTRE = Worksheet(
    name="HPC centre",
    capacity=CapacityNeed(usable=1000 * TB, growth=0.2),
    clients=(ClientGroup("compute nodes", 512, growth=0.25, high_throughput=True),),
    zones=(
        Zone("scratch", throughput="high", share=0.8, lifetime=30 * 86400.0),
        Zone("home", throughput="medium", share=0.2),
    ),
    data=(
        Data("checkpoints", "large-compressed", "scratch", size=800 * TB, regenerable=True),
        Data("sources", "small-files", "home", size=150 * TB, files=300_000_000),
        Data("directories", "many-files", "home", size=50 * TB),
    ),
    applications=(
        Application(
            "simulation",
            ("compute nodes",),
            ("scratch",),
            preset="checkpoint",
            pattern="sequential",
            transfer=8e6,
            read_share=0.3,
            throughput=20e9,
        ),
        Application("compilers", ("compute nodes",), ("home",), transfer=16e3, read_share=0.8),
    ),
    recovery=Recovery(critical=True, access_critical=True, downtime=2 * HOUR),
    facility=Facility(place="on-site", generator=True),
)
