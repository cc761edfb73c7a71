"""Measurements of this machine and its file systems."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from typing import Annotated as A

import msgspec

from headrace.commands.fields import BelowDirectory, Passes, Rounds, Sets
from headrace.commands.parameters import Help, Word
from headrace.commands.sizes import counts, different_counts, size
from headrace.commands.values import DIRECTORY, span

if TYPE_CHECKING:
    import polars as pl

    from headrace.calibrate.measurements import ProgressCallback
    from headrace.measure import LoadSweep
    from headrace.measure.jobs import Options
    from headrace.measure.tuning import Amount
    from headrace.profile.document import Profile
    from headrace.profile.recorder import Request
    from headrace.validate import Predicted, Twin

OnSteps = Callable[[int, int, str], None]

# What reads and writes through the page cache cause depends on what else is in it.
OPERATIONS = (
    "direct-read,direct-write,sync,open,stat,fstat,access,setattr,create,unlink,mkdir,"
    "rmdir,readdir,find-first,find-next,symlink,readlink,link,rename,statfs,fstatfs"
)


class Quick(msgspec.Struct, frozen=True, kw_only=True):
    """Measure IOPS, MB/s and latency of reads and writes.

    Requests are sequential and random. Takes less than half a minute. All files are made in a
    directory of the benchmark's own below DIR, which is removed at the end. With FILE: run the jobs
    of a fio job file.
    """

    paths: A[
        tuple[str, ...],
        Word(metavar="[FILE] DIR", is_argument=True),
        Help(
            "Directory on the file system to measure, or a block device, which is only read;"
            " before it optionally a fio job file to run there."
        ),
    ]
    queue_depth: A[
        str | None,
        Word(metavar="COUNTS"),
        Help("Requests in flight per process, such as 1,16 or 1-32; above 1 by io_uring."),
    ] = None
    seconds: A[
        float | None, span(), Word("--time"), Help("Time measured in each step; by default 1.5 s.")
    ] = None
    file: A[
        str | None,
        Word("--file-size", metavar="SIZE"),
        Help(
            "Size of each process's file; by default up to 1 GiB, limited by free space and 4 s"
            " of writing."
        ),
    ] = None
    block: A[
        str | None,
        Word("--block-size", metavar="SIZE"),
        Help("Bytes of a random request; by default 4 KiB."),
    ] = None
    sequential_block: A[
        str | None,
        Word("--sequential-block-size", metavar="SIZE"),
        Help("Bytes of a sequential request; by default 1 MiB."),
    ] = None
    processes: A[int | None, Help("Number of parallel processes.", least=1, most=4096)] = None
    rate: A[
        float | None,
        Word(metavar="IOPS"),
        Help("Requests per second; by default as many as possible."),
    ] = None
    direct: A[
        bool | None,
        Word(off="--no-direct"),
        Help("Bypass the page cache (O_DIRECT); by default where the file system supports it."),
    ] = None
    calls: A[
        Literal["posix", "io-uring", "null"] | None,
        Help("Calls to use; by default io_uring, or system calls at a queue depth of 1."),
    ] = None

    predict: A[
        Path | None,
        Word(metavar="SYSTEM"),
        Help("Simulate the jobs as well, on the system that this file describes."),
    ] = None

    @property
    def given(self) -> Sequence[str]:
        """The options that a job file would set itself."""
        values = {
            "--queue-depth": self.queue_depth,
            "--file-size": self.file,
            "--block-size": self.block,
            "--sequential-block-size": self.sequential_block,
            "--processes": self.processes,
            "--rate": self.rate,
            "--direct": self.direct,
            "--calls": self.calls,
        }
        return [name for name, value in values.items() if value is not None]

    def file_size(self) -> int | None:
        """Bytes of a file. Raises ValueError if the text is no size."""
        return None if self.file is None else size(self.file)

    def options(self) -> "Options":
        """Return the options of the benchmark. Raises ValueError if a value is wrong."""
        from headrace.measure import jobs

        default, depths = jobs.Options(), self.queue_depth
        if self.rate is not None and not (self.rate > 0 and math.isfinite(self.rate)):
            raise ValueError(f"--rate {self.rate}: expected requests per second such as 1000")
        blocks = self.sequential_block, self.block
        options = jobs.Options(
            file=self.file_size(),
            sequential_block=default.sequential_block if blocks[0] is None else size(blocks[0]),
            random_block=default.random_block if blocks[1] is None else size(blocks[1]),
            queue_depths=default.queue_depths if depths is None else counts(depths),
            processes=default.processes if self.processes is None else self.processes,
            seconds=default.seconds if self.seconds is None else self.seconds,
            rate=self.rate,
        )
        if self.calls in (None, "io-uring"):
            return options
        if depths is None:
            return dataclasses.replace(options, queue_depths=[1])
        if self.calls == "null" or max(options.queue_depths) > 1:
            raise ValueError(
                f"--calls {self.calls}: system calls have a queue depth of 1: expected --calls"
                " io-uring, or --calls posix with --queue-depth 1"
            )
        return options


class Mix(msgspec.Struct, frozen=True, kw_only=True):
    """Run a mix at increasing loads; find the highest sustained.

    A load is a number of requested operations a second. Operations arrive at random times (open
    loop). The knee of the curve of response times is reported, too. The benchmark makes a
    directory of its own in DIR, keeps all its files there, and removes only that directory.
    """

    directory: BelowDirectory
    workload: A[
        str,
        Word(metavar="PRESET|FILE"),
        Help("Preset of a mix (see headrace presets), or a scenario with one mix."),
    ] = "mpfs-benchmark"
    rates: A[
        str | None,
        Word(metavar="RATES"),
        Help("Loads in operations/s, such as 100,200,400; by default searched."),
    ] = None
    clients: A[
        str | None,
        Word(metavar="COUNTS"),
        Help("Instead of loads: numbers of processes without think time, such as 1,2,4."),
    ] = None
    client_hosts: A[
        str | None,
        Word(metavar="COUNTS"),
        Help(
            "Repeat the load sweep with these numbers of mpirun's hosts, such as 1,2,4; the other"
            " hosts are idle."
        ),
    ] = None
    start: A[
        float, Word(metavar="RATE"), Help("First load of the search, in operations/s.", least=0.01)
    ] = 100.0
    refinements: A[
        int,
        Help(
            "Refinement steps between the last sustained load and the first that is not.", least=0
        ),
    ] = 4
    seconds: A[float, span(), Word("--time"), Help("Time measured at each load.")] = 10.0
    warm_up: A[float, span(0.0), Help("Warm-up before each measurement.")] = 2.0
    processes: A[
        int | None, Help("Number of processes, each with one operation in flight.", least=1)
    ] = None
    response_limit: A[
        float,
        span(0.0, unit=1e-3),
        Help("Highest mean response time of a sustained load; a plain number is in ms."),
    ] = 0.02
    repeats: A[
        int, Word("--repetitions"), Help("Number of repetitions of the whole load sweep.", least=1)
    ] = 1
    sets: Sets = ()

    def answer(self, **further: Any) -> "LoadSweep":
        """Measure, with the further parameters of `headrace.measure.load_sweep`."""
        from headrace import measure

        mixed = measure.MixedLoad(
            self.workload,
            seconds=self.seconds,
            warm_up=self.warm_up,
            processes=self.processes,
            sets=self.sets,
        )
        further["repeats"] = self.repeats
        if not math.isfinite(self.start):
            raise ValueError(
                f"--start {self.start}: expected a number of operations a second such as 100"
            )
        if self.clients is not None:
            if self.client_hosts is not None:
                raise ValueError("--client-hosts: expected no --clients beside it")
            if self.rates is not None or self.processes is not None:
                raise ValueError("--clients: expected no --rates and no --processes beside it")
            numbers = counts(self.clients)
            return measure.client_sweep(
                mixed.with_processes, self.directory, numbers, warm_up=self.warm_up, **further
            )
        further |= {
            "rates": _numbers("--rates", self.rates),
            "start": self.start,
            "refinements": self.refinements,
            "criteria": measure.Criteria(response_s=self.response_limit),
        }
        if self.client_hosts is None:
            return measure.load_sweep(mixed.at, self.directory, **further)
        hosts = different_counts("--client-hosts", self.client_hosts)
        return measure.client_host_sweep(mixed.at, self.directory, hosts, **further)


def _numbers(option: str, text: str | None) -> list[float]:
    """Parse a list of positive numbers. Raises ValueError if it is malformed."""
    if text is None:
        return []
    try:
        given = [float(part) for part in text.split(",")]
    except ValueError:
        given = []
    if not given or not all(0 < number < float("inf") for number in given):
        raise ValueError(f'{option} "{text}": expected numbers above 0 such as 100,200,400')
    return given


class Tune(msgspec.Struct, frozen=True, kw_only=True):
    """Find the file operations that cause a protocol mix.

    The protocol mix has a wanted share of each operation of a network file system.
    """

    directory: BelowDirectory
    profiler: A[
        str,
        Word(metavar="PROFILER"),
        Help(
            "Counter of protocol operations: fuse, nfs-client, nfs-server, gluster:VOLUME or"
            " command:COMMAND."
        ),
    ]
    target: A[
        str,
        Word(metavar="MIX"),
        Help("Wanted protocol mix: sfs-nfsv2, sfs-nfsv3, sfs2008-nfs, or a file."),
    ] = "sfs-nfsv3"
    operations: A[str, Word(metavar="NAMES"), Help("File operations to mix.")] = OPERATIONS
    amount: A[int, Help("Number of runs of each operation alone.", least=1)] = 500
    mixed: A[int, Help("Number of operations of a mix.", least=1)] = 50_000
    files: A[int, Help("Number of files.", least=1)] = 10
    rounds: A[int, Help("Number of rounds of measuring and correcting a mix.", least=1)] = 2
    step: A[
        float,
        Word("--first-step", metavar="SHARE"),
        Help("First step of the pairwise search, as a share of the mix.", least=0.0005, most=0.5),
    ] = 0.01
    threshold: A[
        float,
        Word(metavar="DISTANCE"),
        Help("Distance to the target at which the pairwise search ends.", least=0.0),
    ] = 0.001
    seconds: A[float | None, span(), Word("--time"), Help("Longest time measured in a step.")] = (
        None
    )

    @property
    def amounts(self) -> "Amount":
        """The number of operations and files."""
        from headrace.measure.tuning import Amount

        return Amount(alone=self.amount, mixed=self.mixed, files=self.files, time_s=self.seconds)

    def answer(
        self,
        bar: Callable[[], AbstractContextManager[OnSteps]],
        resumed: Mapping[str, Any] | None,
        so_far: Callable[[Mapping[str, Any]], object],
    ) -> Mapping[str, Any]:
        """Return the document of `headrace.measure.tuning.tune`."""
        from headrace.measure import tuning
        from headrace.measure.tuning.tune import tune

        names = list(filter(None, map(str.strip, self.operations.split(","))))
        shares, watching = tuning.target(self.target), tuning.profiler(self.profiler)
        with watching(self.directory) as watched, bar() as on_progress:
            return tune(
                watched,
                shares,
                list(dict.fromkeys(names)),
                rounds=self.rounds,
                amount=self.amounts,
                step=self.step,
                threshold=self.threshold,
                on_progress=on_progress,
                resumed=resumed,
                so_far=so_far,
            )


class TwinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Calibrate a machine, predict benchmarks and measure them.

    A twin is a calibrated model of this machine and file system. The cases that it predicts have
    other block sizes, patterns and numbers of processes than the calibration. Files are made in a
    directory of its own in DIR, which is removed at the end. DIR needs 1 GiB of free space. A round
    takes 1 to 7 minutes, depending on the disk, and writes several GiB.

    With a program, headrace twin DIR -- COMMAND, the program is captured once by strace, predicted,
    and then measured --repetitions times. Each run has a fresh working directory in DIR.
    """

    directory: A[
        Path | None,
        DIRECTORY,
        Word(metavar="DIR", is_argument=True),
        Help("Directory on the file system to measure; not with --again."),
    ] = None
    command: A[
        tuple[str, ...],
        Word(metavar="-- COMMAND", is_argument=True),
        Help("Program to predict and measure instead of the benchmarks, and its arguments."),
    ] = ()
    machine: A[
        Path | None, Help("File of a calibrated machine; without it, DIR is calibrated first.")
    ] = None
    settings_now: A[
        bool,
        Help(
            "With --machine: take dirty limits, read-ahead, scheduler, memory and device limits"
            " from this machine as it is now, and measured parameters from FILE."
        ),
    ] = False
    sets: Sets = ()
    again: A[
        Path | None,
        Word(metavar="PATH"),
        Help(
            "Repeat fit and predictions from the measurements in FILE (from twin -o), without"
            " measuring."
        ),
    ] = None
    prepare: A[
        str | None,
        Word(metavar="COMMAND"),
        Help("With a program: shell command that is run in its working directory before each run."),
    ] = None
    cold: A[
        bool,
        Help(
            "With a program: evict the files of its working directory from the page cache before"
            " each run."
        ),
    ] = False
    rounds: Rounds = 5
    passes: Passes = None

    def answer(
        self,
        on_progress: "ProgressCallback | None" = None,
        on_prediction: "Callable[[Predicted], object] | None" = None,
    ) -> "Twin":
        """Return the twin of the saved measurements, of the program, or of the benchmarks."""
        from headrace import validate

        if self.again is not None:
            return validate.repredict(self.again, on_progress=on_progress)
        if self.directory is None:
            raise ValueError("DIR: expected a directory to measure")
        common: dict[str, Any] = {
            "settings_now": self.settings_now,
            "sets": self.sets,
            "rounds": self.rounds,
            "on_progress": on_progress,
        }
        if self.passes is not None:
            common["passes"] = self.passes
        if not self.command:
            return validate.twin(self.directory, self.machine, **common)
        return validate.twin_of_program(
            self.directory,
            self.command,
            self.machine,
            prepare=self.prepare,
            cold=self.cold,
            on_prediction=on_prediction,
            **common,
        )


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """Sample a program or running processes, and evaluate them.

    Options after the program's name are the program's own. The exit status is that of the program.
    With --json, its output goes to standard error.
    """

    command: A[
        tuple[str, ...],
        Word(metavar="COMMAND", is_argument=True),
        Help("Program to profile, and its arguments."),
    ] = ()
    pid: A[
        int | None,
        Word(metavar="PID"),
        Help("Watch a running process and its descendants to its end."),
    ] = None
    pid_name: A[
        str | None,
        Word(metavar="NAME"),
        Help("Watch all processes with a name, and their descendants, to their end."),
    ] = None
    cgroup: A[
        Path | None,
        Word(metavar="PATH"),
        Help("Watch the processes of a control group (version 2)."),
    ] = None
    seconds: A[
        float | None,
        span(0.0),
        Word("--time"),
        Help("Time to watch; without another option, the whole system."),
    ] = None
    again: A[
        Path | None, Word(metavar="PATH"), Help("Evaluate the recording in a directory once more.")
    ] = None
    output: A[
        Path | None,
        Word(short="-o", metavar="DIR"),
        Help("New directory for the profile; by default NAME.profile in the current one."),
    ] = None
    name: A[str | None, Word(metavar="NAME"), Help("Name of the application.")] = None
    interval: A[float, span(0.0), Help("Time between two samples, 0.1 s or more.")] = 1.0
    capture: A[
        Literal["none", "strace", "tracefs", "auto"] | None,
        Help("Method that captures the program's file operations."),
    ] = None
    directory: A[
        Path,
        Word("--baseline-directory", metavar="DIR"),
        Help("Directory whose baseline the figures refer to."),
    ] = Path()
    machine: A[Path | None, Help("Machine file for predictions.")] = None
    rules: A[Path | None, Help("File that changes thresholds of the verdicts' rules.")] = None
    report: A[bool, Word(off="--no-report"), Help("Write report.html and report.pdf.")] = True
    advice: A[bool, Word(off="--no-advice"), Help("Predict the gain of changes.")] = True

    def request(self, stdout: int | None) -> "Request":
        """Return what the recorder does. Raises ValueError if a capture does not work here."""
        from headrace.profile.capture import choose
        from headrace.profile.recorder import Request

        return Request(
            command=self.command,
            pid=self.pid,
            pid_name=self.pid_name,
            cgroup=self.cgroup,
            seconds=self.seconds,
            interval_s=self.interval,
            name=self.name,
            output=self.output,
            directory=self.directory,
            capture=choose(self.capture or ("auto" if self.command else "none")).name,
            capture_needed=self.capture != "auto",
            stdout=stdout,
        )

    def evaluated(
        self, recorded: Path, on_progress: OnSteps
    ) -> "tuple[Profile, dict[str, pl.DataFrame]]":
        """Return the profile of a recording, and the figures of each host."""
        from headrace.profile.analysis import analyse, rates_by_host

        rates = rates_by_host(recorded)
        profile = analyse(
            recorded,
            rates=rates,
            machine=self.machine,
            baseline_directory=self.directory,
            rules=self.rules,
            advice=self.advice,
            on_progress=on_progress,
        )
        return profile, rates
