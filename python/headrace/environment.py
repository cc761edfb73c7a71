"""The environment of a result: on which machine, on which file system and when it was made.

Results of two environments differ for reasons that are not in the scenario.
"""

import functools
import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, cast

from headrace import ranks
from headrace.fields import WrongField, amount, an_object, or_null, text
from headrace.mountinfo import Mounted, mounted
from headrace.quantities import size


class Environment(TypedDict, total=False):
    """Environment of a result. Keys that do not apply, or that the kernel does not report, are
    absent."""

    started: str
    """Start time in UTC, such as 2026-11-22T13:17:28.123456Z; of the first of several runs."""
    host: str
    """Name of the host; under MPI of the first rank's."""
    client_hosts: int
    """Number of hosts that the ranks are on."""
    kernel: str
    """Operating system and release."""
    processor: str
    processors: int
    """Processors that the process may use."""
    memory_bytes: int
    directory: str
    """The directory that was measured, links resolved."""
    file_system: str
    mount_point: str
    mount_source: str
    mount_options: str
    """As in `/proc/self/mountinfo`; options of mount and file system together."""
    device: str
    """The block device below it; absent for `tmpfs` and remote file systems."""
    device_model: str
    """Model of the whole device; of a loop device its file."""
    device_kind: str
    """`NVMe SSD`, `hard disk`, `virtio disk` and the like."""
    device_bytes: int


KEYS = tuple(key for key in Environment.__annotations__ if key != "started")
"""All but `started`, in the order in which they are shown."""
COUNTS = ("client_hosts", "processors", "memory_bytes", "device_bytes")
SECTOR = 512
"""Bytes: /sys/block/*/size counts in these, whatever the device's sectors are."""
KINDS = {
    "nvme": "NVMe SSD",
    "loop": "loop device",
    "vd": "virtio disk",
    "xvd": "Xen disk",
    "dm-": "device mapper",
    "md": "software RAID",
    "zram": "compressed memory",
    "ram": "memory",
    "pmem": "persistent memory",
    "mmcblk": "flash card",
}
"""Kinds of block devices, by the prefix of the kernel's device names."""


def of_host(started: datetime | None = None) -> Environment:
    """This host, with the start time; `now` if none is given."""
    environment = {
        "started": timestamp(started or datetime.now(UTC)),
        "host": platform.node(),
        "client_hosts": 1,
        "kernel": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_bytes": memory_bytes(_read(Path("/proc/meminfo")) or ""),
    }
    return _known(environment, tuple(environment))


def of_directory(directory: str | PathLike[str], started: datetime | None = None) -> Environment:
    """Return this host and the file system below a directory. All ranks must call it: the result is
    that of the first rank, with the number of hosts.

    Raises OSError, at all ranks, if there is no such directory.
    """
    here = ranks.current()
    below = here.run_on_all(lambda: _file_system(directory) if here.first else {})
    hosts = here.gather(here.host)
    environment: Mapping[str, object] = {}
    if hosts is not None:
        environment = {**of_host(started), **below, "client_hosts": len(set(hosts))}
    return _known(here.broadcast(environment))


def of_local_directory(directory: str | PathLike[str]) -> Environment:
    """Return this host and the file system below a directory, without the other ranks.

    Raises OSError if there is no such directory.
    """
    return _known({**of_host(), **_file_system(directory), "client_hosts": 1})


def of_device(path: str | PathLike[str], started: datetime | None = None) -> Environment:
    """This host and a block device. Raises OSError if there is none."""
    of_device = _device(os.stat(path).st_rdev)
    return cast(Environment, {**of_host(started), **of_device})


def of_document(document: Mapping[str, Any]) -> Environment:
    """Return the environment in a result's document; for earlier versions, its `place`."""
    place = document.get("place")
    saved = document.get("environment")
    values = {
        **(place if isinstance(place, Mapping) else {}),
        **(saved if isinstance(saved, Mapping) else {}),
    }
    return _known(values, KEYS)


def started_of(document: Mapping[str, Any]) -> datetime | None:
    """Return the start time in a result's document, or None if it has none."""
    saved = document.get("environment")
    text = saved.get("started") if isinstance(saved, Mapping) else None
    return datetime.fromisoformat(text) if isinstance(text, str) else None


def resumed(environment: Environment, before: Mapping[str, Any] | None) -> Environment:
    """Return an environment with the start time of the resumed run, if it has one."""
    started = None if before is None else started_of(before)
    if started is None:
        return environment
    return cast(Environment, {**environment, "started": timestamp(started)})


class Difference(NamedTuple):
    """A key of environments in which results differ."""

    key: str
    values: Mapping[str, str]
    """Value of each result or group, by its name."""

    def sentence(self) -> str:
        """Return the key and all its values as text."""
        name = self.key.replace("_", " ")
        return f"{name}: " + ", ".join(f"{key} {value}" for key, value in self.values.items())


def differences(several: Mapping[str, Sequence[Mapping[str, object]]]) -> list[Difference]:
    """Return the environment keys in which results, or groups of them by name, differ. Results that
    lack a key are not compared by it."""
    lines = []
    for key in KEYS:
        values = {
            name: list(dict.fromkeys(value for part in each if (value := _text(key, part))))
            for name, each in several.items()
        }
        if len({value for each in values.values() for value in each}) > 1:
            named = {name: " and ".join(each) for name, each in values.items() if each}
            lines.append(Difference(key, named))
    return lines


