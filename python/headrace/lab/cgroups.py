"""Control groups of a testbed: memory of hosts and limits of disks, in cgroup v1 and v2.

Version 1 has a hierarchy for each controller, version 2 has one for all (Linux,
Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst).
"""

from dataclasses import dataclass
from pathlib import Path

from headrace._core import RunError
from headrace.lab.plan import Limits
from headrace.mountinfo import mounted

ABOVE = "headrace-lab-"
"""Prefix of a testbed's group at the top of a hierarchy."""

FIRST_VERSION = {
    "read_rate": "read_bps",
    "write_rate": "write_bps",
    "read_operations": "read_iops",
    "write_operations": "write_iops",
}
"""Middle parts of the names of the v1 controller's files."""
SECOND_VERSION = {
    "read_rate": "rbps",
    "write_rate": "wbps",
    "read_operations": "riops",
    "write_operations": "wiops",
}
"""Keys of io.max."""


@dataclass(frozen=True)
class Hierarchy:
    """Mount point and version of a controller's hierarchy."""

    top: Path
    version: int


def hierarchy(controller: str) -> Hierarchy | None:
    """Return the hierarchy of a controller; None if the kernel has none.

    Parameters
    ----------
    controller
        "memory" or "blkio" (`io` in version 2).
    """
    for mount in mounted():
        if mount.kind == "cgroup" and controller in mount.options:
            return Hierarchy(mount.at, 1)
        if mount.kind == "cgroup2":
            word = "io" if controller == "blkio" else controller
            if word in (mount.at / "cgroup.controllers").read_text(encoding="ascii").split():
                return Hierarchy(mount.at, 2)
    return None


def of_host(lab: str, host: str) -> Path | None:
    """Return the control group of a host; None if the kernel has no memory controller."""
    memory = hierarchy("memory")
    return None if memory is None else memory.top / f"{ABOVE}{lab}" / host


def undelegated_controllers(group: Path) -> tuple[str, ...]:
    """Return the required controllers that a v2 group has but does not enable for its children.
    Version 1 has none, because every group has the controllers of its hierarchy."""
    has, hands_on = (
        (group / name).read_text(encoding="ascii").split() if (group / name).exists() else []
        for name in ("cgroup.controllers", SUBTREE_CONTROL)
    )
    return tuple(name for name in ("memory", "io") if name in has and name not in hands_on)


SUBTREE_CONTROL = "cgroup.subtree_control"


def memory_file(group: Path) -> Path:
    """Return the file with a group's memory limit."""
    names = ("memory.max", "memory.limit_in_bytes")
    return next(file for file in map(group.joinpath, names) if file.exists())


@dataclass(frozen=True)
class MemoryOfGroup:
    """Memory of a group, in bytes."""

    used: int
    """Anonymous memory of processes, and kernel memory such as stacks, page tables and inodes:
    `memory.used` of a scenario."""
    page_cache: int
    """Page cache, including files such as logs that only the processes themselves use."""


def memory_of(group: Path) -> MemoryOfGroup | None:
    """Return the memory of a group; None if the group is gone.

    Page cache is the two file lists. tmpfs is excluded, although the kernel counts it as file
    memory, because it cannot be evicted (Linux, mm/memcontrol.c: memory.stat).
    """
    first = (group / "memory.usage_in_bytes").exists()
    whole = "memory.usage_in_bytes" if first else "memory.current"
    try:
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        all_of_it = int((group / whole).read_text(encoding="ascii"))
    except OSError:
        # The group was removed after its last process exited.
        return None
    used = {name: int(amount) for name, amount in map(str.split, lines)}
    # In version 1 only these include child groups.
    before = "total_" if first else ""
    files = used[f"{before}active_file"] + used[f"{before}inactive_file"]
    return MemoryOfGroup(max(all_of_it - files, 0), files)


def limit_lines(limits: Limits, device: str, group: Path | None) -> list[tuple[Path, str, str]]:
    """Return the files that limit a device, with the line to write and the line that removes it.

    In version 1 a limit applies to one group only, and write-back belongs to the root group. The
    limits therefore apply to the root group and to this process's group. In version 2 they apply to
    the host's group.

    Parameters
    ----------
    limits
        Limits of the disk.
    device
        Major and minor number, such as `7:100`.
    group
        Control group of the host.

    Raises
    ------
    RunError
        If the kernel lacks the required control groups.
    """
    block = hierarchy("blkio")
    amounts = {name: getattr(limits, name) for name in FIRST_VERSION}
    # The kernel expects whole numbers; 0 means unlimited.
    given = {name: max(round(amount), 1) for name, amount in amounts.items() if amount is not None}
    if not given:
        return []
    if block is None:
        raise RunError(
            "the kernel has no control group controller for block devices (blkio or io), so disks"
            " cannot be limited: enable it, or remove the disk's limits from the scenario"
        )
    if block.version == 2 and (group is None or not group.is_relative_to(block.top)):
        raise RunError(
            f"control groups for memory are not in {block.top}, where those for block devices are,"
            " so disks cannot be limited: use one cgroup hierarchy for both"
        )
    if block.version == 1:
        return [
            (
                folder / f"blkio.throttle.{FIRST_VERSION[name]}_device",
                f"{device} {amount}",
                f"{device} 0",
            )
            for folder in sorted({block.top, _own(block.top)})
            for name, amount in given.items()
        ]
    assert group is not None
    words = " ".join(f"{SECOND_VERSION[name]}={amount}" for name, amount in given.items())
    none = " ".join(f"{SECOND_VERSION[name]}=max" for name in given)
    return [(group / "io.max", f"{device} {words}", f"{device} {none}")]


def limits(device: str, group: Path | None) -> dict[str, float]:
    """Return the limits that apply to a device such as `7:100`, by field. In version 2 they are
    those of a host's group."""
    block = hierarchy("blkio")
    if block is None:
        return {}
    if block.version == 2:
        path = (group or block.top) / "io.max"
        words = _line(path, device)
        amounts = dict(word.split("=") for word in words)
        names = SECOND_VERSION.items()
        return {
            field: float(amounts[name])
            for field, name in names
            if amounts.get(name, "max") != "max"
        }
    return {
        field: float(word)
        for field, name in FIRST_VERSION.items()
        for word in _line(block.top / f"blkio.throttle.{name}_device", device)
    }


def _line(path: Path, device: str) -> list[str]:
    """Return the words after a device's number in a file; empty if there are none."""
    try:
        lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    except OSError:
        return []
    return next((line[1:] for line in lines if line and line[0] == device), [])


def _own(top: Path) -> Path:
    """Return this process's group in the v1 hierarchy of blkio."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if "blkio" in controllers.split(","):
            return top / path.lstrip("/")
    return top
