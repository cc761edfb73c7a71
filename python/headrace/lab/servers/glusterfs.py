"""GlusterFS: a management daemon on each server, a volume over all their disks."""

from pathlib import Path
from typing import Any

import msgspec

from headrace._core import ScenarioError
from headrace.lab.hosts import Hosts
from headrace.lab.plan import Host, Plan
from headrace.lab.servers.server import wait_until
from headrace.lab.values import Values

VOLUME = "lab"
KINDS = ("distribute", "disperse", "shard")
KIB, MIB = 1 << 10, 1 << 20
LEAST_SHARD = 4 * MIB
DISPERSED = "each brick has a part of every file, which simulations do not model"
READ_AHEAD = {"performance.read-ahead": "off"}
"""The kernel reads ahead for FUSE. With both, 1.8 bytes crossed the link per byte of a sequential
read (GlusterFS 10.3)."""
DIRECT = {"network.remote-dio": "enable"}
"""O_DIRECT bypasses the caches of the client, not those of the bricks."""
WITHOUT_CACHE = {
    f"performance.{key}": "off" for key in ("write-behind", "io-cache", "quick-read", "open-behind")
}
"""Translators that cache data or delay calls on the client."""
LEAST_WINDOW, MOST_WINDOW = 512 * KIB, 1 << 30
"""Range of performance.write-behind-window-size."""

PRIVATE = (Path("/var/lib/glusterd"), Path("/var/log/glusterfs"))
"""Directories that each host needs for itself."""

# Copy of the package's /etc/glusterfs/glusterd.vol, which servers need to find each other.
MANAGEMENT = """volume management
    type mgmt/glusterd
    option working-directory /var/lib/glusterd
    option transport-type socket
    option transport.address-family inet
    option transport.socket.keepalive-time 10
    option transport.socket.keepalive-interval 2
    option transport.socket.read-fail-log off
    option transport.socket.listen-port 24007
    option ping-timeout 0
    option event-threads 1
end-volume
"""


class VolumeOptions(msgspec.Struct, frozen=True):
    """Options of a volume."""

    volume: str
    """Type of the volume."""
    copies: int
    redundancy: int
    """Bricks of a dispersed volume that may fail."""
    settings: dict[str, str]
    """Settings of the volume, by name."""
    read_ahead: int | None
    """Read-ahead window of the mount in KiB; None for the kernel's."""
    cached: bool
    """True if clients cache pages."""
    read_from: str
    """Copy that clients read; empty for the default."""


def _options(plan: Plan) -> VolumeOptions:
    return msgspec.convert(plan.options, VolumeOptions)


class GlusterFs:
    """Files distributed by a hash of their names, replicated, dispersed or sharded."""

    name = "glusterfs"
    serves = True
    metadata_hosts = 0
    programs = ("glusterd", "gluster", "mount.glusterfs", "mountpoint")

    def options(self, values: Values) -> dict[str, Any]:
        """Return the volume's type, copies and settings."""
        kind = values.word("lab.volume") or "distribute"
        if kind not in KINDS:
            raise ScenarioError(f'lab.volume = "{kind}": expected one of {", ".join(KINDS)}')
        copies = int(values.amount("replication.copies") or 1)
        values.carried("replication.copies", "replica" if copies > 1 else kind)
        bricks = int(values.amount("servers.count") or 1) * int(
            values.amount("servers.targets") or 1
        )
        redundancy = int(values.amount("lab.redundancy") or 1)
        if kind == "disperse":
            _dispersed(bricks, redundancy, copies)
            values.dropped("layout.servers", DISPERSED)
        elif bricks % copies:
            raise ScenarioError(
                f"replication.copies = {copies}: expected a divisor of the {bricks} bricks"
            )
        cached = values.word("clients.kind") == "machine"
        settings = (_write_behind(values) if cached else WITHOUT_CACHE) | READ_AHEAD | DIRECT
        if kind == "shard":
            settings |= _shards(values)
        elif kind == "distribute" and values.word("layout.servers") == "1":
            values.carried("layout.servers", "a file on one brick")
        return msgspec.structs.asdict(
            VolumeOptions(
                kind,
                copies,
                redundancy,
                settings,
                read_ahead=_read_ahead(values) if cached else None,
                cached=cached,
                read_from=_read_from(values, copies),
            )
        )

    def up(self, plan: Plan, hosts: Hosts) -> None:
        """Start a daemon on each server, create the volume, and mount it on each client."""
        servers = plan.of("server")
        for host in servers:
            _start(hosts, host)
        first = servers[0].name
        for host in servers:
            wait_until(
                f"{host.name}: glusterd",
                lambda host=host: hosts.succeeds(host.name, "gluster", "pool", "list"),  # type: ignore[misc]
            )
        for host in servers[1:]:
            hosts.run(first, "gluster", "--mode=script", "peer", "probe", host.name)
        for host in servers:
            wait_until(
                f"{host.name}: its peers",
                lambda host=host: _connected(hosts, host) == len(servers),  # type: ignore[misc]
            )
        self._make(plan, hosts, first)
        for number, host in enumerate(plan.of("client")):
            _mount(hosts, host, f"{first}:/{VOLUME}", _mount_options(plan, number))
            if (window := _options(plan).read_ahead) is not None:
                _set_read_ahead(hosts, host, window)

    def serving(self, host: Host) -> tuple[str, ...]:
        """Return the management daemon and one daemon per brick; on clients, that of the mount."""
        if host.role == "client":
            return ("glusterfs",)
        return ("glusterd", *("glusterfsd" for _ in host.disks))

    def _make(self, plan: Plan, hosts: Hosts, first: str) -> None:
        servers, options = plan.of("server"), _options(plan)
        bricks = []
        for number in range(len(servers[0].disks)):
            for host in servers:
                path = hosts.disk(host.disks[number]) / "brick"
                hosts.run(host.name, "mkdir", path)
                bricks.append(f"{host.name}:{path}")
        words: list[str] = []
        if options.volume == "disperse":
            words = ["disperse", str(len(bricks)), "redundancy", str(options.redundancy)]
        elif options.copies > 1:
            words = ["replica", str(options.copies)]
        volume = ("gluster", "--mode=script", "volume")
        hosts.run(first, *volume, "create", VOLUME, *words, *bricks, "force")
        for name, value in options.settings.items():
            hosts.run(first, *volume, "set", VOLUME, name, value)
        hosts.run(first, *volume, "start", VOLUME)


