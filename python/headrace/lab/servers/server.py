"""What programs that serve have to tell and to do."""

import time
from collections.abc import Callable
from typing import Any, Protocol

from headrace._core import RunError
from headrace.lab.hosts import Hosts
from headrace.lab.plan import Host, Plan
from headrace.lab.values import Values


class Server(Protocol):
    """A file system that servers have and clients mount."""

    @property
    def name(self) -> str:
        """What `lab.server` calls it."""
        ...

    @property
    def serves(self) -> bool:
        """Whether it serves over the network; otherwise each client has a disk of its own."""
        ...

    @property
    def metadata_hosts(self) -> int:
        """How many hosts for metadata it needs."""
        ...

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that must be there."""
        ...

    def options(self, values: Values) -> dict[str, Any]:
        """What it takes from the scenario, by its own names. Raises ScenarioError if it cannot."""
        ...

    def up(self, plan: Plan, hosts: Hosts) -> None:
        """Starts it, and mounts it at every client. Raises RunError if it cannot.

        Its processes and mounts go with their hosts: there is nothing to be undone.
        """
        ...

    def serving(self, host: Host) -> tuple[str, ...]:
        """The programs that a host carries out as long as nothing is wrong, each as often as it
        does."""
        ...


TIMEOUT_S = 120.0
POLL_INTERVAL_S = 0.1


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    """Poll a condition until it holds.

    Parameters
    ----------
    what
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
                f"{what}: not ready after {TIMEOUT_S:g} s: see the program's log in the host's"
                " folder below /var/lib/headrace/labs"
            )
        time.sleep(POLL_INTERVAL_S)
