"""The state of a testbed: its hosts, disks, processes and fields of the scenario."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.plain_text import plain_line
from headrace.quantities import size
from headrace.render.blocks import Block, Note, Table, View

if TYPE_CHECKING:
    from headrace.lab.plan import Note as FieldNote
    from headrace.lab.status import HostStatus, LinkStatus, TestbedStatus

NONE = "\N{EN DASH}"

LIMITS = {
    "read_rate": "read {}/s",
    "write_rate": "write {}/s",
    "read_operations": "{} reads/s",
    "write_operations": "{} writes/s",
}


def view(status: "TestbedStatus") -> View:
    """Return the hosts, disks and processes of a testbed, and the fields of the scenario that it
    implements."""
    blocks: list[Block] = [
        Note(plain_line(f"{status.name}: {'up' if status.up else 'something is missing'}")),
        Note(plain_line(f"the clients mount the file system at {status.mount_point}")),
        Note(""),
        _hosts(status),
        _disks(status),
    ]
    if any(host.processes for host in status.hosts):
        blocks.append(_processes(status))
    blocks += [_notes("Carried over", status.carried), Note("")]
    missing = (f"not implemented: {it.field}: {it.value}: {it.why}" for it in status.not_carried)
    return [*blocks, *(Note(plain_line(line)) for line in missing)]


def _hosts(status: "TestbedStatus") -> Table:
    rows = [
        (
            host.name,
            _state(host),
            host.address or NONE,
            _link(host.link),
            *(
                NONE if memory is None else size(memory)
                for memory in (host.memory_bytes, host.memory_used_bytes)
            ),
        )
        for host in status.hosts
    ]
    columns = ("host", "state", "address", "link", "memory", "used")
    return Table.of_rows("Hosts", columns, rows, 1, ("used", "memory", "address"))


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


def _disks(status: "TestbedStatus") -> Table:
    rows = []
    for host in status.hosts:
        for disk in host.disks:
            limits = [
                form.format(size(disk.limits[name]) if "rate" in name else f"{disk.limits[name]:g}")
                for name, form in LIMITS.items()
                if name in disk.limits
            ]
            rows.append(
                (
                    host.name,
                    disk.name,
                    disk.device or "gone",
                    disk.file_system if disk.mounted else f"{disk.file_system}, not mounted",
                    ", ".join(limits) or NONE,
                    disk.mount_options or NONE,
                    ", ".join(f"{key} {value}" for key, value in disk.queue.items()) or NONE,
                )
            )
    columns = ("host", "disk", "device", "file system", "limits", "options", "queue")
    return Table.of_rows("Disks", columns, rows, 2, ("queue", "options"))


def _processes(status: "TestbedStatus") -> Table:
    rows = [
        (host.name, str(process.number), process.command.split(" ")[0])
        for host in status.hosts
        for process in host.processes
    ]
    return Table.of_rows("Processes", ("host", "number", "command"), rows)


def _notes(title: str, notes: "Sequence[FieldNote]") -> Table:
    rows = [(note.field, note.value, note.why) for note in notes]
    return Table.of_rows(title, ("field", "value", "by"), rows, 1, ("by",))
