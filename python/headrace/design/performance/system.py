"""The system of a design as the sections of a scenario: servers, arrays, network, metadata."""

from typing import NamedTuple

from headrace.design.catalogue import DiskClass, DiskModel
from headrace.design.performance.scenario_text import ScenarioText
from headrace.design.system import ArrayKind, Design
from headrace.quantities import binary_size, written_rate, written_time

ROTATION: dict[DiskClass, int] = {"desktop": 7200, "nearline": 7200, "enterprise": 15000}
"""Revolutions a minute of classes that turn (declared: Hindman 2011, table 3.2, compares SATA disks
of 7,200 and SAS disks of 15,000)."""
MEAN_RATE = 0.75
"""Mean over all tracks of the rate that a disk's maker states, which is that of the outermost
(declared: the innermost tracks have half of it)."""
SEEK_TO_NEXT = 0.1
"""Seek to the next track, as a part of the average seek (declared: usual of data sheets)."""
FULL_SEEK = 2.0
"""Seek over all tracks, as a multiple of the average seek (declared: likewise)."""
LEAST_SEEK = 5e-4
"""Least average seek in seconds, where the access time leaves less beside half a turn."""
DISK_BUFFER = 64 << 20
"""Bytes of a disk's buffer (declared: the least of current disks)."""
INTERFACE_RATE = 600e6
"""Bytes a second of a disk's interface (SATA 3, 6 Gbit/s with 8b/10b coding)."""
TRANSFER_TIME: dict[DiskClass, float] = {"ssd": 1e-5, "nvme": 1.5e-6}
"""Seconds for which a transfer has a solid-state drive alone (declared: 100,000 and 670,000
transfers a second)."""
STRIPE_CACHE = 128 << 20
"""Bytes of write-back memory of an array with parity, which gathers whole stripes there (declared:
a controller with a battery, or the stripe cache and page cache of a software array)."""
ARRAY_CACHE = 16 << 20
"""Bytes of write-back memory of another array (declared: little, so that it is full soon and a
short run shows what the disks sustain)."""
CACHE_RATE = 8e9
"""Bytes a second that pass this memory (declared: of the order of a core's copying)."""
SERVICE_TIME = 50e-6
"""Seconds of a core for a request, and for an operation on metadata (declared: as in
`scenarios/nfs.toml`)."""

STRIPE_COUNT = 4
"""Targets of a striped file of Lustre (declared: more mix too many files on each disk)."""
MANY_DISKS = 48
"""Disks of a server that can stand for others alone (declared: it has several arrays)."""

RAID_LEVEL: dict[ArrayKind, int] = {"raid0": 0, "raid1": 1, "raid5": 5, "raid6": 6, "raid10": 10}


class DeviceArrays(NamedTuple):
    """The arrays of a server as a scenario has them."""

    level: int | None
    """RAID level; None for disks without an array."""
    disks: int
    """Disks of one array."""
    in_server: int
    """Arrays of a server."""
    note: str = ""


