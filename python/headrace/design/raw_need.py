"""Raw capacity and disks that a usable capacity needs."""

import math
from collections.abc import Mapping

from headrace.design.figure import Figure, Input
from headrace.design.storage_plan import check_disk_capacity
from headrace.design.system import Array, Code
from headrace.quantities import size

HINDMAN = "Hindman 2011, section 2.2"


def raw_needed(
    usable: float,
    *,
    copies: int = 1,
    code: Code | None = None,
    array: Array | None = None,
    sources: Mapping[str, str] = {},
) -> Figure:
    """Return the raw capacity that a usable one needs, without file-system overhead.

    Args:
        usable: Bytes that users need.
        copies: Copies of each file over nodes.
        code: Code over nodes, in place of copies.
        array: The level of the arrays; none: single disks.
        sources: Where `usable` and `copies` come from.

    Raises:
        ValueError: A number is impossible.
    """
    if not usable > 0 or not math.isfinite(usable):
        raise ValueError(f"usable capacity {usable:g} B: expected more than 0")
    if copies < 1:
        raise ValueError(f"copies {copies}: expected at least 1")
    if code is not None and copies > 1:
        raise ValueError(f"{copies} copies and a code: expected one of the two")
    over_nodes = copies if code is None else (code.data + code.parity) / code.data
    over_disks = 1.0 if array is None else 1 / array.efficiency
    formula, inputs = (
        "usable capacity",
        [Input("usable capacity", size(usable), sources.get("usable", ""))],
    )
    if code is None:
        formula += " x copies"
        inputs.append(Input("copies", str(copies), sources.get("copies", "")))
    else:
        formula += " x nodes of a code / data nodes"
        inputs += [
            Input("nodes of a code", str(code.data + code.parity), "code over nodes"),
            Input("data nodes", str(code.data), "code over nodes"),
        ]
    if array is not None and array.kind in ("raid1", "raid10"):
        formula += " x mirrored disks"
        inputs.append(Input("mirrored disks", f"{over_disks:g}", array.kind))
    elif array is not None:
        formula += " x disks / data disks"
        inputs += [
            Input("disks", str(array.data + array.parity), array.kind),
            Input("data disks", str(array.data), array.kind),
        ]
    return Figure(
        key="raw-capacity",
        title="raw capacity",
        value=usable * over_nodes * over_disks,
        unit="B",
        formula=formula,
        inputs=tuple(inputs),
        source=HINDMAN,
        note="without spares and without what a file system needs",
    )


def whole_units(amount: float, each: float) -> int:
    """Return the fewest units of `each` bytes that hold the wanted bytes."""
    # Quotients such as 80 TB / 1 TB must not become 81 by a rounding error.
    return math.ceil(amount / each * (1 - 1e-12))


def disks_needed(raw: Figure, disk_capacity: float, array: Array | None = None) -> Figure:
    """Return the number of disks of a raw capacity, in whole arrays.

    Raises:
        ValueError: The disks have no capacity.
    """
    check_disk_capacity(disk_capacity)
    whole = 1 if array is None else array.disks
    sets = whole_units(raw.value, whole * disk_capacity)
    return Figure(
        key="disks",
        title="disks",
        value=float(sets * whole),
        unit="1",
        formula="ceil(raw capacity / (disks of an array x capacity of a disk)) x disks of an array",
        inputs=(
            Input("raw capacity", size(raw.value), raw.title),
            Input("disks of an array", str(whole), "" if array is None else array.kind),
            Input("capacity of a disk", size(disk_capacity), ""),
        ),
        source="definition",
    )
