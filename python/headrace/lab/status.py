"""Status of a testbed, and how it represents the scenario's values."""

import contextlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from headrace._core import RunError
from headrace.lab import cgroups, processes, servers, steps
from headrace.lab.hosts import Hosts
from headrace.lab.links import CARD
from headrace.lab.plan import Disk, Host, Note
from headrace.lab.servers import Server
from headrace.lab.state import Lab
from headrace.lab.steps import LoopDevice


class LinkStatus(msgspec.Struct, frozen=True):
    """A host's link."""

    rate_bytes_per_s: float
    mtu: int
    limited: bool
    """True if the rate is applied."""


class DiskStatus(msgspec.Struct, frozen=True):
    """A host's disk."""

    name: str
    device: str | None
    image: str | None
    size_bytes: int
    file_system: str
    mount_options: str | None
    mounted: bool
    limits: dict[str, float]
    queue: dict[str, str | None]
    """Settings in /sys/block/DEVICE/queue."""
    write_back: dict[str, str | None]
    """Settings in /sys/block/DEVICE/bdi."""


class ProcessStatus(msgspec.Struct, frozen=True):
    """A process of a host."""

    number: int
    command: str


class HostStatus(msgspec.Struct, frozen=True):
    """State of a host."""

    name: str
    role: str
    up: bool
    address: str | None
    memory_bytes: int | None
    """Memory limit."""
    memory_used_bytes: int | None
    memory_page_cache_bytes: int | None
    link: LinkStatus | None
    disks: list[DiskStatus]
    mounted: bool | None
    """True if a client has mounted the file system; None for a server."""
    processes: list[ProcessStatus]
    missing: list[str]
    """Programs that should run and do not."""

    @property
    def complete(self) -> bool:
        """True if everything runs and is mounted."""
        return (
            self.up
            and self.mounted is not False
            and all(disk.mounted for disk in self.disks)
            and (self.link is None or self.link.limited)
            and not self.missing
        )


class TestbedStatus(msgspec.Struct, frozen=True, kw_only=True):
    """State of a testbed."""

    kind: str = "testbed"
    name: str
    scenario: str
    server: str
    mount_point: str
    up: bool
    hosts: list[HostStatus]
    carried: tuple[Note, ...]
    """Values of the scenario that the testbed applies."""
    not_carried: tuple[Note, ...]


def status(lab: Lab) -> TestbedStatus:
    """Return the state of each host, link, disk, file system and process.

    Raises
    ------
    RunError
        If setup was interrupted before the plan was saved.
    """
    plan = lab.plan()
    hosts = Hosts(lab)
    devices = {
        Path(it.image).name: it for it in steps.journaled_steps(lab) if isinstance(it, LoopDevice)
    }
    server = servers.by_name(plan.server)
    states = [_host(lab, hosts, host, devices, server) for host in plan.hosts]
    return TestbedStatus(
        name=lab.name,
        scenario=plan.scenario,
        server=plan.server,
        mount_point=str(lab.mount_point),
        up=all(state.complete for state in states),
        hosts=states,
        carried=plan.carried,
        not_carried=plan.not_carried,
    )


def _host(
    lab: Lab, hosts: Hosts, host: Host, devices: dict[str, LoopDevice], server: Server
) -> HostStatus:
    number = processes.holder(lab, host.name)
    mounts = _mounts(number)
    group = cgroups.of_host(lab.name, host.name)
    used = None if group is None else cgroups.memory_of(group)
    is_client = host.role == "client"
    others = [other for other in processes.processes(lab, host.name) if other != number]
    running = Counter(map(processes.program, others))
    return HostStatus(
        name=host.name,
        role=host.role,
        up=number is not None,
        address=host.address,
        memory_bytes=_memory(group),
        memory_used_bytes=None if used is None else used.used,
        memory_page_cache_bytes=None if used is None else used.page_cache,
        link=_link(hosts, host, number),
        disks=[
            _disk(disk, devices.get(f"{host.name}-{disk.name}.img"), hosts, mounts, group)
            for disk in host.disks
        ],
        mounted=str(lab.mount_point) in mounts if is_client else None,
        processes=[ProcessStatus(count, processes.command(count)) for count in others],
        missing=sorted((Counter(server.serving(host)) - running).elements()),
    )


def _memory(group: Path | None) -> int | None:
    """Return the memory limit of a group in bytes; None without a limit."""
    if group is None or not group.exists():
        return None
    text = cgroups.memory_file(group).read_text(encoding="ascii").strip()
    # Unlimited is "max" in version 2, and the largest number of pages in version 1.
    return int(text) if text.isdigit() and int(text) < 1 << 62 else None


def _link(hosts: Hosts, host: Host, number: int | None) -> LinkStatus | None:
    if host.link is None:
        return None
    limited = False
    if number is not None:
        # An incomplete host may have no network card yet.
        with contextlib.suppress(RunError):
            limited = "tbf" in hosts.run(host.name, "tc", "qdisc", "show", "dev", CARD).split()
    return LinkStatus(host.link.rate, host.link.mtu, limited)


def _disk(
    disk: Disk, device: LoopDevice | None, hosts: Hosts, mounts: dict[str, str], group: Path | None
) -> DiskStatus:
    mount_options = mounts.get(str(hosts.disk(disk)))
    return DiskStatus(
        name=disk.name,
        device=None if device is None else str(device.device),
        image=None if device is None else device.image,
        size_bytes=disk.size,
        file_system=disk.file_system,
        mount_options=mount_options,
        mounted=mount_options is not None,
        limits=_limits(device, group),
        queue=_settings(device, "queue", disk.queue),
        write_back=_settings(device, "bdi", disk.write_back),
    )


def _limits(device: LoopDevice | None, group: Path | None) -> dict[str, float]:
    if device is None or not device.settings.exists():
        return {}
    number = (device.settings / "dev").read_text(encoding="ascii").strip()
    return cgroups.limits(number, group)


def _settings(
    device: LoopDevice | None, folder: str, names: Iterable[str]
) -> dict[str, str | None]:
    return {} if device is None else {name: _setting(device, folder, name) for name in names}


def _setting(device: LoopDevice, folder: str, name: str) -> str | None:
    try:
        return (device.settings / folder / name).read_text(encoding="ascii").strip()
    except OSError:
        return None


def _mounts(number: int | None) -> dict[str, str]:
    """Return mount options by mount point, in the namespace of a process."""
    if number is None:
        return {}
    try:
        lines = Path(f"/proc/{number}/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    return {line.split()[1]: line.split()[3] for line in lines}