def _dispersed(bricks: int, redundancy: int, copies: int) -> None:
    if copies > 1:
        raise ScenarioError('lab.volume = "disperse": expected replication.copies = 1')
    if bricks <= 2 * redundancy:
        raise ScenarioError(
            f"lab.redundancy = {redundancy}: a dispersed volume tolerates the loss of less than"
            f" half of its {bricks} bricks: expected a smaller value, or more servers"
        )


def _shards(values: Values) -> dict[str, str]:
    """Return the settings of shards with the size of the layout's units."""
    unit = int(values.amount("layout.unit") or 0)
    if unit < LEAST_SHARD:
        raise ScenarioError(
            f'lab.volume = "shard" and layout.unit = "{values.word("layout.unit")}": a shard has at'
            ' least 4 MiB: expected layout.unit = "4 MiB" or more'
        )
    for field in ("unit", "servers"):
        values.carried(f"layout.{field}", "features.shard")
    return {"features.shard": "on", "features.shard-block-size": f"{unit}B"}


def _write_behind(values: Values) -> dict[str, str]:
    path = "clients.machine.dirty_per_server"
    size = int(values.amount(path) or 0)
    if size == 0:
        return {}
    window = min(max(size, LEAST_WINDOW), MOST_WINDOW)
    values.carried(path, f"performance.write-behind-window-size {window}B, for each file")
    return {"performance.write-behind-window-size": f"{window}B"}


def _read_from(values: Values, copies: int) -> str:
    """Return the copy that clients read. The default, a hash of the file's identifier (AFR's
    read-hash-mode 1), has no counterpart in scenarios."""
    path = "replication.read_from"
    word = values.word(path) or ""
    if copies > 1 and word in ("first", "by-client"):
        values.carried(path, "read-subvolume-index of the mount")
    return word


def _mount_options(plan: Plan, client: int) -> list[str]:
    """Return options of mount.glusterfs."""
    extra = []
    options = _options(plan)
    if not options.cached:
        extra.append("direct-io-mode=enable")
    copies, word = options.copies, options.read_from
    if copies > 1 and word in ("first", "by-client"):
        copy = client % copies if word == "by-client" else 0
        extra.append(f"xlator-option=*-replicate-*.read-subvolume-index={copy}")
    return extra


def _read_ahead(values: Values) -> int | None:
    """Return the read-ahead window in KiB."""
    path = "clients.machine.read_ahead.window"
    size = values.amount(path)
    if size is None:
        return None
    values.carried(path, "read_ahead_kb of the mount; performance.read-ahead is off")
    return round(size / KIB)


def _mount(hosts: Hosts, host: Host, source: str, options: list[str]) -> None:
    _private(hosts, host)
    words = ["-o", ",".join(options)] if options else []
    hosts.run(host.name, "mount", "-t", "glusterfs", *words, source, hosts.mount_point)


def _set_read_ahead(hosts: Hosts, host: Host, window: int) -> None:
    device = hosts.run(host.name, "mountpoint", "-d", hosts.mount_point).strip()
    settings = Path("/sys/class/bdi") / device / "read_ahead_kb"
    settings.write_text(str(window), encoding="ascii")


def _private(hosts: Hosts, host: Host) -> None:
    """Mount a host's own directories over those of the machine."""
    for path in PRIVATE:
        own = hosts.own_folder(host.name) / path.name
        own.mkdir()
        hosts.run(host.name, "mount", "--bind", own, path)


def _start(hosts: Hosts, host: Host) -> None:
    _private(hosts, host)
    settings = hosts.own_folder(host.name) / "glusterd.vol"
    settings.write_text(MANAGEMENT, encoding="ascii")
    hosts.start(host.name, "glusterd", "-N", "-f", settings, "-p", "/run/glusterd.pid")


def _connected(hosts: Hosts, host: Host) -> int:
    """Return the number of servers that a server is connected to, itself included."""
    lines = hosts.run(host.name, "gluster", "--mode=script", "pool", "list").splitlines()[1:]
    return sum(line.rstrip().endswith("Connected") for line in lines)
