"""Facts of the machine for the worksheet of a profile (Hindman 2011, appendix C).

Not found: arrays of hardware RAID controllers, which the kernel sees as one disk.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from headrace.environment import memory_bytes, of_local_directory
from headrace.fields import convert

SECTOR = 512
"""Bytes: the unit of /sys/block/*/size."""
NOT_PHYSICAL = ("loop", "ram", "zram")
"""Prefixes of block devices that are neither disks nor made of them."""
LOOPBACK = "772"
"""Type of the loopback interface in /sys/class/net/*/type (ARPHRD_LOOPBACK)."""


class Processors(msgspec.Struct, frozen=True):
    """The processors of a host."""

    model: str | None
    sockets: int | None
    cores: int | None
    """Physical cores of all sockets; None if the kernel does not report them."""
    threads: int
    """Logical processors."""


class Array(msgspec.Struct, frozen=True):
    """A software RAID array in /proc/mdstat."""

    name: str
    state: str
    """As "active" or "active (read-only)"."""
    level: str | None
    """As "raid0"; None if the array is inactive."""
    chunk_bytes: int | None
    members: list[str]
    failed: list[str] = []
    spare: list[str] = []


class Disk(msgspec.Struct, frozen=True):
    """A block device."""

    name: str
    model: str | None = None
    bytes: int | None = None
    rotational: bool | None = None
    made_of: list[str] = []
    """Devices below a RAID array or a device mapper's volume; empty for a disk."""


class Interface(msgspec.Struct, frozen=True):
    """A network interface."""

    name: str
    bits_per_s: float | None = None
    duplex: str | None = None
    driver: str | None = None
    mtu: int | None = None
    state: str | None = None


class Storage(msgspec.Struct, frozen=True):
    """The file system of a directory."""

    directory: str | None = None
    mount_point: str | None = None
    mount_source: str | None = None
    file_system: str | None = None
    mount_options: str | None = None
    device: str | None = None
    devices: list[str] = []
    """All devices from that of the file system down to the disks."""


class MachineFacts(msgspec.Struct, frozen=True):
    """Facts of a host. They are stored as `worksheet` in the environment of a profile."""

    processors: Processors | None = None
    memory_bytes: int | None = None
    arrays: list[Array] = []
    disks: list[Disk] = []
    interfaces: list[Interface] = []
    storage: Storage | None = None
    """None if no directory was given."""


def facts(directory: str | PathLike[str] | None = None, root: Path = Path("/")) -> MachineFacts:
    """Return the facts of this host, and of the disks below a directory.

    Unknown values are None. `root` is the directory that contains `proc` and `sys`.

    Raises OSError if the directory does not exist.
    """
    disks = block_devices(root / "sys/block")
    return MachineFacts(
        processors=processors(_text(root / "proc/cpuinfo")),
        memory_bytes=memory_bytes(_text(root / "proc/meminfo")),
        arrays=arrays(_text(root / "proc/mdstat")),
        disks=disks,
        interfaces=interfaces(root / "sys/class/net"),
        storage=None if directory is None else _storage(directory, disks),
    )


def facts_of(environment: Mapping[str, Any]) -> MachineFacts:
    """Return the facts in the environment of a profile; unknown ones if it has none.

    Raises ValueError if they are damaged.
    """
    return convert(environment.get("worksheet") or {}, MachineFacts)


def processors(cpuinfo: str) -> Processors:
    """Return the processors in the text of /proc/cpuinfo."""
    threads, model = 0, None
    sockets: set[str] = set()
    cores: set[tuple[str, str]] = set()
    for block in cpuinfo.split("\n\n"):
        values = {
            key.strip(): value.strip()
            for key, separator, value in (line.partition(":") for line in block.splitlines())
            if separator
        }
        if "processor" not in values:
            continue
        threads += 1
        model = model or values.get("model name") or values.get("cpu model")
        if "physical id" in values:
            sockets.add(values["physical id"])
            if "core id" in values:
                cores.add((values["physical id"], values["core id"]))
    return Processors(model, len(sockets) or None, len(cores) or None, threads)


