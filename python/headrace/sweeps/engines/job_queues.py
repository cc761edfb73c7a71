"""Dask workers as jobs of a batch system, through dask-jobqueue."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask_jobqueue
from dask_jobqueue.core import Job, JobQueueCluster

from headrace._core import RunError
from headrace.document_io import read_toml
from headrace.sweeps.engines.dask import Connection
from headrace.sweeps.engines.dask_clusters import OWN, connected

DEFAULTS: Mapping[str, Any] = {"cores": 1, "memory": "2 GiB"}
"""Options of a job that neither the command nor Dask's configuration gives."""
MOST_JOBS = 10_000
LINES = 5
"""Lines of a job's output in a message."""


@dataclass(frozen=True)
class Ended:
    """A job that has ended."""

    state: str
    output: Path
    """File of its standard output."""


def _ended_in_slurm(job: str) -> Ended | None:
    """Return how a job ended; None if it waits, runs, or is not known any more."""
    shown = subprocess.run(
        ["scontrol", "--oneliner", "show", "job", job],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    ).stdout
    state = re.search(r"(?:^| )JobState=(\w+)", shown)
    output = re.search(r" StdOut=(.*?)(?: [A-Z]\w+=|$)", shown, re.MULTILINE)
    if state is None or output is None or state[1] in _IN_SLURM:
        return None
    return Ended(state[1], Path(output[1]))


_IN_SLURM = {
    "CONFIGURING",
    "COMPLETING",
    "PENDING",
    "REQUEUED",
    "RESIZING",
    "RUNNING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "SUSPENDED",
}
"""States of jobs that have not ended (squeue(1) of Slurm 22.05)."""


@dataclass(frozen=True)
class Kind:
    """A batch system."""

    cluster: type[JobQueueCluster]
    submit: str
    """Its command that submits a job."""
    ended: Callable[[str], Ended | None] = lambda _: None
    """Return how a job ended, by its number."""


KINDS: Mapping[str, Kind] = {
    "slurm": Kind(dask_jobqueue.SLURMCluster, "sbatch", _ended_in_slurm),
    "pbs": Kind(dask_jobqueue.PBSCluster, "qsub"),
}


@dataclass(frozen=True)
class Options:
    """Options of a sweep's jobs."""

    jobs: int = 1
    job: dict[str, Any] = field(default_factory=dict)
    """Keywords of dask-jobqueue's cluster."""


def of_argument(kind: str, argument: str) -> Callable[[], AbstractContextManager[Connection]]:
    """Return how to submit jobs to a batch system.

    Args:
        kind: One of `KINDS`.
        argument: Options as `queue=short,cores=8,memory=16 GiB,jobs=4`, a TOML file with them, or
            the file and options over it. Options that are left out come from Dask's own
            configuration (`~/.config/dask/jobqueue.yaml`).

    Raises:
        ValueError: An option is invalid, or the batch system's commands are not here.
    """
    options = read_options(kind, argument)
    if shutil.which(KINDS[kind].submit) is None:
        raise ValueError(
            f"engine {kind}: there is no {KINDS[kind].submit} here: run it on a login node"
        )
    return partial(jobs, kind, options)


def read_options(kind: str, argument: str) -> Options:
    """Read the options of jobs; see `of_argument`."""
    given: dict[str, Any] = {}
    for number, part in enumerate(filter(None, map(str.strip, argument.split(",")))):
        name, equals, value = map(str.strip, part.partition("="))
        if not equals and number == 0 and part.endswith(".toml"):
            given |= _file(Path(part))
        elif not equals or not name or not value:
            raise ValueError(
                f"engine {kind}: {part!r}: expected option=value, such as queue=short, or a file"
                " such as options.toml"
            )
        else:
            given[name.replace("-", "_")] = int(value) if value.isdecimal() else value
    count = given.pop("jobs", 1)
    if not isinstance(count, int) or not 1 <= count <= MOST_JOBS:
        raise ValueError(f"engine {kind}: jobs={count}: expected a number from 1 to {MOST_JOBS}")
    for name, value in DEFAULTS.items():
        if name not in given and dask.config.get(f"jobqueue.{kind}.{name}", None) is None:
            given[name] = value
    cores = given.get("cores", dask.config.get(f"jobqueue.{kind}.cores", None))
    if not isinstance(cores, int) or cores < 1:
        raise ValueError(f"engine {kind}: cores={cores}: expected a number from 1")
    if dask.config.get(f"jobqueue.{kind}.processes", None) is None:
        given.setdefault("processes", cores)
    return Options(count, given)


@contextmanager
def jobs(kind: str, options: Options) -> Iterator[Connection]:
    """Submit jobs that are workers, and keep their number up. The scheduler is in this process.

    Raises:
        RunError: A job cannot be submitted, or all jobs have ended before any worker joined.
        ValueError: An option is unknown or invalid.
    """
    class_ = KINDS[kind].cluster
    given = {
        "silence_logs": False,
        "scheduler_options": {"dashboard": False},
        # A line of the job's script.
        "python": shlex.quote(sys.executable),
    } | options.job
    try:
        with dask.config.set(OWN):
            cluster = class_(**given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"engine {kind}: {_wrong_option(error)}") from None
    with cluster, connected(cluster, f"the Dask scheduler of {kind}") as client:
        cluster.sync(_submit, cluster, kind, options.jobs)
        threads = options.jobs * _threads(cluster._dummy_job)
        seen = False

        def refresh() -> None:
            nonlocal seen
            seen = seen or bool(client.nthreads())
            if not seen:
                _check_begin(cluster, kind)
            else:
                # Jobs that have ended, at the end of their time for example, are submitted anew.
                cluster.scale(jobs=options.jobs)

        yield Connection(client, f"the Dask cluster of {kind}", threads, refresh)


def _check_begin(cluster: JobQueueCluster, kind: str) -> None:
    """Raise RunError if all jobs have ended, none of whose workers has joined."""
    numbers = [worker.job_id for worker in cluster.workers.values() if worker.job_id]
    ended = None
    for number in numbers:
        # One that waits or runs is enough: each question starts a program.
        ended = KINDS[kind].ended(number)
        if ended is None:
            return
    if ended is not None:
        raise RunError(
            f"{kind}: job {numbers[-1]} ended ({ended.state}) before its worker joined;"
            f" {ended.output}: {_last_lines(ended.output)}"
        )


def _last_lines(file: Path) -> str:
    try:
        lines = file.read_text(errors="replace").split("\n")
    except OSError as error:
        return str(error.strerror)
    return " | ".join([line.strip() for line in lines if line.strip()][-LINES:]) or "it is empty"


async def _submit(cluster: JobQueueCluster, kind: str, count: int) -> None:
    cluster.scale(jobs=count)
    try:
        await cluster._correct_state()
    except (RuntimeError, OSError, ValueError) as error:
        raise RunError(f"{kind} refused a job: {_reason(error)}") from None


def _threads(job: Job) -> int:
    return int(job.worker_process_threads) * int(job.worker_processes)


def _reason(error: BaseException) -> str:
    """Return the standard error of the submitting command."""
    _, _, printed = str(error).partition("stderr:\n")
    return printed.strip() or str(error)


def _wrong_option(error: BaseException) -> str:
    unknown = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    return f"there is no option {unknown[1]}" if unknown else str(error).partition("\n")[0]


def _file(path: Path) -> dict[str, Any]:
    options = read_toml(path, "options of a job queue in TOML")
    return {name.replace("-", "_"): value for name, value in options.items()}
