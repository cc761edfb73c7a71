"""Dask clusters: processes of this machine, and schedulers that run already."""

import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster

from headrace._core import RunError
from headrace.sweeps.engines.dask import Connection

CONNECT_S = 10
"""Seconds within which a scheduler must answer."""
MOST_WORKERS = 4096
OWN = {
    # The engine itself submits runs of dead workers again.
    "distributed.scheduler.allowed-failures": 0,
    # Dask's observation of itself takes 4 % of two cores.
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing-interval": "500ms",
    "distributed.worker.profile.enabled": False,
}
"""Settings of clusters of our own."""
SAME = ("distributed", "headrace")
"""Packages whose versions must be equal everywhere."""


def of_argument(argument: Any) -> Callable[[], AbstractContextManager[Connection]]:
    """Return how to connect to the cluster that an argument names.

    Args:
        argument: Nothing (a worker process for each core), a number of worker processes, the
            address of a scheduler, or a scheduler's file (`dask scheduler --scheduler-file`). Or
            a user's client or cluster, to whose scheduler a connection of our own is made: a
            client has one handler of events.

    Raises:
        ValueError: It is none of these.
    """
    if not isinstance(argument, str):
        is_client = isinstance(argument, Client)
        address = argument.scheduler.address if is_client else argument.scheduler_address
        return partial(running, address, argument.security)
    if not argument:
        return partial(local, len(os.sched_getaffinity(0)))
    if argument.isdecimal():
        if not 0 < int(argument) <= MOST_WORKERS:
            raise ValueError(f"engine dask:{argument}: expected 1 to {MOST_WORKERS} processes")
        return partial(local, int(argument))
    if "://" in argument:
        return partial(running, argument)
    if argument.endswith(".json"):
        return partial(running, _address(Path(argument)))
    raise ValueError(
        f"engine dask:{argument}: expected a number of processes, a scheduler's address such as"
        " tcp://host:8786, or its file such as scheduler.json"
    )


@contextmanager
def local(workers: int) -> Iterator[Connection]:
    """Start worker processes on this machine, with one thread each."""
    with (
        dask.config.set(OWN),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        connected(cluster, "the local Dask cluster") as client,
    ):
        yield Connection(client, "the local Dask cluster", workers)


@contextmanager
def running(address: str, security: Any = None) -> Iterator[Connection]:
    """Connect to a scheduler that runs already.

    Raises:
        RunError: It does not answer, or has workers of another version.
        ValueError: The address is invalid.
    """
    place = f"the Dask scheduler at {address}"
    with connected(address, place, security) as client:
        check_versions(client, place)
        yield Connection(client, place)


@contextmanager
def connected(cluster: Any, place: str, security: Any = None) -> Iterator[Client]:
    """Connect to a cluster or an address."""
    with (
        warnings.catch_warnings(),
        dask.config.set({"distributed.comm.timeouts.connect": CONNECT_S}),
    ):
        # Versions are checked by `check_versions` and by each worker.
        warnings.simplefilter("ignore")
        try:
            client = Client(cluster, security=security, set_as_default=False, timeout=CONNECT_S)
        except OSError as error:
            raise RunError(f"{place} does not answer within {CONNECT_S} s: {error}") from None
    with closing(client):
        yield client


def check_versions(client: Client, place: str) -> None:
    """Raise RunError if the scheduler or a worker has other versions than this process."""
    versions = client.get_versions(packages=["headrace"])
    here = versions["client"]
    others = {"the scheduler": versions["scheduler"], **versions["workers"]}
    for who, version in others.items():
        names = [name for name in SAME if name != "headrace" or who != "the scheduler"]
        for name in names:
            mine, its = here["packages"].get(name), version["packages"].get(name)
            if mine != its:
                raise RunError(
                    f"{place}: {who} has {name} {its or 'not at all'}, this is {name} {mine}:"
                    " install the same version at both"
                )


def _address(file: Path) -> str:
    try:
        address = json.loads(file.read_bytes())["address"]
    except (json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError):
        raise ValueError(
            f"{file}: expected the file that `dask scheduler --scheduler-file` writes"
        ) from None
    return str(address)
