"""Limits of control groups on a block device."""

from collections.abc import Iterator
from pathlib import Path

from headrace.calibrate.cgroups import own_cgroups
from headrace.calibrate.mount import Mount
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.records import Unit
from headrace.calibrate.sysfs import read_sysfs

FIELDS: dict[str, tuple[str, Unit]] = {
    "rbps": ("read_rate", "B/s"),
    "wbps": ("write_rate", "B/s"),
    "riops": ("read_operations", ""),
    "wiops": ("write_operations", ""),
}
"""Field and unit by key of `io.max` (Linux, Documentation/admin-guide/cgroup-v2.rst)."""

FIRST_VERSION = {
    "rbps": "read_bps",
    "wbps": "write_bps",
    "riops": "read_iops",
    "wiops": "write_iops",
}
"""Names of the cgroup v1 files by key of `io.max` (cgroup-v1/blkio-controller.rst)."""


def limits(mount: Mount) -> Iterator[Parameter]:
    """Yield the tightest limits among this process's control group and its ancestors."""
    paths: dict[str, tuple[float, Path]] = {}
    device = read_sysfs(mount.disk / "dev") or mount.device
    for path, group in own_cgroups("blkio"):
        for name, limit in _limits(path, group, device):
            if name not in paths or limit < paths[name][0]:
                paths[name] = (limit, path)
    for name, (limit, path) in paths.items():
        field, unit = FIELDS[name]
        yield Parameter(f"machine.device.{field}", (limit,), unit, str(path))


def _limits(folder: Path, version: str, device: str) -> Iterator[tuple[str, float]]:
    if version == "2":
        for line in _lines(folder / "io.max"):
            number, *words = line.split()
            for given in words if number == device else []:
                key, _, value = given.partition("=")
                if key in FIELDS and value != "max":
                    yield key, float(value)
        return
    for key, name in FIRST_VERSION.items():
        for line in _lines(folder / f"blkio.throttle.{name}_device"):
            number, value = line.split()
            if number == device:
                yield key, float(value)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
