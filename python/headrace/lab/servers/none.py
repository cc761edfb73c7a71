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
        """There are none."""
        return {}

    def up(self, plan: Plan, hosts: Hosts) -> None:
        """The disk is where clients look for the file system."""
        for host in plan.of("client"):
            hosts.run(host.name, "mount", "--bind", hosts.disk(host.disks[0]), hosts.mount_point)

    def serving(self, host: Host) -> tuple[str, ...]:
        """The kernel's file system needs no program."""
        return ()
