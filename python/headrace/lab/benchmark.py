"""Command lines for a running testbed: benchmarks on its clients, and other programs."""

import sys
from collections.abc import Sequence
from pathlib import Path

from headrace._core import ScenarioError
from headrace.lab.hosts import Hosts
from headrace.lab.plan import Plan
from headrace.lab.state import Lab
from headrace.lab.values import Values
from headrace.simulate.scenario import load_with_sets

HEADRACE = (sys.executable, "-P", "-m", "headrace")
"""Runs Headrace without the current directory in the module path; anybody may write there."""


def bench_commands(
    lab: Lab, file: Path, arguments: Sequence[str], count: int | None = None
) -> list[list[str]]:
    """Return the command line of `headrace bench run FILE` for each client.

    Values that overrode the scenario of `headrace lab up` override this one too.

    Parameters
    ----------
    lab
        The testbed.
    file
        Path of the scenario.
    arguments
        Further arguments of `headrace bench run`.
    count
        Number of clients; None takes all.

    Raises
    ------
    RunError
        If a client is down.
    ValueError
        If `count` exceeds the number of clients.
    ScenarioError
        If the scenario's system differs from that of the testbed.
    """
    plan = lab.plan()
    _same_system(lab, plan, file)
    clients = [host.name for host in plan.of("client")]
    if count is not None and count > len(clients):
        raise ValueError(
            f"--client-hosts {count}: expected at most {len(clients)}, those of the testbed"
        )
    clients = clients[:count]
    if plan.server == "none" and len(clients) > 1:
        raise ValueError(
            f"{lab.name}: each of {len(clients)} clients has a local file system: expected"
            " clients.count = 1, or headrace lab exec FILE HOST -- headrace bench run on each"
        )
    hosts = Hosts(lab)
    run = (*HEADRACE, "bench", "run")
    sets = [word for setting in plan.sets for word in ("--set", setting)]
    if count is not None:
        sets += ["--set", f"clients.count={count}"]
    command: list[str | Path] = [*run, file.absolute(), lab.mount_point, *sets, *arguments]
    return [hosts.command(client, *command) for client in clients]


MAX_LISTED = 3
"""Upper limit of differing values that an error lists."""


def _same_system(lab: Lab, plan: Plan, file: Path) -> None:
    """Check that a file describes the system of the testbed.

    Raises
    ------
    ScenarioError
        If it does not.
    """
    given = Values(load_with_sets(file, list(plan.sets))).standing
    paths = dict.fromkeys((*plan.standing, *given))
    differ = [path for path in paths if plan.standing.get(path) != given.get(path)]
    if not differ:
        return
    listed = [
        f"{path} is {given.get(path, 'not set')}, there {plan.standing.get(path, 'not set')}"
        for path in differ[:MAX_LISTED]
    ]
    more = len(differ) - len(listed)
    if more:
        listed.append(f"{more} more")
    raise ScenarioError(
        f"{file}: the testbed {lab.name} has another system: {'; '.join(listed)}: use the scenario"
        " of headrace lab up, or run headrace lab down and headrace lab up with this one"
    )


def exec_command(lab: Lab, host: str, command: Sequence[str]) -> list[str]:
    """Return the command line that runs a command in a host.

    Raises
    ------
    ValueError
        If there is no such host.
    RunError
        If the host is down.
    """
    names = [one.name for one in lab.plan().hosts]
    if host not in names:
        raise ValueError(f"{host}: {lab.name} has no such host: expected one of {', '.join(names)}")
    return Hosts(lab).command(host, *command)
