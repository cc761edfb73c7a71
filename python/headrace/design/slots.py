"""Disks that fit into the slots of a server or a shelf.

A catalogue has no form of slots. Two rules infer it from what it has (both declared):

- Slots of 2.5 inches: a chassis of less than three rack units with more than six slots a unit.
  Twelve disks of 3.5 inches fill the front of two units.
- Slots of NVMe: a controller or bus with at least one lane of PCI Express 3.0, 1 GB/s, for each
  slot.
"""

from headrace.design.catalogue import DiskModel, NodeModel, ShelfModel

LOW_CHASSIS = 3.0
"""Rack units below which disks are at the front only."""
LARGE_SLOTS = 6.0
"""Slots of 3.5 inches in a rack unit, at most, in such a chassis."""
LANE = 1e9
"""Bytes a second of a lane of PCI Express 3.0, about."""


def fits(disk: DiskModel, node: NodeModel, shelf: ShelfModel | None = None) -> bool:
    """Return whether a disk fits into the slots of a node and its shelf."""
    if disk.disk_class in ("nearline", "desktop") and any(
        it is not None and has_small_slots(it) for it in (node, shelf)
    ):
        return False
    if node.bus_rate is None:
        return True
    return (disk.disk_class == "nvme") == has_nvme_slots(node)


def has_small_slots(chassis: NodeModel | ShelfModel) -> bool:
    """Return whether its slots are of 2.5 inches."""
    return chassis.rack_units < LOW_CHASSIS and chassis.slots > LARGE_SLOTS * chassis.rack_units


def has_nvme_slots(node: NodeModel) -> bool:
    """Return whether its bus has a lane for each slot."""
    return node.bus_rate is not None and node.bus_rate >= LANE * node.slots
