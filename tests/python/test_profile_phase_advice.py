"""Cases of phases: what of a captured trace and of the samples reaches the simulation."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from headrace.profile.advice import overlap
from headrace.profile.advice.change import Context
from headrace.profile.analysis import traced_disk
from headrace.profile.baseline.machine import FASTEST, machine_text
from headrace.profile.document import Phase
from headrace.profile.machine_model import machine_of
from headrace.profile.paced_trace import merge, read_paced, with_gaps, write_paced
from headrace.profile.phase_advice import Application, advise_phase
from headrace.profile.prediction import Case, simulate
from headrace.quantities import written_rate
from headrace.trace.frames import SCHEMA

KIB, MIB = 1 << 10, 1 << 20
SCENARIOS = Path(__file__).parents[2] / "scenarios"

MACHINE = """\
system = "ext4"

[machine.memory]
size = "1 GiB"

[machine.device]
kind = "throttled"
rate = "100 MB/s"
latency = "1 ms"
"""


def trace_of(path: Path, flags: str, writes: int = 100) -> pl.DataFrame:
    """A captured trace of writes of 4 KiB that take 0.1 ms each."""
    lines = [f'7 100.000000 openat(AT_FDCWD, "/d/out", {flags}, 0600) = 3</d/out> <0.000010>']
    lines += [
        f'7 {100 + it / 1000:.6f} write(3</d/out>, ""..., 4096) = 4096 <0.000100>'
        for it in range(1, writes + 1)
    ]
    path.write_text("\n".join(lines) + "\n")
    return read_paced(path)


@pytest.mark.parametrize(
    ("flags", "option"),
    [
        ("O_WRONLY|O_CREAT|O_TRUNC|O_DIRECT", "direct"),
        ("O_WRONLY|O_CREAT|O_TRUNC|O_SYNC", "synchronous"),
    ],
)
def test_a_replay_waits_for_the_device_as_the_program_did(
    tmp_path: Path, flags: str, option: str
) -> None:
    records = trace_of(tmp_path / "trace.strace", flags)
    writes = records.filter(pl.col("operation").cast(pl.String) == "write")
    assert writes["flags"].to_list() == [option] * 100
    # The phase begins after the open.
    case = Case(MACHINE, writes.with_columns(gap_ns=pl.lit(0, pl.Int64)), "compute")
    # The flags of the records say it.
    assert "[workload.io]" not in case.scenario(tmp_path / "x.csv")
    plain = case.with_records(case.records.with_columns(flags=pl.lit("")))
    waits, does_not = (it.seconds for it in simulate([case, plain]))
    assert waits > 100e-3 > 2 * does_not
    # So does the changed program.
    (merged,) = simulate([case.with_records(merge(case.records, MIB))])
    assert merged.seconds == pytest.approx(1e-3 + 100 * 4 * KIB / 100e6, rel=0.5)


def test_the_last_open_of_a_file_counts(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(
        "time,process,operation,file,offset,size,duration,flags,other\n"
        "0,1,open,a,0,0,0.001,write|direct,\n"
        "1,1,write,a,0,4096,0.001,,\n"
        "2,1,open,b,0,0,0.001,write,\n"
        "3,1,write,b,0,4096,0.001,,\n"
        "4,1,open,a,0,0,0.001,failed|missing|synchronous,\n"
        "5,2,write,a,4096,4096,0.001,,\n"
        "6,2,open,a,0,0,0.001,write,\n"
        "7,1,write,a,8192,4096,0.001,,\n"
    )
    records = read_paced(path).sort("time_ns")
    found = records.filter(pl.col("operation").cast(pl.String) == "write")["flags"].to_list()
    assert found == ["direct", "", "direct", ""]
    write_paced(records, tmp_path / "out.csv")
    assert read_paced(tmp_path / "out.csv").height == records.height


FIGURES = {
    "block-read": 39e6,
    "block-write": 38e6,
    "cached-read": 2e9,
    "cached-write": 1e9,
    "small-call": 1e6,
}


@pytest.mark.parametrize(("limit", "is_reached"), [("40 MB/s", True), ("80 MB/s", False)])
def test_a_limit_of_the_kernel_is_not_counted_twice(limit: str, is_reached: bool) -> None:
    settings = {f"machine.device.{it}_rate": f'"{limit}"' for it in ("read", "write")}
    text = machine_text(FIGURES, {}, settings, {"file_system": "ext4"}, 64 * MIB)
    assert (f'\nrate = "{written_rate(FASTEST)}"' in text) == is_reached
    assert (f'\ndevice_write_rate = "{written_rate(FASTEST)}"' in text) == is_reached


def test_the_recorded_time_leaves_out_stops_and_waits_for_a_core(tmp_path: Path) -> None:
    records = trace_of(tmp_path / "trace.strace", "O_WRONLY|O_CREAT|O_TRUNC")
    records = records.with_columns(time_ns=pl.col("time_ns") - records["time_ns"].min())

    def without_tracer_s(**columns: float) -> float:
        named = {f"tree.{name}": [value] for name, value in columns.items()}
        rates = pl.DataFrame({"from_s": [0.0], "to_s": [1.0], **named})
        phase = Phase(from_s=0.0, to_s=1.0, verdict="waiting")
        application = Application(records, rates, MACHINE, 2, {}, 0.0)
        return float(advise_phase(phase, application).without_tracer_s)

    assert without_tracer_s() == 1.0
    # Half of the time is none of the program's two threads' own.
    computes = without_tracer_s(threads=2, user=0.6, system=0.2, disk_wait=0.2, traced=1.0)
    assert computes == pytest.approx(0.5)
    # The device works while the program waits for a core.
    assert without_tracer_s(threads=2, system=0.2, disk_wait=1.2, running=0.6) == 1.0


def spinning(system: float, seconds: float = 4.4) -> tuple[Phase, Application]:
    """A program that reads a library, computes and writes a word, in a loop of uncaptured calls."""
    rows = [
        (0, "a", "read", "/lib/libc.so", 0, 832, 10_000, "", ""),
        (round(seconds * 1e9) - 10**6, "a", "write", "out", 0, 5, 30_000, "", ""),
    ]
    records = with_gaps(pl.DataFrame(rows, schema=dict(SCHEMA), orient="row", strict=False))
    threads = {"tree.threads": [1.0, 0.0], "tree.user": 0.04, "tree.system": system}
    rates = pl.DataFrame({"from_s": [0.0, 4.0], "to_s": [4.0, seconds], **threads})
    rates = rates.with_columns(pl.lit(0.0).alias("tree.sleeping"))
    return Phase(from_s=0.0, to_s=seconds, verdict="cpu"), Application(
        records, rates, MACHINE, 2, {}, 0.0
    )


def test_uncaptured_system_time_is_computing_of_both_times() -> None:
    phase, application = spinning(0.3)
    prediction = advise_phase(phase, application)
    assert prediction.without_tracer_s == pytest.approx(0.34 * 4.4, rel=0.01)
    assert prediction.error == pytest.approx(0.0, abs=0.01)
    gains = {one.change: one.predicted_gain for one in phase.advice}
    assert gains == pytest.approx({"parallel-computing": 1.0, "faster-processor": 1.0}, rel=0.01)
    assert phase.notes == [
        "the simulated phase takes 1.5 s, recorded 1.5 s without the tracer (error 0 %, limit 20 %)"
    ]


def test_a_phase_that_the_simulation_misses_gets_no_advice() -> None:
    phase, application = spinning(0.3)
    # The tracer takes the system time: nothing is known of two thirds of the time.
    slow = replace(application, machine=MACHINE.replace("1 ms", "1 s"))
    cold = application.records.with_columns(flags=pl.lit("direct"), size=pl.lit(4096, pl.UInt64))
    prediction = advise_phase(phase, replace(slow, records=cold))
    assert prediction.error is not None and prediction.error > 0.2
    assert phase.advice == []
    (note,) = phase.notes
    times = (
        r"the simulated phase takes 3\.5 s, recorded 1\.5 s without the tracer"
        r" \(error 13\d %, limit 20 %\)"
    )
    assert re.fullmatch(f"no advice: {times}", note)


def test_system_time_of_stops_by_the_tracer_does_not_count() -> None:
    phase, application = spinning(0.3)
    stopped = replace(application, tracer_system_s=0.3 * 4.4 / 2)
    prediction = advise_phase(phase, stopped)
    assert prediction.without_tracer_s == pytest.approx(0.04 * 4.4, rel=0.01)
    assert prediction.error == pytest.approx(0.0, abs=0.02)


def test_a_process_that_starts_later_computes_only_then() -> None:
    rows = [(0, "sh", "open", "/bin/true", 0, 0, 1000, "", "")]
    rows += [(n * 10**7, f"{n}", "open", "f", 0, 0, 1000, "", "") for n in range(1, 100)]
    records = with_gaps(pl.DataFrame(rows, schema=dict(SCHEMA), orient="row", strict=False))
    named = {"tree.threads": [2.0], "tree.user": [1.0], "tree.sleeping": [1.0]}
    rates = pl.DataFrame({"from_s": [0.0], "to_s": [1.0], **named})
    phase = Phase(from_s=0.0, to_s=1.0, verdict="cpu")
    prediction = advise_phase(phase, Application(records, rates, MACHINE, 2, {}, 0.0))
    assert prediction.error == pytest.approx(0.0, abs=0.02)


def test_a_writer_that_reads_a_library_gets_no_threads() -> None:
    rows = [(0, "a", "read", "/lib/libc.so", 0, 832, 0, "", "")]
    rows += [(it, "a", "write", "out", it * MIB, MIB, 0, "", "") for it in range(1, 9)]
    records = pl.DataFrame(rows, schema=dict(SCHEMA), orient="row", strict=False)
    case = Case(MACHINE, with_gaps(records), "compute")
    assert overlap.CHANGE.apply(case, Context("disk-write", 2, {})) is None
    reads = [(it + 9, "a", "read", "in", it * MIB, MIB, 0, "", "") for it in range(8)]
    records = pl.DataFrame(rows + reads, schema=dict(SCHEMA), orient="row", strict=False)
    case = Case(MACHINE, with_gaps(records), "compute")
    assert overlap.CHANGE.apply(case, Context("disk-write", 2, {})) is not None


def test_the_disk_of_the_traced_files_is_the_program_s(tmp_path: Path) -> None:
    records = trace_of(tmp_path / "trace.strace", "O_WRONLY|O_CREAT|O_TRUNC")
    rates = pl.DataFrame({"disk.sda.queue": [1.0], "disk.sdb.queue": [1.0]})
    assert traced_disk(records, rates, {"mount_point": "/d", "device": "sdb"}) == ["sdb"]
    # Files elsewhere, a device without samples, no trace.
    assert traced_disk(records, rates, {"mount_point": "/e", "device": "sdb"}) is None
    assert traced_disk(records, rates, {"mount_point": "/d", "device": "sdc"}) is None
    assert traced_disk(None, rates, {"mount_point": "/d", "device": "sdb"}) is None
    # Another file system may be mounted below the root.
    assert traced_disk(records, rates, {"mount_point": "/", "device": "sdb"}) is None


def test_a_trace_runs_on_a_parallel_file_system(tmp_path: Path) -> None:
    records = trace_of(tmp_path / "trace.strace", "O_WRONLY|O_CREAT|O_DIRECT")
    machine = machine_of(SCENARIOS / "hindman-lustre.toml")
    # Neither has an effect there.
    case = Case(machine, records, "wait", cached=True)
    (outcome,) = simulate([case])
    assert outcome.error is None
    # The gaps alone take 0.09 s.
    assert 0.09 < outcome.seconds < 10
