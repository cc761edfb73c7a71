"""Parameters that several commands have."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated as A
from typing import TypeAlias

from headrace.commands.parameters import Help, Word
from headrace.commands.values import DIRECTORY

FIGURES = (
    "throughput, synced_writes, operations, latency, latency_p50, latency_p95, latency_p99,"
    " latency_max, accelerators, au, samples"
)
"""Figures of a run for help texts, all but the simulated time; commands check names themselves."""


ScenarioFile: TypeAlias = A[
    Path,
    Word(metavar="FILE", is_argument=True),
    Help(
        "Scenario file, saved result, results:ID of a result in the store, or a command line such"
        " as 'ior -t 1m'; - for standard input."
    ),
]
Sets: TypeAlias = A[
    tuple[str, ...],
    Word("--set", metavar="PATH=VALUE"),
    Help("Override a value of the file; can be repeated."),
]
Seed: TypeAlias = A[int | None, Help("Seed of all random numbers.", least=0)]
Replications: TypeAlias = A[
    int | None,
    Help(
        "Simulated runs of each point, with seeds of their own; by default as the file says.",
        least=1,
    ),
]
Engine: TypeAlias = A[
    str,
    Word("--on", metavar="ENGINE"),
    Help(
        "Where the runs take place: threads or threads:N; dask or dask:N (processes),"
        " dask:tcp://HOST:PORT or dask:FILE.json (a running scheduler);"
        " slurm:queue=NAME,jobs=N,... or pbs:... (batch jobs)."
    ),
]
Axes: TypeAlias = A[
    tuple[str, ...],
    Word(metavar="PATH=VALUES"),
    Help(
        "Vary a field: path=a,b,c or path=low..high, for a sweep path=low..high:5; :log or"
        " :log5 for a logarithmic range. Linked fields: path,path=(a,b),(c,d). Can be repeated."
    ),
]
BelowDirectory: TypeAlias = A[
    Path,
    DIRECTORY,
    Word(metavar="DIR", is_argument=True),
    Help("Directory on the file system to measure."),
]
Rounds: TypeAlias = A[
    int,
    Word("--repetitions"),
    Help("Number of repetitions (rounds); each measures every case once.", least=2),
]
Passes: TypeAlias = A[
    int | None,
    Help(
        "Passes per round of CPU-bound cases; their Hodges-Lehmann estimate counts.  [default: 4]",
        least=1,
        most=100,
    ),
]
ListenAddress: TypeAlias = A[
    str, Word("--address", metavar="ADDRESS"), Help("Address to listen on.")
]
ListenPort: TypeAlias = A[
    int,
    Word("--port", metavar="PORT"),
    Help("Port to listen on; 0 for a free one.", least=0, most=65535),
]


def with_runs(
    sets: Sequence[str], seed: int | None = None, replications: int | None = None
) -> list[str]:
    """Return overridden values with those of `--seed` and `--replications`."""
    given = {"seed": seed, "replications": replications}
    return [*sets, *(f"run.{name}={value}" for name, value in given.items() if value is not None)]
