"""What a testbed consists of: hosts, links, disks, and what of a scenario they carry."""

import dataclasses
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["client", "server", "metadata"]


@dataclass(frozen=True)
class Limits:
    """The most that a disk moves in a second; None where there is no limit."""

    read_rate: float | None = None
    """In bytes a second."""
    write_rate: float | None = None
    read_operations: float | None = None
    write_operations: float | None = None


@dataclass(frozen=True)
class Disk:
    """A loop device over a sparse file, and the file system on it."""

    name: str
    size: int
    """In bytes."""
    limits: Limits
    file_system: str
    """As the kernel calls it."""
    make: tuple[str, ...]
    """The command that makes it, without the device."""
    mount_options: tuple[str, ...]
    given_options: tuple[str, ...]
    """Those that the scenario has itself, in `lab.mount_options`."""
    queue: dict[str, str]
    """Settings of the device's queue, by their names in /sys/block/DEVICE/queue."""
    write_back: dict[str, str]
    """Limits of its dirty data, by their names in /sys/block/DEVICE/bdi."""


@dataclass(frozen=True)
class Link:
    """A host's link to the switch, both ways."""

    rate: float
    """In bytes a second, all headers and framing included."""
    mtu: int
    framing: int
    """Bytes around each packet."""
    burst: int | None
    """Bytes that pass at `peak` before `rate` holds; None: none do."""
    peak: float
    queue: int
    """Room for waiting packets at each end, in bytes."""


@dataclass(frozen=True)
class Host:
    """A network namespace with a name, memory, a link and disks of its own."""

    name: str
    role: Role
    address: str | None
    memory: int | None
    """Bytes that it may have, page cache included; None: no limit."""
    link: Link | None
    disks: tuple[Disk, ...]


@dataclass(frozen=True)
class Note:
    """A value of the scenario: where it went, or why it did not."""

    field: str
    value: str
    why: str


@dataclass(frozen=True)
class Plan:
    """All of a testbed."""

    scenario: str
    """The scenario's name."""
    server: str
    """The programs that serve, by their name among `headrace.lab.servers`."""
    options: dict[str, Any]
    """What those programs are told, by their own names."""
    directory: str | None
    """Where the disks' files are made; None: in the testbed's own folder."""
    hosts: tuple[Host, ...]
    carried: tuple[Note, ...] = field(default=())
    not_carried: tuple[Note, ...] = field(default=())
    sets: tuple[str, ...] = field(default=())
    """Values over the file's, as `path=value`."""
    standing: dict[str, str] = field(default_factory=dict)
    """All values of the scenario that it is made from, by path."""

    def of(self, role: Role) -> tuple[Host, ...]:
        """Its hosts of one kind."""
        return tuple(host for host in self.hosts if host.role == role)

    def json(self) -> dict[str, Any]:
        """As files have it."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(document: dict[str, Any]) -> "Plan":
        """What `json` gave."""
        hosts = tuple(_host(it) for it in document["hosts"])
        notes = {
            key: tuple(Note(**it) for it in document[key]) for key in ("carried", "not_carried")
        }
        return Plan(**{**document, "hosts": hosts, "sets": tuple(document["sets"]), **notes})


def _host(document: dict[str, Any]) -> Host:
    link = document["link"]
    disks = tuple(_disk(it) for it in document["disks"])
    return Host(**{**document, "link": link and Link(**link), "disks": disks})


def _disk(document: dict[str, Any]) -> Disk:
    words = {key: tuple(document[key]) for key in ("make", "mount_options", "given_options")}
    return Disk(**{**document, "limits": Limits(**document["limits"]), **words})


NETWORK = ipaddress.ip_network("198.18.0.0/15")
"""For tests of network devices (RFC 2544, appendix C.2.2)."""


def address(number: int) -> str:
    """That of a host."""
    return str(NETWORK[number + 1])


def hosts_file(hosts: Iterable[Host]) -> str:
    """Names and addresses, as /etc/hosts has them."""
    lines = ["127.0.0.1 localhost"]
    lines += [f"{host.address or '127.0.1.1'} {host.name}" for host in hosts]
    return "\n".join(lines) + "\n"
