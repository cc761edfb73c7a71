"""Small tables in TOML and JSON: prices, weights, options of job queues, agents, workloads."""

from collections.abc import Callable
from pathlib import Path

from headrace.design.performance.recorded import recorded
from headrace.measure.tuning.targets import target
from headrace.monitors.agents import AgentFile
from headrace.optimisation.prices import read as read_prices
from headrace.sweeps.engines.job_queues import read_options

from . import with_suffix


def _agents(path: Path) -> None:
    file = AgentFile(path.parent)
    path.rename(file.path)
    try:
        file.entries()
    except ValueError as error:
        assert file.path.name in str(error)
    finally:
        file.path.unlink()


def _with_suffix(read: Callable[[Path], object], suffix: str) -> Callable[[Path], object]:
    return lambda path: read(with_suffix(path, suffix))


def _weights(path: Path) -> None:
    target(str(path))


def _job_options(path: Path) -> None:
    read_options("slurm", str(path))


READERS = (
    read_prices,
    _agents,
    *(_with_suffix(recorded.__wrapped__, suffix) for suffix in (".toml", ".json")),
    *(_with_suffix(_weights, suffix) for suffix in (".toml", ".json")),
    _with_suffix(_job_options, ".toml"),
)
