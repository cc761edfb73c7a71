"""Raw and usable capacity."""

from typing import Annotated as A

import msgspec

from headrace import quantities
from headrace.commands.design.storage import DISKS, Storage
from headrace.commands.parameters import Form, Help
from headrace.commands.values import SIZE
from headrace.design.array_level import MOST_DISKS
from headrace.design.capacity import capacity_of
from headrace.design.figure import Figure, Input, by_key
from headrace.design.raw_need import disks_needed, raw_needed, whole_units
from headrace.design.storage_plan import StoragePlan


class Capacity(Storage, frozen=True, kw_only=True):
    """Compute raw and usable capacity, and show the arithmetic.

    From disks to usable capacity: --disks 12 --capacity "4 TB" --level raid6 --spares 1. From
    usable to raw capacity: --usable "20 TB" --copies 2 --level raid10.
    """

    usable: A[
        float | None,
        SIZE,
        Help(
            "Usable capacity that is needed: compute the raw capacity, or with --disks"
            " and --capacity the number of nodes."
        ),
    ] = None

    form = Form("Capacity", ("disks", "disk_capacity", "level", "nodes", "copies", "usable"), DISKS)

    def figures(self) -> list[Figure]:
        """Return the capacities. Raises ValueError, which names the options."""
        self.check_counts()
        if self.usable is None:
            return [*capacity_of(self.plan())]
        if self.nodes is not None:
            raise ValueError("--nodes: expected none with --usable, which computes their number")
        if self._is_ideal:
            return self._raw(self.usable)
        return _nodes(self.plan(), self.usable)

    @property
    def _is_ideal(self) -> bool:
        """A need is given, but no disks that a node could have."""
        disks_given = self.disks is not None or self.draid is not None
        return self.usable is not None and not (self.disk_capacity is not None and disks_given)

    def _raw(self, usable: float) -> list[Figure]:
        """Return the raw capacity, and the number of disks if their capacity is known."""
        if self.file_system not in (None, "none") or self.spares or self.arrays > 1:
            raise ValueError(
                "--file-system, --spares and --arrays: expected --disks and --capacity as well"
            )
        array = self.ideal_array()
        raw = raw_needed(
            usable,
            copies=self.copies,
            code=self.over_nodes(),
            array=array,
            sources={"usable": "--usable", "copies": "--copies"},
        )
        each = self.disk_capacity
        return [raw] if each is None else [raw, disks_needed(raw, each, array)]


def _nodes(plan: StoragePlan, usable: float) -> list[Figure]:
    """Return the fewest nodes that give a usable capacity, and their capacities."""
    each = by_key(capacity_of(plan))["usable-capacity"].value / plan.nodes
    if each <= 0:
        raise ValueError("--capacity: the file system leaves nothing: expected larger disks")
    count = max(whole_units(usable, each), plan.nodes)
    if count > MOST_DISKS:
        raise ValueError(f"{count} nodes are needed: expected larger nodes, or less capacity")
    nodes = Figure(
        key="nodes",
        title="nodes",
        value=float(count),
        unit="1",
        formula="max(ceil(wanted capacity / usable capacity of a node), fewest nodes)",
        inputs=(
            Input("wanted capacity", quantities.size(usable), "--usable"),
            Input(
                "usable capacity of a node", quantities.size(each), "usable capacity / nodes, below"
            ),
            Input("fewest nodes", str(plan.nodes), "copies or code over nodes"),
        ),
        source="definition",
    )
    sources = {**plan.sources, "nodes": "the fewest that give the usable capacity"}
    return [nodes, *capacity_of(msgspec.structs.replace(plan, nodes=count, sources=sources))]
