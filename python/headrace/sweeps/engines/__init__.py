"""Engines: where the runs of a sweep take place.

An engine is added by its file and one line in `ENGINES`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, Union

from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust
from headrace.sweeps.engines.clusters import is_cluster, of_dask, of_queue
from headrace.sweeps.engines.threads import Threads
from headrace.sweeps.task import Outcome, Task

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy import Cluster

On: TypeAlias = Union[str, "Client", "Cluster"]
"""An engine's name with its argument, or a Dask client or cluster."""


class Engine(Protocol):
    """Runs tasks side by side. Leaving its context ends the runs in progress."""

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Yield each task with its outcome as they complete, in any order.

        `tasks` may grow while this runs: it is read as workers become free.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


ENGINES: Mapping[str, Callable[[Scenario, Trust, str], Engine]] = {
    "threads": Threads.of,
    "dask": of_dask,
    "slurm": of_queue("slurm"),
    "pbs": of_queue("pbs"),
}
"""Engines by name, made of a scenario, the trusted code, and the engine's own argument."""


def engine(on: On, scenario: Scenario, trust: Trust) -> Engine:
    """Return an engine.

    Args:
        on: Name of the engine, with its argument after a colon: `threads`, `threads:4`,
            `dask:tcp://host:8786`. Or a Dask client or cluster, which stays open.
        scenario: The scenario that tasks change.
        trust: Scheduler code that may be executed.

    Raises:
        ValueError: There is no such engine, or its argument is invalid.
    """
    check_engine(on)
    if not isinstance(on, str):
        return of_dask(scenario, trust, on)
    kind, _, argument = on.partition(":")
    return ENGINES[kind](scenario, trust, argument)


def check_engine(on: On) -> None:
    """Raise ValueError if there is no such engine."""
    is_known = on.partition(":")[0] in ENGINES if isinstance(on, str) else is_cluster(on)
    if not is_known:
        expected = f"{', '.join(ENGINES)}, or a Dask Client or LocalCluster"
        raise ValueError(f"engine {on!r}: expected {expected}")
