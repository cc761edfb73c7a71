"""Interface of server software, and waiting for it."""

import time
from collections.abc import Callable
from typing import Any, Protocol

from headrace._core import RunError
from headrace.lab.hosts import Hosts
from headrace.lab.plan import Host, Plan
from headrace.lab.values import Values


class Server(Protocol):
    """A file system on servers that clients mount."""

    @property
    def name(self) -> str:
        """Its name in `lab.server`."""
        ...

    @property
    def serves(self) -> bool:
        """True if it serves over the network; otherwise each client has a local disk."""
        ...

    @property
    def metadata_hosts(self) -> int:
        """Number of metadata hosts."""
        ...

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that must be installed."""
        ...

    def options(self, values: Values) -> dict[str, Any]:
        """Return its options from the scenario.

        Raises
        ------
        ScenarioError
            If it cannot represent a value.
        """
        ...

    def up(self, plan: Plan, hosts: Hosts) -> None:
        """Start it, and mount the file system on every client.

        Its processes and mounts end with their hosts, so nothing has to be undone.

        Raises
        ------
        RunError
            If a program fails.
        """
        ...

    def serving(self, host: Host) -> tuple[str, ...]:
        """Return the programs that run on a healthy host, once per process."""
        ...


TIMEOUT_S = 120.0
POLL_INTERVAL_S = 0.1


def wait_until(event: str, condition: Callable[[], bool]) -> None:
    """Poll a condition until it holds.

    Parameters
    ----------
    event
        The host and program that is waited for; it opens the error message.
    condition
        Called every `POLL_INTERVAL_S` seconds.

    Raises
    ------
    RunError
        If the condition does not hold within `TIMEOUT_S` seconds.
    """
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise RunError(
                f"{event}: not ready after {TIMEOUT_S:g} s: see the program's log in the host's"
                " folder below /var/lib/headrace/labs"
            )
        time.sleep(POLL_INTERVAL_S)
