"""MooseFS: a master, and a chunk server on each server host that uses all its disks."""

from typing import Any

import msgspec

from headrace.lab.hosts import Hosts
from headrace.lab.plan import Host, Plan, Role
from headrace.lab.servers.server import wait_until
from headrace.lab.values import Values

MIB = 1 << 20
LEAST_CACHE = 16 * MIB
"""Smallest mfswritecachesize of mfsmount."""

COMMON = """WORKING_USER = root
WORKING_GROUP = root
DISABLE_OOM_KILLER = 0
NICE_LEVEL = 0
DATA_PATH = {folder}
"""
"""Daemons get normal priority; the default of MooseFS is the highest."""

MASTER = "EXPORTS_FILENAME = {folder}/mfsexports.cfg\n"
EXPORTS = "* / rw,alldirs,admin,maproot=0:0\n"

CHUNK_SERVER = """HDD_CONF_FILENAME = {folder}/mfshdd.cfg
MASTER_HOST = {master}
MASTER_RECONNECTION_DELAY = 1
HDD_TEST_SPEED = 0
"""
"""Background tests of chunks are off, because they would use the disks."""

EMPTY = "MFSM NEW"
"""Metadata of a new file system (metadata.mfs.empty)."""


class MountOptions(msgspec.Struct, frozen=True):
    """Number of copies of a file, and options of the mount."""

    copies: int
    mount: list[str]


class MooseFs:
    """Files in chunks of 64 MiB, replicated."""

    name = "moosefs"
    serves = True
    metadata_hosts = 1
    programs = ("mfsmaster", "mfschunkserver", "mfsmount", "mfssetgoal")

    def options(self, values: Values) -> dict[str, Any]:
        """Return the number of copies and the mount options."""
        copies = int(values.amount("replication.copies") or 1)
        values.carried("replication.copies", "the goal of all files")
        options = MountOptions(copies, _write_cache(values) + _read_ahead(values))
        return msgspec.structs.asdict(options)

    def up(self, plan: Plan, hosts: Hosts) -> None:
        """Start the master and the chunk servers, and mount the file system on each client."""
        master = plan.of("metadata")[0].name
        _start_master(hosts, master)
        for host in plan.of("server"):
            folder = hosts.own_folder(host.name)
            paths = [str(hosts.disk(disk)) for disk in host.disks]
            (folder / "mfshdd.cfg").write_text("\n".join(paths) + "\n", encoding="ascii")
            settings = (COMMON + CHUNK_SERVER).format(folder=folder, master=master)
            (folder / "mfschunkserver.cfg").write_text(settings, encoding="ascii")
            hosts.start(host.name, "mfschunkserver", "-f", "-c", folder / "mfschunkserver.cfg")
        clients = [host.name for host in plan.of("client")]
        always = ("mfsnice=0", "mfsallowoomkiller")
        own = msgspec.convert(plan.options, MountOptions)
        options = ",".join([f"mfsmaster={master}", *always, *own.mount])
        for client in clients:
            wait_until(
                f"{client}: mfsmount",
                lambda client=client: hosts.succeeds(  # type: ignore[misc]
                    client, "mfsmount", "-o", options, hosts.mount_point
                ),
            )
        wait_until("chunk servers", lambda: _disks(hosts, clients[0]) >= _expected(plan, hosts))
        hosts.run(clients[0], "mfssetgoal", "-r", str(own.copies), hosts.mount_point)

    def serving(self, host: Host) -> tuple[str, ...]:
        """Return the one program of each host."""
        return (PROGRAMS[host.role],)


PROGRAMS: dict[Role, str] = {
    "client": "mfsmount",
    "server": "mfschunkserver",
    "metadata": "mfsmaster",
}


def _start_master(hosts: Hosts, master: str) -> None:
    folder = hosts.own_folder(master)
    (folder / "mfsexports.cfg").write_text(EXPORTS, encoding="ascii")
    (folder / "metadata.mfs").write_text(EMPTY, encoding="ascii")
    settings = (COMMON + MASTER).format(folder=folder)
    (folder / "mfsmaster.cfg").write_text(settings, encoding="ascii")
    hosts.start(master, "mfsmaster", "-f", "-c", folder / "mfsmaster.cfg")


def _write_cache(values: Values) -> list[str]:
    path = "clients.machine.dirty_per_server"
    size = (values.amount(path) or 0) * (values.amount("servers.count") or 1)
    if size == 0:
        return []
    cache = max(round(size), LEAST_CACHE) // MIB
    values.carried(path, f"mfswritecachesize={cache}, in MiB, for all servers")
    return [f"mfswritecachesize={cache}"]


def _read_ahead(values: Values) -> list[str]:
    path = "clients.machine.read_ahead.window"
    size = int(values.amount(path) or 0)
    if size == 0:
        return []
    values.carried(path, f"mfsreadaheadleng={size}")
    return [f"mfsreadaheadleng={size}"]


def _disks(hosts: Hosts, client: str) -> int:
    """Return the total size of the connected chunk servers, in bytes."""
    blocks, size = hosts.run(client, "stat", "-f", "-c", "%b %S", hosts.mount_point).split()
    return int(blocks) * int(size)


def _expected(plan: Plan, hosts: Hosts) -> float:
    """Return a size that is only exceeded if no chunk server is missing, in bytes."""
    each = [disk.size for host in plan.of("server") for disk in host.disks]
    return sum(each) - 0.7 * each[0]
