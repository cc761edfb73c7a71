"""No server: each client has the file system of its own disk."""

from typing import Any

from headrace.lab.hosts import Hosts
from headrace.lab.plan import Host, Plan
from headrace.lab.values import Values


class NoServer:
    """A local file system."""

    name = "none"
    serves = False
    metadata_hosts = 0
    programs: tuple[str, ...] = ()

    def options(self, values: Values) -> dict[str, Any]:
        """Return no options."""
        return {}

    def up(self, plan: Plan, hosts: Hosts) -> None:
        """Mount the disk at the clients' mount point."""
        for host in plan.of("client"):
            hosts.run(host.name, "mount", "--bind", hosts.disk(host.disks[0]), hosts.mount_point)

    def serving(self, host: Host) -> tuple[str, ...]:
        """Return no programs; the file system is in the kernel."""
        return ()
