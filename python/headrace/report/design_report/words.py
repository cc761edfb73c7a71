"""Designs in words."""

import math

from headrace.design.evaluation import Choice
from headrace.design.recommendation.rule_table import shipped_rules
from headrace.design.system import Array, Design
from headrace.quantities import binary_size, number, numbered, probability_text
from headrace.report.document.content import foreign

FILE_SYSTEMS = {
    "lustre": "Lustre",
    "pvfs2": "PVFS2",
    "glusterfs": "GlusterFS",
    "hdfs": "HDFS",
    "nfs": "NFS",
}
CHANCES = ("loss-probability", "read-error-in-rebuild")
"""Keys of figures that are written as probabilities."""
WHOLE = "whole system"
"""Name of the system where a zone is expected."""


def aspect(name: str) -> str:
    """Return the name of an aspect for a heading; that of a user's rule is its own."""
    titles = {entry.name: entry.title for entry in shipped_rules().aspects}
    title = titles.get(name) or foreign(name, 60).replace("-", " ")
    return title[:1].upper() + title[1:]


def zone_name(choice: Choice) -> str:
    """Return the zone of a choice, or that it is the whole system's."""
    return foreign(choice.zone, 60) or WHOLE


def values(choice: Choice, longest: int = 120) -> str:
    """Return the recommended values of a choice, the best first."""
    return foreign(", ".join(choice.values), longest)


def array(one: Array) -> str:
    """Return an array in words: "RAID-6 of 10 disks (8 data, 2 parity)"."""
    if one.kind == "single":
        return "single disks without redundancy"
    if one.kind == "raid0":
        return f"RAID-0 of {numbered(one.disks, 'disk')}"
    if one.kind in ("raid1", "raid10"):
        return f"RAID-{one.kind[4:]} of {one.disks} disks"
    if one.kind in ("raid5", "raid6"):
        return f"RAID-{one.kind[4:]} of {one.disks} disks ({one.data} data, {one.parity} parity)"
    if one.kind == "draid":
        return f"declustered array of {one.disks} disks in groups of {one.data} + {one.parity}"
    return f"erasure code of {one.data} + {one.parity} disks"


def chance(value: float) -> str:
    """Return a probability: "0.19 %" or, if it is small, "1 in 184,000"."""
    if not 0 < value < 1e-4:
        return probability_text(value) if math.isfinite(value) else number(value)
    if value < 1e-9:
        return "below 1 in 1,000,000,000"
    return f"1 in {number(round(1 / value, 2 - math.floor(math.log10(1 / value))))}"


def redundancy(design: Design) -> str:
    """Return the redundancy over servers in words."""
    if design.code is not None:
        return f"erasure code of {design.code.data} + {design.code.parity} servers"
    if design.copies > 1:
        return f"{design.copies} copies of each file, on different servers"
    return "one copy of each file; the arrays alone protect it"


def distribution(design: Design) -> str:
    """Return how files are distributed over servers, in words."""
    if design.distribution == "striped":
        return f"striped in units of {binary_size(design.stripe)}"
    return "simple: a whole file on one server"


def configuration(design: Design) -> list[tuple[str, str]]:
    """Return how a design is configured: names with their values."""
    rows = [
        ("File system", FILE_SYSTEMS.get(design.file_system, design.file_system)),
        ("Distribution of files", distribution(design)),
        ("Redundancy over servers", redundancy(design)),
        (
            "Arrays of a server",
            f"{design.arrays_per_node} x {array(design.array)}, chunk"
            f" {binary_size(design.array.chunk)}",
        ),
        ("Spare disks of a server", str(design.spares_per_node)),
        ("Disk", f"{foreign(design.disk.name)} ({design.disk.disk_class})"),
        ("Server", foreign(design.node.name)),
    ]
    if design.shelf is not None and design.shelves_per_node:
        rows.append(("Shelves", f"{design.shelves_per_node} x {foreign(design.shelf.name)}"))
    rows.append(("Network", foreign(design.network.name)))
    if design.metadata_nodes:
        disk = design.metadata_disk
        on = f" on {foreign(disk.name)}" if disk is not None else ""
        rows.append(("Metadata servers", f"{design.metadata_nodes}{on}"))
    else:
        rows.append(("Metadata servers", "none: the data servers hold the metadata"))
    if design.fail_over_nodes:
        rows.append(("Fail-over servers", f"{design.fail_over_nodes}"))
    if design.paths > 1:
        rows.append(("Network paths", f"{design.paths}: each server is on {design.paths} switches"))
    if design.gateways:
        rows.append(
            ("Gateways", f"{design.gateways}, for clients that have no client of the file system")
        )
    return rows
