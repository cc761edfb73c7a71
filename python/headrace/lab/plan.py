"""The plan of a testbed: hosts, links, disks, and how they represent the scenario's values."""

import dataclasses
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from headrace.fields import convert

Role = Literal["client", "server", "metadata"]


@dataclass(frozen=True)
class Limits:
    """Limits of a disk per second; None means unlimited."""

    read_rate: float | None = None
    """In bytes per second."""
    write_rate: float | None = None
    read_operations: float | None = None
    write_operations: float | None = None


@dataclass(frozen=True)
class Disk:
    """A loop device over a sparse image, with a file system."""

    name: str
    size: int
    """In bytes."""
    limits: Limits
    file_system: str
    """Type of the file system, as the kernel names it."""
    make: tuple[str, ...]
    """The mkfs command, without the device."""
    mount_options: tuple[str, ...]
    given_options: tuple[str, ...]
    """Mount options of `lab.mount_options`."""
    queue: dict[str, str]
    """Settings of the request queue, by name in /sys/block/DEVICE/queue."""
    write_back: dict[str, str]
    """Dirty limits, by name in /sys/block/DEVICE/bdi."""


@dataclass(frozen=True)
class Link:
    """A full-duplex link of a host to the bridge."""

    rate: float
    """In bytes per second, including headers and framing."""
    mtu: int
    framing: int
    """Bytes around each packet."""
    burst: int | None
    """Bytes that are sent at `peak` before `rate` applies; None means none."""
    peak: float
    queue: int
    """Queue size at each end, in bytes."""


@dataclass(frozen=True)
class Host:
    """A network namespace with a name, memory, a link and disks of its own."""

    name: str
    role: Role
    address: str | None
    memory: int | None
    """Memory limit in bytes, including page cache; None means unlimited."""
    link: Link | None
    disks: tuple[Disk, ...]


@dataclass(frozen=True)
class Note:
    """A value of the scenario, and where it is applied or why it is not."""

    field: str
    value: str
    why: str


@dataclass(frozen=True)
class Plan:
    """The plan of a testbed."""

    scenario: str
    """Name of the scenario."""
    server: str
    """Name of the server software in `headrace.lab.servers`."""
    options: dict[str, Any]
    """Options of the server software, which reads them as its own record."""
    directory: str | None
    """Directory of the disks' images; None for the testbed's own directory."""
    hosts: tuple[Host, ...]
    carried: tuple[Note, ...] = field(default=())
    not_carried: tuple[Note, ...] = field(default=())
    sets: tuple[str, ...] = field(default=())
    """Values that override the scenario, as `path=value`."""
    standing: dict[str, str] = field(default_factory=dict)
    """All values that the testbed is built from, by path."""

    def of(self, role: Role) -> tuple[Host, ...]:
        """Return the hosts of a role."""
        return tuple(host for host in self.hosts if host.role == role)

    def json(self) -> dict[str, Any]:
        """Return the JSON document."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Read a plan from its JSON document.

        Raises
        ------
        WrongField
            If a field is missing or invalid.
        """
        return convert(document, cls)


NETWORK = ipaddress.ip_network("198.18.0.0/15")
"""Addresses for benchmarks of network devices (RFC 2544, appendix C.2.2). Each testbed has a
network of its own, so all use the same addresses."""


def address(number: int) -> str:
    """Return the address of a host by its number."""
    return str(NETWORK[number + 1])


def hosts_file(hosts: Iterable[Host]) -> str:
    """Return the contents of /etc/hosts for the hosts."""
    lines = ["127.0.0.1 localhost"]
    lines += [f"{host.address or '127.0.1.1'} {host.name}" for host in hosts]
    return "\n".join(lines) + "\n"
