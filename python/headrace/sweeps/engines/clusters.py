"""Engines on Dask clusters. Dask is imported when one of them is used."""

import importlib.util
import signal
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust

if TYPE_CHECKING:
    from headrace.sweeps.engines.dask import Dask


def of_dask(scenario: Scenario, trust: Trust, argument: Any) -> "Dask":
    """Return the engine `dask`; see `dask_clusters.of_argument`.

    Raises:
        ValueError: Dask is not installed, or the argument is invalid.
    """
    _check_installed("dask", "distributed")
    from headrace.sweeps.engines.dask import Dask
    from headrace.sweeps.engines.dask_clusters import of_argument

    return Dask(scenario, trust, of_argument(argument))


def is_cluster(value: object) -> bool:
    """Return whether a value is a Dask client or cluster."""
    return any(
        (kind.__module__.partition(".")[0], kind.__name__)
        in (("distributed", "Client"), ("distributed", "Cluster"))
        for kind in type(value).__mro__
    )


def of_queue(kind: str) -> "Callable[[Scenario, Trust, str], Dask]":
    """Return the engine of a batch system, such as `slurm`; see `job_queues.of_argument`."""

    def of(scenario: Scenario, trust: Trust, argument: str) -> "Dask":
        _check_installed(kind, "dask_jobqueue")
        from headrace.sweeps.engines.dask import Dask

        return Dask(scenario, trust, import_job_queues().of_argument(kind, argument))

    return of


def import_job_queues() -> ModuleType:
    """Return the module `job_queues`, and keep the handler of Ctrl-C.

    dask_jobqueue.runner replaces it by one that exits with status 0.
    """
    handler = signal.getsignal(signal.SIGINT)
    from headrace.sweeps.engines import job_queues

    if signal.getsignal(signal.SIGINT) is not handler:
        signal.signal(signal.SIGINT, handler)
    return job_queues


def _check_installed(name: str, module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise ValueError(f"engine {name} needs Dask: pip install 'headrace[dask]'")
