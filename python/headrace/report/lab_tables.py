"""A testbed as tables for a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain_line
from headrace.quantities import size
from headrace.render.fitted_table import FittedTable

if TYPE_CHECKING:
    from headrace.lab.plan import Note
    from headrace.lab.status import HostStatus, LinkStatus, TestbedStatus

NONE = "\N{EN DASH}"

LIMITS = {
    "read_rate": "read {}/s",
    "write_rate": "write {}/s",
    "read_operations": "{} reads/s",
    "write_operations": "{} writes/s",
}


def testbed(status: "TestbedStatus") -> RenderableType:
    """Return the tables of a testbed: its hosts, disks and processes, and the fields of the
    scenario that it implements."""
    parts: list[RenderableType] = [
        Text(plain_line(f"{status.name}: {'up' if status.up else 'something is missing'}")),
        Text(plain_line(f"the clients mount the file system at {status.mount_point}")),
        Text(),
        _hosts(status),
        _disks(status),
    ]
    if any(host.processes for host in status.hosts):
        parts.append(_processes(status))
    parts += [_notes("Carried over", status.carried), Text()]
    parts += [
        Text(plain_line(f"not implemented: {it.field}: {it.value}: {it.why}"))
        for it in status.not_carried
    ]
    return Group(*parts)


def _hosts(status: "TestbedStatus") -> FittedTable:
    columns = ["host", "state", "address", "link", "memory", "used"]
    table = FittedTable("Hosts", 1, columns, ["used", "memory", "address"])
    for host in status.hosts:
        table.add_row(
            host.name,
            _state(host),
            host.address or NONE,
            _link(host.link),
            *(
                NONE if memory is None else size(memory)
                for memory in (host.memory_bytes, host.memory_used_bytes)
            ),
        )
    return table


def _state(host: "HostStatus") -> str:
    if not host.up:
        return "down"
    if host.mounted is False:
        return "not mounted"
    return f"without {', '.join(host.missing)}" if host.missing else "up"


def _link(link: "LinkStatus | None") -> str:
    if link is None:
        return NONE
    return f"{size(link.rate_bytes_per_s)}/s" + ("" if link.limited else ", not limited")


def _disks(status: "TestbedStatus") -> FittedTable:
    columns = ["host", "disk", "device", "file system", "limits", "options", "queue"]
    table = FittedTable("Disks", 2, columns, ["queue", "options"])
    for host in status.hosts:
        for disk in host.disks:
            limits = [
                form.format(size(disk.limits[name]) if "rate" in name else f"{disk.limits[name]:g}")
                for name, form in LIMITS.items()
                if name in disk.limits
            ]
            table.add_row(
                host.name,
                disk.name,
                disk.device or "gone",
                disk.file_system if disk.mounted else f"{disk.file_system}, not mounted",
                ", ".join(limits) or NONE,
                disk.mount_options or NONE,
                ", ".join(f"{key} {value}" for key, value in disk.queue.items()) or NONE,
            )
    return table


def _processes(status: "TestbedStatus") -> FittedTable:
    table = FittedTable("Processes", 1, ["host", "number", "command"])
    for host in status.hosts:
        for process in host.processes:
            table.add_row(host.name, str(process.number), process.command.split(" ")[0])
    return table


def _notes(title: str, notes: "Sequence[Note]") -> FittedTable:
    table = FittedTable(title, 1, ["field", "value", "by"], ["by"])
    for note in notes:
        table.add_row(note.field, note.value, note.why)
    return table
