"""A small worksheet and a small catalogue for tests of the search. All numbers are declared."""

from headrace.design.catalogue import DiskModel, NetworkModel, NodeModel
from headrace.design.catalogue_file import LoadedCatalogue, read_catalogue
from headrace.design.system import Array, Design, FileSystem
from headrace.design.worksheet import (
    Application,
    CapacityNeed,
    ClientGroup,
    Data,
    Worksheet,
    Zone,
)
from headrace.design.worksheet_file import LoadedWorksheet, read_worksheet

CATALOGUE_TEXT = """
name = "small"
date = "2026-01-15"
currency = "EUR"

[[disk]]
name = "8 TB"
class = "nearline"
capacity = "8 TB"
price = 200
mttf = "1200000 h"
bit_error_rate = 1e-15
read_rate = "240 MB/s"
access_time = "12.7 ms"
power = "9 W"

[[disk]]
name = "flash"
class = "ssd"
capacity = "3.84 TB"
price = 400
mttf = "2000000 h"
bit_error_rate = 1e-17
read_rate = "550 MB/s"
write_rate = "500 MB/s"
access_time = "0.1 ms"
power = "4 W"

[[node]]
name = "2U12"
slots = 12
rack_units = 2
price = 3500
memory = "64 GiB"
cores = 8
max_power = "500 W"
power = "250 W"
bus_rate = "6 GB/s"

[[network]]
name = "10GbE"
bandwidth = "10 Gbit/s"
latency = "20 us"
adapter_price = 150
port_price = 90
port_power = "3 W"
"""

WORKSHEET_TEXT = """
name = "small lab"

[capacity]
usable = "20 TB"
years = 3

[[client]]
name = "workstations"
count = 4

[[zone]]
name = "data"

[[data]]
name = "images"
class = "large-multimedia"
zone = "data"

[[application]]
name = "analysis"
clients = ["workstations"]
zones = ["data"]
pattern = "sequential"
transfer = "1 MiB"
read_share = 0.8
file_size = "256 MiB"
processes = 2
throughput = "100 MB/s"
"""


def small_worksheet(*sets: str) -> LoadedWorksheet:
    """Return the worksheet, with other answers."""
    return read_worksheet(WORKSHEET_TEXT, "small.toml", list(sets))


def small_catalogue(*sets: str) -> LoadedCatalogue:
    """Return the catalogue, with other values."""
    return read_catalogue(CATALOGUE_TEXT, "catalogue.toml", list(sets))


DISK = DiskModel("8 TB", "nearline", 8e12, 200.0, 1.2e6 * 3600, 1e-15, 240e6, 240e6, 12.7e-3, 9.0)
FLASH = DiskModel("flash", "ssd", 3.84e12, 400.0, 2e6 * 3600, 1e-17, 550e6, 500e6, 1e-4, 4.0)
NODE = NodeModel("2U12", 12, 2.0, 3500.0, 64e9, 8, 500.0, 250.0, bus_rate=6e9)
NETWORK = NetworkModel("10GbE", 1.25e9, 20e-6, 150.0, 90.0, 3.0)
RAID6 = Array(kind="raid6", disks=6, data=4, parity=2, chunk=256 << 10)
WORKSHEET = Worksheet(
    "small lab",
    CapacityNeed(20e12),
    clients=(ClientGroup("workstations", 4),),
    zones=(Zone("data"),),
    data=(Data("images", "large-multimedia", "data"),),
    applications=(
        Application(
            name="analysis",
            clients=("workstations",),
            zones=("data",),
            pattern="sequential",
            transfer=1 << 20,
            read_share=0.8,
            file_size=256 << 20,
            processes=2,
            throughput=100e6,
        ),
    ),
)


def small_design(
    file_system: FileSystem = "lustre",
    *,
    nodes: int = 2,
    array: Array = RAID6,
    arrays: int = 1,
    disk: DiskModel = DISK,
    copies: int = 1,
) -> Design:
    """Return a design of the small catalogue."""
    return Design(
        file_system=file_system,
        nodes=nodes,
        node=NODE,
        disk=disk,
        disks_per_node=array.disks * arrays,
        array=array,
        arrays_per_node=arrays,
        spares_per_node=0,
        network=NETWORK,
        metadata_nodes=1 if file_system in ("lustre", "pvfs2", "hdfs") else 0,
        metadata_disk=FLASH if file_system in ("lustre", "pvfs2") else None,
        copies=copies,
    )
