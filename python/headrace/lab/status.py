"""Status of a testbed, and how it represents the scenario's values."""

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from headrace._core import RunError
from headrace.lab import cgroups, processes, servers, steps
from headrace.lab.hosts import Hosts
from headrace.lab.links import CARD
from headrace.lab.plan import Disk, Host
from headrace.lab.servers import Server
from headrace.lab.state import Lab
from headrace.lab.steps import LoopDevice


def status(lab: Lab) -> dict[str, Any]:
    """Return a document with the state of each host, link, disk, file system and process.

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
    found = [_host(lab, hosts, host, devices, server) for host in plan.hosts]
    return {
        "kind": "testbed",
        "name": lab.name,
        "scenario": plan.scenario,
        "server": plan.server,
        "mount_point": str(lab.mount_point),
        "up": all(_is_up(it) for it in found),
        "hosts": found,
        "carried": [dataclasses.asdict(it) for it in plan.carried],
        "not_carried": [dataclasses.asdict(it) for it in plan.not_carried],
    }


def _is_up(host: dict[str, Any]) -> bool:
    return (
        host["up"]
        and host["mounted"] is not False
        and all(it["mounted"] for it in host["disks"])
        and (host["link"] is None or host["link"]["limited"])
        and not host["missing"]
    )


def _host(
    lab: Lab, hosts: Hosts, host: Host, devices: dict[str, LoopDevice], server: Server
) -> dict[str, Any]:
    number = processes.holder(lab, host.name)
    mounts = _mounts(number)
    group = cgroups.of_host(lab.name, host.name)
    used = None if group is None else cgroups.memory_of(group)
    is_client = host.role == "client"
    found = [it for it in processes.processes(lab, host.name) if it != number]
    running = Counter(map(processes.program, found))
    return {
        "name": host.name,
        "role": host.role,
        "up": number is not None,
        "address": host.address,
        "memory_bytes": _memory(group),
        "memory_used_bytes": used and used.used,
        "memory_page_cache_bytes": used and used.page_cache,
        "link": host.link and _link(hosts, host, number),
        "disks": [
            _disk(disk, devices.get(f"{host.name}-{disk.name}.img"), hosts, mounts, group)
            for disk in host.disks
        ],
        "mounted": str(lab.mount_point) in mounts if is_client else None,
        "processes": [{"number": it, "command": processes.command(it)} for it in found],
        "missing": sorted((Counter(server.serving(host)) - running).elements()),
    }


def _memory(group: Path | None) -> int | None:
    """Return the memory limit of a group in bytes; None without a limit."""
    if group is None or not group.exists():
        return None
    text = cgroups.memory_file(group).read_text(encoding="ascii").strip()
    # Unlimited is "max" in version 2, and the largest number of pages in version 1.
    return int(text) if text.isdigit() and int(text) < 1 << 62 else None


def _link(hosts: Hosts, host: Host, number: int | None) -> dict[str, Any]:
    assert host.link is not None
    limited = False
    if number is not None:
        # An incomplete host may have no network card yet.
        with contextlib.suppress(RunError):
            limited = "tbf" in hosts.run(host.name, "tc", "qdisc", "show", "dev", CARD).split()
    return {"rate_bytes_per_s": host.link.rate, "mtu": host.link.mtu, "limited": limited}


def _disk(
    disk: Disk,
    device: LoopDevice | None,
    hosts: Hosts,
    mounts: dict[str, str],
    group: Path | None,
) -> dict[str, Any]:
    return {
        "name": disk.name,
        "device": None if device is None else str(device.device),
        "image": None if device is None else device.image,
        "size_bytes": disk.size,
        "file_system": disk.file_system,
        "mount_options": mounts.get(str(hosts.disk(disk))),
        "mounted": str(hosts.disk(disk)) in mounts,
        "limits": _limits(device, group),
        "queue": _settings(device, "queue", disk.queue),
        "write_back": _settings(device, "bdi", disk.write_back),
    }


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