def device_arrays(design: Design) -> DeviceArrays:
    """Return the arrays of a server, or the nearest ones that a scenario can have.

    A declustered array becomes several arrays of its group's width. An erasure code over the disks
    of a node becomes an array with as many parity disks as the scenario knows.
    """
    array = design.array
    count = max(1, design.arrays_per_node)
    if array.kind == "single":
        return DeviceArrays(None, 1, max(1, count * array.disks))
    if array.kind in RAID_LEVEL:
        return DeviceArrays(RAID_LEVEL[array.kind], array.disks, count)
    width = array.data + array.parity
    groups = max(1, array.disks // width) * count
    if array.parity == 0:
        level = 0
    elif array.data == 1 and array.parity == 1:
        level = 1
    else:
        level = 5 if array.parity == 1 else 6
    note = (
        f"{array.kind} is simulated as {groups} arrays of RAID {level} with {width} disks in each"
        " server: spreading over all disks is left out"
    )
    if array.parity > 2:
        note += f", and so is the update of {array.parity - 2} of {array.parity} parity disks"
    return DeviceArrays(level, width, groups, note)


def simulated_nodes(design: Design, most_disks: int) -> int:
    """Return how many servers stand for all of a design, so that there are not many more disks.

    Two servers at least are left, or one with many disks, and whole sets of copies.
    """
    disks = max(1, design.disks_per_node)
    code = design.code
    width = design.copies if code is None else code.data + code.parity
    least = max(1 if disks >= MANY_DISKS else 2, width)
    nodes = max(least, -(-most_disks // disks))
    nodes = -(-nodes // width) * width
    return min(design.nodes, nodes)


def write_system(
    text: ScenarioText, design: Design, scale: float = 1.0, *, is_synchronous: bool = False
) -> tuple[str, ...]:
    """Add the sections of a design to a scenario.

    Args:
        text: The scenario.
        design: The design, with the servers that are simulated.
        scale: Real servers for each that is simulated.
        is_synchronous: Whether an application waits for stable storage: the memory of an array of
            software is none.

    Returns:
        Simplifications of the scenario.
    """
    notes: list[str] = []
    if scale > 1:
        notes.append(
            f"{design.nodes} servers stand for {round(design.nodes * scale)}, with as many clients"
            " and as much demand for each: results are multiplied, and files are striped over the"
            " simulated servers only"
        )
    text.section("network")
    text.value("bandwidth", written_rate(design.network.bandwidth), design.network.name)
    text.value("latency", written_time(design.network.latency), design.network.name)
    arrays = device_arrays(design)
    if arrays.note:
        notes.append(arrays.note)
    text.section("servers")
    text.value("count", design.nodes, design.node.name)
    text.value("targets", arrays.in_server, "arrays of a server")
    text.section("servers.daemon")
    text.value("threads", max(1, design.node.cores), "cores of a server")
    text.value("time_per_job", written_time(SERVICE_TIME), "declared")
    write_overhead = _node_limits(text, design, arrays, notes)
    text.section("servers.io_scheduler")
    text.value("kind", "deadline" if design.disk.disk_class in ROTATION else "none")
    _write_device(text, design, arrays, write_overhead, is_synchronous)
    if is_synchronous:
        notes.append("arrays have no write-back memory, as an application waits for stable storage")
    _write_metadata(text, design, scale, notes)
    if design.copies > 1 or design.file_system == "hdfs":
        text.section("replication")
        text.value("copies", design.copies)
    text.section("layout")
    text.value("unit", binary_size(design.stripe))
    if design.file_system != "hdfs":
        text.value("servers", layout_servers(design, design.distribution == "striped"))
    if design.gateways:
        notes.append("gateways are left out: every client uses the file system's own protocol")
    if design.spares_per_node:
        notes.append("hot spares are idle")
    return tuple(notes)


def layout_servers(design: Design, striped: bool) -> str | int:
    """Return the number of targets that a file lies on: `layout.servers`."""
    if not striped:
        return 1
    if design.file_system != "lustre":
        return "all"
    return min(STRIPE_COUNT, design.nodes * device_arrays(design).in_server)


def _node_limits(
    text: ScenarioText, design: Design, arrays: DeviceArrays, notes: list[str]
) -> float:
    """Limit a server's card where its bus or an erasure code does; return the factor on the rate of
    its disks for writes."""
    factor = 1.0
    limits = [design.network.bandwidth]
    if design.node.bus_rate is not None and arrays.level is None:
        limits.append(design.node.bus_rate)
        notes.append(
            "the bus of a server is simulated as a limit of its network card, as its disks are in"
            " no array"
        )
    if design.code is not None:
        factor = design.code.data / (design.code.data + design.code.parity)
        limits.append(design.network.bandwidth * factor)
        notes.append(
            f"the code of {design.code.data} + {design.code.parity} nodes is simulated as one copy"
            f" on servers whose cards, and disks when they write, have {factor:.0%} of their rate:"
            " reads are then slower than they need be"
        )
    if min(limits) < design.network.bandwidth:
        text.section("servers.card")
        text.value("bandwidth", written_rate(min(limits)))
    return factor


def _write_device(
    text: ScenarioText,
    design: Design,
    arrays: DeviceArrays,
    write_factor: float,
    is_synchronous: bool,
) -> None:
    text.section("servers.device")
    if arrays.level is None:
        _write_disk(text, design.disk, write_factor)
        return
    text.value("kind", "raid")
    text.value("level", arrays.level)
    text.value("disks", arrays.disks)
    text.value("chunk", binary_size(design.array.chunk))
    if not is_synchronous:
        text.section("servers.device.cache")
        memory = STRIPE_CACHE if arrays.level in (5, 6) else ARRAY_CACHE
        text.value("size", binary_size(memory), "declared")
        text.value("rate", written_rate(CACHE_RATE), "declared")
    if design.node.bus_rate is not None:
        text.section("servers.device.bus")
        part = f"a part of {arrays.in_server} of the bus" if arrays.in_server > 1 else "the bus"
        text.value(
            "rate",
            written_rate(design.node.bus_rate / arrays.in_server),
            f"{part}: {design.node.name}",
        )
    text.section("servers.device.member")
    _write_disk(text, design.disk, write_factor)


def _write_disk(text: ScenarioText, disk: DiskModel, write_factor: float) -> None:
    """Add a disk: one that turns with seeks and queue, a solid-state drive as rates and times."""
    turns = ROTATION.get(disk.disk_class)
    if turns is None:
        text.value("kind", "throttled", disk.name)
        text.value("rate", written_rate(disk.read_rate))
        text.value("device_write_rate", written_rate(disk.write_rate * write_factor))
        text.value("latency", written_time(disk.access_time))
        text.value(
            "time_per_transfer", written_time(TRANSFER_TIME.get(disk.disk_class, 0.0)), "declared"
        )
        return
    seek = max(LEAST_SEEK, disk.access_time - 30 / turns)
    text.value("kind", "disk", disk.name)
    text.value("capacity", binary_size(disk.capacity))
    text.value("rpm", turns, f"declared for the class {disk.disk_class}")
    text.value(
        "track_to_track_seek", written_time(SEEK_TO_NEXT * seek), "declared part of the average"
    )
    text.value("average_seek", written_time(seek), "access time less half a turn")
    text.value(
        "full_stroke_seek", written_time(FULL_SEEK * seek), "declared multiple of the average"
    )
    slower = min(disk.read_rate, disk.write_rate * write_factor)
    text.value("outer_rate", written_rate(MEAN_RATE * slower), "mean over all tracks, declared")
    text.value("buffer", binary_size(DISK_BUFFER), "declared")
    text.value("interface_rate", written_rate(max(INTERFACE_RATE, disk.read_rate)))
    text.value("queue_depth", 32, "native command queueing")


def _write_metadata(text: ScenarioText, design: Design, scale: float, notes: list[str]) -> None:
    """Add metadata servers; PVFS2 and Lustre store their entries on a device, HDFS in memory."""
    text.section("metadata")
    own = design.file_system not in ("nfs", "glusterfs")
    longer = f", times {scale:.3g} as one server has the operations of all" if scale > 1 else ""
    service = SERVICE_TIME * (scale if own else 1.0)
    text.value("time_per_operation", written_time(service), f"declared{longer if own else ''}")
    if not own:
        everywhere = design.copies > 1 or design.distribution == "striped"
        if design.file_system == "glusterfs" and everywhere:
            text.value("lookups", "everywhere", "every brick has a part or a copy of a file")
        return
    text.value("threads", max(1, design.node.cores), "cores of a metadata server")
    if design.metadata_nodes > 1:
        notes.append(
            f"{design.metadata_nodes} metadata servers: one serves, the others wait to take over"
        )
    disk = design.metadata_disk
    if disk is None or design.file_system == "hdfs":
        return
    text.value("kind", "database")
    text.section("metadata.device")
    _write_disk(text, disk, 1.0)