def _text(key: str, environment: Mapping[str, object]) -> str | None:
    if key in environment:
        return shown(key, environment[key])
    # A file system without a device, as a remote one: not one of which it is not known.
    return "none" if key == "device" and "mount_point" in environment else None


def shown(key: str, value: Any) -> str:
    """Format a value for display."""
    return size(value) if key.endswith("_bytes") else str(value)


def described(record: Mapping[str, Any]) -> list[str]:
    """Return the environment of a result in lines, without unknown fields."""
    named = {key: shown(key, record[key]) for key in KEYS if key in record}
    host = [
        named.get("host", ""),
        named.get("kernel", ""),
        named.get("processor", ""),
        f"{named['processors']} processors" if "processors" in named else "",
        f"{named['memory_bytes']} of memory" if "memory_bytes" in named else "",
    ]
    if record.get("client_hosts", 1) > 1:
        host[0] += f" and {record['client_hosts'] - 1} more client hosts"
    mount = " ".join(filter(None, (named.get("mount_source"), named.get("mount_point"))))
    file_system = [
        named.get("directory", ""),
        " on ".join(filter(None, (named.get("file_system"), mount))),
        named.get("mount_options", ""),
    ]
    device = [named.get(f"device{part}", "") for part in ("", "_model", "_kind", "_bytes")]
    lines = {"host": host, "directory": file_system, "device": device}
    return [
        f"{name} {', '.join(filter(None, parts))}" for name, parts in lines.items() if any(parts)
    ]


def local_time(timestamp: str) -> str:
    """A moment, in local time."""
    return f"{datetime.fromisoformat(timestamp).astimezone():%Y-%m-%d %H:%M:%S}"


def check(where: str, value: Any) -> None:
    """Raise WrongField if an environment in a document from outside is damaged."""
    optional = dict.fromkeys(KEYS, or_null(text)) | dict.fromkeys(COUNTS, or_null(amount))
    if value is None:
        return
    an_object({}, optional | {"started": _moment})(where, value)


def _moment(where: str, value: Any) -> None:
    try:
        datetime.fromisoformat(value).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise WrongField(where, value, "a time such as 2026-11-22T13:17:28Z") from None


def timestamp(moment: datetime) -> str:
    """A moment in UTC, as 2026-11-22T13:17:28.123456Z."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def memory_bytes(meminfo: str) -> int | None:
    """Return the total memory in the text of /proc/meminfo; None if it has no such line."""
    match = re.search(r"^MemTotal:\s+(\d+) kB$", meminfo, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


@functools.cache
def _processor() -> str:
    """The processor's model, or its architecture where the kernel names no model."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(None, named), platform.machine())


def _known(values: Mapping[str, object], keys: Sequence[str] = ("started", *KEYS)) -> Environment:
    """Return the keys with a value, in their order."""
    return cast(Environment, {key: values[key] for key in keys if values.get(key) is not None})


def _file_system(directory: str | PathLike[str]) -> Mapping[str, object]:
    number = os.stat(directory).st_dev
    path = os.path.realpath(directory)
    values: dict[str, object] = {"directory": path}
    mount = _mount(path, f"{os.major(number)}:{os.minor(number)}")
    if mount is not None:
        values |= {
            "file_system": mount.kind,
            "mount_point": str(mount.at),
            "mount_source": mount.source,
            "mount_options": ",".join(dict.fromkeys(",".join(mount.options).split(","))),
        }
        number = _number(mount.device) or number
    return values | _device(number)


def _mount(path: str, device: str) -> Mounted | None:
    """Return the mount that a path is on: the deepest of its device, or else the deepest of any.

    btrfs needs the second rule, as it has device numbers of its own. The last of several mounts
    at one place hides the others.
    """
    try:
        above = [mount for mount in mounted() if Path(path).is_relative_to(mount.at)]
    except OSError:
        return None
    same = [mount for mount in above if mount.device == device] or above
    return max(reversed(same), key=lambda mount: len(mount.at.parts), default=None)


def _number(device: str) -> int | None:
    major, _, minor = device.partition(":")
    return os.makedev(int(major), int(minor)) if major != "0" else None


def _device(number: int) -> dict[str, object]:
    """The block device with a number, or that a partition belongs to; nothing if there is none."""
    try:
        path = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve(strict=True)
    except OSError:
        return {}
    name = path.name
    if (path / "partition").exists():
        path = path.parent
    values: dict[str, object] = {"device": name, "device_kind": _kind(path)}
    for file in ("device/model", "loop/backing_file", "dm/name"):
        if model := _read(path / file):
            values["device_model"] = model
            break
    size = _read(path / "size")
    return values | ({"device_bytes": int(size) * SECTOR} if size and size.isdecimal() else {})


def _kind(path: Path) -> str:
    named = (kind for begin, kind in KINDS.items() if path.name.startswith(begin))
    if (kind := next(named, None)) is not None:
        return kind
    return {"0": "SSD", "1": "hard disk"}.get(_read(path / "queue" / "rotational") or "", "disk")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