MEMBER = re.compile(r"^(\S+?)\[\d+\]((?:\([A-Z]\))*)$")


def arrays(mdstat: str) -> list[Array]:
    """Return the arrays in the text of /proc/mdstat (md(4)), by name."""
    entries = []
    for block in re.split(r"^(?=\S+ : )", mdstat, flags=re.MULTILINE):
        head = re.match(r"^(\S+) : (active|inactive)((?: \([a-z-]+\))*)(.*)$", block, re.MULTILINE)
        if head is None:
            continue
        words = head[4].split()
        members = [(match[1], match[2]) for match in map(MEMBER.match, words) if match]
        level = words[0] if words and MEMBER.match(words[0]) is None else None
        chunk = re.search(r"(\d+)k chunk", block)
        entries.append(
            Array(
                name=head[1],
                state=head[2] + head[3],
                level=level,
                chunk_bytes=int(chunk[1]) * 1024 if chunk else None,
                members=sorted(name for name, _ in members),
                failed=sorted(name for name, flags in members if "(F)" in flags),
                spare=sorted(name for name, flags in members if "(S)" in flags),
            )
        )
    return sorted(entries, key=lambda entry: entry.name)


def block_devices(block: Path) -> list[Disk]:
    """Return the disks and the devices made of them in /sys/block, by name."""
    members = []
    for path in _entries(block):
        size = _number(path / "size")
        if path.name.startswith(NOT_PHYSICAL) or not size:
            continue
        rotational = _line(path / "queue/rotational")
        members.append(
            Disk(
                name=path.name,
                model=_line(path / "device/model") or _line(path / "dm/name"),
                bytes=size * SECTOR,
                rotational={"0": False, "1": True}.get(rotational or ""),
                made_of=[entry.name for entry in _entries(path / "slaves")],
            )
        )
    return members


def interfaces(net: Path) -> list[Interface]:
    """Return the network interfaces in /sys/class/net, without the loopback, by name."""
    disks_ = []
    for path in _entries(net):
        if not path.is_dir() or _line(path / "type") == LOOPBACK:
            continue
        # The kernel reports -1 or an error if the speed is unknown.
        speed = _number(path / "speed")
        duplex = _line(path / "duplex")
        driver = path / "device/driver"
        disks_.append(
            Interface(
                name=path.name,
                bits_per_s=speed * 1e6 if speed and speed > 0 else None,
                duplex=duplex if duplex in ("full", "half") else None,
                driver=os.path.basename(os.path.realpath(driver)) if driver.exists() else None,
                mtu=_number(path / "mtu"),
                state=_line(path / "operstate"),
            )
        )
    return disks_


def devices_below(name: str, disks: Sequence[Disk]) -> list[str]:
    """Return a device and all devices that it is made of, each once; a partition counts as its
    disk."""
    by_name = {disk.name: disk for disk in disks}
    names: list[str] = []
    pending = [name]
    while pending:
        device = _whole_disk(pending.pop(0), by_name.keys())
        if device in names:
            continue
        names.append(device)
        if device in by_name:
            pending += by_name[device].made_of
    return names


def _whole_disk(name: str, disks: Collection[str]) -> str:
    if name in disks:
        return name
    # sda1 belongs to sda, nvme0n1p2 to nvme0n1.
    partition = re.match(r"^(.*?\d)p\d+$|^(\D+)\d+$", name)
    disk = (partition[1] or partition[2]) if partition else name
    return disk if disk in disks else name


def _storage(directory: str | PathLike[str], disks: Sequence[Disk]) -> Storage:
    environment = of_local_directory(directory)
    device = environment.get("device")
    devices = devices_below(device, disks) if device else []
    return convert({**environment, "devices": devices}, Storage)


def _entries(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        return []


def _line(path: Path) -> str | None:
    """Return the text of an attribute file; None if it is empty or cannot be read."""
    return _text(path).strip() or None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _line(path)
    return int(text) if text and re.fullmatch(r"-?\d+", text) else None
