"""Control groups: the memory of hosts and the limits of disks, in both versions.

The first version has a hierarchy for each controller, the second has one for all
(Linux, Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst).
"""

from dataclasses import dataclass
from pathlib import Path

from headrace._core import RunError
from headrace.lab.plan import Limits
from headrace.mountinfo import mounted

ABOVE = "headrace-lab-"
"""Before a testbed's name, at the top of a hierarchy."""

FIRST_VERSION = {
    "read_rate": "read_bps",
    "write_rate": "write_bps",
    "read_operations": "read_iops",
    "write_operations": "write_iops",
}
"""Files of the controller blkio, without what is around."""
SECOND_VERSION = {
    "read_rate": "rbps",
    "write_rate": "wbps",
    "read_operations": "riops",
    "write_operations": "wiops",
}
"""Words of io.max."""


@dataclass(frozen=True)
class Hierarchy:
    """Where a controller is."""

    top: Path
    version: int


def hierarchy(controller: str) -> Hierarchy | None:
    """Where `memory` or `blkio` (`io` in the second version) is; None if it is nowhere."""
    for it in mounted():
        if it.kind == "cgroup" and controller in it.options:
            return Hierarchy(it.at, 1)
        if it.kind == "cgroup2":
            word = "io" if controller == "blkio" else controller
            if word in (it.at / "cgroup.controllers").read_text(encoding="ascii").split():
                return Hierarchy(it.at, 2)
    return None


def of_host(lab: str, host: str) -> Path | None:
    """The group of a host's processes; None where the kernel has no groups for memory."""
    found = hierarchy("memory")
    return None if found is None else found.top / f"{ABOVE}{lab}" / host


def undelegated_controllers(group: Path) -> tuple[str, ...]:
    """The controllers that a testbed needs, and that a group of the second version has and
    does not hand on to those within it; none in the first version, where each group has those of
    its hierarchy."""
    has, hands_on = (
        (group / name).read_text(encoding="ascii").split() if (group / name).exists() else []
        for name in ("cgroup.controllers", SUBTREE_CONTROL)
    )
    return tuple(it for it in ("memory", "io") if it in has and it not in hands_on)


SUBTREE_CONTROL = "cgroup.subtree_control"


def memory_file(group: Path) -> Path:
    """The file that has the most memory of a group."""
    names = ("memory.max", "memory.limit_in_bytes")
    return next(it for it in map(group.joinpath, names) if it.exists())


@dataclass(frozen=True)
class MemoryOfGroup:
    """What a group has of memory, in bytes."""

    used: int
    """Its processes' own, and what the kernel keeps for them, such as stacks, page tables and
    inodes: `memory.used` of a scenario."""
    page_cache: int
    """Of files: those that the processes have for themselves, such as logs, among them."""


def memory_of(group: Path) -> MemoryOfGroup | None:
    """What a group has of memory; None if it is gone.

    Page cache is what the two lists of files have; memory of tmpfs, which the kernel counts with
    it, cannot be dropped for another page (Linux, mm/memcontrol.c: memory.stat).
    """
    first = (group / "memory.usage_in_bytes").exists()
    whole = "memory.usage_in_bytes" if first else "memory.current"
    try:
        lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        all_of_it = int((group / whole).read_text(encoding="ascii"))
    except OSError:
        # The last process has left, and the group with it.
        return None
    of = {name: int(amount) for name, amount in map(str.split, lines)}
    # In the first version only these include the groups within it.
    before = "total_" if first else ""
    files = of[f"{before}active_file"] + of[f"{before}inactive_file"]
    return MemoryOfGroup(max(all_of_it - files, 0), files)


def limit_lines(limits: Limits, device: str, group: Path | None) -> list[tuple[Path, str, str]]:
    """Files that limit a device (as `7:100`), what is written to each, and what takes it back.

    With the first version, limits hold for the group that they are written to and for no other
    (hierarchies are not followed there), and what the kernel writes back belongs to the topmost:
    they are the topmost group's and this process's. With the second they are the host's.

    Raises RunError if there are no such groups.
    """
    found = hierarchy("blkio")
    amounts = {name: getattr(limits, name) for name in FIRST_VERSION}
    # Whole numbers, of which 0 is no limit.
    given = {name: max(round(it), 1) for name, it in amounts.items() if it is not None}
    if not given:
        return []
    if found is None:
        raise RunError(
            "the kernel has no control groups for block devices (blkio, or io): disks cannot be"
            " limited"
        )
    if found.version == 2 and (group is None or not group.is_relative_to(found.top)):
        raise RunError(
            f"control groups for memory are not in {found.top}, where those for block devices are:"
            " disks cannot be limited"
        )
    if found.version == 1:
        return [
            (
                folder / f"blkio.throttle.{FIRST_VERSION[name]}_device",
                f"{device} {amount}",
                f"{device} 0",
            )
            for folder in sorted({found.top, _own(found.top)})
            for name, amount in given.items()
        ]
    assert group is not None
    words = " ".join(f"{SECOND_VERSION[name]}={amount}" for name, amount in given.items())
    none = " ".join(f"{SECOND_VERSION[name]}=max" for name in given)
    return [(group / "io.max", f"{device} {words}", f"{device} {none}")]


def limits(device: str, group: Path | None) -> dict[str, float]:
    """Those that hold for a device (as `7:100`), as the kernel tells them: with the second version
    in a host's group."""
    found = hierarchy("blkio")
    if found is None:
        return {}
    if found.version == 2:
        path = (group or found.top) / "io.max"
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
        for word in _line(found.top / f"blkio.throttle.{name}_device", device)
    }


def _line(path: Path, device: str) -> list[str]:
    """What a file says behind a device's number; nothing if it does not, or if there is none."""
    try:
        lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    except OSError:
        return []
    return next((line[1:] for line in lines if line and line[0] == device), [])


def _own(top: Path) -> Path:
    """This process's group among those of blkio in the first version."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if "blkio" in controllers.split(","):
            return top / path.lstrip("/")
    return top
