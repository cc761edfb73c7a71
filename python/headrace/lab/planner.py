"""Plan a testbed from a scenario."""

import os
from collections.abc import Sequence
from pathlib import Path

from headrace._core import ScenarioError
from headrace.lab import cgroups, servers
from headrace.lab.disk import disks
from headrace.lab.plan import Disk, Host, Link, Plan, Role, address
from headrace.lab.values import Values
from headrace.simulate.scenario import Scenario

MOST_HOSTS = 250
"""Upper limit of hosts; each needs a process, and with servers also its daemons."""
QUEUE = 1 << 20
"""Queue size in bytes if the scenario models no packets, and so no packet loss."""


def plan(scenario: Scenario, sets: Sequence[str] = ()) -> Plan:
    """Plan the testbed of a scenario.

    Parameters
    ----------
    scenario
        The scenario.
    sets
        Values that override its file, as `path=value`.

    Raises
    ------
    ScenarioError
        If one machine cannot represent the scenario. The message names the field.
    """
    values = Values(scenario)
    parallel = values.word("kind") == "parallel"
    name = values.word("lab.server") or _of_system(values, parallel)
    server = servers.by_name(name)
    if parallel != server.serves:
        expected = " or ".join(f'"{one}"' for one in servers.names(serving=parallel))
        raise ScenarioError(
            f'lab.server = "{name}" and kind = "{values.word("kind")}": expected {expected}'
        )
    hosts = _parallel(values, server.metadata_hosts) if parallel else _local(values)
    options = server.options(values)
    return Plan(
        scenario.name,
        name,
        options,
        _directory(values),
        hosts,
        values.notes,
        values.not_carried,
        tuple(sets),
        values.standing,
    )


def _of_system(values: Values, parallel: bool) -> str:
    system = values.word("system")
    return str(system) if parallel and system in servers.names(serving=True) else "none"


def _directory(values: Values) -> str | None:
    given = values.word("lab.directory")
    if given is not None and not (Path(given).is_absolute() and Path(given).is_dir()):
        raise ScenarioError(
            f'lab.directory = "{given}": expected an existing directory, such as "/var/tmp"'
        )
    return given


def _local(values: Values) -> tuple[Host, ...]:
    """Plan clients that each have a local file system, and no network."""
    count = _count(values, "clients.count")
    return _hosts(values, "client", count, "machine", None, disks(values, "machine", 1), 0)


def _parallel(values: Values, metadata: int) -> tuple[Host, ...]:
    for section in ("clients", "servers"):
        name = values.word(f"{section}.group.0.name")
        if name is not None:
            raise ScenarioError(
                f'{section}.group.0.name = "{name}": the hosts of a testbed are alike: leave it out'
            )
    clients, data = (_count(values, f"{side}.count") for side in ("clients", "servers"))
    targets = _count(values, "servers.targets")
    machine = "servers.machine" if values.word("servers.kind") == "machine" else "servers"
    bricks = disks(values, machine, targets)
    for field in ("mtu", "framing", "bandwidth"):
        values.carried(f"network.{field}", "the hosts' links")
    topology = values.word("network.topology.kind")
    if topology == "star":
        values.carried("network.topology.kind", "a bridge")
    else:
        values.dropped("network.topology.kind", "one bridge connects all hosts")
    if values.word("network.duplex") == "full":
        values.carried("network.duplex", "the hosts' links")
    return (
        *_hosts(values, "client", clients, "clients.machine", "clients", (), 0),
        *_hosts(values, "server", data, machine, "servers", bricks, clients),
        *_hosts(values, "metadata", metadata, "", "metadata", (), clients + data),
    )


def _hosts(
    values: Values,
    role: Role,
    count: int,
    machine: str,
    section: str | None,
    all_disks: tuple[Disk, ...],
    first: int,
) -> tuple[Host, ...]:
    """Plan `count` equal hosts; `section` has their network cards, None without a network."""
    memory = values.amount(f"{machine}.memory.size")
    _carry_memory(values, f"{machine}.memory.size", memory)
    link = None if section is None else _link(values, section)
    return tuple(
        Host(
            f"{role}-{number}",
            role,
            None if link is None else address(first + number),
            None if memory is None else int(memory),
            link,
            all_disks,
        )
        for number in range(count)
    )


def _carry_memory(values: Values, path: str, memory: float | None) -> None:
    here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if cgroups.hierarchy("memory") is None:
        values.dropped(path, "the kernel has no control groups for memory")
    elif memory is not None and memory > here:
        values.dropped(path, f"this machine has only {here >> 20} MiB")
    else:
        values.carried(path, "the memory of the host's control group")


def _link(values: Values, section: str) -> Link:
    bandwidth = values.amount("network.bandwidth") or 0.0
    card, burst = (values.amount(f"{section}.card.{way}") for way in ("bandwidth", "burst"))
    for field in ("bandwidth", "burst"):
        values.carried(f"{section}.card.{field}", "the hosts' links")
    queue = QUEUE
    if values.word("network.grain") == "packet":
        queue = int(values.amount("network.queue") or QUEUE)
        values.carried("network.queue", "the hosts' links")
    return Link(
        card or bandwidth,
        int(values.amount("network.mtu") or 0),
        int(values.amount("network.framing") or 0),
        None if burst is None else int(burst),
        bandwidth,
        queue,
    )


def _count(values: Values, path: str) -> int:
    count = int(values.amount(path) or 0)
    if count > MOST_HOSTS:
        raise ScenarioError(
            f"{path} = {count}: a testbed has at most {MOST_HOSTS} hosts: expected fewer, for"
            f" example --set {path}=4"
        )
    values.carried(path, "hosts" if path != "servers.targets" else "disks of a server")
    return count
